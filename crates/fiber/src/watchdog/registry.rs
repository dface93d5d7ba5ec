//! The threads that are watched.

use std::cell::RefCell;
use std::sync::{Arc, Mutex, Once};

use super::{Watch, lock, monitor, signal};

static WATCHED: Mutex<Vec<Arc<Watch>>> = Mutex::new(Vec::new());

/// What the system calls a thread.
#[derive(Clone, Copy)]
pub(super) struct Thread {
    #[cfg(unix)]
    pub(super) handle: libc::pthread_t,
    /// The number by which Linux knows it.
    #[cfg(target_os = "linux")]
    pub(super) number: libc::pid_t,
}

/// A thread's own entry, which goes when the thread does.
struct Entry {
    watch: Arc<Watch>,
    _stack: signal::HandlerStack,
}

impl Drop for Entry {
    fn drop(&mut self) {
        signal::unwatch();
        // From here on nobody sends it a signal.
        *lock(&self.watch.thread) = None;
        lock(&WATCHED).retain(|watch| !Arc::ptr_eq(watch, &self.watch));
    }
}

thread_local! {
    static ENTRY: RefCell<Option<Entry>> = const { RefCell::new(None) };
}

/// The watch of the calling thread. On a thread that is about to end nobody looks at it.
pub(crate) fn watch() -> Arc<Watch> {
    let known = ENTRY.try_with(|entry| {
        let entry = &mut *entry.borrow_mut();
        Arc::clone(&entry.get_or_insert_with(Entry::new).watch)
    });
    known.unwrap_or_else(|_| Arc::new(Watch::new()))
}

/// Those of all threads.
pub(super) fn all() -> Vec<Arc<Watch>> {
    lock(&WATCHED).clone()
}

impl Entry {
    fn new() -> Entry {
        static MONITOR: Once = Once::new();
        let watch = Arc::new(Watch::new());
        *lock(&watch.thread) = Some(Thread::calling());
        signal::watch(&watch);
        lock(&WATCHED).push(Arc::clone(&watch));
        MONITOR.call_once(|| {
            // Without it nothing is noticed; but nothing else depends on it.
            drop(std::thread::Builder::new().name("drawloom-watchdog".into()).spawn(monitor::run));
        });
        Entry { watch, _stack: signal::HandlerStack::new() }
    }
}

impl Thread {
    fn calling() -> Thread {
        Thread {
            // SAFETY: it has no preconditions.
            #[cfg(unix)]
            handle: unsafe { libc::pthread_self() },
            // SAFETY: it has no preconditions, and cannot fail.
            #[cfg(target_os = "linux")]
            number: unsafe { libc::syscall(libc::SYS_gettid) } as libc::pid_t,
        }
    }
}
