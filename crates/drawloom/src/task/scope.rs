//! Scopes: tasks that may borrow, and that all end before the scope does.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use super::cancel::Cancellation;
use super::spawn::{Control, TaskError, judge};
use crate::thread;
use crate::wait::Owner;

/// Runs `f`, which may spawn tasks that borrow from outside, and waits for all of them. If `f` panics, is
/// cancelled, or one of the tasks panics, the others are cancelled first.
///
/// ```
/// use drawloom::task;
///
/// let words = ["one", "two"];
/// let lengths = task::scope(|scope| {
///     let first = scope.spawn(|| words[0].len());
///     let second = scope.spawn(|| words[1].len());
///     first.get().unwrap() + second.get().unwrap()
/// });
/// assert_eq!(lengths, 6);
/// ```
///
/// # Panics
///
/// If one of the tasks has panicked and nobody has got its result.
#[track_caller]
pub fn scope<'env, F, T>(f: F) -> T
where
    F: for<'scope> FnOnce(&Scope<'scope, 'env>) -> T,
{
    thread::scope(|threads| {
        let scope = Scope { threads, members: Arc::default() };
        let cancel_all = OnUnwind(&scope.members);
        let output = f(&scope);
        drop(cancel_all);
        output
    })
}

/// The argument of the closure of [`scope`], which spawns its tasks.
///
/// ```
/// use drawloom::task::{self, Scope};
///
/// fn spawn_all<'scope>(scope: &Scope<'scope, '_>, words: &'scope [&str]) -> usize {
///     let tasks: Vec<_> = words.iter().map(|word| scope.spawn(|| word.len())).collect();
///     tasks.into_iter().map(|task| task.get().unwrap()).sum()
/// }
///
/// let words = ["one", "three"];
/// assert_eq!(task::scope(|scope| spawn_all(scope, &words)), 8);
/// ```
#[derive(Clone)]
pub struct Scope<'scope, 'env: 'scope> {
    threads: &'scope thread::Scope<'scope, 'env>,
    members: Arc<Members>,
}

/// The tasks of a scope, each with who has spawned it.
#[derive(Default)]
struct Members(Mutex<Vec<(Owner, Arc<Cancellation>)>>);

impl Members {
    #[track_caller]
    fn cancel_all(&self) {
        let mut members = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        // In which order several have added theirs is up to the schedule; what each has added is in order.
        // (A sort would be most of what is compiled of this file.)
        let elder =
            |members: &[(Owner, Arc<Cancellation>)], a: usize, b: usize| members[a].0.is_elder_than(&members[b].0);
        while let Some(eldest) = (0..members.len()).reduce(|a, b| if elder(&members, b, a) { b } else { a }) {
            members.remove(eldest).1.ask();
        }
    }

    fn add(&self, member: Arc<Cancellation>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push((Owner::here(), member));
    }
}

/// Cancels the tasks of a scope when what holds it is unwound.
struct OnUnwind<'a>(&'a Members);

impl Drop for OnUnwind<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.cancel_all();
        }
    }
}

impl<'scope> Scope<'scope, '_> {
    /// Spawns a task that ends before the scope does.
    #[track_caller]
    pub fn spawn<F, T>(&self, f: F) -> ScopedTask<'scope, T>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        let (control, body) = Control::with(f);
        self.members.add(control.cancellation.clone());
        let members = self.members.clone();
        let handle = self.threads.spawn(move || {
            let _cancel_all = OnUnwind(&members);
            body()
        });
        ScopedTask { control, handle }
    }
}

impl fmt::Debug for Scope<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope").finish_non_exhaustive()
    }
}

/// The handle of a task in a scope. The scope waits for the task even if this is dropped.
///
/// ```
/// use drawloom::task;
///
/// let number = 21;
/// let doubled = task::scope(|scope| scope.spawn(|| 2 * number).get());
/// assert_eq!(doubled.unwrap(), 42);
/// ```
pub struct ScopedTask<'scope, T> {
    control: Control,
    handle: thread::ScopedJoinHandle<'scope, Option<T>>,
}

impl<T> ScopedTask<'_, T> {
    /// As [`Task::get`](super::Task::get).
    ///
    /// # Errors
    ///
    /// As there.
    #[track_caller]
    pub fn get(self) -> Result<T, TaskError> {
        self.control.wait();
        judge(self.handle.join())
    }

    /// As [`Task::cancel`](super::Task::cancel).
    #[track_caller]
    pub fn cancel(&self) {
        self.control.cancellation.ask();
    }

    /// As [`Task::is_finished`](super::Task::is_finished).
    #[must_use]
    #[track_caller]
    pub fn is_finished(&self) -> bool {
        self.control.is_finished()
    }
}

impl<T> fmt::Debug for ScopedTask<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScopedTask").finish_non_exhaustive()
    }
}
