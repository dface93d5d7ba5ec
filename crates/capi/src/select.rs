//! Waiting for several channels and timers at once.
//!
//! The arms are tried one after the other, beginning with any of them, which is a choice. If none can go on, the task waits for a
//! signal of its own, which it has left at each channel that refused it: whoever makes an arm worth trying gives that signal, and
//! the task begins anew.
//!
//! What is left at a channel stays there until somebody has given the signal, even if the select has gone on by another arm
//! meanwhile: the signal of a wait that is over does no harm, and nobody learns when it was. So what others do depends on the
//! selecting task by nothing but steps on the channel, and the order of these is explored.

use drawloom_engine::{OpKind, Operation, ResourceId, ResourceKind, Site, State, TaskId, outcome};

use crate::execution::{Data, Here, here};
use crate::handle::Kind;
use crate::place::{drawloom_loc, site};
use crate::status::*;

/// Receive a message from a channel.
pub const DRAWLOOM_RECV: u32 = 0;
/// Send a message to a channel.
pub const DRAWLOOM_SEND: u32 = 1;
/// Wait until a timer is due.
pub const DRAWLOOM_TIMER: u32 = 2;

/// Do not wait: `DRAWLOOM_DEFAULT` if no arm is ready.
pub const DRAWLOOM_SELECT_DEFAULT: u32 = 1;
/// An arm of a closed channel is never chosen; if all are closed, the select is `DRAWLOOM_CLOSED`. Without this it is ready, and
/// its own status says that it is closed.
pub const DRAWLOOM_SELECT_SKIP_CLOSED: u32 = 2;
/// The first arm that is ready is chosen, and not any of them.
pub const DRAWLOOM_SELECT_IN_ORDER: u32 = 4;

/// An arm of a select.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct drawloom_case {
    /// `sizeof(drawloom_case)`.
    pub size: usize,
    /// The channel or the timer.
    pub handle: drawloom_handle,
    /// `DRAWLOOM_RECV`, `DRAWLOOM_SEND` or `DRAWLOOM_TIMER`.
    pub op: u32,
    /// What the chosen arm came to: `DRAWLOOM_OK` or `DRAWLOOM_CLOSED`.
    pub status: i32,
    /// The message: in for a send, out for a receive.
    pub value: u64,
}

/// Those who are to be told when something changes at a channel: the signal of each, by task.
#[derive(Default)]
pub(crate) struct Watchers(Vec<(TaskId, ResourceId)>);

impl Watchers {
    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn add(&mut self, task: TaskId, signal: ResourceId) {
        match self.0.iter_mut().find(|(known, _)| *known == task) {
            Some((_, known)) => *known = signal,
            None => self.0.push((task, signal)),
        }
    }

    /// The next to be told: not in the order in which they came, which nobody has explored.
    fn next(&mut self) -> Option<ResourceId> {
        let first = (0..self.0.len()).min_by_key(|at| self.0[*at].0)?;
        Some(self.0.swap_remove(first).1)
    }
}

/// What became of trying an arm.
enum Tried {
    Done(drawloom_status),
    Closed,
    NotReady,
    /// A timer that is due then.
    Due(u64),
}

impl Here {
    /// Tells the selects that wait to send, or to receive, that it is worth another try.
    #[cold]
    pub(crate) fn wake(&self, channel: drawloom_handle, senders: bool, site: Site) {
        // All that are there now: others may come while these are told.
        let count = self.watchers(channel, senders, site).0.len();
        for _ in 0..count {
            let Some(signal) = self.watchers(channel, senders, site).next() else { return };
            self.control().step(Operation::new(OpKind::Release, signal, site).with_arg(1));
        }
    }

    /// The same for all, of a channel that was closed.
    pub(crate) fn wake_all(&self, channel: drawloom_handle, site: Site) {
        self.wake(channel, false, site);
        self.wake(channel, true, site);
    }

    fn watchers(&self, channel: drawloom_handle, senders: bool, site: Site) -> &mut Watchers {
        let (channel, _) = self.channel(channel, site);
        if senders { &mut channel.senders } else { &mut channel.receivers }
    }

    fn deadline_of(&self, timer: drawloom_handle, site: Site) -> u64 {
        match self.object(timer, Kind::Timer, site).data {
            Data::Timer { deadline } => deadline,
            _ => unreachable!("a timer has its deadline"),
        }
    }

    fn attempt(&self, case: &mut drawloom_case, site: Site) -> Tried {
        let status = match case.op {
            DRAWLOOM_RECV => self.receive(case.handle, &raw mut case.value, None, site),
            DRAWLOOM_SEND => self.send(case.handle, case.value, None, site),
            _ => {
                let deadline = self.deadline_of(case.handle, site);
                if deadline == u64::MAX {
                    return Tried::NotReady;
                }
                return match self.control().now(site) {
                    now if now >= deadline => Tried::Done(DRAWLOOM_OK),
                    _ => Tried::Due(deadline),
                };
            }
        };
        match status {
            DRAWLOOM_OK => Tried::Done(DRAWLOOM_OK),
            DRAWLOOM_CLOSED => Tried::Closed,
            _ => Tried::NotReady,
        }
    }

    /// A select of one arm that waits is that arm, where that can be.
    fn select_one(&self, case: &mut drawloom_case, flags: u32, timeout: u64, site: Site) -> Option<drawloom_status> {
        let status = match case.op {
            DRAWLOOM_RECV => self.receive(case.handle, &raw mut case.value, Some(timeout), site),
            DRAWLOOM_SEND => self.send(case.handle, case.value, Some(timeout), site),
            _ => return None,
        };
        case.status = status as i32;
        let is_ready = status == DRAWLOOM_CLOSED && flags & DRAWLOOM_SELECT_SKIP_CLOSED == 0;
        Some(if is_ready { DRAWLOOM_OK } else { status })
    }

    fn select(
        &self,
        cases: &mut [drawloom_case],
        flags: u32,
        timeout: u64,
        site: Site,
    ) -> (drawloom_status, Option<usize>) {
        let waits = flags & DRAWLOOM_SELECT_DEFAULT == 0;
        let skips = flags & DRAWLOOM_SELECT_SKIP_CLOSED != 0;
        let limit = match timeout {
            u64::MAX => u64::MAX,
            timeout if waits => self.control().now_before_wait(site).saturating_add(timeout),
            _ => u64::MAX,
        };
        let me = self.running();
        loop {
            let any = cases.len() > 1 && flags & DRAWLOOM_SELECT_IN_ORDER == 0;
            let first = if any { self.control().choose(cases.len() as u64, site) as usize } else { 0 };
            let mut signal = None;
            let (mut closed, mut due) = (0, u64::MAX);
            for index in (first..cases.len()).chain(0..first) {
                match self.attempt(&mut cases[index], site) {
                    Tried::Done(status) => {
                        cases[index].status = status as i32;
                        return (DRAWLOOM_OK, Some(index));
                    }
                    Tried::Closed if skips => closed += 1,
                    Tried::Closed => {
                        cases[index].status = DRAWLOOM_CLOSED as i32;
                        return (DRAWLOOM_OK, Some(index));
                    }
                    Tried::Due(deadline) => due = due.min(deadline),
                    Tried::NotReady if waits && cases[index].op != DRAWLOOM_TIMER => {
                        // Before anybody else runs: since the channel has refused, nothing has changed.
                        let signal = *signal
                            .get_or_insert_with(|| self.control().create(ResourceKind::Signal, State::Count(0), site));
                        self.watchers(cases[index].handle, cases[index].op == DRAWLOOM_SEND, site).add(me, signal);
                    }
                    Tried::NotReady => {}
                }
            }
            if !waits {
                return (DRAWLOOM_DEFAULT, None);
            }
            if closed == cases.len() && !cases.is_empty() {
                return (DRAWLOOM_CLOSED, None);
            }
            // Who waits for nothing that can come waits all the same.
            let signal = signal.unwrap_or_else(|| self.control().create(ResourceKind::Signal, State::Count(0), site));
            let acquire = Operation::new(OpKind::Acquire, signal, site).with_arg(1);
            let until = due.min(limit);
            let came_to = match until {
                u64::MAX => self.control().step(acquire),
                until => self.control().step_until(acquire, until),
            };
            if came_to == outcome::TIMED_OUT && due > limit {
                return (DRAWLOOM_TIMED_OUT, None);
            }
        }
    }
}

/// Carries out one of the `count` arms at `cases`, which of them is written to `*chosen`. It waits until one is ready, for
/// `timeout` nanoseconds of virtual time at most (`UINT64_MAX`: for ever), unless `flags` have `DRAWLOOM_SELECT_DEFAULT`.
#[unsafe(no_mangle)]
pub extern "C" fn drawloom_select(
    cases: *mut drawloom_case,
    count: usize,
    flags: u32,
    timeout: u64,
    chosen: *mut usize,
    at: *const drawloom_loc,
) -> drawloom_status {
    let here = match here() {
        Ok(here) => here,
        Err(why) => return why,
    };
    if (cases.is_null() && count > 0) || chosen.is_null() {
        return DRAWLOOM_E_NULL;
    }
    if count > 1024 {
        return DRAWLOOM_E_RANGE;
    }
    let cases = match count {
        0 => &mut [],
        // SAFETY: the caller vouches for as many as it says.
        _ => unsafe { std::slice::from_raw_parts_mut(cases, count) },
    };
    if cases.iter().any(|case| case.size != size_of::<drawloom_case>()) {
        return DRAWLOOM_E_SIZE;
    }
    if cases.iter().any(|case| case.op > DRAWLOOM_TIMER) {
        return DRAWLOOM_E_RANGE;
    }
    let waits = flags & DRAWLOOM_SELECT_DEFAULT == 0;
    if let ([case], true) = (&mut *cases, waits) {
        if let Some(status) = here.select_one(case, flags, timeout, site(at)) {
            if status == DRAWLOOM_OK {
                // SAFETY: the caller vouches for the pointer, which is not null.
                unsafe { *chosen = 0 };
            }
            return status;
        }
    }
    for case in cases.iter().filter(|case| case.op != DRAWLOOM_TIMER && waits) {
        if here.channel(case.handle, site(at)).0.is_rendezvous() {
            let why = "unsupported: a select that waits for several arms needs channels with a capacity, and this one has none";
            here.misuse(why.into(), site(at));
        }
    }
    let (status, index) = here.select(cases, flags, timeout, site(at));
    if let Some(index) = index {
        // SAFETY: the caller vouches for the pointer, which is not null.
        unsafe { *chosen = index };
    }
    status
}
