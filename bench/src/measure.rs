//! What is read off a run: CPU time and allocations.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

static COUNTING: AtomicBool = AtomicBool::new(false);
static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

/// The system's allocator, counting only while [`allocations`] runs. A counter that were always
/// on would cost a locked instruction per allocation and so burden the very contestants that
/// allocate.
pub struct CountingAllocator;

fn count() {
    if COUNTING.load(Ordering::Relaxed) {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
    }
}

// SAFETY: every call is handed to `System` unchanged; counting touches two atomics and
// neither allocates nor unwinds.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller's promise to us is the one `System` asks for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        count();
        // SAFETY: as above.
        unsafe { System.realloc(block, layout, new_size) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(block, layout) }
    }
}

/// Allocations (and reallocations) made by `work` on any thread, with its result. Zero unless
/// [`CountingAllocator`] is the global allocator.
pub fn allocations<R>(work: impl FnOnce() -> R) -> (u64, R) {
    ALLOCATIONS.store(0, Ordering::Relaxed);
    COUNTING.store(true, Ordering::Relaxed);
    let result = work();
    COUNTING.store(false, Ordering::Relaxed);
    (ALLOCATIONS.load(Ordering::Relaxed), result)
}

/// CPU time that the process spends in `work`, with its result. The process's and not the
/// thread's, so that a contestant cannot hide work on another thread; CPU and not wall time,
/// so that other processes disturb less.
pub fn cpu_time<R>(work: impl FnOnce() -> R) -> (Duration, R) {
    let start = process_cpu_clock();
    let result = work();
    (process_cpu_clock() - start, result)
}

/// Wall-clock time of `work`, with its result: for what is to be spread over cores.
pub fn wall_time<R>(work: impl FnOnce() -> R) -> (Duration, R) {
    let start = Instant::now();
    let result = work();
    (start.elapsed(), result)
}

/// The most memory that this process has ever had, in KiB.
pub fn peak_memory_kib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().trim_end_matches(" kB").trim().parse().ok()
}

/// CPU time that this process has spent.
pub fn process_cpu_clock() -> Duration {
    cpu_clock(libc::CLOCK_PROCESS_CPUTIME_ID)
}

/// CPU time that this thread has spent.
pub fn thread_cpu_clock() -> Duration {
    cpu_clock(libc::CLOCK_THREAD_CPUTIME_ID)
}

fn cpu_clock(clock: libc::clockid_t) -> Duration {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `now` is a valid place for the kernel to write a timespec to.
    let status = unsafe { libc::clock_gettime(clock, &mut now) };
    assert_eq!(status, 0, "the CPU clock cannot be read");
    Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
}

/// While it lives, what is written to stderr goes nowhere.
pub struct Silenced(libc::c_int);

impl Silenced {
    /// From now on.
    pub fn begin() -> Self {
        // SAFETY: descriptors are numbers, and the path is a constant that ends with zero. Where a call fails,
        // stderr stays as it is.
        unsafe {
            let kept = libc::dup(libc::STDERR_FILENO);
            let nowhere = libc::open(c"/dev/null".as_ptr(), libc::O_WRONLY);
            if kept >= 0 && nowhere >= 0 {
                libc::dup2(nowhere, libc::STDERR_FILENO);
                libc::close(nowhere);
            }
            Silenced(kept)
        }
    }
}

impl Drop for Silenced {
    fn drop(&mut self) {
        if self.0 >= 0 {
            // SAFETY: the descriptor is ours, and nobody else closes it.
            unsafe {
                libc::dup2(self.0, libc::STDERR_FILENO);
                libc::close(self.0);
            }
        }
    }
}
