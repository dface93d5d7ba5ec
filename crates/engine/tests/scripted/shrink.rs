//! Shrinking, on scripted programs: what any result must be, however it is found.

use drawloom_engine::finding::{Divergence, FindingKind};
use drawloom_engine::shrink::{Budget, Cost, Shrunk, Subject, shrink};
use drawloom_engine::strategy::{Lenient, Preemptions, Random, Script, Strategy, View};
use drawloom_engine::{Engine, Limits, OpKind, TaskId};

use crate::driver::{Program, Run, generate, run_on};

/// A scripted program, and the finding that is to be kept: by its word and its place.
struct Scripted<'p> {
    program: &'p Program,
    engine: Engine,
    last: Option<Run>,
    finding: String,
}

fn finding(run: &Run) -> Option<String> {
    match run.kind.as_ref()? {
        FindingKind::Panic(panic) => Some(panic.message.clone()),
        other => Some(other.word().to_owned()),
    }
}

impl Scripted<'_> {
    fn start<'p>(program: &'p Program, seed: u64) -> Option<(Scripted<'p>, Script)> {
        let mut engine = Engine::new();
        let run = run_on(&mut engine, program, &mut Random::new(), &Limits::default(), seed);
        let script = Script::of(&engine);
        Some((Scripted { program, engine, finding: finding(&run)?, last: None }, script))
    }

    fn shrink(&mut self, script: &Script, budget: &Budget<'_>) -> Shrunk {
        shrink(self, script, 7, budget).expect("the finding shows in the original")
    }
}

impl Subject for Scripted<'_> {
    fn run(&mut self, mut strategy: Box<dyn Strategy>) -> bool {
        let run = run_on(&mut self.engine, self.program, &mut *strategy, &Limits::default(), 0);
        let shows = finding(&run).is_some();
        self.last = Some(run);
        shows
    }

    fn engine(&self) -> &Engine {
        &self.engine
    }

    fn is_the_finding(&mut self) -> bool {
        self.last.as_ref().and_then(finding).as_ref() == Some(&self.finding)
    }
}

/// Two updates of which one is lost, among steps that do not matter.
const LOST: &str = "var x; var y; var z
thread a
store y 1
store y 2
load r0 x
set r0 r0 + 1
store x r0
faa _ z 1
store y 3
thread b
store y 4
load r0 x
set r0 r0 + 1
store x r0
faa _ z 1
store y 5
thread c
load r0 z
set r0 r0 != 2
jnz r0 end
load r0 x
set r0 r0 == 2
assert r0
label end";

fn failing(program: &Program) -> impl Iterator<Item = (Scripted<'_>, Script)> {
    (0..2_000).filter_map(|seed| Scripted::start(program, seed)).take(20)
}

fn edits_only() -> Budget<'static> {
    Budget { random: 0, ..Budget::default() }
}

#[test]
fn a_result_is_a_fixed_point_of_the_edits() {
    let program = Program::parse(LOST);
    let mut tried = 0;
    for (mut subject, script) in failing(&program) {
        let once = subject.shrink(&script, &edits_only());
        let twice = subject.shrink(&once.script, &edits_only());
        assert_eq!(twice.script.stretches, once.script.stretches);
        assert_eq!((twice.before, twice.after), (once.after, once.after));
        assert!(once.complete && once.after <= once.before);
        tried += 1;
    }
    assert!(tried >= 10, "only {tried} failing schedules");
}

#[test]
fn the_same_schedule_is_shrunk_to_the_same_one() {
    let program = Program::parse(LOST);
    for (mut subject, script) in failing(&program) {
        let (one, other) = (subject.shrink(&script, &Budget::default()), subject.shrink(&script, &Budget::default()));
        assert_eq!((one.after, one.replays), (other.after, other.replays));
        assert_eq!(one.script.stretches, other.script.stretches);
    }
}

#[test]
fn an_interruption_leaves_the_best_so_far_and_changes_nothing_before_it() {
    let program = Program::parse(LOST);
    let (mut subject, script) = failing(&program).next().expect("a failing schedule");
    let whole = subject.shrink(&script, &Budget::default());
    let mut last = whole.before;
    for replays in 1..=whole.replays {
        let cut = subject.shrink(&script, &Budget { replays, ..Budget::default() });
        assert!(cut.replays <= replays && cut.after <= last, "{replays}: {:?} after {last:?}", cut.after);
        assert!(subject.run(Box::new(Lenient::new(cut.script, Preemptions::default()))) && subject.is_the_finding());
        last = cut.after;
    }
    assert_eq!(last, whole.after);
}

/// Makes every combination of choices, and counts preemptions by itself.
#[derive(Default)]
struct All {
    /// What was chosen, out of how many.
    wheels: Vec<(usize, usize)>,
    at: usize,
    preemptions: u64,
}

impl Strategy for All {
    fn begin(&mut self, _seed: u64) {
        (self.at, self.preemptions) = (0, 0);
    }

    fn pick(&mut self, view: &View<'_>) -> Result<TaskId, Box<Divergence>> {
        if self.at == self.wheels.len() {
            self.wheels.push((0, view.ready().len()));
        }
        let task = view.ready()[self.wheels[self.at].0];
        self.at += 1;
        let went_on = view.steps().last().is_some_and(|s| s.task != task && s.kind != OpKind::Yield);
        let could = view.steps().last().is_some_and(|s| view.ready().contains(&s.task));
        self.preemptions += u64::from(went_on && could);
        Ok(task)
    }
}

/// The fewest preemptions of all schedules that fail.
fn fewest(program: &Program) -> u64 {
    let (mut all, mut engine, mut fewest) = (All::default(), Engine::new(), u64::MAX);
    loop {
        let run = run_on(&mut engine, program, &mut all, &Limits::default(), 0);
        if finding(&run).is_some() {
            fewest = fewest.min(all.preemptions);
        }
        while all.wheels.last().is_some_and(|(chosen, of)| chosen + 1 == *of) {
            all.wheels.pop();
        }
        match all.wheels.last_mut() {
            Some((chosen, _)) => *chosen += 1,
            None => return fewest,
        }
    }
}

const SMALL: [&str; 3] = [
    "var x; var z
thread a; load r0 x; set r0 r0 + 1; store x r0; faa r1 z 1; jz r1 end; load r0 x; set r0 r0 == 2; assert r0; label end
thread b; load r0 x; set r0 r0 + 1; store x r0; faa r1 z 1; jz r1 end; load r0 x; set r0 r0 == 2; assert r0; label end",
    "mutex a; mutex b
thread t; lock a; lock b; unlock b; unlock a
thread u; lock b; lock a; unlock a; unlock b",
    // The second must come between the loads of the first, and its end after them.
    "mutex m; var n 3
thread t; lock m; load r0 n; unlock m; lock m; load r1 n; unlock m; set r0 r0 > r1; set r0 r0 == 0; assert r0
thread u; lock m; store n 0; unlock m; lock m; store n 3; unlock m",
];

#[test]
fn no_schedule_at_all_has_fewer_preemptions_than_the_result() {
    for text in SMALL {
        let program = Program::parse(text);
        let fewest = fewest(&program);
        for (mut subject, script) in failing(&program) {
            let shrunk = subject.shrink(&script, &Budget::default());
            assert_eq!(shrunk.after.preemptions, fewest, "{text}");
        }
    }
}

#[test]
fn random_programs_fail_as_before_at_no_higher_cost() {
    let mut failures = 0;
    for seed in 0..400 {
        let (program, text) = generate(seed);
        let Some((mut subject, script)) = Scripted::start(&program, seed) else { continue };
        failures += 1;
        let shrunk = subject.shrink(&script, &Budget::default());
        assert!(shrunk.after <= shrunk.before, "seed {seed}\n{text}");
        let preemptions = Preemptions::default();
        assert!(subject.run(Box::new(Lenient::new(shrunk.script, preemptions.clone()))), "seed {seed}\n{text}");
        assert!(subject.is_the_finding(), "seed {seed}\n{text}");
        assert_eq!(Cost::of(subject.engine().steps(), preemptions.count()), shrunk.after, "seed {seed}\n{text}");
    }
    assert!(failures > 20, "only {failures} of 400 programs fail");
}
