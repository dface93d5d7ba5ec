//! Buffers, queues and stacks whose two sides lose count of each other.

use std::sync::Arc;

use super::words::{Condition, Lock, Var, join, spawn, zeroes};

/// Producer and consumer count turns instead of items: right only if they alternate perfectly.
pub(super) fn circular_buffer(fixed: bool) {
    struct Buffer {
        send: Var,
        receive: Var,
        first: Var,
        next: Var,
        items: [Var; 10],
        lock: Lock,
    }
    let buffer = Arc::new(Buffer {
        send: Var::new(1),
        receive: Var::new(0),
        first: Var::new(0),
        next: Var::new(0),
        items: zeroes!(),
        lock: Lock::new(),
    });
    let producer = spawn(&buffer, move |buffer| {
        let mut sent = 0;
        for turn in 0..7 {
            let _held = buffer.lock.lock();
            if buffer.send.read() == 1 {
                let next = buffer.next.read();
                buffer.items[next as usize].write(if fixed { sent } else { turn });
                buffer.next.write((next + 1) % 10);
                buffer.send.write(0);
                buffer.receive.write(1);
                sent += 1;
            }
        }
    });
    let consumer = spawn(&buffer, move |buffer| {
        let mut received = 0;
        for turn in 0..7 {
            let _held = buffer.lock.lock();
            if buffer.receive.read() == 1 {
                let (next, first) = (buffer.next.read(), buffer.first.read());
                let mut value = -1;
                if next > 0 && first < 10 {
                    buffer.first.write(first + 1);
                    value = buffer.items[first as usize].read();
                }
                assert_eq!(value, if fixed { received } else { turn }, "an item out of turn");
                buffer.receive.write(0);
                buffer.send.write(1);
                received += 1;
            }
        }
    });
    join([producer, consumer]);
}

/// As [`circular_buffer`], with a longer queue and a second record of what was put into it.
pub(super) fn queue(fixed: bool) {
    struct Queue {
        enqueue: Var,
        dequeue: Var,
        head: Var,
        tail: Var,
        amount: Var,
        elements: [Var; 21],
        stored: [Var; 21],
        lock: Lock,
    }
    impl Queue {
        fn put(&self, value: i64) {
            let tail = self.tail.read();
            self.elements[tail as usize].write(value);
            self.amount.plus(1);
            self.tail.write(if tail == 20 { 1 } else { tail + 1 });
        }

        fn get(&self) -> i64 {
            let head = self.head.read();
            let value = self.elements[head as usize].read();
            self.amount.plus(-1);
            self.head.write(if head == 20 { 1 } else { head + 1 });
            value
        }
    }
    let queue = Arc::new(Queue {
        enqueue: Var::new(1),
        dequeue: Var::new(0),
        head: Var::new(0),
        tail: Var::new(0),
        amount: Var::new(0),
        elements: zeroes!(),
        stored: zeroes!(),
        lock: Lock::new(),
    });
    let producer = spawn(&queue, move |queue| {
        {
            let _held = queue.lock.lock();
            queue.put(0);
            queue.stored[0].write(0);
        }
        let mut value = 0;
        for turn in 1..20 {
            let _held = queue.lock.lock();
            if queue.enqueue.read() == 1 {
                value += 1;
                queue.put(value);
                queue.stored[if fixed { value as usize } else { turn }].write(value);
                queue.enqueue.write(0);
                queue.dequeue.write(1);
            }
        }
    });
    let consumer = spawn(&queue, move |queue| {
        let mut taken = 0;
        for turn in 0..20 {
            let _held = queue.lock.lock();
            if queue.dequeue.read() == 1 {
                let value = queue.get();
                assert_eq!(value, queue.stored[if fixed { taken } else { turn }].read(), "an item out of turn");
                queue.dequeue.write(0);
                queue.enqueue.write(1);
                taken += 1;
            }
        }
    });
    join([producer, consumer]);
}

/// The flag says that there was something once, not that there is something.
pub(super) fn stack(fixed: bool) {
    struct Stack {
        top: Var,
        flag: Var,
        items: [Var; 10],
        lock: Lock,
    }
    let stack = Arc::new(Stack { top: Var::new(0), flag: Var::new(0), items: zeroes!(), lock: Lock::new() });
    let pusher = spawn(&stack, |stack| {
        for item in 0..10 {
            let _held = stack.lock.lock();
            let top = stack.top.read();
            assert!(top < 10, "overflow");
            stack.items[top as usize].write(item);
            stack.top.write(top + 1);
            stack.flag.write(1);
        }
    });
    let popper = spawn(&stack, move |stack| {
        for _ in 0..10 {
            let _held = stack.lock.lock();
            if stack.flag.read() == 1 {
                let top = stack.top.read();
                if fixed && top == 0 {
                    continue;
                }
                assert!(top > 0, "underflow");
                stack.top.write(top - 1);
                stack.items[top as usize - 1].read();
            }
        }
    });
    join([pusher, popper]);
}

/// A consumer gives up the lock between seeing an item and taking it.
pub(super) fn bounded_buffer(fixed: bool) {
    struct Buffer {
        head: Var,
        rear: Var,
        producers_waiting: Var,
        consumers_waiting: Var,
        lock: Lock,
        not_full: Condition,
        not_empty: Condition,
    }
    const SLOTS: i64 = 3;
    impl Buffer {
        /// Where the next item goes, if there is room.
        fn room(&self) -> Option<i64> {
            let next = (self.rear.read() + 1) % SLOTS;
            (next != self.head.read()).then_some(next)
        }

        /// Where the oldest item is, if there is any.
        fn item(&self) -> Option<i64> {
            let head = self.head.read();
            (head != self.rear.read()).then_some(head)
        }
    }
    let put = |buffer: &Buffer| {
        for _ in 0..4 {
            let mut held = buffer.lock.lock();
            let mut room = buffer.room();
            if room.is_none() {
                buffer.producers_waiting.plus(1);
                loop {
                    room = buffer.room();
                    if room.is_some() {
                        break;
                    }
                    held = buffer.not_full.wait(held);
                }
                buffer.producers_waiting.plus(-1);
            }
            buffer.rear.write(room.unwrap_or_default());
            if buffer.consumers_waiting.read() > 0 {
                buffer.not_empty.signal();
            }
            drop(held);
        }
    };
    let get = move |buffer: &Buffer| {
        for _ in 0..4 {
            let mut held = buffer.lock.lock();
            if buffer.item().is_none() {
                buffer.consumers_waiting.plus(1);
                while buffer.item().is_none() {
                    held = buffer.not_empty.wait(held);
                }
                buffer.consumers_waiting.plus(-1);
            }
            if !fixed {
                drop(held);
                held = buffer.lock.lock();
            }
            let item = buffer.item();
            assert!(item.is_some(), "nothing there");
            buffer.head.write((item.unwrap_or_default() + 1) % SLOTS);
            if buffer.producers_waiting.read() > 0 {
                buffer.not_full.signal();
            }
            drop(held);
        }
    };
    let buffer = Arc::new(Buffer {
        head: Var::new(0),
        rear: Var::new(0),
        producers_waiting: Var::new(0),
        consumers_waiting: Var::new(0),
        lock: Lock::new(),
        not_full: Condition::new(),
        not_empty: Condition::new(),
    });
    join([spawn(&buffer, put), spawn(&buffer, put), spawn(&buffer, get), spawn(&buffer, get)]);
}
