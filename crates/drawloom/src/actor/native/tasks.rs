//! Processes that are tasks of a runtime: who waits returns, and is woken.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use super::slot::{Limit, Slot, Wakes};
use super::{Native, Within};
use crate::actor::backend::{Body, Look, Tie};
use crate::actor::pid::AnyPid;
use crate::actor::reason::ExitReason;

/// A future that a runtime has made.
pub(super) type Sleep = Pin<Box<dyn Future<Output = ()> + Send>>;

/// What runs the processes of a system in production, if they are not to have a thread each: an executor of futures with timers.
///
/// With the feature `actors-tokio`, tokio's `Handle` is one. Others take a few lines. In an exploration nobody asks it.
pub trait Runtime: Send + Sync + 'static {
    /// Lets a process run to its end.
    fn spawn(&self, process: Pin<Box<dyn Future<Output = ()> + Send>>);

    /// A future that is ready when so much time has passed.
    fn sleep(&self, time: Duration) -> Pin<Box<dyn Future<Output = ()> + Send>>;

    /// The time by which `sleep` goes.
    fn now(&self) -> Instant {
        Instant::now()
    }
}

/// The life of a process.
pub(crate) struct Drive {
    native: Arc<Native>,
    me: AnyPid,
    slot: Arc<Slot>,
    body: Option<Body>,
    future: Option<Pin<Box<dyn Future<Output = ExitReason> + Send>>>,
    /// What the process sees as its waker.
    waker: Waker,
    is_root: bool,
    is_over: bool,
}

impl Drive {
    pub(super) fn new(native: Arc<Native>, me: AnyPid, slot: Arc<Slot>, body: Body) -> Drive {
        let waker = Waker::from(Wakes::of(&slot, &native.quiet));
        Drive { native, me, slot, body: Some(body), future: None, waker, is_root: false, is_over: false }
    }

    /// The process is through.
    fn finish(&mut self, returned: Option<ExitReason>) -> ExitReason {
        self.is_over = true;
        self.slot.end_receive();
        let native = Arc::clone(&self.native);
        let within = Within::of(&native, &self.me, &self.slot);
        let reason = native.bury(&self.me, (self.body.take(), self.future.take()), returned);
        drop(within);
        if self.is_root {
            native.end();
        }
        reason
    }
}

impl Future for Drive {
    type Output = ExitReason;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<ExitReason> {
        let this = &mut *self;
        this.slot.wakes_by(context.waker());
        loop {
            let seen = this.slot.seen();
            if this.slot.is_doomed() {
                this.slot.gets_up(&this.native.quiet);
                return Poll::Ready(this.finish(None));
            }
            let within = Within::of(&this.native, &this.me, &this.slot);
            if let Some(body) = this.body.take() {
                this.future = Some(body());
            }
            let future = this.future.as_mut().expect("nobody polls a process that is through");
            // Panics are caught within.
            let polled = future.as_mut().poll(&mut Context::from_waker(&this.waker));
            drop(within);
            match polled {
                Poll::Ready(reason) => return Poll::Ready(this.finish(Some(reason))),
                Poll::Pending if this.slot.rest(seen, &this.native.quiet) => return Poll::Pending,
                // Something has come meanwhile.
                Poll::Pending => {}
            }
        }
    }
}

impl Drop for Drive {
    /// Its runtime goes away, or whoever awaits the first process does.
    fn drop(&mut self) {
        if !self.is_over {
            self.slot.gets_up(&self.native.quiet);
            self.finish(None);
        }
    }
}

impl Native {
    /// Runs the first process of the system as a part of the task that awaits this.
    pub(crate) fn run_as_task(self: Arc<Self>, root: &AnyPid, body: Body) -> Drive {
        let slot = self.begin(root, true);
        self.relations().insert(root, None, Tie::default());
        let mut drive = Drive::new(self, root.clone(), slot, body);
        drive.is_root = true;
        drive
    }

    /// A receive of a task.
    pub(super) fn poll_receive(
        &self,
        slot: &Slot,
        look: &mut Look<'_>,
        limit: Option<Duration>,
        context: &mut Context<'_>,
    ) -> Poll<bool> {
        self.step();
        if look(&mut || None).is_some() {
            return Poll::Ready(true);
        }
        // A limit that is never reached is none.
        let Some((runtime, until)) = self.runtime.as_ref().zip(limit) else { return Poll::Pending };
        let mut limit = slot.limit();
        if limit.is_none() {
            let Some(instant) = self.instant().checked_add(until) else { return Poll::Pending };
            if until == Duration::ZERO {
                return Poll::Ready(false);
            }
            *limit = Some(Limit { until: instant, sleep: runtime.sleep(until) });
        }
        let Some(Limit { until, sleep }) = &mut *limit else { return Poll::Pending };
        let is_over = sleep.as_mut().poll(context).is_ready() || self.instant() >= *until;
        if is_over {
            *limit = None;
            return Poll::Ready(false);
        }
        Poll::Pending
    }
}
