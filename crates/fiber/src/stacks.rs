//! How many stacks a process can have, and what is said when there are no more.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use drawloom_engine::finding::OutOfStacks;

/// Stacks of the whole process, those of leaked tasks included.
static STACKS: AtomicUsize = AtomicUsize::new(0);

/// Mappings of memory that a stack takes: itself, and the page below that catches an overflow.
const MAPPINGS: u64 = 2;

/// Why there is no stack for another task.
#[derive(Debug)]
pub(crate) enum NoStack {
    /// The process would have more mappings than the system allows.
    Mappings(u64),
    /// The system has refused.
    System(std::io::Error),
}

/// Stands for one stack.
pub(crate) struct Counted(());

impl Counted {
    pub(crate) fn new() -> Result<Counted, NoStack> {
        let before = STACKS.fetch_add(1, Ordering::Relaxed) as u64;
        let counted = Counted(());
        match most_mappings() {
            // The allocator and whatever else the process needs must not be the first to go without.
            Some(most) if (before + 1) * MAPPINGS > most - most / 16 => Err(NoStack::Mappings(most)),
            _ => Ok(counted),
        }
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        STACKS.fetch_sub(1, Ordering::Relaxed);
    }
}

impl NoStack {
    pub(crate) fn told(self) -> OutOfStacks {
        let reason = match self {
            NoStack::Mappings(most) => format!(
                "The system allows a process {most} memory mappings (`vm.max_map_count`), and each stack takes {MAPPINGS}."
            ),
            NoStack::System(error) => format!("The system has no memory for another: {error}."),
        };
        OutOfStacks { stacks: STACKS.load(Ordering::Relaxed) as u64, reason }
    }
}

/// The mappings that the system allows a process, where that is known.
fn most_mappings() -> Option<u64> {
    static MOST: OnceLock<Option<u64>> = OnceLock::new();
    *MOST.get_or_init(|| std::fs::read_to_string("/proc/sys/vm/max_map_count").ok()?.trim().parse().ok())
}
