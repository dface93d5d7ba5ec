//! A queue whose producers take a slot first and fill it later: behind a slot that is not filled yet, an item that has
//! been there for long is not found.

use drawloom::history::Watch;
use drawloom::history::model::{ContainerOp, ContainerRet, FifoQueue};
use drawloom::sync::{Arc, Mutex};
use drawloom::thread;

/// What is in a slot.
enum Slot {
    Taken,
    Filled(u32),
    Emptied,
}

/// A queue without a bound.
#[derive(Default)]
pub struct SlotQueue(Mutex<Vec<Slot>>);

impl SlotQueue {
    /// Adds an item, in two steps.
    pub fn push_buggy(&self, item: u32) {
        let mut slots = self.0.lock().unwrap();
        let mine = slots.len();
        slots.push(Slot::Taken);
        drop(slots); // to make the item elsewhere, say
        self.0.lock().unwrap()[mine] = Slot::Filled(item);
    }

    /// Adds an item, in one step.
    pub fn push_fixed(&self, item: u32) {
        self.0.lock().unwrap().push(Slot::Filled(item));
    }

    /// Takes the oldest item.
    pub fn pop(&self) -> Option<u32> {
        let mut slots = self.0.lock().unwrap();
        let oldest = slots.iter_mut().find(|slot| !matches!(slot, Slot::Emptied))?;
        let Slot::Filled(item) = *oldest else { return None };
        *oldest = Slot::Emptied;
        Some(item)
    }
}

/// Two clients: one adds an item; the other adds one, and then takes one.
pub fn is_a_queue(push: fn(&SlotQueue, u32)) {
    let (watch, queue) = (Watch::new(FifoQueue::new()), Arc::new(SlotQueue::default()));
    let (mut mine, mut other) = (watch.client(), watch.client());
    let theirs = queue.clone();
    let other = thread::spawn(move || {
        other.call(ContainerOp::Insert(1), || {
            push(&theirs, 1);
            ContainerRet::Inserted
        });
    });
    mine.call(ContainerOp::Insert(2), || {
        push(&queue, 2);
        ContainerRet::Inserted
    });
    mine.call(ContainerOp::Remove, || queue.pop().map_or(ContainerRet::Empty, ContainerRet::Removed));
    other.join().unwrap();
}
