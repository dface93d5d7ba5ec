//! Histories: what clients call and get back, checked against a model while it happens.
//!
//! Assertions state the result of one run of a test. A model states what *every* operation may return, whatever else is
//! at it: a [`Watch`] follows the clients of an exploration, and the first return that no order of the operations
//! explains is a panic, with the few operations that are needed to see it.
//!
//! ```
//! use drawloom::history::model::{Counter, CounterOp::AddAndGet, CounterRet::Sum};
//! use drawloom::history::Watch;
//! use drawloom::sync::{Arc, atomic::{AtomicI64, Ordering::SeqCst}};
//! use drawloom::thread;
//!
//! let exploration = drawloom::explore(drawloom::Config::new(), || {
//!     let (watch, count) = (Watch::new(Counter::default()), Arc::new(AtomicI64::new(0)));
//!     let clients = [watch.client(), watch.client()].map(|mut client| {
//!         let count = count.clone();
//!         thread::spawn(move || {
//!             client.call(AddAndGet(1), || {
//!                 let sum = count.load(SeqCst) + 1; // the other one may have read the same
//!                 count.store(sum, SeqCst);
//!                 Sum(sum)
//!             })
//!         })
//!     });
//!     clients.map(|client| client.join().unwrap());
//! });
//! assert!(exploration.findings()[0].message().contains("not linearizable"));
//! ```
//!
//! # Calls and returns are steps
//!
//! The code of a task between two steps runs as soon as it can. A call that were only written down would be written
//! down long before its operation begins, at the end of the task's step before; then it would overlap with everything
//! until it is scheduled, and any stale answer would be excused. So each call and each return is a step of its own, and
//! whether one operation returned before another was called is for the scheduler to decide.
//!
//! The verdict depends on that and on the results alone. So a call and a return conflict, but two calls do
//! not, nor do two returns: executions that differ only in the order of steps that commute have the same operations with
//! the same results, and of any two operations in all of them or in none the one returned before the other was called.
//! What explains one of these histories explains the others, and an exhaustive search makes one of them. An end that
//! tells nothing of real time ([`Client::fail`], [`Client::info`]) is no step at all.
//!
//! Nothing here synchronises: what races without being watched is a data race with it.

mod generated;
mod scenario;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

#[cfg(feature = "proptest")]
pub use drawloom_check::strategies;
pub use drawloom_check::{
    Budget, History, HistoryError, Model, Outcome, Process, Spec, Verdict, generate, model, spec,
};

use drawloom_check::explain;
use drawloom_check::linearizable::{Judgement, Monitor};
use drawloom_engine::finding::About;

pub use generated::generated;
pub use scenario::{Scenario, play, run};

use crate::object::Object;
use crate::rt::{self, OpKind, Operation, ResourceKind, Slot, State};

type HistoryOf<M> = History<<M as Model>::Op, <M as Model>::Ret>;

/// Watches the clients of one object: whether what they see is linearizable.
///
/// It belongs to one execution: make it in the body of the test, not outside.
///
/// ```
/// use drawloom::history::Watch;
/// use drawloom::history::model::{Register, RegisterOp::*, RegisterRet};
///
/// let watch = Watch::new(Register::new(0));
/// let mut client = watch.client();
/// client.call(Write(1), || RegisterRet::Written);
/// client.call(Read, || RegisterRet::Value(1)); // any other value would panic
/// ```
pub struct Watch<M: Model> {
    shared: Arc<Shared<M>>,
}

/// What all clients write to.
struct Shared<M: Model> {
    order: Order,
    /// Never contended under control.
    seen: Mutex<Seen<M>>,
}

/// What orders calls and returns.
enum Order {
    /// Each is a step of its own.
    Steps {
        slot: Slot,
        /// How many clients there are.
        clients: Object<u64>,
    },
    /// Each is part of an event of a cluster, which orders the events of its clients. So many clients there are.
    #[cfg(feature = "cluster")]
    Events(std::sync::atomic::AtomicU64),
}

/// What has happened so far.
struct Seen<M: Model> {
    model: M,
    budget: Budget,
    monitor: Monitor<M>,
    /// For the explanation: the monitor forgets.
    history: HistoryOf<M>,
    /// Who was to call what, if that is known.
    scenario: Vec<Vec<M::Op>>,
}

impl<M: Model> Shared<M> {
    /// A step of this kind.
    #[track_caller]
    fn step(&self, kind: OpKind) {
        match &self.order {
            Order::Steps { slot, .. } => {
                if let Some(rt) = rt::current() {
                    let resource = slot.resource(rt, ResourceKind::History, || State::Plain);
                    rt.step(Operation::new(kind, resource, rt::here()));
                }
            }
            #[cfg(feature = "cluster")]
            Order::Events(_) => {}
        }
    }

    fn seen(&self) -> MutexGuard<'_, Seen<M>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<M: Model + Clone> Watch<M> {
    /// Watches an object that begins as the model does, within the default budget.
    #[must_use]
    #[track_caller]
    pub fn new(model: M) -> Watch<M> {
        Watch::within(model, Budget::default())
    }

    /// Watches an object that begins as the model does, within a budget.
    #[must_use]
    #[track_caller]
    pub fn within(model: M, budget: Budget) -> Watch<M> {
        let clients = Object::new(0);
        crate::label(&clients, drawloom_report::WATCH);
        Watch::ordered_by(Order::Steps { slot: Slot::new(), clients }, model, budget)
    }

    /// Watches what clients of a cluster see.
    #[cfg(feature = "cluster")]
    pub(crate) fn of_events(model: M) -> Watch<M> {
        Watch::ordered_by(Order::Events(Default::default()), model, Budget::default())
    }

    fn ordered_by(order: Order, model: M, budget: Budget) -> Watch<M> {
        let monitor = Monitor::within(model.clone(), budget);
        let seen = Mutex::new(Seen { model, budget, monitor, history: History::new(), scenario: Vec::new() });
        Watch { shared: Arc::new(Shared { order, seen }) }
    }
}

impl<M: Model> Watch<M> {
    /// A new client, numbered in the order of these calls.
    #[must_use]
    #[track_caller]
    pub fn client(&self) -> Client<M> {
        let process = match &self.shared.order {
            Order::Steps { clients, .. } => clients.update(|clients| {
                *clients += 1;
                Process(*clients - 1)
            }),
            #[cfg(feature = "cluster")]
            Order::Events(clients) => Process(clients.fetch_add(1, std::sync::atomic::Ordering::Relaxed)),
        };
        Client { process, open: false, shared: self.shared.clone() }
    }

    /// The history so far. Operations that have not ended are pending.
    #[must_use]
    #[track_caller]
    pub fn history(&self) -> HistoryOf<M>
    where
        M::Op: Clone,
        M::Ret: Clone,
    {
        // It sees all of them.
        self.shared.step(OpKind::Rmw);
        self.shared.seen().history.clone()
    }
}

impl<M: Model> Clone for Watch<M> {
    fn clone(&self) -> Self {
        Watch { shared: self.shared.clone() }
    }
}

impl<M: Model> fmt::Debug for Watch<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch").finish_non_exhaustive()
    }
}

/// One client of the object. A client is sequential: a call ends the operation before it, as [`Outcome::Info`].
///
/// ```
/// use drawloom::history::Watch;
/// use drawloom::history::model::{Register, RegisterOp::*, RegisterRet};
///
/// let mut client = Watch::new(Register::new(0)).client();
/// client.invoke(Read);
/// client.ok(RegisterRet::Value(0));
/// ```
///
/// # Panics
///
/// What ends an operation panics if that cannot be explained, if the budget ran out before that could be said, and if
/// no operation is open.
pub struct Client<M: Model> {
    process: Process,
    open: bool,
    shared: Arc<Shared<M>>,
}

impl<M: Model> Client<M>
where
    M::Op: Clone,
    M::Ret: Clone,
{
    /// This client's process.
    #[must_use]
    pub fn process(&self) -> Process {
        self.process
    }

    /// An operation: a call, what `body` does, and the return of what it returns. If `body` panics the operation stays
    /// pending.
    #[track_caller]
    pub fn call(&mut self, op: M::Op, body: impl FnOnce() -> M::Ret) -> M::Ret {
        self.invoke(op);
        let ret = body();
        self.ok(ret.clone());
        ret
    }

    /// Calls an operation: to be said before it begins. One step.
    #[track_caller]
    pub fn invoke(&mut self, op: M::Op) {
        if self.open {
            self.info();
        }
        self.shared.step(OpKind::Call);
        let called = self.shared.seen().call(self.process, op);
        self.open = true;
        if let Err(error) = called {
            panic!("{error}");
        }
    }

    /// The operation took effect and returned: to be said after it has. One step.
    #[track_caller]
    pub fn ok(&mut self, ret: M::Ret) {
        self.shared.step(OpKind::Return);
        self.end(Outcome::Ok(ret));
    }

    /// The operation certainly did not take effect.
    #[track_caller]
    pub fn fail(&mut self) {
        self.end(Outcome::Fail);
    }

    /// Ends the operation without a known result: it may or may not have taken effect.
    #[track_caller]
    pub fn info(&mut self) {
        self.end(Outcome::Info);
    }

    #[track_caller]
    fn end(&mut self, outcome: Outcome<M::Ret>) {
        self.open = false;
        let ended = self.shared.seen().end(self.process, outcome);
        match ended {
            Ok(()) => {}
            Err(Refusal::Unjudged(why)) => panic!("{why}"),
            Err(Refusal::NotLinearizable(why)) => {
                if let Some(rt) = rt::current() {
                    rt.panics_about(About::History);
                }
                panic!("{why}");
            }
        }
    }
}

/// Why an operation cannot end as it does.
enum Refusal {
    /// Nobody could say whether it can.
    Unjudged(String),
    /// No order of the operations explains it.
    NotLinearizable(String),
}

impl From<HistoryError> for Refusal {
    fn from(error: HistoryError) -> Refusal {
        Refusal::Unjudged(error.to_string())
    }
}

impl<M: Model> Seen<M>
where
    M::Op: Clone,
    M::Ret: Clone,
{
    fn call(&mut self, process: Process, op: M::Op) -> Result<(), HistoryError> {
        self.history.invoke(process, op.clone())?;
        self.monitor.invoke(process, op).map(drop)
    }

    fn end(&mut self, process: Process, outcome: Outcome<M::Ret>) -> Result<(), Refusal> {
        self.history.complete(process, outcome.clone())?;
        let judged = match outcome {
            Outcome::Ok(ret) => self.monitor.ok(process, &ret),
            Outcome::Fail => self.monitor.fail(process),
            Outcome::Info | Outcome::Pending => self.monitor.info(process),
        };
        self.judge(judged?)
    }

    fn judge(&self, judgement: Judgement) -> Result<(), Refusal> {
        match judgement {
            Verdict::Ok(()) => Ok(()),
            Verdict::Unknown(unknown) => {
                Err(Refusal::Unjudged(format!("whether the history is linearizable is unknown: {unknown}")))
            }
            Verdict::Illegal(culprit) => {
                Err(Refusal::NotLinearizable(match explain::linearizability(&self.model, &self.history, self.budget) {
                    Some(explanation) => format!("{explanation}{}", scenario::describe(&self.model, &self.scenario)),
                    None => {
                        let operation = &self.history.operations()[culprit.index()];
                        let text = self.model.describe(&operation.op, operation.outcome.ret());
                        format!(
                            "not linearizable: {text} cannot be placed\n{}",
                            scenario::describe(&self.model, &self.scenario)
                        )
                    }
                }))
            }
        }
    }
}

impl<M: Model> fmt::Debug for Client<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("process", &self.process).finish_non_exhaustive()
    }
}
