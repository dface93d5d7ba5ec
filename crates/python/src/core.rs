//! One core for the threads of an exploration: only one of them runs at a time, and a core that sleeps takes several
//! times as long to be woken as one takes to go from a thread to the next.

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};

/// So many executions are made before the core is chosen anew, in case others have come to it.
const EXECUTIONS: u32 = 512;
const NONE: usize = usize::MAX;

/// The core of the running exploration.
static CHOSEN: AtomicUsize = AtomicUsize::new(NONE);

thread_local! {
    /// The core that the calling thread keeps to.
    static OWN: Cell<usize> = const { Cell::new(NONE) };
}

/// A thread that explores, which keeps to one core as long as this lives.
pub(crate) struct Together {
    before: Option<Cores>,
    executions: u32,
}

impl Together {
    pub(crate) fn new() -> Together {
        let before = Cores::of_caller();
        Together { before, executions: 0 }
    }

    /// An execution begins.
    pub(crate) fn begin_execution(&mut self) {
        let Some(before) = &self.before else { return };
        match self.executions % EXECUTIONS {
            // The caller goes where there is room, and stays there when it has come back from waiting.
            0 => before.allow_caller(),
            1 => choose(),
            _ => {}
        }
        self.executions += 1;
    }
}

impl Drop for Together {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            before.allow_caller();
            CHOSEN.store(NONE, Ordering::Relaxed);
            OWN.set(NONE);
        }
    }
}

fn choose() {
    if let Some(core) = current() {
        CHOSEN.store(core, Ordering::Relaxed);
        follow();
    }
}

/// The calling thread, which runs a task, keeps to the core of its exploration.
#[inline]
pub(crate) fn follow() {
    let chosen = CHOSEN.load(Ordering::Relaxed);
    if chosen != OWN.get() && chosen != NONE {
        OWN.set(chosen);
        Cores::only(chosen).allow_caller();
    }
}

/// A set of cores, as Linux has it.
struct Cores([u64; 16]);

#[cfg(target_os = "linux")]
mod system {
    use super::Cores;

    unsafe extern "C" {
        fn sched_getcpu() -> i32;
        fn sched_getaffinity(thread: i32, size: usize, cores: *mut u64) -> i32;
        fn sched_setaffinity(thread: i32, size: usize, cores: *const u64) -> i32;
    }

    pub(super) fn current() -> Option<usize> {
        // SAFETY: it takes nothing, and touches nothing of ours.
        usize::try_from(unsafe { sched_getcpu() }).ok()
    }

    impl Cores {
        pub(super) fn of_caller() -> Option<Cores> {
            let mut cores = Cores([0; 16]);
            // SAFETY: the set is as large as is said.
            let result = unsafe { sched_getaffinity(0, size_of_val(&cores.0), cores.0.as_mut_ptr()) };
            (result == 0).then_some(cores)
        }

        /// The calling thread may run on these. If that is refused, it runs where it did.
        pub(super) fn allow_caller(&self) {
            // SAFETY: as above.
            unsafe { sched_setaffinity(0, size_of_val(&self.0), self.0.as_ptr()) };
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use super::Cores;

    pub(super) fn current() -> Option<usize> {
        None
    }

    impl Cores {
        pub(super) fn of_caller() -> Option<Cores> {
            None
        }

        pub(super) fn allow_caller(&self) {}
    }
}

use system::current;

impl Cores {
    fn only(core: usize) -> Cores {
        let mut cores = Cores([0; 16]);
        if let Some(word) = cores.0.get_mut(core / 64) {
            *word = 1 << (core % 64);
        }
        cores
    }
}
