//! Processes in explorations: each call is a step of the engine.
//!
//! A process is a task with a fiber of its own. What is in mailboxes, who is linked to whom and who has which name is kept
//! here and changed by the steps ([`table`]); when they are made, what they race with and what a fatal signal keeps from
//! being made is the engine's business (`resource/mailbox.rs`, `resource/process.rs`).
//!
//! Where delivery is [split](Delivery::Split), each message and signal has a task of its own that delivers it, after the
//! one before it of the same pair of processes.

#[cfg(feature = "cluster")]
pub(crate) mod nodes;
mod signals;
mod table;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll};
use std::time::Duration;

use drawloom_engine::Receiving;

use self::table::{Ends, Party, Table, Timer};
use super::backend::{Backend, Body, Demonitored, Place, Tie, Whom};
use super::pid::{AnyPid, ProcessId};
use super::process::{Core, Exiting, unwind};
use super::reason::{BadName, ExitReason, NoProc, PanicInfo, Unnamed};
use super::signal::{Down, Exit, MonitorRef, Signal, TimerRef};
use super::system::Delivery;
use crate::future::block_on;
use crate::rt::{self, Handle, OpKind, Operation, ResourceId, Seen, Site, TaskId, outcome};

/// The processes of one system in one execution.
pub(crate) struct World {
    me: Weak<World>,
    delivery: Delivery,
    epoch: u64,
    table: Mutex<Table>,
    /// The network, if there are nodes.
    #[cfg(feature = "cluster")]
    net: std::sync::OnceLock<Arc<nodes::Net>>,
}

/// The task that a process is, and its resource.
#[derive(Clone, Copy)]
struct Known {
    task: TaskId,
    resource: ResourceId,
}

impl Known {
    fn of(process: &AnyPid) -> Known {
        Known::of_core(process.core())
    }

    fn of_core(core: &Core) -> Known {
        let handle = core.handle.load(Ordering::Relaxed);
        Known { task: TaskId((handle >> 32) as u32), resource: ResourceId(handle as u32) }
    }

    fn keep(self, process: &AnyPid) {
        let handle = u64::from(self.task.0) << 32 | u64::from(self.resource.0);
        process.core().handle.store(handle, Ordering::Relaxed);
    }
}

impl World {
    pub(crate) fn begin(delivery: Delivery) -> Arc<dyn Backend> {
        let epoch = rt::current().map_or(0, Handle::epoch);
        Arc::new_cyclic(|me| World {
            me: me.clone(),
            delivery,
            epoch,
            table: Mutex::default(),
            #[cfg(feature = "cluster")]
            net: std::sync::OnceLock::new(),
        })
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The execution that these processes are of. A process that is kept for longer than that is nobody any more.
    fn rt(&self) -> Option<Handle> {
        rt::current().filter(|rt| rt.epoch() == self.epoch)
    }

    /// The process that calls, if one does.
    fn caller(&self, rt: Handle) -> Option<AnyPid> {
        self.table().here(rt.running())
    }

    /// Whether what the running task does is to have no effect: it is unwound after a signal that was fatal to it.
    fn is_fenced(&self, rt: Handle) -> bool {
        let doomed = rt.with_engine(|engine| engine.is_doomed_process(rt.running()));
        doomed && (rt.is_panicking() || rt.is_tearing_down())
    }

    /// A fatal signal came before: the running process ends.
    fn die(&self, rt: Handle) -> ! {
        let reason = self.caller(rt).and_then(|me| self.table().doom(me.id())).unwrap_or(ExitReason::Killed);
        unwind(Exiting(reason))
    }

    /// Makes a step of a process: `act` carries it out, unless a fatal signal came before.
    fn act<R>(&self, rt: Handle, operation: Operation, act: impl FnOnce(&mut Table) -> (R, Seen)) -> R {
        let made = rt.access(operation, || {
            if rt.with_engine(|engine| engine.is_doomed_process(rt.running())) && !rt.is_tearing_down() {
                return (None, Seen { value: 0, other: operation.arg, outcome: outcome::KILLED });
            }
            let (result, seen) = act(&mut self.table());
            (Some(result), seen)
        });
        match made {
            Some(result) => result,
            None => self.die(rt),
        }
    }

    /// Makes a process known that `task` is.
    fn settle_in(&self, rt: Handle, process: &AnyPid, task: TaskId, at: Site) {
        let resource = rt.with_engine(|engine| {
            let id = engine.create_process(rt.running(), task, at);
            engine.drop_resource(id);
            engine.let_go_by_path(id);
            id
        });
        Known { task, resource }.keep(process);
        self.table().add(process, task);
    }

    /// Lets those see what has arrived whose mailbox it is in.
    fn take_in(rt: Handle, me: &AnyPid, resource: ResourceId) {
        while let Some(from) = rt.with_engine(|engine| engine.next_arrival(resource)) {
            me.0.arrive(ProcessId(from));
        }
    }

    /// Puts what was posted by `from` into the mailbox of `to`: a step.
    fn deliver(&self, rt: Handle, at: Site, from: ProcessId, to: &AnyPid) {
        let deliver = Operation::new(OpKind::Deliver, Known::of(to).resource, at).with_arg(from.0);
        if rt.step(deliver) == outcome::KILLED {
            to.0.lose(from);
            self.die(rt);
        }
    }

    /// Starts a task: a step of the running process.
    fn start(&self, rt: Handle, name: Option<&str>, at: Site, body: impl FnOnce(Handle, &World) + 'static) -> TaskId {
        let world = self.me.clone();
        let body = move || {
            if let (Some(rt), Some(world)) = (rt::current(), world.upgrade()) {
                body(rt, &world);
            }
        };
        let task = rt.spawn_if_alive(name, at, Box::new(body)).unwrap_or_else(|| self.die(rt));
        rt.with_engine(|engine| engine.make_daemon(task));
        task
    }

    /// Leaves it to a task of its own to deliver something of `from` to `to`, after what was sent before.
    fn leave_to_courier(
        &self,
        rt: Handle,
        at: Site,
        (from, to): (ProcessId, ProcessId),
        delivers: impl FnOnce(Handle, &World) + 'static,
    ) {
        let before = self.table().courier(from, to);
        let courier = self.start(rt, Some("in flight"), at, move |rt, world| {
            if let Some(before) = before {
                rt.step(Operation::new(OpKind::Join, ResourceId::NONE, at).with_arg(u64::from(before.0)));
            }
            delivers(rt, world);
        });
        self.table().set_courier(from, to, courier);
    }

    /// Waits until these timers have delivered.
    fn wait_for_timers(&self, rt: Handle, at: Site, timers: &[TaskId]) {
        for timer in timers {
            rt.step(Operation::new(OpKind::Join, ResourceId::NONE, at).with_arg(u64::from(timer.0)));
        }
    }

    /// Waits until what `from` has sent to `to` is there: a request of its own is not to overtake it.
    fn wait_for_courier(&self, rt: Handle, at: Site, from: ProcessId, to: &AnyPid) {
        let before = self.table().courier(from, to.id());
        if let Some(before) = before {
            rt.step(Operation::new(OpKind::Join, ResourceId::NONE, at).with_arg(u64::from(before.0)));
        }
    }

    fn name(&self, rt: Handle, name: &str, at: Site) -> ResourceId {
        let known = self.table().name(name);
        known.unwrap_or_else(|| {
            let state = crate::rt::State::Plain;
            let id = rt.create_resource(crate::rt::ResourceKind::Process, state, at);
            rt.with_engine(|engine| {
                engine.name_resource(id, name);
                engine.drop_resource(id);
            });
            self.table().set_name(name, id);
            id
        })
    }

    /// The resource that stands for two processes and what the first does about the second.
    fn pair(&self, rt: Handle, one: ProcessId, other: ProcessId, monitors: bool, at: Site) -> ResourceId {
        let known = self.table().pair(one, other, monitors);
        known.unwrap_or_else(|| {
            let id = rt.create_resource(crate::rt::ResourceKind::Process, crate::rt::State::Plain, at);
            rt.with_engine(|engine| engine.drop_resource(id));
            self.table().set_pair(one, other, monitors, id);
            id
        })
    }

    /// Runs a process to its end.
    fn live(&self, rt: Handle, me: &AnyPid, body: Body) -> ExitReason {
        /// Whatever is in the mailbox may know the process itself.
        struct Closes<'a>(&'a AnyPid);
        impl Drop for Closes<'_> {
            fn drop(&mut self) {
                self.0.0.close();
            }
        }
        let _closes = Closes(me);
        let reason = block_on(body());
        self.end(rt, me, reason)
    }
}

/// What reports say of processes, beyond their steps.
impl World {
    /// The execution, if somebody is going to read what is noted.
    fn notes(&self) -> Option<Handle> {
        self.rt().filter(|rt| rt.with_engine(|engine| engine.wants_notes()))
    }

    fn note_tie(&self, by: ProcessId, with: ProcessId, link: bool, made: bool) {
        let Some(rt) = self.notes() else { return };
        let table = self.table();
        let tasks = table.task_of(by).zip(table.task_of(with));
        drop(table);
        if let Some((by, with)) = tasks {
            rt.with_engine(|engine| engine.note_tie(by, with, link, made));
        }
    }
}

/// What a step comes to that has nothing to say.
fn done() -> Seen {
    Seen { value: 0, other: 0, outcome: outcome::OK }
}

impl Backend for World {
    fn world(&self) -> Option<Arc<World>> {
        self.me.upgrade()
    }

    fn here(&self) -> ProcessId {
        let me = self.rt().and_then(|rt| self.caller(rt));
        me.map_or(ProcessId::OUTSIDE, |me| me.id())
    }

    fn blame(&self) {
        if let Some(me) = self.rt().and_then(|rt| self.caller(rt)) {
            self.table().blamed.insert(me.id());
        }
    }

    fn run(&self, at: Place, root: &AnyPid, body: Body) -> ExitReason {
        let rt = self.rt().expect("processes are run by the execution that they were made in");
        self.settle_in(rt, root, rt.running(), rt::site(at));
        self.live(rt, root, body)
    }

    fn spawn(&self, at: Place, parent: Option<&AnyPid>, child: &AnyPid, tie: Tie, body: Body) {
        let (Some(rt), site) = (self.rt(), rt::site(at)) else { return };
        if self.is_fenced(rt) {
            return;
        }
        child.core().backend.born(child);
        let born = child.clone();
        let task = self.start(rt, None, site, move |rt, world| {
            world.live(rt, &born, body);
        });
        self.settle_in(rt, child, task, site);
        if let Some(parent) = parent {
            if tie.link {
                self.pair(rt, parent.id(), child.id(), false, site);
                self.table().link(parent.id(), child.id());
                self.note_tie(parent.id(), child.id(), true, true);
            }
            if let Some(monitor) = tie.monitor {
                self.pair(rt, parent.id(), child.id(), true, site);
                self.table().monitor(parent.id(), child.id(), monitor);
                self.note_tie(parent.id(), child.id(), false, true);
            }
        }
    }

    fn send(&self, at: Place, from: ProcessId, to: &AnyPid) {
        let Some(rt) = self.rt() else { return to.0.lose(from) };
        if self.is_fenced(rt) {
            return to.0.lose(from);
        }
        let site = rt::site(at);
        if self.delivery == Delivery::Split && from != to.id() {
            let receiver = to.clone();
            return self.leave_to_courier(rt, site, (from, to.id()), move |rt, _| {
                let deliver = Operation::new(OpKind::Deliver, Known::of(&receiver).resource, site).with_arg(from.0);
                rt.step(deliver);
            });
        }
        self.deliver(rt, site, from, to);
    }

    fn send_to_name(
        &self,
        at: Place,
        from: ProcessId,
        name: &str,
        post: &mut dyn FnMut(&AnyPid) -> bool,
    ) -> Result<(), BadName> {
        let to = self.whereis(at, name).ok_or(BadName)?;
        if !post(&to) {
            return Err(BadName);
        }
        self.send(at, from, &to);
        Ok(())
    }

    fn receive(
        &self,
        at: Place,
        me: &AnyPid,
        look: &mut dyn FnMut() -> bool,
        limit: Option<Duration>,
        _: &mut Context<'_>,
    ) -> Poll<bool> {
        let of_it = self.rt().filter(|rt| Known::of(me).task == rt.running());
        let Some(rt) = of_it else {
            panic!("the receive at {at} is not in the process whose mailbox it is for");
        };
        let (site, resource) = (rt::site(at), Known::of(me).resource);
        let nanos = limit.map(|limit| u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX));
        let deadline = match nanos {
            None | Some(0) => None,
            Some(nanos) => Some(rt.now_before_wait(site).saturating_add(nanos)),
        };
        if deadline.is_some() {
            rt.with_engine(|engine| engine.set_deadline(rt.running(), deadline));
        }
        let receiving = |found: Option<u32>| {
            // Its timer has fired. That the time has come by another one says nothing: which of the two fires first is open.
            let time_is_up = deadline.is_some() && rt.with_engine(|engine| engine.deadline(rt.running())).is_none();
            Receiving {
                found,
                anything: me.0.takes_anything(),
                at_once: nanos == Some(0) || time_is_up,
                is_late: false,
            }
        };
        let mut has_waited_for_timers = deadline.is_none();
        let result = loop {
            World::take_in(rt, me, resource);
            let found = look().then(|| me.0.found()).flatten();
            let receive = Operation::new(OpKind::Receive, resource, site).with_arg(receiving(found).operand());
            let result = rt.step(receive);
            if result == outcome::TIMED_OUT && !has_waited_for_timers {
                // One clock: what was due before is there before.
                has_waited_for_timers = true;
                let earlier = self.table().own_timers_before(deadline.unwrap_or(u64::MAX), me.id());
                if !earlier.is_empty() {
                    self.wait_for_timers(rt, site, &earlier);
                    continue;
                }
            }
            if result != outcome::LOOK_AGAIN {
                break result;
            }
        };
        if deadline.is_some() {
            rt.with_engine(|engine| engine.set_deadline(rt.running(), None));
        }
        match result {
            outcome::KILLED => self.die(rt),
            outcome::OK => {
                World::take_in(rt, me, resource);
                Poll::Ready(look())
            }
            _ => Poll::Ready(false),
        }
    }

    fn end_receive(&self, _: &AnyPid) {}

    fn monitor(&self, at: Place, me: &AnyPid, whom: Whom<'_>, monitor: MonitorRef) {
        let (Some(rt), site) = (self.rt(), rt::site(at)) else { return };
        if self.is_fenced(rt) {
            return;
        }
        let target = match whom.of_system_of(me) {
            Some(Whom::Process(process)) => Some(process.clone()),
            Some(Whom::Name(name)) => self.whereis(at, name),
            None => None,
        };
        let is_there = target.as_ref().is_some_and(|target| self.watch(rt, site, me, target, monitor));
        if !is_there {
            let down = Down { monitor, process: target, reason: ExitReason::NoProc };
            me.0.post_signal(me.id(), Signal::Down(down));
            self.deliver(rt, site, me.id(), me);
        }
    }

    fn demonitor(&self, at: Place, me: &AnyPid, monitor: MonitorRef) -> Demonitored {
        let (Some(rt), site) = (self.rt(), rt::site(at)) else { return Demonitored::Gone };
        let target = self.table().monitored(monitor).filter(|_| !self.is_fenced(rt));
        let Some(target) = target else { return Demonitored::Gone };
        let pair = self.pair(rt, me.id(), target.id, true, site);
        let arg = u64::from(pair.0) | monitor.0.number << 32;
        let operation = Operation::new(OpKind::Demonitor, target.known.resource, site).with_arg(arg);
        let removed = self.act(rt, operation, |table| {
            let removed = table.demonitor(monitor);
            (removed, Seen { other: arg, ..seen_if(removed) })
        });
        self.note_tie(me.id(), target.id, false, false);
        World::take_in(rt, me, Known::of(me).resource);
        if removed { Demonitored::Removed } else { Demonitored::Gone }
    }

    fn link(&self, at: Place, me: &AnyPid, other: &AnyPid) -> Result<(), NoProc> {
        let (Some(rt), site) = (self.rt(), rt::site(at)) else { return Err(NoProc) };
        if me == other || self.is_fenced(rt) {
            return Ok(());
        }
        self.wait_for_courier(rt, site, me.id(), other);
        let arg = u64::from(self.pair(rt, me.id(), other.id(), false, site).0);
        let operation = Operation::new(OpKind::Link, Known::of(other).resource, site).with_arg(arg);
        let (linked, traps) = self.act(rt, operation, |table| {
            let linked = table.is_alive(other.id());
            if linked {
                table.link(me.id(), other.id());
            }
            ((linked, table.traps(me.id())), Seen { other: arg, ..seen_if(linked) })
        });
        if linked {
            self.note_tie(me.id(), other.id(), true, true);
        }
        if !linked && traps {
            let exit = Exit { from: Some(other.clone()), reason: ExitReason::NoProc };
            me.0.post_signal(me.id(), Signal::Exit(exit));
            self.deliver(rt, site, me.id(), me);
            return Ok(());
        }
        if linked { Ok(()) } else { Err(NoProc) }
    }

    fn unlink(&self, at: Place, me: &AnyPid, other: &AnyPid) {
        let (Some(rt), site) = (self.rt(), rt::site(at)) else { return };
        if me == other || self.is_fenced(rt) {
            return;
        }
        self.wait_for_courier(rt, site, me.id(), other);
        let arg = u64::from(self.pair(rt, me.id(), other.id(), false, site).0);
        let operation = Operation::new(OpKind::Unlink, Known::of(other).resource, site).with_arg(arg);
        self.act(rt, operation, |table| {
            table.unlink(me.id(), other.id());
            ((), Seen { other: arg, ..done() })
        });
        self.note_tie(me.id(), other.id(), true, false);
    }

    fn trap_exit(&self, at: Place, me: &AnyPid, trap: bool) -> bool {
        let Some(rt) = self.rt().filter(|rt| !self.is_fenced(*rt)) else { return false };
        let arg = u64::from(trap);
        let operation = Operation::new(OpKind::Trap, Known::of(me).resource, rt::site(at)).with_arg(arg);
        self.act(rt, operation, |table| (table.set_traps(me.id(), trap), Seen { other: arg, ..done() }))
    }

    fn exit(&self, at: Place, from: Option<&AnyPid>, to: &AnyPid, reason: ExitReason) {
        let (Some(rt), site) = (self.rt(), rt::site(at)) else { return };
        if self.is_fenced(rt) {
            return;
        }
        let is_own = from == Some(to);
        if self.delivery == Delivery::Split && !is_own {
            let sender = from.map_or(ProcessId::OUTSIDE, AnyPid::id);
            let (from, to) = (from.cloned(), Party::of(to));
            return self.leave_to_courier(rt, site, (sender, to.id), move |rt, world| {
                world.signal(rt, site, from.as_ref(), &to, &reason, None);
            });
        }
        self.signal(rt, site, from, &Party::of(to), &reason, None);
        if is_own && rt.with_engine(|engine| engine.is_doomed_process(rt.running())) {
            self.die(rt);
        }
    }

    fn is_alive(&self, at: Place, other: &AnyPid) -> bool {
        let (Some(rt), site) = (self.rt(), rt::site(at)) else { return false };
        if self.is_fenced(rt) {
            return false;
        }
        self.wait_for_courier(rt, site, self.here(), other);
        let operation = Operation::new(OpKind::Alive, Known::of(other).resource, site);
        self.act(rt, operation, |table| {
            let alive = table.is_alive(other.id());
            (alive, seen_if(alive))
        })
    }

    fn register(&self, at: Place, name: &str, process: &AnyPid) -> Result<(), Unnamed> {
        let Some(rt) = self.rt().filter(|rt| !self.is_fenced(*rt)) else { return Err(Unnamed::Ended) };
        let (site, arg) = (rt::site(at), u64::from(Known::of(process).resource.0));
        let operation = Operation::new(OpKind::Register, self.name(rt, name, site), site).with_arg(arg);
        self.act(rt, operation, |table| {
            let registered = table.register(name, process);
            let is_registered = registered.is_ok();
            if is_registered {
                let Known { task, resource } = Known::of(process);
                rt.with_engine(|engine| {
                    engine.name_task(task, name);
                    engine.name_resource(resource, name);
                });
            }
            (registered, Seen { other: arg, ..seen_if(is_registered) })
        })
    }

    fn unregister(&self, at: Place, name: &str) -> bool {
        let Some(rt) = self.rt().filter(|rt| !self.is_fenced(*rt)) else { return false };
        let site = rt::site(at);
        let operation = Operation::new(OpKind::Unregister, self.name(rt, name, site), site);
        self.act(rt, operation, |table| {
            let holder = table.unregister(name);
            let other = holder.map_or(0, |id| u64::from(id.0) + 1);
            (holder.is_some(), Seen { other, ..seen_if(holder.is_some()) })
        })
    }

    fn whereis(&self, at: Place, name: &str) -> Option<AnyPid> {
        let rt = self.rt().filter(|rt| !self.is_fenced(*rt))?;
        let site = rt::site(at);
        let operation = Operation::new(OpKind::Whereis, self.name(rt, name, site), site);
        self.act(rt, operation, |table| {
            let found = table.whereis(name);
            let seen = seen_if(found.is_some());
            (found, seen)
        })
    }

    fn registered(&self, at: Place) -> Vec<String> {
        let known = self.table().names();
        known.into_iter().filter(|name| self.whereis(at, name).is_some()).collect()
    }

    fn send_after(&self, at: Place, _: &AnyPid, to: &AnyPid, timer: TimerRef, delay: Duration) {
        let (Some(rt), site, sender) = (self.rt(), rt::site(at), timer.sender()) else {
            return to.0.lose(timer.sender());
        };
        if self.is_fenced(rt) {
            return to.0.lose(sender);
        }
        let nanos = u64::try_from(delay.as_nanos()).unwrap_or(u64::MAX);
        let deadline = rt.now_before_wait(site).saturating_add(nanos);
        let receiver = to.clone();
        let task = self.start(rt, Some("timer"), site, move |rt, world| {
            if nanos > 0 {
                rt.now_before_wait(site);
                rt.step(Operation::new(OpKind::Sleep, ResourceId::NONE, site).with_arg(deadline));
                // One clock: what was due before comes before.
                let earlier = world.table().timers_before(deadline);
                world.wait_for_timers(rt, site, &earlier);
            }
            let deliver = Operation::new(OpKind::Deliver, Known::of(&receiver).resource, site).with_arg(sender.0);
            if rt.step(deliver) == outcome::KILLED {
                return receiver.0.lose(sender);
            }
            if let Some(timer) = world.table().timers.get_mut(&timer) {
                timer.over = true;
            }
        });
        let resource = rt.with_engine(|engine| {
            let id = engine.create_process(rt.running(), task, site);
            engine.drop_resource(id);
            id
        });
        self.table()
            .timers
            .insert(timer, Timer { task, resource, to: to.id(), deadline, over: false, is_known: false });
    }

    fn cancel(&self, at: Place, timer: TimerRef) -> Option<Duration> {
        let rt = self.rt().filter(|rt| !self.is_fenced(*rt))?;
        let known = self.table().timers.get(&timer).copied()?;
        let arg = u64::from(known.task.0);
        let operation = Operation::new(OpKind::Cancel, ResourceId::NONE, rt::site(at)).with_arg(arg);
        let left = self.act(rt, operation, |table| {
            let left = table.timers.get_mut(&timer).filter(|timer| !timer.over).map(|timer| {
                timer.over = true;
                timer.deadline.saturating_sub(rt.with_engine(|engine| engine.now()))
            });
            (left, Seen { other: arg, ..seen_if(left.is_some()) })
        });
        if left.is_some() {
            rt.with_engine(|engine| engine.doom_process(known.resource));
        }
        left.map(Duration::from_nanos)
    }

    fn now(&self, at: Place) -> Duration {
        let Some(rt) = self.rt() else { return Duration::ZERO };
        rt.step(Operation::new(OpKind::Now, ResourceId::NONE, rt::site(at)));
        Duration::from_nanos(rt.with_engine(|engine| engine.now()))
    }

    fn note(&self, to: &Core, from: ProcessId, text: &dyn Fn() -> String) {
        let Some(rt) = self.notes() else { return };
        // It is the user's code.
        let text = catch_unwind(AssertUnwindSafe(text)).unwrap_or_else(|_| {
            rt.caught();
            "(its `Debug` panics)".to_owned()
        });
        rt.with_engine(|engine| engine.note_posted(Known::of_core(to).resource, from.0, &text));
    }

    fn path(&self, process: &Core) -> Option<String> {
        let rt = self.rt()?;
        Some(rt.with_engine(|engine| engine.path(Known::of_core(process).task).to_string()))
    }

    fn settle(&self, at: Place, _: &AnyPid, _: &mut Context<'_>) -> Poll<()> {
        if let Some(rt) = self.rt() {
            let soon = rt.now_before_wait(rt::site(at)).saturating_add(1);
            rt.step(Operation::new(OpKind::Sleep, ResourceId::NONE, rt::site(at)).with_arg(soon));
        }
        Poll::Ready(())
    }
}

fn seen_if(is_so: bool) -> Seen {
    Seen { outcome: if is_so { outcome::OK } else { outcome::REFUSED }, ..done() }
}

impl World {
    /// Monitors a process: whether it has not ended.
    fn watch(&self, rt: Handle, site: Site, me: &AnyPid, target: &AnyPid, monitor: MonitorRef) -> bool {
        self.wait_for_courier(rt, site, me.id(), target);
        self.pair(rt, me.id(), target.id(), true, site);
        let operation = Operation::new(OpKind::Monitor, Known::of(target).resource, site);
        let is_there = self.act(rt, operation, |table| {
            let alive = table.is_alive(target.id());
            if alive {
                table.monitor(me.id(), target.id(), monitor);
            }
            (alive, seen_if(alive))
        });
        if is_there {
            self.note_tie(me.id(), target.id(), false, true);
        }
        is_there
    }
}

/// What a process leaves behind.
impl World {
    /// The process makes its last steps. For which reason it has ended in the end.
    fn end(&self, rt: Handle, me: &AnyPid, reason: ExitReason) -> ExitReason {
        let (known, site) = (Known::of(me), Site::UNKNOWN);
        let name = self.table().name_of(me.id()).map_or(0, |id| u64::from(id.0) + 1);
        let operation = Operation::new(OpKind::End, known.resource, site).with_arg(name);
        let ends = rt.access(operation, || {
            let mut table = self.table();
            let name = table.name_of(me.id()).map_or(0, |id| u64::from(id.0) + 1);
            let result = if table.doom(me.id()).is_some() { outcome::LATE } else { outcome::OK };
            (table.end(me.id(), reason), Seen { value: 0, other: name, outcome: result })
        });
        rt.with_engine(|engine| engine.process_has_ended(known.resource));
        if self.notes().is_some() {
            rt.with_engine(|engine| engine.note_reason(known.task, &ends.reason.to_string()));
        }
        if let ExitReason::Panic(panic) = &ends.reason {
            self.end_by_panic(rt, me, panic, &ends);
        }
        let Ends { links, monitors, reason } = ends;
        // Whoever is told of it more than once may be told in any order.
        let links = links.into_iter().map(Last::Exit);
        let mut last: Vec<Last> =
            links.chain(monitors.into_iter().map(|(who, monitor)| Last::Down(who, monitor))).collect();
        while !last.is_empty() {
            let whom = last[0].whom().id;
            let of_same: Vec<usize> = (0..last.len()).filter(|at| last[*at].whom().id == whom).collect();
            let chosen = if of_same.len() > 1 { rt.choose(of_same.len() as u64, site) as usize } else { 0 };
            self.say_last(rt, site, me, last.remove(of_same[chosen]), &reason);
        }
        reason
    }
}

/// Panics, and who is told of them.
impl World {
    /// A process has ended by a panic, its own or that of one that it is linked to. If nobody is told who lives on, it is a
    /// finding: in the end, since whoever starts to trap exits may still be told.
    fn end_by_panic(&self, rt: Handle, me: &AnyPid, panic: &PanicInfo, ends: &Ends) {
        let task = Known::of(me).task;
        let mut table = self.table();
        let is_blamed = table.blamed.remove(&me.id());
        let is_first = me.id() == ProcessId::OUTSIDE.child(1);
        table.add_crash(panic.clone(), task);
        let told = if is_first || table.is_watched(ends) { table.take_crashes(&ends.reason) } else { Vec::new() };
        drop(table);
        if is_blamed {
            rt.detached(task);
        }
        told.into_iter().for_each(|task| rt.received_panic(task));
        if !is_first && ends.links.is_empty() && ends.monitors.is_empty() {
            rt.detached(task);
        }
    }

    /// Somebody was told of an end and lives on.
    fn was_told(&self, rt: Handle, reason: &ExitReason) {
        let told = self.table().take_crashes(reason);
        told.into_iter().for_each(|task| rt.received_panic(task));
    }
}

/// What a process says when it has ended.
enum Last {
    Exit(Party),
    Down(Party, MonitorRef),
}

impl Last {
    fn whom(&self) -> &Party {
        match self {
            Last::Exit(whom) | Last::Down(whom, _) => whom,
        }
    }
}

impl World {
    fn say_last(&self, rt: Handle, at: Site, me: &AnyPid, last: Last, reason: &ExitReason) {
        let (to, reason, from) = (last.whom().clone(), reason.clone(), me.clone());
        let pair = match last {
            Last::Exit(_) => self.pair(rt, me.id(), to.id, false, at),
            Last::Down(..) => self.pair(rt, to.id, me.id(), true, at),
        };
        let (ends, told) = (me.id(), to.id);
        let say = move |rt: Handle, world: &World| match last {
            Last::Exit(_) => world.signal(rt, at, Some(&from), &to, &reason, Some(pair)),
            Last::Down(_, monitor) => {
                let down = Down { monitor, process: Some(from.clone()), reason: reason.clone() };
                world.tell(rt, at, &to, down, pair);
            }
        };
        #[cfg(feature = "cluster")]
        if let Some((net, way)) = self.net.get().and_then(|net| Some((net, net.between(ends, told)?))) {
            let place = rt::location(at).unwrap_or(std::panic::Location::caller());
            return net.carry(place, way, (ends, told), say, || {});
        }
        match self.delivery {
            Delivery::Split => self.leave_to_courier(rt, at, (ends, told), say),
            Delivery::Atomic => say(rt, self),
        }
    }
}
