//! What libraries' functions and methods do to what they are called on.

use crate::graph::{Reading, Writing};

/// What a method does to a container, option or map.
pub(crate) enum Touch {
    Reads(Reading),
    Writes(Writing),
    /// One step that looks and changes: nothing can come between.
    Both,
}

/// What the method `name` does to the container that it is called on; none if that is not known.
pub(crate) fn touch(name: &str) -> Option<Touch> {
    Some(match name {
        "append" | "add" | "extend" | "appendleft" | "extendleft" | "push" | "push_back" | "push_front"
        | "put_nowait" | "insert" | "update" | "move_to_end" | "heappush" | "push_str" | "extend_from_slice" => {
            Touch::Writes(Writing::Add)
        }
        "pop" | "popleft" | "remove" | "discard" | "popitem" | "pop_front" | "pop_back" | "get_nowait"
        | "swap_remove" | "remove_entry" | "take" | "heappop" => Touch::Writes(Writing::Remove),
        "clear" | "drain" | "truncate" | "retain" => Touch::Writes(Writing::Clear),
        "sort" | "reverse" | "rotate" | "get_mut" | "iter_mut" | "values_mut" | "replace" | "set" | "as_mut" => {
            Touch::Writes(Writing::Mutate)
        }
        "setdefault" | "entry" | "get_or_insert_with" | "get_or_insert" | "or_insert" => Touch::Both,
        "contains_key" | "contains" | "is_none" | "is_some" | "is_some_and" | "len" | "full" | "qsize"
        | "__contains__" => Touch::Reads(Reading::Contains),
        "is_empty" | "empty" => Touch::Reads(Reading::Empty),
        "items" | "keys" | "values" | "iter" | "into_iter" => Touch::Reads(Reading::Iterates),
        "copy" | "to_vec" | "cloned" => Touch::Reads(Reading::Snapshot),
        "get" | "index" | "count" | "first" | "last" | "front" | "back" | "peek" | "clone" | "as_ref"
        | "get_key_value" | "as_deref" | "copied" => Touch::Reads(Reading::Value),
        _ => return None,
    })
}

/// What an atomic's method does.
pub(crate) fn atomic(name: &str) -> Option<Touch> {
    Some(match name {
        "load" => Touch::Reads(Reading::Value),
        "store" => Touch::Writes(Writing::Assign),
        "compare_exchange" | "compare_exchange_weak" | "compare_and_swap" | "fetch_update" => Touch::Both,
        name if name.starts_with("fetch_") || name == "swap" => Touch::Writes(Writing::Atomic),
        _ => return None,
    })
}

/// Methods that end the life of what they are called on.
pub(crate) fn closes(name: &str) -> bool {
    matches!(
        name,
        "close"
            | "aclose"
            | "stop"
            | "shutdown"
            | "cancel"
            | "disconnect"
            | "terminate"
            | "kill"
            | "dispose"
            | "destroy"
            | "abort"
            | "release"
            | "__aexit__"
            | "__exit__"
    )
}

/// Rust's methods that give what they are called on, seen otherwise.
pub(crate) fn transparent(name: &str) -> bool {
    matches!(
        name,
        "unwrap"
            | "expect"
            | "unwrap_or_default"
            | "ok"
            | "map_err"
            | "as_ref"
            | "as_mut"
            | "as_deref"
            | "borrow"
            | "borrow_mut"
            | "deref"
            | "deref_mut"
            | "clone"
            | "to_owned"
            | "into"
            | "unwrap_or_else"
            | "into_inner"
            | "by_ref"
            | "read_only"
            | "cloned"
            | "copied"
            | "upgrade"
            | "downgrade"
            | "as_deref_mut"
            | "context"
            | "with_context"
            | "unwrap_or"
    )
}
