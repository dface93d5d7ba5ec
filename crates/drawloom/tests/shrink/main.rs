//! The schedule of a finding is minimised, on many programs and for every kind of finding.

mod faults;
mod kinds;
mod larger;
mod programs;

use drawloom::{Config, Exploration, Failure, StrategySpec};

/// A program, and what is known of its bug.
struct Case {
    name: &'static str,
    program: fn(),
    finds: &'static str,
    /// The fewest preemptions with which it shows.
    fewest: u64,
    /// By how many the mean may miss that.
    mean: f64,
    /// Replays on average: of edits, and in all.
    replays: (f64, f64),
    /// What finds it, and in how many executions, generously.
    strategy: &'static str,
    within: u64,
}

const fn case(name: &'static str, program: fn(), fewest: u64) -> Case {
    Case {
        name,
        program,
        finds: "panic",
        fewest,
        mean: 0.2,
        replays: (100.0, 330.0),
        strategy: "random",
        within: 2_000,
    }
}

const CASES: &[Case] = &[
    case("account", programs::account, 0),
    case("lazy", programs::lazy, 0),
    case("stale read", programs::stale_read, 0),
    case("bluetooth", programs::bluetooth, 1),
    Case { finds: "deadlock", ..case("carter", programs::carter, 1) },
    case("circular buffer", programs::circular_buffer, 1),
    Case { finds: "deadlock", ..case("lock order", programs::lock_order, 1) },
    Case { mean: 0.7, ..case("queue", larger::queue, 1) },
    case("reorder", programs::reorder, 1),
    case("stack", programs::stack, 1),
    case("two stages", programs::two_stages, 1),
    // Tasks that queue for one lock take turns: a plain random walk hardly ever lets one of them get ahead.
    // And there are many switches to try: every lock that is waited for is one.
    Case { strategy: "sticky", replays: (300.0, 500.0), ..case("bounded buffer", larger::bounded_buffer, 1) },
    case("revoked key", programs::revoked_key, 1),
    case("freed early", programs::freed_early, 1),
    case("checked then used", programs::checked_then_used, 1),
    case("double free", programs::double_free, 1),
    case("lost update", programs::lost_update, 1),
    case("lost update, padded", programs::lost_update_padded, 1),
    // 2 where a lock is taken only when it is free; here a task that has asked for it has its turn.
    case("string buffer", larger::string_buffer, 1),
    Case { within: 20_000, ..case("work stealing", larger::work_stealing, 2) },
    case("three in order", programs::three_in_order, 2),
];

/// Explores with luck number `seed`, on one OS thread.
fn explore(case: &Case, seed: u64, more: &str) -> Exploration {
    let config: Config = format!("{}(seed = {seed}, iterations = {}), threads = 1, {more}", case.strategy, case.within)
        .parse()
        .expect("a valid configuration");
    drawloom::explore(config.name(case.name), case.program)
}

fn replay(case: &Case, token: &str) -> Exploration {
    let strategy = StrategySpec::Replay { token: token.to_owned(), lenient: false };
    drawloom::explore(Config::new().strategy(strategy).name(case.name), case.program)
}

fn only(exploration: &Exploration) -> &Failure {
    exploration.findings().first().expect("something is found")
}

/// (a), (b), (c) and (e) of so many failing schedules of every program.
fn accept(schedules: u64) {
    let mut table = String::new();
    let mut misses = Vec::new();
    for case in CASES {
        let mut sums = [0; 8];
        for seed in 0..schedules {
            let exploration = explore(case, seed, "");
            let Some(found) = exploration.findings().first() else {
                panic!("{}: nothing, seed {seed}: {} {:?}", case.name, exploration.summary(), exploration.error())
            };
            assert_eq!(found.kind(), case.finds, "{}: {}", case.name, found.report());
            let Some(minimised) = found.minimised() else { panic!("{}: not minimised, seed {seed}", case.name) };
            let (before, after) = (minimised.before, minimised.after);
            if after.preemptions > case.fewest + 1 || after.preemptions < case.fewest {
                misses.push(format!("{}, seed {seed}: {} preemptions", case.name, after.preemptions));
            }
            let numbers =
                [before.preemptions, before.switches, before.steps, after.preemptions, after.switches, after.steps];
            let replays = [minimised.replays_of_edits, minimised.replays];
            sums.iter_mut().zip(numbers.into_iter().chain(replays)).for_each(|(sum, number)| *sum += number);
            let again = replay(case, found.token());
            let again = only(&again);
            assert_eq!((again.kind(), again.message()), (found.kind(), found.message()), "{}", case.name);
            assert_eq!(again.record().steps, found.record().steps, "{}", case.name);
        }
        let mean = sums.map(|sum| sum as f64 / schedules as f64);
        table.push_str(&format!(
            "{:20} {:5.1}/{:5.1}/{:5.1} -> {:4.2}/{:4.1}/{:5.1}; {:5.1} replays, {:5.1} in all\n",
            case.name, mean[0], mean[1], mean[2], mean[3], mean[4], mean[5], mean[6], mean[7]
        ));
        let too_many = [
            // A mean of three says nothing.
            (schedules >= 60 && mean[3] > case.fewest as f64 + case.mean, "preemptions"),
            (mean[6] > case.replays.0, "replays of edits"),
            (mean[7] > case.replays.1, "replays"),
        ];
        misses.extend(too_many.into_iter().filter(|(miss, _)| *miss).map(|(_, what)| format!("{}: {what}", case.name)));
    }
    println!("{table}");
    assert!(misses.is_empty(), "{misses:#?}\n{table}");
}

#[test]
fn every_program_is_minimised_to_about_the_fewest_preemptions() {
    accept(3);
}

/// `cargo test --release -p drawloom --all-features --test shrink -- --ignored --nocapture`
#[test]
#[ignore = "takes a minute"]
fn sixty_schedules_of_every_program_are_minimised() {
    accept(60);
}
