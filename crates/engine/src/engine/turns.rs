//! Turns of mutexes, one after another: what contended locks do most of the time.
//!
//! The same rules as everywhere ([`crate::resource`]), over borrows of the parts they touch: so that
//! tables need not be looked up again after every store.

use super::Engine;
use super::commit::step;
use crate::id::TaskId;
use crate::operation::{OpKind, Operation};
use crate::resource::Request;
use crate::task::NOT_READY;

/// What the turns of mutexes came to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Turns {
    /// This task's lock or unlock has been carried out: it goes on.
    Done(TaskId),
    /// This task is to go next, and what it announced is something else.
    Picked(TaskId),
    /// Who goes next cannot be told without asking: [`Engine::next`].
    Open,
}

impl Engine {
    /// Picks tasks, as [`next_at_once`](Self::next_at_once) does, and carries out their locks and
    /// unlocks until one of them can go on.
    #[inline(always)]
    pub fn take_turns(&mut self) -> Turns {
        let tasks = &mut self.tasks[..];
        loop {
            // A trace that is full is left to others too: nothing here calls anything, so that what is
            // looked up stays in registers.
            let made = self.steps.len();
            if made >= self.attention_at || made == self.steps.capacity() {
                return Turns::Open;
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
                    None => return Turns::Open,
                };
            }
            let Some(&picked) = self.ready.get(at) else { return Turns::Open };
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
                            return Turns::Done(picked);
                        }
                        Request::Waits => {
                            // As `remove_ready`, with its place known.
                            if let Some(last) = self.ready.last().copied() {
                                self.ready.swap_remove(at);
                                tasks[last.index()].ready_at = at as u32;
                                tasks[picked.index()].ready_at = NOT_READY;
                            }
                        }
                        Request::WaitsUnusually => {
                            self.current = picked;
                            self.wait(picked);
                            return Turns::Open;
                        }
                    }
                }
                OpKind::Unlock => {
                    let unlock = Operation::new(OpKind::Unlock, resource, site);
                    self.steps.push(step(picked, &unlock, task.granted_by, was_choice));
                    task.granted_by = 0;
                    task.note_unlock();
                    self.current = picked;
                    self.commit_unlock(resource);
                    return Turns::Done(picked);
                }
                _ => {
                    self.current = picked;
                    self.next_was_choice = was_choice;
                    return Turns::Picked(picked);
                }
            }
        }
    }
}
