//! The oracle: every schedule of a body, and what an exhaustive exploration makes of the same body.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;
use std::sync::{Arc, Mutex};

use drawloom_engine::causality::Causality;
use drawloom_engine::exhaustive::Explorer;
use drawloom_engine::finding::Divergence;
use drawloom_engine::strategy::{Sequential, Strategy, View};
use drawloom_engine::{Budget, Budgets, Engine, Limits, OpKind, ResourceId, TaskId};
use drawloom_explore::SHARING;
use drawloom_fiber::{Executor, Settings};

/// What the tasks of an execution have seen, each in its order. Not under control.
#[derive(Default)]
pub struct Log(Mutex<BTreeMap<usize, Vec<i64>>>);

impl Log {
    /// Task `task` of the program has seen `value`.
    pub fn note(&self, task: usize, value: i64) {
        self.0.lock().unwrap().entry(task).or_default().push(value);
    }

    /// All of it.
    pub fn seen(&self) -> BTreeMap<usize, Vec<i64>> {
        self.0.lock().unwrap().clone()
    }
}

/// What main does.
pub type Body = dyn Fn(&Arc<Log>) + Send + Sync;

/// A body under test, with what the enumeration must know of it.
#[derive(Clone)]
pub struct Subject {
    pub body: Arc<Body>,
    /// Somebody asks whether a task has finished: exits are choices.
    pub asks_for_exits: bool,
    /// The first resource is a gate that main opens once all tasks exist: passing it is no choice.
    pub has_gate: bool,
    /// Exit signals may keep a task from spawning another one: that is a choice.
    pub has_signals: bool,
    /// What the program does not bring about, and may happen so many times.
    pub budgets: Budgets,
}

impl Subject {
    /// Whether something may go wrong of which only so much may.
    fn has_mishaps(&self) -> bool {
        [Budget::SpuriousWakeups, Budget::WeakFailures].iter().any(|budget| self.budgets[*budget] > 0)
    }
}

/// What an execution came to: what was seen, and the word of the finding, if there was one.
pub type Outcome = (BTreeMap<usize, Vec<i64>>, Option<&'static str>);

/// The classes of a program, each with its outcome.
pub type Classes = BTreeMap<u64, Outcome>;

/// Every schedule of a program, put into classes.
#[derive(Default)]
pub struct Enumerated {
    pub schedules: u64,
    pub classes: Classes,
    /// The steps of an execution of each class.
    pub examples: BTreeMap<u64, String>,
    /// What cannot be: classes with several outcomes, or hashes that do not tell them apart.
    pub problems: BTreeSet<String>,
}

fn settings() -> Settings {
    Settings { limits: Limits { run_on: true, ..Limits::default() }, stack_size: 128 * 1024, ..Settings::default() }
}

/// Runs bodies, one execution at a time.
pub struct Lab {
    executor: Executor,
    settings: Settings,
}

/// One execution: its class by happens-before, its behaviour hash, its outcome.
type Ran = (u64, u64, Outcome);

impl Lab {
    pub fn new() -> Self {
        Lab { executor: Executor::new(Box::new(Sequential)), settings: settings() }
    }

    fn run(&mut self, subject: &Subject, strategy: Box<dyn Strategy>) -> Ran {
        let limits = &mut self.settings.limits;
        limits.budgets = subject.budgets;
        limits.spin_rounds = (subject.budgets != Budgets::NONE).then_some(3);
        let log = Arc::new(Log::default());
        let (theirs, body) = (log.clone(), subject.body.clone());
        self.executor.set_strategy(strategy);
        self.executor.reserve_epoch();
        let outcome = self.executor.run(&self.settings, 0, move || body(&theirs));
        assert_eq!(outcome.leaked_tasks, 0, "a task could not be unwound");
        let engine = self.executor.engine();
        let finding = outcome.ending.finding().map(|finding| finding.kind.word());
        (canonical(engine), engine.behaviour(), (log.seen(), finding))
    }

    /// The classes of `subject` by brute force; `None` if it has more than `most` schedules.
    pub fn every_schedule(&mut self, subject: &Subject, most: u64) -> Option<Enumerated> {
        let wheels = Rc::new(RefCell::new(Wheels::default()));
        let mut made = Enumerated::default();
        let mut hashes = BTreeMap::new();
        while made.schedules < most {
            made.schedules += 1;
            let strategy = Enumerate { wheels: wheels.clone(), subject: subject.clone() };
            let (class, hash, outcome) = self.run(subject, Box::new(strategy));
            made.examples.entry(class).or_insert_with(|| steps(self.executor.engine()));
            let first = made.classes.entry(class).or_insert_with(|| outcome.clone());
            if *first != outcome {
                made.problems.insert(format!("two schedules of one class came to {first:?} and to {outcome:?}"));
            }
            // The hash is of executions that are sampled, in which no timer fires in vain.
            let hash = if subject.budgets == Budgets::NONE { hash } else { class };
            if *hashes.entry(class).or_insert(hash) != hash {
                made.problems.insert("one class has two behaviour hashes".into());
            }
            if !wheels.borrow_mut().advance() {
                let distinct: HashSet<u64> = hashes.into_values().collect();
                if distinct.len() < made.classes.len() {
                    made.problems.insert("two classes have one behaviour hash".into());
                }
                return Some(made);
            }
        }
        None
    }

    /// Every execution of an exhaustive exploration with one worker.
    pub fn exhaust(&mut self, subject: &Subject) -> Vec<(u64, Outcome)> {
        let explorer = Explorer::new(SHARING, u64::MAX);
        let mut ran = self.work(subject, &explorer);
        ran.extend(unfinished(&explorer));
        ran
    }

    /// The same with two workers that take turns as `seed` says: what one has claimed may be made after what the other has.
    pub fn exhaust_in_turns(&mut self, subject: &Subject, seed: u64) -> Vec<(u64, Outcome)> {
        let explorer = Explorer::new(SHARING, u64::MAX);
        let workers = [explorer.clone(), explorer.clone()];
        let mut claimed = [None, None];
        let mut draws = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut ran = Vec::new();
        loop {
            draws ^= draws << 13;
            draws ^= draws >> 7;
            draws ^= draws << 17;
            let mut turn = (draws >> 20) as usize % 2;
            if claimed[turn].is_none() {
                if explorer.progress().pending > 0 {
                    claimed[turn] = workers[turn].claim();
                    continue;
                }
                turn = 1 - turn;
            }
            let Some(strategy) = claimed[turn].take() else { break };
            let ticket = strategy.ticket();
            let (class, _, outcome) = self.run(subject, Box::new(strategy));
            if !workers[turn].was_redundant(ticket) {
                ran.push((class, outcome));
            }
        }
        ran.extend(unfinished(&explorer));
        ran
    }

    fn work(&mut self, subject: &Subject, explorer: &Explorer) -> Vec<(u64, Outcome)> {
        let mut ran = Vec::new();
        while let Some(strategy) = explorer.claim() {
            let ticket = strategy.ticket();
            let (class, _, outcome) = self.run(subject, Box::new(strategy));
            if !explorer.was_redundant(ticket) {
                ran.push((class, outcome));
            }
        }
        ran
    }
}

/// As [`Lab::exhaust`], with two workers on one explorer from the beginning.
pub fn exhaust_with_two(subject: &Subject) -> Vec<(u64, Outcome)> {
    let explorer = Explorer::new(SHARING, u64::MAX);
    let mut ran: Vec<_> = std::thread::scope(|scope| {
        let workers = [explorer.clone(), explorer.clone()];
        let workers = workers.map(|explorer| scope.spawn(move || Lab::new().work(subject, &explorer)));
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    ran.extend(unfinished(&explorer));
    ran
}

/// What no program comes to, if the exploration did not come to its end.
fn unfinished(explorer: &Explorer) -> Option<(u64, Outcome)> {
    (!explorer.progress().exhausted).then(|| (0, (BTreeMap::new(), Some("not exhausted"))))
}

/// What of a trace does not depend on the order of steps that commute: for every task, by path, its
/// steps, each with how much of every other task happened before it.
fn canonical(engine: &Engine) -> u64 {
    let steps = engine.steps();
    let causality = Causality::of(steps);
    let mut order: Vec<TaskId> = (0..engine.tasks().len()).map(|task| TaskId(task as u32)).collect();
    order.sort_by_cached_key(|task| engine.path(*task).to_string());
    let mut hasher = DefaultHasher::new();
    for &task in &order {
        engine.path(task).to_string().hash(&mut hasher);
        for (j, step) in steps.iter().enumerate().filter(|(_, step)| step.task == task) {
            step.kind.hash(&mut hasher);
            if step.kind == OpKind::Choose {
                step.value.hash(&mut hasher);
            }
            for &other in &order {
                causality.clock(j, other).hash(&mut hasher);
            }
        }
    }
    hasher.finish()
}

/// Every combination of choices once: an odometer whose last wheel turns fastest.
#[derive(Default)]
struct Wheels {
    /// What was chosen, out of how many.
    wheels: Vec<(u64, u64)>,
    at: usize,
}

impl Wheels {
    fn turn(&mut self, options: u64) -> u64 {
        if self.at == self.wheels.len() {
            self.wheels.push((0, options));
        }
        let (chosen, known) = self.wheels[self.at];
        assert_eq!(known, options, "the same choices must lead to the same state");
        self.at += 1;
        chosen
    }

    /// Moves on to the next combination; false if there is none.
    fn advance(&mut self) -> bool {
        while let Some((chosen, options)) = self.wheels.pop() {
            if chosen + 1 < options {
                self.wheels.push((chosen + 1, options));
                return true;
            }
        }
        false
    }
}

struct Enumerate {
    wheels: Rc<RefCell<Wheels>>,
    subject: Subject,
}

impl Enumerate {
    /// Steps that commute with everything that anybody could ever do instead are no choice.
    fn is_silent(&self, view: &View<'_>, task: TaskId) -> bool {
        let pending = view.pending(task);
        match pending.kind {
            OpKind::Spawn => !self.subject.has_signals,
            OpKind::Join => true,
            // Two that share a budget are not taken for granted to commute.
            OpKind::Choose => !self.subject.has_mishaps(),
            OpKind::Exit => !self.subject.asks_for_exits,
            _ => self.subject.has_gate && pending.resource == ResourceId(0),
        }
    }
}

impl Strategy for Enumerate {
    fn is_exhaustive(&self) -> bool {
        true
    }

    fn begin(&mut self, _seed: u64) {
        self.wheels.borrow_mut().at = 0;
    }

    fn pick(&mut self, view: &View<'_>) -> Result<TaskId, Box<Divergence>> {
        if let Some(task) = view.ready().iter().find(|task| self.is_silent(view, **task)) {
            return Ok(*task);
        }
        let chosen = self.wheels.borrow_mut().turn(view.ready().len() as u64);
        Ok(view.ready()[chosen as usize])
    }

    /// A yield decides nothing.
    fn passes_over(&mut self, _task: TaskId, _view: &View<'_>) -> bool {
        false
    }

    fn choose(&mut self, outcomes: u64, _view: &View<'_>) -> Result<u64, Box<Divergence>> {
        Ok(self.wheels.borrow_mut().turn(outcomes))
    }
}

/// The steps of the last execution, in one line.
fn steps(engine: &Engine) -> String {
    let step = |step: &drawloom_engine::Step| {
        let (task, on) = (step.task.0, step.resource.0 as i32);
        format!("{task}:{:?}({on},{:x})={}/{}", step.kind, step.arg, step.outcome, step.value)
    };
    engine.steps().iter().map(step).collect::<Vec<_>>().join(" ")
}

/// Compares with brute force; returns the number of classes and of schedules.
pub fn compare(name: &str, body: impl Fn(&Arc<Log>) + Send + Sync + 'static) -> (usize, u64) {
    compare_with_early_timers(0, name, body)
}

/// The same where so many timers may fire although there is time.
pub fn compare_with_early_timers(
    early_fires: u32,
    name: &str,
    body: impl Fn(&Arc<Log>) + Send + Sync + 'static,
) -> (usize, u64) {
    let compared = compare_unless_many(early_fires, name, 2_000_000, body);
    let (classes, schedules) = compared.unwrap_or_else(|| panic!("{name} has too many schedules"));
    eprintln!("{name}: {schedules} schedules, {classes} classes");
    (classes, schedules)
}

/// The same; `None` if there are more than `most` schedules.
pub fn compare_unless_many(
    early_fires: u32,
    name: &str,
    most: u64,
    body: impl Fn(&Arc<Log>) + Send + Sync + 'static,
) -> Option<(usize, u64)> {
    let budgets = Budgets::NONE.with(Budget::EarlyFires, early_fires);
    let subject = Subject { body: Arc::new(body), asks_for_exits: false, has_gate: false, has_signals: false, budgets };
    compare_subject(&subject, name, most)
}

/// The same of a subject of which there is more to know.
pub fn compare_subject(subject: &Subject, name: &str, most: u64) -> Option<(usize, u64)> {
    let mut lab = Lab::new();
    let brute = lab.every_schedule(subject, most)?;
    assert!(brute.problems.is_empty(), "{name}: {:?}", brute.problems);
    for mut ran in [lab.exhaust(subject), exhaust_with_two(subject)] {
        ran.sort();
        let classes: BTreeMap<u64, Outcome> = ran.iter().cloned().collect();
        assert_eq!(classes.len(), ran.len(), "{name}: a class was run twice");
        let missed = brute.classes.keys().filter(|class| !classes.contains_key(class));
        let missed: Vec<&str> = missed.map(|class| brute.examples[class].as_str()).collect();
        assert_eq!(classes, brute.classes, "{name}, of which it missed\n{}", missed.join("\n"));
    }
    Some((brute.classes.len(), brute.schedules))
}

/// Compares the random programs of these seeds, as far as they have no more than `most` schedules: a third of them at least.
pub fn compare_random<P>(seeds: std::ops::Range<u64>, most: u64, program: fn(u64) -> P, run: fn(&P, &Arc<Log>))
where
    P: std::fmt::Debug + Send + Sync + 'static,
{
    let number = seeds.end - seeds.start;
    let compare = |seed: &u64| {
        let program = program(*seed);
        let name = format!("{seed}: {program:?}");
        compare_unless_many(0, &name, most, move |log| run(&program, log)).is_some()
    };
    let compared = seeds.filter(compare).count() as u64;
    eprintln!("{compared} of {number} random programs compared");
    assert!(compared * 3 > number, "{compared} of {number}");
}

/// The numbers of a random program, from its seed.
pub struct Numbers(u64);

impl Numbers {
    pub fn new(seed: u64) -> Self {
        Numbers(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }

    pub fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u64) as usize]
    }
}
