//! Things that begin and end.

use drawloom::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use drawloom::sync::{Arc, Mutex};
use drawloom::thread;

struct Segment {
    handles: AtomicUsize,
    unmapped: AtomicUsize,
    dirty: AtomicBool,
}

impl Segment {
    fn write(&self) {
        self.dirty.store(true, Ordering::Relaxed);
    }

    fn release(&self) {
        self.handles.fetch_sub(1, Ordering::SeqCst);
        if self.handles.load(Ordering::SeqCst) == 0 {
            self.unmap();
        }
    }

    fn unmap(&self) {
        self.unmapped.fetch_add(1, Ordering::SeqCst);
    }
}

/// Both handles take themselves for the last one.
pub fn last_handle() {
    let segment = Arc::new(Segment {
        handles: AtomicUsize::new(2),
        unmapped: AtomicUsize::new(0),
        dirty: AtomicBool::new(false),
    });
    let theirs = segment.clone();
    let other = thread::spawn(move || {
        theirs.write();
        theirs.release();
    });
    segment.write();
    segment.release();
    other.join().unwrap();
    assert_eq!(segment.unmapped.load(Ordering::SeqCst), 1, "unmapped once");
}

#[derive(Default)]
struct Registry {
    leader: Mutex<Option<usize>>,
    epochs: AtomicUsize,
}

impl Registry {
    fn has_leader(&self) -> bool {
        self.leader.lock().unwrap().is_some()
    }

    fn promote(&self, node: usize) {
        *self.leader.lock().unwrap() = Some(node);
        self.epochs.fetch_add(1, Ordering::Relaxed);
    }
}

struct Node {
    id: usize,
    leading: AtomicBool,
}

impl Node {
    fn campaign(&self, registry: &Registry) {
        if !registry.has_leader() {
            registry.promote(self.id);
            self.leading.store(true, Ordering::SeqCst);
        }
    }
}

/// Each sees that there is no leader, and becomes one.
pub fn two_leaders() {
    let registry = Arc::new(Registry::default());
    let nodes: Vec<_> = (0..2).map(|id| Arc::new(Node { id, leading: AtomicBool::new(false) })).collect();
    let campaigns: Vec<_> = nodes
        .iter()
        .map(|node| {
            let (node, registry) = (node.clone(), registry.clone());
            thread::spawn(move || node.campaign(&registry))
        })
        .collect();
    for campaign in campaigns {
        campaign.join().unwrap();
    }
    let leading = nodes.iter().filter(|node| node.leading.load(Ordering::SeqCst)).count();
    assert_eq!(leading, 1, "in epoch {}", registry.epochs.load(Ordering::Relaxed));
}
