//! Scoped threads, whose panics are a result of their scope.

use std::fmt;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use crate::thread::{self, Builder, Result, Thread};

/// The thread of a handle that nobody has joined so far. Never locked during a step.
type Unjoined<'scope> = Arc<Mutex<Option<thread::ScopedJoinHandle<'scope, ()>>>>;

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Where threads are spawned that may borrow, as `crossbeam::thread::Scope` (which has one lifetime less).
pub struct Scope<'scope, 'env: 'scope> {
    inner: &'scope thread::Scope<'scope, 'env>,
    unjoined: Arc<Mutex<Vec<Unjoined<'scope>>>>,
}

/// Runs `f`, and waits for all threads that it and they have spawned.
///
/// # Errors
///
/// If threads have panicked whose handles were not joined: what with, in a `Vec`.
#[track_caller]
pub fn scope<'env, F, R>(f: F) -> Result<R>
where
    F: for<'scope> FnOnce(&Scope<'scope, 'env>) -> R,
{
    thread::scope(|inner| {
        let scope = Scope { inner, unjoined: Arc::default() };
        let result = f(&scope);
        let mut panics = Vec::new();
        // They may spawn more of them meanwhile.
        for at in 0.. {
            let Some(next) = lock(&scope.unjoined).get(at).cloned() else { break };
            let handle = lock(&next).take();
            panics.extend(handle.and_then(|handle| handle.join().err()));
        }
        if panics.is_empty() { Ok(result) } else { Err(Box::new(panics) as Box<_>) }
    })
}

impl<'scope, 'env> Scope<'scope, 'env> {
    /// Spawns a thread.
    #[track_caller]
    pub fn spawn<F, T>(&self, f: F) -> ScopedJoinHandle<'scope, T>
    where
        F: FnOnce(&Scope<'scope, 'env>) -> T + Send + 'scope,
        T: Send + 'scope,
    {
        self.builder().spawn(f).expect("failed to spawn thread")
    }

    /// What a thread can be told before it is spawned.
    #[must_use]
    pub fn builder(&self) -> ScopedThreadBuilder<'scope, 'env> {
        let scope = Scope { inner: self.inner, unjoined: self.unjoined.clone() };
        ScopedThreadBuilder { scope, builder: Builder::new() }
    }
}

impl fmt::Debug for Scope<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("Scope { .. }")
    }
}

/// As `crossbeam::thread::ScopedThreadBuilder`.
#[derive(Debug)]
pub struct ScopedThreadBuilder<'scope, 'env> {
    scope: Scope<'scope, 'env>,
    builder: Builder,
}

impl<'scope, 'env> ScopedThreadBuilder<'scope, 'env> {
    /// Names the thread.
    #[must_use]
    pub fn name(mut self, name: String) -> Self {
        self.builder = self.builder.name(name);
        self
    }

    /// The size of its stack, outside of an exploration.
    #[must_use]
    pub fn stack_size(mut self, size: usize) -> Self {
        self.builder = self.builder.stack_size(size);
        self
    }

    /// Spawns the thread.
    ///
    /// # Errors
    ///
    /// If the system has no thread to give.
    #[track_caller]
    pub fn spawn<F, T>(self, f: F) -> io::Result<ScopedJoinHandle<'scope, T>>
    where
        F: FnOnce(&Scope<'scope, 'env>) -> T + Send + 'scope,
        T: Send + 'scope,
    {
        let ScopedThreadBuilder { scope, builder } = self;
        let result = Arc::new(Mutex::new(None));
        let (theirs, unjoined, inner) = (result.clone(), scope.unjoined.clone(), scope.inner);
        let handle = builder.spawn_scoped(inner, move || {
            let value = f(&scope);
            *lock(&theirs) = Some(value);
        })?;
        let thread = handle.thread().clone();
        let handle = Arc::new(Mutex::new(Some(handle)));
        lock(&unjoined).push(handle.clone());
        Ok(ScopedJoinHandle { handle, result, thread })
    }
}

/// As `crossbeam::thread::ScopedJoinHandle`.
pub struct ScopedJoinHandle<'scope, T> {
    handle: Unjoined<'scope>,
    result: Arc<Mutex<Option<T>>>,
    thread: Thread,
}

impl<T> ScopedJoinHandle<'_, T> {
    /// Waits for the thread, and returns its result.
    ///
    /// # Errors
    ///
    /// If it has panicked: what with.
    ///
    /// # Panics
    ///
    /// If the scope has ended, which has joined it.
    #[track_caller]
    pub fn join(self) -> Result<T> {
        let handle = lock(&self.handle).take().expect("a scope joins what is left when it ends");
        handle.join()?;
        Ok(lock(&self.result).take().expect("a thread that has ended well has left its result"))
    }

    /// The thread.
    #[must_use]
    pub fn thread(&self) -> &Thread {
        &self.thread
    }
}

impl<T> fmt::Debug for ScopedJoinHandle<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("ScopedJoinHandle { .. }")
    }
}
