//! SafeStack, Vyukov's lock-free stack: pops that meet an element a second time. Seven preemptions.

use std::sync::Arc;

use super::words::{Lock, Var, join, spawn, spin, zeroes};

struct Stack {
    head: Var,
    count: Var,
    next: [Var; 3],
    value: [Var; 3],
    lock: Option<Lock>,
}

impl Stack {
    fn pop(&self) -> Option<usize> {
        let _held = self.lock.as_ref().map(Lock::lock);
        while self.count.read() > 1 {
            let head = self.head.read();
            let next = self.next[head as usize].swap(-1);
            if next < 0 {
                spin();
            } else if self.head.replace(head, next).is_ok() {
                self.count.atomic_add(-1);
                return Some(head as usize);
            } else {
                self.next[head as usize].swap(next);
            }
        }
        None
    }

    fn push(&self, element: usize) {
        let _held = self.lock.as_ref().map(Lock::lock);
        let mut head = self.head.read();
        loop {
            self.next[element].write(head);
            match self.head.replace(head, element as i64) {
                Ok(()) => break,
                Err(seen) => head = seen,
            }
        }
        self.count.atomic_add(1);
    }
}

/// Two tasks hold one element.
pub(super) fn safe_stack(fixed: bool) {
    let stack = Arc::new(Stack {
        head: Var::new(0),
        count: Var::new(3),
        next: [Var::new(1), Var::new(2), Var::new(-1)],
        value: zeroes!(),
        // The fix: a lock around each operation.
        lock: fixed.then(Lock::new),
    });
    let work = |id: i64| {
        move |stack: &Stack| {
            for _ in 0..2 {
                let element = loop {
                    match stack.pop() {
                        Some(element) => break element,
                        None => spin(),
                    }
                };
                stack.value[element].write(id);
                assert_eq!(stack.value[element].read(), id, "two tasks hold one element");
                stack.push(element);
            }
        }
    };
    join([0, 1, 2].map(|id| spawn(&stack, work(id))));
}
