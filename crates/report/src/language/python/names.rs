//! What a line of Python calls the one thing that it makes or waits at.

/// `self.lock = Lock()`, `with account.lock:` and `lock.acquire()` → `lock`; `with locks[i]:` → `locks`. None if the
/// line is about several.
pub(super) fn used_in(line: &str) -> Option<String> {
    let line = line.trim();
    let expression = if let Some(context) = line.strip_prefix("with ").or_else(|| line.strip_prefix("async with ")) {
        let (context, _) = context.rsplit_once(':')?;
        let context = context.split(" as ").next()?.split(':').next()?;
        (!context.contains(',')).then_some(context)?
    } else if let Some((target, _)) = METHODS.iter().find_map(|method| line.split_once(method)) {
        target.rsplit([' ', '(', '=']).next()?
    } else {
        assigned(line)?
    };
    let expression = expression.trim().split('[').next()?;
    let word = expression.rsplit('.').next()?;
    crate::source::is_identifier(word).then(|| word.to_owned())
}

/// What a task waits at, or is woken by.
const METHODS: [&str; 15] = [
    ".acquire(",
    ".release(",
    ".wait(",
    ".wait_for(",
    ".notify(",
    ".notify_all(",
    ".put(",
    ".get(",
    ".set(",
    ".clear(",
    ".is_set(",
    ".put_nowait(",
    ".get_nowait(",
    ".task_done(",
    ".join(",
];

/// The target of an assignment; what follows it are its values.
fn assigned(line: &str) -> Option<&str> {
    let at = line.find('=')?;
    let comparison = line[at + 1..].starts_with('=') || line[..at].ends_with(['!', '<', '>', '+', '-', '*', '/']);
    let target = line[..at].split(':').next()?;
    (!comparison && !target.contains([',', '('])).then_some(target)
}

#[cfg(test)]
mod tests {
    use super::used_in;

    #[test]
    fn a_line_of_python_names_what_it_is_about() {
        for (line, expected) in [
            ("self.lock = threading.Lock()", Some("lock")),
            ("lock: threading.Lock = threading.Lock()", Some("lock")),
            ("with account.lock:", Some("lock")),
            ("with q.c: q.c.wait()", Some("c")),
            ("async with self.lock as held:", Some("lock")),
            ("with locks[i]:", Some("locks")),
            ("with a, b:", None),
            ("self.a.acquire()", Some("a")),
            ("while not queue.get(timeout=1):", Some("queue")),
            ("item = self.jobs.get()", Some("jobs")),
            ("a, b = Lock(), Lock()", None),
            ("if a == b:", None),
            ("worker(state)", None),
        ] {
            assert_eq!(used_in(line).as_deref(), expected, "{line}");
        }
    }
}
