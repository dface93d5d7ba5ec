//! Contended of mutexes, one after another: what contended locks do most of the time.
//!
//! The same rules as everywhere ([`crate::resource`]), over borrows of the parts they touch: so that
//! tables need not be looked up again after every store.

use super::Engine;
use super::commit::step;
use super::wait::close_gap;
use crate::id::TaskId;
use crate::operation::{OpKind, Operation, outcome};
use crate::resource::Request;
use crate::task::NOT_READY;

/// What locks and unlocks came to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Contended {
    /// This task's lock or unlock has been carried out: it goes on.
    Done(TaskId),
    /// This task is to go next, and what it announced is something else.
    Picked(TaskId),
    /// Who goes next cannot be told without asking: [`Engine::next`].
    Open,
}

impl Engine {
    /// Takes note that `task` locks or unlocks next. Then picks tasks, as
    /// [`next_at_once`](Self::next_at_once) does, and carries out their locks and unlocks until one
    /// of them can go on.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn lock_or_unlock(&mut self, task: TaskId, operation: Operation) -> Contended {
        debug_assert!(matches!(operation.kind, OpKind::Lock | OpKind::Unlock) && self.may_announce(task));
        let tasks = &mut self.tasks[..];
        tasks[task.index()].pending = operation;
        loop {
            // A trace that is full is left to others too: nothing here calls anything, so that what is
            // looked up stays in registers.
            let made = self.steps.len();
            if made >= self.fast_until || made == self.steps.capacity() {
                return Contended::Open;
            }
            let was_choice = self.ready.len() > 1;
            let mut at = 0;
            if was_choice {
                at = match &mut self.uniform {
                    Some(tape) => tape.below(self.ready.len() as u64) as usize,
                    // Nobody, if it is not ready.
                    None if self.goes_on.0 == self.current && made < self.goes_on.1 => {
                        tasks[self.current.index()].ready_at as usize
                    }
                    None => return Contended::Open,
                };
            }
            let Some(&picked) = self.ready.get(at) else { return Contended::Open };
            let task = &mut tasks[picked.index()];
            let Operation { site, resource, kind, .. } = task.pending;
            match kind {
                OpKind::Lock => {
                    let lock = Operation::new(OpKind::Lock, resource, site);
                    self.steps.push(step(picked, &lock, task.granted_by, was_choice));
                    task.granted_by = 0;
                    match self.resources[resource.index()].request(picked, tasks) {
                        Request::Granted => {
                            self.current = picked;
                            return Contended::Done(picked);
                        }
                        Request::Waits => {
                            tasks[picked.index()].ready_at = NOT_READY;
                            close_gap(&mut self.ready, at, tasks);
                        }
                        Request::WaitsUnusually => {
                            self.current = picked;
                            self.wait(picked);
                            return Contended::Open;
                        }
                    }
                }
                OpKind::Unlock => {
                    let unlock = Operation::new(OpKind::Unlock, resource, site);
                    self.steps.push(step(picked, &unlock, task.granted_by, was_choice));
                    task.granted_by = 0;
                    task.note_unlock();
                    self.current = picked;
                    if let Some(next) = self.resources[resource.index()].hand_on(tasks) {
                        tasks[next.index()].take_grant(outcome::OK, made + 1);
                        self.settle_next(next);
                    }
                    return Contended::Done(picked);
                }
                _ => {
                    self.current = picked;
                    self.next_was_choice = was_choice;
                    return Contended::Picked(picked);
                }
            }
        }
    }
}
