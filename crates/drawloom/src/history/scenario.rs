//! Scenarios: who calls what, chosen as schedules are.

use std::sync::Arc;

use drawloom_explore::Layout;

use super::{Model, Watch};
use crate::{rt, thread};

/// How large scenarios are.
///
/// ```
/// use drawloom::history::Scenario;
///
/// let large = Scenario { clients: 3, ..Scenario::default() };
/// assert_eq!(large.length, 3);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Scenario {
    /// How many clients there are.
    pub clients: usize,
    /// How many operations each of them calls at most.
    pub length: usize,
}

impl Default for Scenario {
    /// Most bugs need no more than two clients and three operations of each.
    fn default() -> Self {
        Scenario { clients: 2, length: 3 }
    }
}

/// One execution of some scenario: clients of `object` call some of `operations`, and what they see is watched.
///
/// Which ones they call is a [choice](crate::choose) like any other: it is explored with the schedule, and one token
/// replays both. If what they see is not linearizable, smaller scenarios are explored until none is seen to fail:
/// fewer clients, fewer operations, those that stand first among `operations`. This is what
/// [`check_linearizable!`](crate::check_linearizable) calls.
///
/// ```
/// use drawloom::history::model::{Counter, CounterOp::AddAndGet, CounterRet::Sum};
/// use drawloom::history::{self, Scenario};
/// use drawloom::sync::atomic::{AtomicI64, Ordering::SeqCst};
///
/// drawloom::check(|| {
///     let count = AtomicI64::new(0);
///     history::run(Scenario::default(), Counter::default(), count, [AddAndGet(1)], |count, operation| match operation {
///         AddAndGet(by) => Sum(count.fetch_add(by, SeqCst) + by),
///         _ => unreachable!("the scenario has no other operation"),
///     });
/// });
/// ```
///
/// # Panics
///
/// If what the clients see is not linearizable, with the explanation.
#[track_caller]
pub fn run<M, T>(
    scenario: Scenario,
    model: M,
    object: T,
    operations: impl IntoIterator<Item = M::Op>,
    apply: impl Fn(&T, M::Op) -> M::Ret + Send + Sync + 'static,
) where
    M: Model + Clone + Send + 'static,
    M::State: Send,
    M::Op: Clone + Send + 'static,
    M::Ret: Clone + Send + 'static,
    T: Send + Sync + 'static,
{
    let operations: Vec<M::Op> = operations.into_iter().collect();
    let Scenario { clients, length } = scenario;
    let layout = Layout { site: rt::here(), clients, length, operations: operations.len() };
    // All choices come first, so that they are the same ones in whatever order the clients run.
    let chosen = layout.choose(|outcomes| match rt::current() {
        Some(rt) => rt.choose(outcomes as u64, layout.site) as usize,
        None => 0,
    });
    let calls = chosen.into_iter().map(|list| list.into_iter().map(|at| operations[at].clone()).collect());
    play(calls, model, object, apply);
}

/// One execution of a given scenario: each client of `object` calls its list of operations, and what they see is
/// watched. For scenarios that come from elsewhere: written down, or drawn by proptest
/// (`drawloom_check::strategies`), which then shrinks them.
///
/// ```
/// use drawloom::history;
/// use drawloom::history::model::{Counter, CounterOp::AddAndGet, CounterRet::Sum};
/// use drawloom::sync::atomic::{AtomicI64, Ordering::SeqCst};
///
/// drawloom::check(|| {
///     let calls = [vec![AddAndGet(1)], vec![AddAndGet(2)]]; // one list for each client
///     history::play(calls, Counter::default(), AtomicI64::new(0), |count, operation| match operation {
///         AddAndGet(by) => Sum(count.fetch_add(by, SeqCst) + by),
///         _ => unreachable!("the lists have no other operation"),
///     });
/// });
/// ```
///
/// # Panics
///
/// If what the clients see is not linearizable, with the explanation.
#[track_caller]
pub fn play<M, T>(
    calls: impl IntoIterator<Item = Vec<M::Op>>,
    model: M,
    object: T,
    apply: impl Fn(&T, M::Op) -> M::Ret + Send + Sync + 'static,
) where
    M: Model + Clone + Send + 'static,
    M::State: Send,
    M::Op: Clone + Send + 'static,
    M::Ret: Clone + Send + 'static,
    T: Send + Sync + 'static,
{
    let calls: Vec<Vec<M::Op>> = calls.into_iter().filter(|calls| !calls.is_empty()).collect();
    let watch = Watch::new(model);
    watch.shared.seen().scenario.clone_from(&calls);
    let shared = Arc::new((object, apply));
    let clients: Vec<_> = calls.into_iter().map(|calls| (watch.client(), calls)).collect();
    let clients: Vec<_> = clients
        .into_iter()
        .map(|(mut client, calls)| {
            let shared = shared.clone();
            thread::spawn(move || {
                let (object, apply) = &*shared;
                for operation in calls {
                    client.call(operation.clone(), || apply(object, operation));
                }
            })
        })
        .collect();
    for client in clients {
        client.join().expect("a client panicked");
    }
}

/// Who calls what, one line for each client; nothing if nobody said so.
pub(super) fn describe<M: Model>(model: &M, calls: &[Vec<M::Op>]) -> String {
    let mut text = String::from(if calls.is_empty() { "" } else { "\n  the scenario:\n" });
    for (client, calls) in calls.iter().enumerate() {
        let calls = calls.iter().map(|operation| {
            let unknown = model.describe(operation, None);
            unknown.strip_suffix(" → ?").map(str::to_owned).unwrap_or(unknown)
        });
        text.push_str(&format!("  process {client}  {}\n", calls.collect::<Vec<_>>().join(", ")));
    }
    text
}

/// Checks an object against a model: clients call whichever operations, in whichever schedule.
///
/// For the body of a test. Each execution draws a scenario and a schedule; an exhaustive one goes through all of them.
///
/// ```
/// use drawloom::history::model::{ContainerOp::*, ContainerRet::*, LifoStack};
/// use drawloom::sync::Mutex;
///
/// #[derive(Default)]
/// struct Stack(Mutex<Vec<u32>>);
///
/// impl Stack {
///     fn pop(&self) -> Option<u32> {
///         let last = self.0.lock().unwrap().last().copied();
///         self.0.lock().unwrap().pop(); // which may be another one by now
///         last
///     }
/// }
///
/// // In a test module: #[drawloom::test] fn is_a_stack() { … }
/// fn is_a_stack() {
///     drawloom::check_linearizable! {
///         model: LifoStack::new(),
///         object: Stack::default(),
///         operations: [Insert(1), Insert(2), Remove],
///         apply: |stack, operation| match operation {
///             Insert(item) => { stack.0.lock().unwrap().push(item); Inserted }
///             Remove => stack.pop().map_or(Empty, Removed),
///         },
///     }
/// }
///
/// let exploration = drawloom::explore(drawloom::Config::new(), is_a_stack);
/// assert!(exploration.findings()[0].message().contains("not linearizable"));
/// ```
///
/// A line `scenario: Scenario { clients: 3, length: 2 },` before `apply` says how large scenarios are.
#[macro_export]
macro_rules! check_linearizable {
    (model: $model:expr, object: $object:expr, operations: $operations:expr, apply: $apply:expr $(,)?) => {
        $crate::check_linearizable! {
            model: $model,
            object: $object,
            operations: $operations,
            scenario: ::core::default::Default::default(),
            apply: $apply,
        }
    };
    (
        model: $model:expr, object: $object:expr, operations: $operations:expr, scenario: $scenario:expr, apply: $apply:expr $(,)?
    ) => {
        $crate::history::run($scenario, $model, $object, $operations, $apply)
    };
}
