//! Scenarios: who calls what is chosen, what fails becomes as small as can be, and small ones are explored to the end.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex as Plain};

use drawloom::history::model::{ContainerOp::*, ContainerRet::*, FifoQueue};
use drawloom::history::model::{Counter as Sums, CounterOp, CounterRet};
use drawloom::history::{Scenario, play};
use drawloom::strategy::{Divergence, Profile, Strategy, TaskId, View};
use drawloom::sync::Mutex;
use drawloom::sync::atomic::{AtomicI64, Ordering::SeqCst};
use drawloom::{Config, Exploration, StrategySpec, explore, explore_with};

#[derive(Default)]
struct Count(AtomicI64);

impl Count {
    /// Two steps: an addition of somebody else can be lost in between.
    fn add_buggy(&self, by: i64) {
        let sum = self.0.load(SeqCst);
        self.0.store(sum + by, SeqCst);
    }

    fn add_fixed(&self, by: i64) {
        self.0.fetch_add(by, SeqCst);
    }
}

fn counts(add: fn(&Count, i64), scenario: Scenario) {
    drawloom::check_linearizable! {
        model: Sums::default(),
        object: Count::default(),
        operations: [CounterOp::Read, CounterOp::Add(1), CounterOp::Add(2)],
        scenario: scenario,
        apply: move |count, operation| match operation {
            CounterOp::Add(by) => { add(count, by); CounterRet::Added }
            CounterOp::Read | CounterOp::AddAndGet(_) => CounterRet::Sum(count.0.load(SeqCst)),
        },
    }
}

#[derive(Default)]
struct Queue(Mutex<Vec<u32>>);

impl Queue {
    fn pop_buggy(&self) -> Option<u32> {
        let first = self.0.lock().unwrap().first().copied();
        let mut items = self.0.lock().unwrap();
        if !items.is_empty() {
            items.remove(0);
        }
        first
    }

    fn pop_fixed(&self) -> Option<u32> {
        let mut items = self.0.lock().unwrap();
        if items.is_empty() { None } else { Some(items.remove(0)) }
    }
}

fn queues(pop: fn(&Queue) -> Option<u32>, scenario: Scenario) {
    drawloom::check_linearizable! {
        model: FifoQueue::new(),
        object: Queue::default(),
        operations: [Insert(1), Insert(2), Remove],
        scenario: scenario,
        apply: move |queue, operation| match operation {
            Insert(item) => { queue.0.lock().unwrap().push(item); Inserted }
            Remove => pop(queue).map_or(Empty, Removed),
        },
    }
}

/// The lines of the scenario that the only finding shows.
fn scenario(exploration: &Exploration) -> Vec<String> {
    let message = exploration.findings()[0].message();
    let (_, scenario) = message.split_once("the scenario:\n").unwrap_or_else(|| panic!("{message}"));
    scenario.lines().map(|line| line.trim().to_owned()).filter(|line| !line.is_empty()).collect()
}

const LARGE: Scenario = Scenario { clients: 3, length: 3 };

/// Two additions at once, and somebody who reads what is missing.
#[test]
fn a_lost_update_needs_two_additions_and_a_read() {
    let exploration = explore(Config::new().trace(false), || counts(Count::add_buggy, LARGE));
    assert_eq!(scenario(&exploration), ["process 0  add 1, read", "process 1  add 1"]);
}

/// One item, and two clients that both get it.
#[test]
fn an_item_that_is_given_twice_needs_one_insert_and_two_removes() {
    let exploration = explore(Config::new().trace(false), || queues(Queue::pop_buggy, LARGE));
    let found = scenario(&exploration);
    let operations: usize = found.iter().map(|line| line.split(", ").count()).sum();
    assert_eq!((found.len(), operations), (2, 3), "{found:?}");
    let mut calls: Vec<&str> = found.iter().flat_map(|line| line[9..].trim().split(", ")).collect();
    calls.sort_unstable();
    assert_eq!(calls, ["dequeue", "dequeue", "enqueue 1"], "{found:?}");
}

/// What is shown can be replayed, and the same is shown every time.
#[test]
fn the_smallest_scenario_is_the_same_every_time_and_has_a_token() {
    let explored = || explore(Config::new().trace(false), || counts(Count::add_buggy, LARGE));
    let (one, other) = (explored(), explored());
    let finding = &one.findings()[0];
    assert_eq!(finding.token(), other.findings()[0].token());
    let replay = StrategySpec::Replay { token: finding.token().to_owned(), lenient: false };
    let replayed = explore(Config::new().trace(false).strategy(replay), || counts(Count::add_buggy, LARGE));
    assert_eq!(replayed.findings()[0].message(), finding.message());
}

/// All scenarios of two clients with two operations each, in all ways that differ.
#[test]
fn small_scenarios_are_explored_to_the_end() {
    let small = Scenario { clients: 2, length: 2 };
    let config = || "exhaustive, trace = false".parse().expect("a configuration");
    let counted = explore(config(), move || counts(Count::add_fixed, small));
    assert!(counted.findings().is_empty() && counted.exhausted(), "{}", counted.summary());
    let queued = explore(config(), move || queues(Queue::pop_fixed, small));
    assert!(queued.findings().is_empty() && queued.exhausted(), "{}", queued.summary());
}

/// A history, as far as an order that explains it is concerned: who called what, what came back, and who returned
/// before whom was called.
type Told = (Vec<String>, BTreeSet<(usize, usize)>);

/// Clients of a counter, and a set that their history is added to.
fn adds_its_history_to(seen: Arc<Plain<BTreeSet<Told>>>, calls: &'static [&'static [CounterOp]]) -> impl Fn() {
    move || {
        let watch = drawloom::history::Watch::new(Sums::default());
        let count = Arc::new(Count::default());
        let clients: Vec<_> = calls.iter().map(|calls| (watch.client(), *calls)).collect();
        let clients: Vec<_> = clients
            .into_iter()
            .map(|(mut client, calls)| {
                let count = count.clone();
                drawloom::thread::spawn(move || {
                    for operation in calls {
                        client.call(*operation, || match operation {
                            CounterOp::Add(by) => {
                                count.add_fixed(*by);
                                CounterRet::Added
                            }
                            _ => CounterRet::Sum(count.0.load(SeqCst)),
                        });
                    }
                })
            })
            .collect();
        clients.into_iter().for_each(|client| client.join().unwrap());
        let history = watch.history();
        // In the order of processes, which is not that of calls.
        let mut operations: Vec<_> = history.operations().iter().collect();
        operations.sort_by_key(|operation| (operation.process.0, operation.call));
        let told = operations.iter().map(|o| format!("{} {:?} {:?}", o.process.0, o.op, o.outcome)).collect();
        let pairs = (0..operations.len()).flat_map(|a| (0..operations.len()).map(move |b| (a, b)));
        let before = pairs.filter(|(a, b)| operations[*a].precedes(operations[*b])).collect();
        seen.lock().unwrap().insert((told, before));
    }
}

/// Every schedule, one after the other, without a thought: counts through all sequences of picks.
#[derive(Default)]
struct Every {
    /// Which of how many was picked.
    picks: Vec<(usize, usize)>,
    at: usize,
    over: Arc<AtomicBool>,
}

impl Strategy for Every {
    fn prepare(&mut self, number: u64, _: &Arc<Profile>) {
        // The first execution is made twice, to see whether it can be.
        if number > 0 {
            while self.picks.last().is_some_and(|(pick, of)| *pick + 1 == *of) {
                self.picks.pop();
            }
            match self.picks.last_mut() {
                Some((pick, _)) => *pick += 1,
                None => self.over.store(true, Relaxed),
            }
        }
    }

    fn begin(&mut self, _: u64) {
        self.at = 0;
    }

    fn pick(&mut self, view: &View<'_>) -> Result<TaskId, Box<Divergence>> {
        let mut ready = view.ready().to_vec();
        ready.sort_unstable();
        if self.at == self.picks.len() {
            self.picks.push((0, ready.len()));
        }
        self.at += 1;
        Ok(ready[self.picks[self.at - 1].0])
    }
}

/// The oracle: all schedules there are.
#[test]
fn no_history_is_left_out_and_none_is_made_up() {
    use CounterOp::{Add, Read};
    const CALLS: [&[&[CounterOp]]; 2] = [&[&[Add(1)], &[Read, Read]], &[&[Add(1), Read], &[Add(2)]]];
    for calls in CALLS {
        let (reduced, every) = (Arc::default(), Arc::default());
        let config = "exhaustive, trace = false".parse().expect("a configuration");
        let exhausted = explore(config, adds_its_history_to(Arc::clone(&reduced), calls));
        assert!(exhausted.findings().is_empty() && exhausted.exhausted(), "{}", exhausted.summary());

        let over = Arc::new(AtomicBool::new(false));
        let (theirs, config) = (over.clone(), Config::new().iterations(2_000).threads(1).trace(false));
        let all = explore_with(
            config,
            move || Every { over: theirs.clone(), ..Every::default() },
            adds_its_history_to(Arc::clone(&every), calls),
        );
        assert!(all.findings().is_empty(), "{}", all.findings()[0].message());
        assert!(over.load(Relaxed), "there are more schedules than that");
        assert_eq!(*reduced.lock().unwrap(), *every.lock().unwrap());
        assert_eq!(exhausted.executions(), 10, "of 1286 schedules");
    }
}

/// A scenario that is given: what proptest draws, or a person.
#[test]
fn a_given_scenario_is_explored() {
    let calls = || vec![vec![Insert(1), Remove], vec![Remove]];
    let apply = |queue: &Queue, operation| match operation {
        Insert(item) => {
            queue.0.lock().unwrap().push(item);
            Inserted
        }
        Remove => queue.pop_buggy().map_or(Empty, Removed),
    };
    let exploration =
        explore(Config::new().trace(false), move || play(calls(), FifoQueue::new(), Queue::default(), apply));
    assert_eq!(scenario(&exploration), ["process 0  enqueue 1, dequeue", "process 1  dequeue"]);
}

/// What a generator says is replayed with the schedule, and it hears what came back: whoever read an even sum adds one.
#[test]
fn clients_do_what_a_generator_says() {
    use drawloom::history::generate::{Generator, one_of, react};
    use drawloom::history::{Outcome, generated};

    fn body(add: fn(&Count, i64)) {
        let load = Generator::<_, CounterRet>::take(one_of([CounterOp::Read, CounterOp::Add(2)]), 4);
        let odd = |operation: &CounterOp, outcome: &Outcome<CounterRet>| match (operation, outcome) {
            (CounterOp::Read, Outcome::Ok(CounterRet::Sum(sum))) if sum % 2 == 0 => Some(CounterOp::Add(1)),
            _ => None,
        };
        generated(2, react(load, odd), Sums::default(), Count::default(), move |count, operation| match operation {
            CounterOp::Add(by) => {
                add(count, by);
                CounterRet::Added
            }
            CounterOp::Read | CounterOp::AddAndGet(_) => CounterRet::Sum(count.0.load(SeqCst)),
        });
    }
    let config = || "iterations = 300, trace = false".parse::<Config>().expect("a configuration");
    let right = explore(config(), || body(Count::add_fixed));
    assert!(right.findings().is_empty(), "{}", right.findings()[0].message());
    let wrong = explore(config(), || body(Count::add_buggy));
    let finding = &wrong.findings()[0];
    let replay = StrategySpec::Replay { token: finding.token().to_owned(), lenient: false };
    let replayed = explore(config().strategy(replay), || body(Count::add_buggy));
    assert_eq!(replayed.findings()[0].message(), finding.message());
}

/// A property: scenarios are drawn and shrunk by proptest, and the schedules of each are explored anew.
#[test]
fn scenarios_that_proptest_draws_shrink_with_their_schedules() {
    use drawloom::history::strategies;
    use proptest::prelude::*;
    use proptest::test_runner::{Config as Cases, TestError, TestRng, TestRunner};

    let operation = prop_oneof![(1..4i64).prop_map(CounterOp::Add), Just(CounterOp::Read)];
    let scenarios = strategies::scenarios(operation, 1..4, 1..4);
    let explored = |calls: Vec<Vec<CounterOp>>| {
        explore("iterations = 1000, trace = false".parse().expect("a configuration"), move || {
            play(calls.clone(), Sums::default(), Count::default(), |count: &Count, operation| match operation {
                CounterOp::Add(by) => {
                    count.add_buggy(by);
                    CounterRet::Added
                }
                CounterOp::Read | CounterOp::AddAndGet(_) => CounterRet::Sum(count.0.load(SeqCst)),
            });
        })
    };
    let broken =
        |exploration: &Exploration| exploration.findings().iter().any(|finding| finding.kind() == "not linearizable");
    let config = Cases { failure_persistence: None, ..Cases::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(Default::default()));
    let result = runner.run(&scenarios, |calls| match broken(&explored(calls)) {
        false => Ok(()),
        true => Err(TestCaseError::fail("")),
    });
    let Err(TestError::Fail(_, calls)) = result else { panic!("{result:?}") };
    let mut all: Vec<CounterOp> = calls.concat();
    all.sort_by_key(|operation| matches!(operation, CounterOp::Read));
    assert_eq!(all, [CounterOp::Add(1), CounterOp::Add(1), CounterOp::Read], "{calls:?}");
    let exploration = explored(calls.clone());
    let finding = &exploration.findings()[0];
    assert!(finding.preemptions() <= 1, "{}", finding.report());
}
