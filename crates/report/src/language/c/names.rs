//! What a line of C calls the one thing that it makes or uses.

use crate::source::is_identifier;

/// `pthread_mutex_lock(&bank->lock);` → `lock`; `chan = drawloom_chan_new(1, 0, DRAWLOOM_HERE);` → `chan`.
pub(super) fn used_in(line: &str) -> Option<String> {
    let line = line.trim();
    if let Some(target) = super::statement::assigned(line).filter(|_| line.contains("_new(")) {
        return word(target);
    }
    let call = CALLS.iter().filter_map(|call| line.find(call)).min()?;
    let (_, arguments) = line[call..].split_once('(')?;
    word(arguments.split([',', ')']).next()?)
}

/// Calls whose first argument is the thing.
const CALLS: [&str; 7] = ["pthread_", "drawloom_", "sem_", "mtx_", "cnd_", "atomic_", "DRAWLOOM_"];

/// The last word of an expression: `&bank->locks[i]` → `locks`.
fn word(expression: &str) -> Option<String> {
    let whole = expression.split('[').next()?;
    let word = whole.rsplit([' ', '&', '*', '.', '>']).next()?;
    is_identifier(word).then(|| word.to_owned())
}

/// The function that a task runs: `pthread_create(&t, NULL, deposit, &bank);` → `deposit`.
pub(super) fn entry_in(line: &str) -> Option<String> {
    let (call, argument) = [("pthread_create(", 2), ("drawloom_task_spawn(", 0), ("thrd_create(", 1)]
        .into_iter()
        .find(|(call, _)| line.contains(call))?;
    let (_, arguments) = line.split_once(call)?;
    let entry = arguments.split(',').nth(argument)?.trim();
    let entry = entry.trim_start_matches('&');
    is_identifier(entry).then(|| entry.to_owned())
}

#[cfg(test)]
mod tests {
    use super::{entry_in, used_in};

    #[test]
    fn a_line_of_c_names_what_it_is_about() {
        for (line, expected) in [
            ("pthread_mutex_lock(&bank->lock);", Some("lock")),
            ("pthread_mutex_lock(&locks[i]);", Some("locks")),
            ("drawloom_handle jobs = drawloom_chan_new(1, NULL, DRAWLOOM_HERE);", Some("jobs")),
            ("if (sem_trywait(&slots) == 0) {", Some("slots")),
            ("drawloom_chan_send(jobs, 1, DRAWLOOM_HERE);", Some("jobs")),
            ("count = count + 1;", None),
        ] {
            assert_eq!(used_in(line).as_deref(), expected, "{line}");
        }
        assert_eq!(entry_in("pthread_create(&t[0], NULL, deposit, &bank);").as_deref(), Some("deposit"));
        assert_eq!(entry_in("drawloom_task_spawn(worker, &state, DRAWLOOM_HERE);").as_deref(), Some("worker"));
        assert_eq!(entry_in("thrd_create(&t, worker, NULL);").as_deref(), Some("worker"));
    }
}
