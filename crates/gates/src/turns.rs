//! Turns: tasks that do alone whatever they do between two turns.
//!
//! A turn is a step on one resource, on which all turns conflict: the order of turns is what is chosen, and all that is.
//! What a task does to other resources meanwhile is carried out at once, and is no step. Who has to wait is done with its
//! turn, and needs another one to go on. What concerns tasks rather than resources, such as to spawn or to join one, is a step,
//! and ends a turn as well.

use drawloom_engine::{Committed, OpKind, Operation, ResourceId, Site, TaskId, outcome};

use crate::runtime::{Baton, TornDown};

/// How tasks take turns in an execution.
pub(crate) struct Turns {
    /// What turns are steps on.
    resource: ResourceId,
    /// Who waits until a lock is free.
    resting: Vec<TaskId>,
    /// By resource: who has used it last, other than by an access.
    users: Vec<TaskId>,
    /// Somebody had to wait, or might have had to if others had come first.
    in_the_way: bool,
}

impl Turns {
    fn note_use(&mut self, task: TaskId, operation: &Operation) {
        if operation.resource == ResourceId::NONE || operation.kind.is_told() {
            return;
        }
        let at = operation.resource.index();
        if self.users.len() <= at {
            self.users.resize(at + 1, TaskId::NONE);
        }
        let first = std::mem::replace(&mut self.users[at], task);
        self.in_the_way |= first != TaskId::NONE && first != task;
    }
}

/// The operand of a turn by which a task goes on that had to wait.
pub const GOES_ON: u64 = 0;

impl Baton {
    /// From now on all tasks but main take turns, by steps on `resource`.
    pub fn take_turns(self, resource: ResourceId) {
        self.inner().turns = Some(Turns { resource, resting: Vec::new(), users: Vec::new(), in_the_way: false });
    }

    /// Whether the running task takes turns with others, and is not being unwound.
    #[inline]
    pub(crate) fn takes_turns(self) -> bool {
        let inner = self.inner();
        inner.turns.is_some() && inner.running != TaskId::MAIN && !inner.engine.is_tearing_down()
    }

    /// Whether tasks have been in each other's way in this execution, or might have been: somebody had to wait for something else
    /// than its turn, or several have used one lock.
    pub fn were_in_the_way(self) -> bool {
        self.inner().turns.as_ref().is_some_and(|turns| turns.in_the_way)
    }

    /// Ends the turn of the running task, and waits for its next one. `what` is told to strategies, and kept in the trace.
    pub fn turn(self, what: u64, site: Site) -> Result<(), TornDown> {
        let Some(turns) = self.inner().turns.as_ref().filter(|_| self.takes_turns()) else { return Ok(()) };
        let operation = Operation::new(OpKind::CellWrite, turns.resource, site).with_arg(what);
        self.step_in_sight(operation).map(|_| ())
    }

    pub(crate) fn step_between_turns(self, operation: Operation) -> Result<u32, TornDown> {
        match operation.kind {
            OpKind::Exit => self.step_in_sight(operation),
            // Whether they can be carried out, or what they come to, depends on steps.
            OpKind::Join | OpKind::IsFinished | OpKind::Choose | OpKind::Sleep | OpKind::Yield => {
                let result = self.step_in_sight(operation)?;
                self.take_another_turn(operation.site)?;
                Ok(result)
            }
            _ => self.act(operation),
        }
    }

    /// Ends the turn of the running task, which goes on by another one.
    pub fn take_another_turn(self, site: Site) -> Result<(), TornDown> {
        if !self.takes_turns() {
            return Ok(());
        }
        self.note_in_the_way();
        self.turn(GOES_ON, site)
    }

    fn note_in_the_way(self) {
        self.inner().turns.iter_mut().for_each(|turns| turns.in_the_way = true);
    }

    /// Carries out `operation` at once, if it need not wait; else as soon as it need not, and by a turn of its own.
    fn act(self, operation: Operation) -> Result<u32, TornDown> {
        let inner = self.inner();
        let me = inner.running;
        let deadline = inner.engine.deadline(me);
        inner.turns.iter_mut().for_each(|turns| turns.note_use(me, &operation));
        inner.engine.announce(me, operation);
        loop {
            let inner = self.inner();
            let rests = inner.engine.would_rest(&operation);
            if rests {
                inner.engine.rest(me);
                inner.turns.iter_mut().for_each(|turns| turns.resting.push(me));
            } else if !inner.engine.is_waiting(me) {
                let committed = inner.engine.carry_out_unseen(me, operation, &mut *inner.strategy);
                self.wake_who_rests();
                if let Committed::Done(result) = committed {
                    return Ok(result);
                }
            }
            self.note_in_the_way();
            let inner = self.inner();
            let next = inner.engine.next(&mut *inner.strategy);
            self.let_others_run(next, me)?;
            let result = self.inner().engine.result(me);
            self.inner().turns.iter_mut().for_each(|turns| turns.resting.retain(|task| *task != me));
            self.take_another_turn(operation.site)?;
            if !rests || result != outcome::OK {
                return Ok(result);
            }
            let inner = self.inner();
            inner.engine.set_deadline(me, deadline);
            inner.engine.announce(me, operation);
        }
    }

    /// Ends the rest of those whose locks are free, or whose time was up.
    fn wake_who_rests(self) {
        let inner = self.inner();
        let Some(turns) = &mut inner.turns else { return };
        let engine = &mut inner.engine;
        turns.resting.retain(|task| {
            let rests = engine.is_waiting(*task) && engine.would_rest(&engine.task(*task).pending);
            if !rests {
                engine.end_rest(*task);
            }
            rests
        });
    }
}
