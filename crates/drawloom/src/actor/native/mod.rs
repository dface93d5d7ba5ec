//! Processes in production, and in tests outside of an exploration: each has a thread of the operating system, or is a task of
//! a [`Runtime`].
//!
//! All that ties processes to each other (links, monitors, names, exits) is under one lock, and nothing that a user wrote
//! runs while it is held. A message goes around that lock: it needs the mailbox of its receiver and, to wake it, its [`Slot`].
//!
//! A process on a thread waits there (`slot.rs`). A task returns `Pending` and is woken (`tasks.rs`); nothing else differs.
//!
//! An exit signal cannot stop a thread. It dooms the process instead: from then on others find it dead, and its thread unwinds at
//! its next call into the backend. Links and monitors are told when the thread is through with its destructors, so that nothing a
//! dead process does comes after the news of its end.

mod relations;
mod slot;
mod tasks;
mod timers;
#[cfg(feature = "actors-tokio")]
mod tokio;

use std::cell::RefCell;
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, Weak};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

use self::relations::Relations;
use self::slot::{Quiet, Slot};
pub use self::tasks::Runtime;
use self::timers::Timers;
use super::backend::{Backend, Body, Demonitored, Look, Place, Tie, Whom};
use super::pid::{AnyPid, ProcessId};
use super::process::{Core, Exiting, unwind};
use super::reason::{BadName, ExitReason, NoProc, Unnamed};
use super::signal::{MonitorRef, TimerRef};

/// Each process has a thread.
pub(crate) fn on_threads() -> Arc<Native> {
    native(None)
}

/// Each process is a task.
pub(crate) fn on_tasks(runtime: Arc<dyn Runtime>) -> Arc<Native> {
    native(Some(runtime))
}

fn native(runtime: Option<Arc<dyn Runtime>>) -> Arc<Native> {
    Arc::new_cyclic(|myself: &Weak<Native>| Native {
        began: runtime.as_deref().map_or_else(Instant::now, Runtime::now),
        slots: RwLock::default(),
        relations: Mutex::default(),
        quiet: Arc::default(),
        timers: Timers::new(myself.clone(), runtime.clone()),
        runtime,
        myself: myself.clone(),
    })
}

/// The processes of one system.
pub(crate) struct Native {
    /// Whose tasks the processes are, if they have no threads.
    runtime: Option<Arc<dyn Runtime>>,
    began: Instant,
    /// By which those are woken that live.
    slots: RwLock<HashMap<ProcessId, Arc<Slot>>>,
    relations: Mutex<Relations>,
    quiet: Arc<Quiet>,
    timers: Timers,
    myself: Weak<Native>,
}

/// The process that a thread runs; the last, where one system runs within another.
struct Here {
    native: *const Native,
    process: ProcessId,
    slot: Arc<Slot>,
}

/// For as long as this lives, the thread runs that process.
struct Within;

impl Within {
    fn of(native: &Native, process: &AnyPid, slot: &Arc<Slot>) -> Within {
        let here = Here { native, process: process.id(), slot: Arc::clone(slot) };
        HERE.with(|all| all.borrow_mut().push(here));
        Within
    }
}

impl Drop for Within {
    fn drop(&mut self) {
        // The thread may be past its destructors of such.
        let _ = HERE.try_with(|all| all.borrow_mut().pop());
    }
}

thread_local! {
    static HERE: RefCell<Vec<Here>> = const { RefCell::new(Vec::new()) };
}

impl Native {
    /// The time by which timers go.
    fn instant(&self) -> Instant {
        self.runtime.as_deref().map_or_else(Instant::now, Runtime::now)
    }

    fn relations(&self) -> MutexGuard<'_, Relations> {
        self.relations.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn slot(&self, of: ProcessId) -> Option<Arc<Slot>> {
        self.slots.read().unwrap_or_else(PoisonError::into_inner).get(&of).cloned()
    }

    /// The process that calls.
    fn caller(&self) -> Option<(ProcessId, Arc<Slot>)> {
        let is_of_mine = |here: &&Here| std::ptr::eq(here.native, self);
        // The thread may be past its destructors of such.
        HERE.try_with(|all| all.borrow().iter().rfind(is_of_mine).map(|here| (here.process, Arc::clone(&here.slot))))
            .ok()
            .flatten()
    }

    /// A process takes a step: if a signal was fatal to it, this is where it ends.
    fn step(&self) {
        let Some((process, slot)) = self.caller() else { return };
        if slot.is_doomed() && !thread::panicking() {
            let fatal = self.relations().fatal(process);
            unwind(Exiting(fatal.unwrap_or(ExitReason::Killed)));
        }
    }

    /// What was posted at `to` by `from` arrives.
    fn deliver(&self, from: ProcessId, to: &AnyPid) {
        to.0.arrive(from);
        if let Some(slot) = self.slot(to.id()) {
            slot.notify(&self.quiet);
        }
    }

    fn doom(&self, relations: &mut Relations, whom: ProcessId, reason: ExitReason) {
        if relations.doom(whom, reason) {
            if let Some(slot) = self.slot(whom) {
                slot.doom(&self.quiet);
            }
        }
    }

    /// An exit signal, of a linked process that has ended or of `exit/2`.
    fn exit_signal(&self, relations: &mut Relations, from: Option<&AnyPid>, to: &AnyPid, reason: ExitReason) {
        if relations.takes_exit_as_message(to.id()) {
            relations.post_exit(from, to, reason);
            self.deliver(from.map_or(ProcessId::OUTSIDE, AnyPid::id), to);
        } else if !reason.is_normal() {
            self.doom(relations, to.id(), reason);
        }
    }

    fn down(&self, relations: &Relations, from: &AnyPid, to: &AnyPid, monitor: MonitorRef, reason: ExitReason) {
        relations.post_down(Some(from), to, monitor, reason);
        self.deliver(from.id(), to);
    }

    /// Lets the process run in this thread, to its end.
    fn drive(&self, me: &AnyPid, slot: &Arc<Slot>, body: Body) -> ExitReason {
        let _within = Within::of(self, me, slot);
        let mut future = body();
        let waker = Waker::from(slot::Wakes::of(slot, &self.quiet));
        let mut context = Context::from_waker(&waker);
        let returned = loop {
            let seen = slot.seen();
            if slot.is_doomed() {
                break None;
            }
            // Panics are caught within.
            if let Poll::Ready(reason) = future.as_mut().poll(&mut context) {
                break Some(reason);
            }
            // It waits for something else than a message.
            slot.wait(seen, None, &self.quiet);
        };
        self.bury(me, future, returned)
    }

    /// The process does nothing any more: its destructors run, and then others hear of its end.
    fn bury<F>(&self, me: &AnyPid, future: F, returned: Option<ExitReason>) -> ExitReason {
        me.core().end();
        // Destructors may panic, and what they ask for is answered.
        let dropped = catch_unwind(AssertUnwindSafe(|| drop(future)));
        drop(dropped);
        self.finish(me, returned)
    }

    /// The process is through: it is taken out of everything, and those are told who are tied to it.
    fn finish(&self, me: &AnyPid, returned: Option<ExitReason>) -> ExitReason {
        let mut relations = self.relations();
        let gone = relations.remove(me.id());
        let slot = self.slots.write().unwrap_or_else(PoisonError::into_inner).remove(&me.id());
        let reason = gone.fatal.or(returned).unwrap_or(ExitReason::Killed);
        for other in &gone.links {
            self.exit_signal(&mut relations, Some(me), other, reason.clone());
        }
        for (owner, monitor, late) in &gone.monitored_by {
            let reason = if *late { ExitReason::NoProc } else { reason.clone() };
            self.down(&relations, me, owner, *monitor, reason);
        }
        drop(relations);
        // What was never received is the user's.
        me.0.close();
        if slot.is_some() {
            self.quiet.leave();
        }
        reason
    }

    fn begin(&self, process: &AnyPid, is_task: bool) -> Arc<Slot> {
        let slot = Arc::new(Slot::new(is_task));
        self.quiet.enter();
        self.slots.write().unwrap_or_else(PoisonError::into_inner).insert(process.id(), Arc::clone(&slot));
        slot
    }

    /// The first process has ended, and the system with it: nobody continues.
    fn end(&self) {
        self.timers.clear();
        let mut relations = self.relations();
        for process in relations.end() {
            self.doom(&mut relations, process, ExitReason::Killed);
        }
    }
}

impl Backend for Native {
    fn here(&self) -> ProcessId {
        self.caller().map_or(ProcessId::OUTSIDE, |(process, _)| process)
    }

    fn run(&self, _at: Place, root: &AnyPid, body: Body) -> ExitReason {
        let slot = self.begin(root, false);
        self.relations().insert(root, None, Tie::default());
        let reason = self.drive(root, &slot, body);
        self.end();
        reason
    }

    fn spawn(&self, at: Place, parent: Option<&AnyPid>, child: &AnyPid, tie: Tie, body: Body) {
        self.step();
        let slot = self.begin(child, self.runtime.is_some());
        let mut relations = self.relations();
        relations.insert(child, parent, tie);
        if relations.has_ended() {
            self.doom(&mut relations, child.id(), ExitReason::Killed);
        }
        drop(relations);
        let native = self.myself.upgrade().expect("a backend is in use");
        let process = child.clone();
        if let Some(runtime) = &self.runtime {
            let task = tasks::Drive::new(native, process, slot, body);
            return runtime.spawn(Box::pin(async move { drop(task.await) }));
        }
        let thread = thread::Builder::new().name(format!("process {:?}", child.id()));
        let spawned = thread.spawn(move || {
            native.drive(&process, &slot, body);
        });
        if let Err(error) = spawned {
            self.finish(child, Some(ExitReason::Error(format!("no thread for it: {error}"))));
            panic!("no thread for the process that is spawned at {at}: {error}");
        }
    }

    fn send(&self, _at: Place, from: ProcessId, to: &AnyPid) {
        self.step();
        self.deliver(from, to);
    }

    fn send_to_name(
        &self,
        _at: Place,
        from: ProcessId,
        name: &str,
        post: &mut dyn FnMut(&AnyPid) -> bool,
    ) -> Result<(), BadName> {
        self.step();
        let to = self.relations().whereis(name).ok_or(BadName)?;
        if !post(&to) {
            return Err(BadName);
        }
        self.deliver(from, &to);
        Ok(())
    }

    fn receive(
        &self,
        at: Place,
        me: &Core,
        look: &mut Look<'_>,
        _anything: bool,
        limit: Option<Duration>,
        context: &mut Context<'_>,
    ) -> Poll<bool> {
        let Some((_, slot)) = self.caller().filter(|(process, _)| *process == me.id) else {
            panic!("the receive at {at} is not in the process whose mailbox it is for");
        };
        if slot.is_task() {
            return self.poll_receive(&slot, look, limit, context);
        }
        // A limit that is never reached is none.
        let until = limit.and_then(|limit| Instant::now().checked_add(limit));
        loop {
            // Before the step: a signal that comes after it is news.
            let seen = slot.seen();
            self.step();
            if look(&mut || None).is_some() {
                return Poll::Ready(true);
            }
            let is_over = limit.is_some() && until.is_some_and(|until| Instant::now() >= until);
            if is_over {
                return Poll::Ready(false);
            }
            slot.wait(seen, until, &self.quiet);
        }
    }

    fn end_receive(&self, me: &Core) {
        if self.runtime.is_some() {
            if let Some(slot) = self.slot(me.id) {
                slot.end_receive();
            }
        }
    }

    fn monitor(&self, _at: Place, me: &AnyPid, whom: Whom<'_>, monitor: MonitorRef) {
        self.step();
        let mut relations = self.relations();
        let target = match whom.of_system_of(me) {
            Some(Whom::Process(process)) => Some(process.clone()),
            Some(Whom::Name(name)) => relations.whereis(name),
            None => None,
        };
        if target.as_ref().is_some_and(|target| relations.monitor(me, target, monitor)) {
            return;
        }
        relations.post_down(target.as_ref(), me, monitor, ExitReason::NoProc);
        self.deliver(target.as_ref().map_or(ProcessId::OUTSIDE, AnyPid::id), me);
    }

    fn demonitor(&self, _at: Place, me: &AnyPid, monitor: MonitorRef) -> Demonitored {
        self.step();
        if self.relations().demonitor(me, monitor) { Demonitored::Removed } else { Demonitored::Gone }
    }

    fn link(&self, _at: Place, me: &AnyPid, other: &AnyPid) -> Result<(), NoProc> {
        self.step();
        let mut relations = self.relations();
        if relations.link(me, other) {
            return Ok(());
        }
        if !relations.takes_exit_as_message(me.id()) {
            return Err(NoProc);
        }
        relations.post_exit(Some(other), me, ExitReason::NoProc);
        self.deliver(other.id(), me);
        Ok(())
    }

    fn unlink(&self, _at: Place, me: &AnyPid, other: &AnyPid) {
        self.step();
        self.relations().unlink(me, other);
    }

    fn trap_exit(&self, _at: Place, me: &AnyPid, trap: bool) -> bool {
        self.step();
        self.relations().trap_exit(me.id(), trap)
    }

    fn exit(&self, _at: Place, from: Option<&AnyPid>, to: &AnyPid, reason: ExitReason) {
        self.step();
        let mut relations = self.relations();
        if reason == ExitReason::Kill {
            self.doom(&mut relations, to.id(), ExitReason::Killed);
        } else if reason.is_normal() && from == Some(to) && !relations.takes_exit_as_message(to.id()) {
            self.doom(&mut relations, to.id(), reason);
        } else {
            self.exit_signal(&mut relations, from, to, reason);
        }
        drop(relations);
        // It may have been for the caller.
        self.step();
    }

    fn is_alive(&self, _at: Place, other: &AnyPid) -> bool {
        self.step();
        self.relations().is_alive(other.id())
    }

    fn register(&self, _at: Place, name: &str, process: &AnyPid) -> Result<(), Unnamed> {
        self.step();
        self.relations().register(name, process)
    }

    fn unregister(&self, _at: Place, name: &str) -> bool {
        self.step();
        self.relations().unregister(name)
    }

    fn whereis(&self, _at: Place, name: &str) -> Option<AnyPid> {
        self.step();
        self.relations().whereis(name)
    }

    fn registered(&self, _at: Place) -> Vec<String> {
        self.step();
        self.relations().registered()
    }

    fn send_after(&self, _at: Place, _me: &AnyPid, to: &AnyPid, timer: TimerRef, delay: Duration) {
        self.step();
        self.timers.set(timer, to, delay);
    }

    fn cancel(&self, _at: Place, timer: TimerRef) -> Option<Duration> {
        self.step();
        self.timers.cancel(timer)
    }

    fn now(&self, _at: Place) -> Duration {
        self.step();
        self.instant().saturating_duration_since(self.began)
    }

    fn settle(&self, _at: Place, _me: &AnyPid, context: &mut Context<'_>) -> Poll<()> {
        self.step();
        if let Some((_, slot)) = self.caller() {
            if slot.is_task() {
                return self.quiet.poll(&slot, context);
            }
            self.quiet.wait(|| slot.is_doomed());
        }
        self.step();
        Poll::Ready(())
    }
}
