//! Guests: tasks without a thread of their own, of which one task, their host, runs a piece at a time.
//!
//! An event loop is such a host. A piece, from where a guest is resumed to where it waits, is one step: what is
//! announced for it is an operation that stands for all that it touches, and it is carried out by the host's thread.

use drawloom_engine::finding::{FindingKind, Panic};
use drawloom_engine::{Next, OpKind, Operation, ResourceId, Site, Status, Stop, TaskId};

use crate::runtime::{Baton, TornDown};

/// What a guest does next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Errand {
    /// It runs a piece, which touches what the operation says; before that it does something else, if given.
    Piece(Operation, Option<First>),
    /// It is over.
    Exit,
}

/// What a guest does before a piece.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum First {
    /// It sleeps until an instant.
    Sleep(u64),
    /// It lets others go first.
    GiveWay,
}

impl Baton {
    /// Whether a piece of a guest runs.
    #[inline]
    pub fn is_guest(self) -> bool {
        let inner = self.inner();
        inner.running != TaskId::MAIN && inner.guests.get(inner.running.index()).is_some_and(Option::is_some)
    }

    /// A guest, which comes into being by the last step of the running task.
    pub fn invite(self, name: Option<&str>, site: Site, errand: Errand) -> TaskId {
        let inner = self.inner();
        let guest = inner.engine.spawn(inner.running, site, name.map(Into::into), &mut *inner.strategy);
        inner.enlist(guest, Box::new(|| None));
        inner.bodies[guest.index()] = None;
        inner.guests.resize(inner.engine.tasks().len(), None);
        inner.guests[guest.index()] = Some(errand);
        guest
    }

    /// The piece of `guest` is over, and what comes next is known.
    pub fn go_on(self, guest: TaskId, errand: Errand) {
        self.inner().guests[guest.index()] = Some(errand);
        // Who stands still has been unwound, and does nothing more.
        if self.inner().engine.task(guest).status != Status::Waiting {
            self.announce(guest);
        }
    }

    /// The piece of `guest` is over, and it waits in what `operation` shows.
    pub fn suspend(self, guest: TaskId, operation: Operation) {
        self.inner().engine.suspend(guest, operation);
    }

    /// The last step has ended the wait of `guest`.
    pub fn wake(self, guest: TaskId, errand: Errand) {
        let inner = self.inner();
        inner.guests[guest.index()] = Some(errand);
        inner.engine.wake(guest);
    }

    /// Main is done: guests that still sleep are not waited for.
    pub fn dismiss_guests(self) {
        let inner = self.inner();
        for task in (0..inner.guests.len() as u32).map(TaskId) {
            let sleeps = inner.engine.task(task).status == Status::Disabled;
            if inner.guests[task.index()].is_some() && sleeps {
                inner.engine.abandon_wait(task);
                inner.engine.bury(task);
            }
        }
    }

    /// A guest has failed.
    pub fn fail_guest(self, guest: TaskId, panic: Panic) {
        self.inner().engine.fail(FindingKind::Panic(Box::new(panic)), guest);
    }

    /// The guest whose piece is to be run now; or the host, when what it has announced is carried out.
    pub fn next_guest(self, host: Operation) -> Result<TaskId, TornDown> {
        let inner = self.inner();
        inner.running = TaskId::MAIN;
        if inner.engine.is_tearing_down() {
            return Err(TornDown);
        }
        if inner.engine.task(TaskId::MAIN).pending != host {
            inner.engine.announce(TaskId::MAIN, host);
        }
        loop {
            let inner = self.inner();
            match inner.engine.next(&mut *inner.strategy) {
                Next::Stop => {
                    self.hear_of_waits();
                    self.inner().end();
                    return Err(TornDown);
                }
                Next::Settle(task) => self.announce(task),
                Next::Run(task) => {
                    let operation = inner.engine.task(task).pending;
                    inner.engine.carry_out(task, operation, &mut *inner.strategy);
                    match operation.kind {
                        _ if task == TaskId::MAIN => return Ok(task),
                        OpKind::Exit => inner.engine.bury(task),
                        // It has slept, or given way.
                        OpKind::Sleep | OpKind::Yield => {
                            if let Some(Errand::Piece(_, first)) = &mut inner.guests[task.index()] {
                                *first = None;
                            }
                            self.announce(task);
                        }
                        _ => {
                            inner.running = task;
                            return Ok(task);
                        }
                    }
                }
            }
        }
    }

    /// Whether nobody but main and its guests is left: all of them run on one thread.
    pub fn has_guests_alone(self) -> bool {
        let inner = self.inner();
        let is_guest = |task: TaskId| inner.guests.get(task.index()).is_some_and(Option::is_some);
        let mut others = (0..inner.engine.tasks().len() as u32).map(TaskId);
        others.all(|task| {
            let t = inner.engine.task(task);
            task == TaskId::MAIN || t.environment || is_guest(task) || t.status == Status::Finished
        })
    }

    /// The piece that runs waits in `operation`, by means of threads, where [nobody else](Self::has_guests_alone) is left:
    /// the thread stands still, and all guests with it. The caller is to unwind.
    pub fn stand_still(self, operation: Operation) -> TornDown {
        let inner = self.inner();
        inner.engine.stand_still(inner.running, operation);
        // What the piece holds is still held, until it is unwound.
        self.hear_of_waits();
        TornDown
    }

    /// A piece is one step, and cannot be cut in two by another.
    #[cold]
    pub(crate) fn refuse_within_a_piece(self, kind: OpKind) -> TornDown {
        self.stop(Stop::Unsupported(format!("`{}` of a thread within an event loop", kind.word()).into()))
    }

    fn announce(self, guest: TaskId) {
        let inner = self.inner();
        let operation = match inner.guests[guest.index()] {
            Some(Errand::Piece(piece, Some(First::Sleep(until)))) => {
                Operation::new(OpKind::Sleep, ResourceId::NONE, piece.site).with_arg(until)
            }
            Some(Errand::Piece(piece, Some(First::GiveWay))) => {
                Operation::new(OpKind::Yield, ResourceId::NONE, piece.site)
            }
            Some(Errand::Piece(piece, None)) => piece,
            Some(Errand::Exit) | None => Operation::new(OpKind::Exit, ResourceId::NONE, Site::UNKNOWN),
        };
        inner.engine.announce(guest, operation);
    }
}
