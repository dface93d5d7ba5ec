//! What a process is besides its mailbox, and how its body is run.

use std::fmt::Display;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;

use super::backend::{Backend, Body};
use super::ctx::Ctx;
use super::pid::{Pid, ProcessId};
use super::reason::{ExitReason, PanicInfo};
use super::reply::Lost;
use super::signal::{Message, Ref};

/// What every process has.
pub(crate) struct Core {
    pub(crate) id: ProcessId,
    pub(crate) backend: Arc<dyn Backend>,
    /// Children and references, which are numbered.
    children: AtomicU64,
    references: AtomicU64,
    /// What the backend knows it by: a task of the engine for instance.
    pub(crate) handle: AtomicU64,
    /// It does nothing any more: replies that it owes are not lost by mistake.
    has_ended: AtomicBool,
    /// What is posted at it is noted for somebody who wants to read it.
    #[cfg(feature = "controlled")]
    pub(crate) is_noted: bool,
    /// Replies that were dropped by what it is handling, if it is known only afterwards whether that matters.
    lost: Mutex<Option<Vec<Lost>>>,
}

impl Core {
    pub(crate) fn new(id: ProcessId, backend: Arc<dyn Backend>) -> Core {
        Core {
            id,
            #[cfg(feature = "controlled")]
            is_noted: backend.takes_notes(),
            backend,
            children: AtomicU64::new(0),
            references: AtomicU64::new(0),
            handle: AtomicU64::new(0),
            has_ended: AtomicBool::new(false),
            lost: Mutex::default(),
        }
    }

    pub(crate) fn end(&self) {
        self.has_ended.store(true, Ordering::Relaxed);
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.has_ended.load(Ordering::Relaxed)
    }

    fn lost_ones(&self) -> MutexGuard<'_, Option<Vec<Lost>>> {
        self.lost.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A reply was dropped: it is given back if whoever waits is to be told at once.
    pub(crate) fn lost(&self, lost: Lost) -> Option<Lost> {
        match &mut *self.lost_ones() {
            Some(all) => {
                all.push(lost);
                None
            }
            None => Some(lost),
        }
    }

    /// The process begins to handle something that may lose replies, or continues after that: those that were lost are told of.
    pub(crate) fn tell_of_lost(&self) {
        let lost = self.lost_ones().replace(Vec::new());
        lost.into_iter().flatten().for_each(Lost::tell);
    }

    pub(crate) fn next_child(&self) -> ProcessId {
        self.id.child(self.children.fetch_add(1, Ordering::Relaxed) + 1)
    }

    pub(crate) fn next_ref(&self) -> Ref {
        Ref { by: self.id, number: self.references.fetch_add(1, Ordering::Relaxed) + 1 }
    }
}

/// What a process can return at its end.
///
/// ```
/// use drawloom::actor::{Ending, ExitReason};
///
/// assert_eq!(().into_reason(), ExitReason::Normal);
/// assert_eq!(ExitReason::Shutdown.into_reason(), ExitReason::Shutdown);
/// ```
pub trait Ending {
    /// What it ends with.
    fn into_reason(self) -> ExitReason;
}

impl Ending for () {
    fn into_reason(self) -> ExitReason {
        ExitReason::Normal
    }
}

impl Ending for ExitReason {
    fn into_reason(self) -> ExitReason {
        self
    }
}

impl Ending for std::convert::Infallible {
    fn into_reason(self) -> ExitReason {
        match self {}
    }
}

/// By which the type of what never returns can be written: the block of a process that loops for ever has it.
#[doc(hidden)]
pub trait Returns {
    /// What a function returns.
    type Output;
}

impl<R> Returns for fn() -> R {
    type Output = R;
}

impl Ending for <fn() -> ! as Returns>::Output {
    fn into_reason(self) -> ExitReason {
        self
    }
}

impl<T: Ending, E: Display> Ending for Result<T, E> {
    fn into_reason(self) -> ExitReason {
        self.map_or_else(|error| ExitReason::Error(error.to_string()), Ending::into_reason)
    }
}

/// What unwinds a process that [exits](Ctx::exit), or to which a signal was fatal.
pub(crate) struct Exiting(pub(crate) ExitReason);

/// Unwinds the running process, unseen by panic hooks.
pub(crate) fn unwind(exiting: Exiting) -> ! {
    #[cfg(feature = "controlled")]
    crate::rt::unwind(Box::new(exiting));
    #[cfg(not(feature = "controlled"))]
    std::panic::resume_unwind(Box::new(exiting));
}

/// What a backend runs for the process `pid`.
pub(crate) fn body<N, F, Fut>(pid: Pid<N>, f: F) -> Body
where
    N: Message,
    F: FnOnce(Ctx<N>) -> Fut + Send + 'static,
    Fut: Future<Output: Ending> + Send + 'static,
{
    Box::new(move || {
        // The closure is the user's code, too.
        match caught(|| f(Ctx::new(pid))) {
            Ok(future) => Box::pin(async move {
                let mut future = pin!(future);
                poll_fn(|context| {
                    let polled = caught(|| future.as_mut().poll(context).map(Ending::into_reason));
                    polled.unwrap_or_else(Poll::Ready)
                })
                .await
            }),
            Err(reason) => Box::pin(std::future::ready(reason)),
        }
    })
}

/// Runs the user's code; how it ends if it does not return.
fn caught<R>(act: impl FnOnce() -> R) -> Result<R, ExitReason> {
    catch_unwind(AssertUnwindSafe(act)).map_err(|payload| {
        #[cfg(feature = "controlled")]
        let rt = crate::rt::current();
        // The execution is over, and this is how it is cleared away.
        #[cfg(feature = "controlled")]
        if rt.is_some_and(|rt| rt.is_tearing_down()) {
            std::panic::resume_unwind(payload);
        }
        match payload.downcast::<Exiting>() {
            Ok(exiting) => {
                #[cfg(feature = "controlled")]
                crate::rt::caught();
                exiting.0
            }
            Err(payload) => {
                #[cfg(feature = "controlled")]
                rt.into_iter().for_each(|rt| rt.panicked(false));
                ExitReason::Panic(PanicInfo::of(&*payload))
            }
        }
    })
}
