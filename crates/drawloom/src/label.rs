//! Words between a program and the scheduler that it is tested with: choices, yields and names.
//!
//! Outside an exploration they do nothing, so they can stay in the program.

use std::sync::Arc;

use crate::rt::{self, Handle, ResourceId};

/// One of `outcomes` alternatives, from 0, as a choice of the schedule: all of them are explored.
///
/// Outside an exploration it is 0.
///
/// ```
/// let delivered = drawloom::choose(2) == 0;
/// assert!(delivered);
/// ```
///
/// # Panics
///
/// If there is nothing to choose from.
#[track_caller]
pub fn choose(outcomes: usize) -> usize {
    assert!(outcomes > 0, "there is nothing to choose from");
    match rt::current() {
        None => 0,
        Some(rt) => rt.choose(outcomes as u64, rt::here()) as usize,
    }
}

/// Lets another task continue, if there is one that can: as
/// [`thread::yield_now`](crate::thread::yield_now).
///
/// ```
/// drawloom::yield_now(); // another task may run here
/// ```
#[track_caller]
pub fn yield_now() {
    crate::thread::yield_now();
}

/// Gives the running task a name for reports. The thread's own name stays what it is.
///
/// ```
/// drawloom::thread::spawn(|| {
///     drawloom::name_task("teller"); // reports say `teller`
/// })
/// .join()
/// .unwrap();
/// ```
pub fn name_task(name: &str) {
    if let Some(rt) = rt::current() {
        rt.with_engine(|engine| engine.name_task(rt.running(), name));
    }
}

/// Gives a lock, an atomic, a channel or a cell the name that reports know it by, for the rest of the
/// execution. Without one they name the place where it was made.
///
/// ```
/// let balance = drawloom::cell::UnsafeCell::new(100);
/// drawloom::label(&balance, "balance");
/// ```
pub fn label<T: Labelled + ?Sized>(object: &T, name: &str) {
    if let Some(rt) = rt::current() {
        if let Some(id) = object.id(rt) {
            rt.with_engine(|engine| engine.name_resource(id, name));
        }
    }
}

/// An object that [`label`] can name: every resource under control.
///
/// ```
/// use drawloom::sync::Mutex;
///
/// let accounts = [Mutex::new(1), Mutex::new(2)];
/// for (number, account) in accounts.iter().enumerate() {
///     drawloom::label(account, &format!("account {number}"));
/// }
/// ```
pub trait Labelled {
    /// The resource that this object is in the current execution, if it is under control.
    #[doc(hidden)]
    fn id(&self, rt: Handle) -> Option<ResourceId>;
}

impl<T: Labelled + ?Sized> Labelled for &T {
    fn id(&self, rt: Handle) -> Option<ResourceId> {
        (**self).id(rt)
    }
}

impl<T: Labelled + ?Sized> Labelled for Box<T> {
    fn id(&self, rt: Handle) -> Option<ResourceId> {
        (**self).id(rt)
    }
}

impl<T: Labelled + ?Sized> Labelled for Arc<T> {
    fn id(&self, rt: Handle) -> Option<ResourceId> {
        (**self).id(rt)
    }
}
