//! Strategies as a user meets them: what they find, what they claim, and that workers do not matter.

use drawloom::strategy::{Divergence, Strategy, TaskId, View};
use drawloom::sync::atomic::{AtomicU32, Ordering::SeqCst};
use drawloom::sync::{Arc, Mutex};
use drawloom::{Config, Exploration, explore, explore_with, thread};

fn explored(config: &str, body: impl Fn() + Send + Sync + 'static) -> Exploration {
    explore(config.parse().expect("a configuration"), body)
}

/// Two tasks that increment under a lock: right, and small.
fn two_increments() {
    let count = Arc::new(Mutex::new(0));
    let theirs = count.clone();
    let other = thread::spawn(move || *theirs.lock().unwrap() += 1);
    *count.lock().unwrap() += 1;
    other.join().unwrap();
    assert_eq!(*count.lock().unwrap(), 2);
}

/// Three tasks with four increments each: right, and too large to exhaust within a few executions.
fn many_increments() {
    let count = Arc::new(AtomicU32::new(0));
    let add = |count: Arc<AtomicU32>| {
        move || {
            for _ in 0..4 {
                count.fetch_add(1, SeqCst);
            }
        }
    };
    let tasks = [thread::spawn(add(count.clone())), thread::spawn(add(count.clone()))];
    add(count.clone())();
    tasks.into_iter().for_each(|task| task.join().unwrap());
    assert_eq!(count.load(SeqCst), 12);
}

/// Fails if one of four setters is overtaken between its two stores by a checker that was spawned last.
fn reordered() {
    let pair = Arc::new((AtomicU32::new(0), AtomicU32::new(0)));
    let setters: Vec<_> = (0..4)
        .map(|_| {
            let pair = pair.clone();
            thread::spawn(move || {
                pair.0.store(1, SeqCst);
                pair.1.store(1, SeqCst);
            })
        })
        .collect();
    let checked = pair.clone();
    let checker = thread::spawn(move || {
        let (a, b) = (checked.0.load(SeqCst), checked.1.load(SeqCst));
        assert_eq!(a, b, "seen half way");
    });
    setters.into_iter().for_each(|setter| setter.join().unwrap());
    checker.join().unwrap();
}

const SAMPLING: [&str; 11] =
    ["auto", "random", "sticky", "pos", "surw", "urw", "race_directed", "pct", "idpct", "fair_pct", "delay_bounded"];

#[test]
fn one_worker_and_several_have_the_same_result() {
    for strategy in SAMPLING {
        let with = |threads: u32, body: fn()| {
            let text = format!("{strategy}(iterations = 600), keep_going = true, threads = {threads}");
            let exploration = explored(&text, body);
            let findings: Vec<_> =
                exploration.findings().iter().map(|f| (f.iteration(), f.occurrences(), f.token().to_owned())).collect();
            (exploration.summary(), exploration.steps(), findings)
        };
        assert_eq!(with(1, reordered), with(3, reordered), "{strategy}");
        assert_eq!(with(1, many_increments), with(3, many_increments), "{strategy}");
    }
}

#[test]
fn every_aiming_strategy_finds_what_must_be_overtaken() {
    for strategy in ["auto", "pos", "surw", "urw", "race_directed", "pct", "idpct", "fair_pct"] {
        let exploration = explored(&format!("{strategy}(iterations = 1000)"), reordered);
        let found = exploration.findings().first().unwrap_or_else(|| panic!("{strategy} has found nothing"));
        assert!(found.message().contains("seen half way"), "{strategy}");
        let again = explored(&format!("replay(token = \"{}\")", found.token()), reordered);
        assert_eq!(again.findings().len(), 1, "{strategy}: its token reproduces it");
    }
}

#[test]
fn auto_exhausts_what_is_small_and_says_so() {
    let exploration = explored("", two_increments);
    assert!(exploration.exhausted());
    assert_eq!(exploration.summary(), "explored 2 executions, nothing found (exhausted: 2 classes)");
}

#[test]
fn auto_says_so_even_if_its_budget_is_just_enough() {
    assert!(explored("auto(iterations = 2)", two_increments).exhausted());
    assert!(!explored("auto(iterations = 1)", two_increments).exhausted());
}

#[test]
fn auto_counts_the_executions_of_an_attempt_that_it_gives_up() {
    let exploration = explored("auto(iterations = 300)", many_increments);
    assert!(!exploration.exhausted());
    assert_eq!(exploration.executions(), 300, "its executions are part of the budget");
}

#[test]
fn a_clean_exploration_claims_what_it_may_and_no_more() {
    let last_line = |config: &str| explored(config, many_increments).summary();
    let lines: Vec<String> = [
        "random",
        "pos(iterations = 300)",
        "pct(depth = 2)",
        "pct(depth = 5)",
        "idpct(shallowest = 1, deepest = 3, iterations = 300)",
        "surw",
        "auto(iterations = 300)",
        "sequential",
    ]
    .iter()
    .map(|config| format!("{config}: {}", last_line(config)))
    .collect();
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn an_exploration_ends_when_executions_show_nothing_new() {
    for threads in [1, 3] {
        let text = format!("random(iterations = 100000, until = saturated), threads = {threads}");
        assert_eq!(
            explored(&text, two_increments).summary(),
            "explored 224 executions, 2 distinct behaviours, nothing found (saturated; a failing schedule has \
             probability < 1.3 % under `random`, 95 %; every behaviour was seen more than once)"
        );
    }
}

/// Always lets the youngest task go.
struct Youngest;

impl Strategy for Youngest {
    fn begin(&mut self, _seed: u64) {}

    fn pick(&mut self, view: &View<'_>) -> Result<TaskId, Box<Divergence>> {
        Ok(view.ready().iter().copied().max().expect("never asked without a ready task"))
    }
}

#[test]
fn a_strategy_of_ones_own_makes_the_choices() {
    let exploration = explore_with(Config::new().iterations(10), || Youngest, many_increments);
    assert_eq!(
        exploration.summary(),
        "explored 10 executions, 1 distinct behaviour, nothing found (not exhausted; every behaviour was seen more than once)"
    );
    let exploration = explore_with(
        Config::new().iterations(10),
        || Youngest,
        || {
            let order = Arc::new(Mutex::new(Vec::new()));
            let tasks = [1, 2].map(|i| {
                let order = order.clone();
                thread::spawn(move || order.lock().unwrap().push(i))
            });
            tasks.into_iter().for_each(|task| task.join().unwrap());
            assert_eq!(*order.lock().unwrap(), [1, 2], "the older task comes first");
        },
    );
    assert_eq!(exploration.findings().len(), 0, "the first one runs before the second is there");
}

#[test]
fn what_an_exploration_finds_does_not_depend_on_those_before_it() {
    let found = || {
        let exploration = explored("auto(iterations = 300), shrink = false", reordered);
        let token = exploration.findings()[0].token().to_owned();
        (token, exploration.executions(), exploration.steps(), exploration.behaviours())
    };
    let alone = std::thread::spawn(found).join().expect("a result");
    for before in [two_increments, many_increments, reordered] {
        explored("auto(iterations = 300), shrink = false", before);
        assert_eq!(found(), alone);
    }
}

#[test]
fn a_choice_of_very_many_outcomes_is_sampled() {
    let exploration = explored("auto(iterations = 200)", || {
        let chosen = thread::spawn(|| drawloom::choose(65_536));
        assert!(drawloom::choose(65_536) + chosen.join().unwrap() < 131_072);
    });
    assert_eq!((exploration.executions(), exploration.exhausted()), (200, false));
}
