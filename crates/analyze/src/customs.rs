//! What names of functions say by custom: who makes, opens and closes an object, and who is called for each request.

/// Whether a function of this name makes an object ready, before anybody else has it.
pub(crate) fn makes(name: &str) -> bool {
    matches!(
        name,
        "__init__"
            | "__attrs_post_init__"
            | "__post_init__"
            | "plugin_init"
            | "init_app"
            | "setUp"
            | "asyncSetUp"
            | "__set_name__"
            | "prepare_object"
    )
}

/// Whether a function of this name is called once in an object's life.
pub(crate) fn starts(name: &str) -> bool {
    let name = name.trim_start_matches('_');
    matches!(
        name,
        "init__"
            | "aenter__"
            | "enter__"
            | "open"
            | "connect"
            | "begin"
            | "launch"
            | "setup"
            | "startup"
            | "post_init__"
    ) || ["start", "run", "serve", "setup_", "startup"].iter().any(|word| name.starts_with(word))
}

/// Whether a function of this name is called once, at the end of an object's life.
pub(crate) fn ends(name: &str) -> bool {
    let name = name.trim_start_matches('_');
    let words = [
        "close",
        "aclose",
        "shutdown",
        "stop",
        "disconnect",
        "terminate",
        "cleanup",
        "teardown",
        "aexit",
        "exit",
        "destroy",
        "dispose",
        "finalize",
    ];
    words.iter().any(|word| name.starts_with(word))
}

/// Decorators of functions that somebody calls for each request, message or client.
pub(crate) fn is_handler(decorator: &str) -> bool {
    let Some((_, last)) = decorator.rsplit_once('.') else { return false };
    matches!(
        last,
        "get"
            | "post"
            | "put"
            | "delete"
            | "patch"
            | "route"
            | "websocket"
            | "on"
            | "event"
            | "command"
            | "handler"
            | "task"
            | "listener"
            | "subscriber"
            | "on_event"
            | "message_handler"
            | "middleware"
            | "head"
            | "endpoint"
    )
}
