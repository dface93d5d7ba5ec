//! Protocols that were written from the documentation alone: the bug of each is found, and its twin without it is clean.

mod bully;
mod chain;
mod consumer;
mod counter;
mod feed;
mod lock;
mod primary;
mod reconfiguration;
mod saga;
mod semaphore;
mod sequencer;
mod swim;

/// A protocol, with the fewest faults that show its bug.
type Protocol = (&'static str, fn(bool), u64);

const PROTOCOLS: &[Protocol] = &[
    ("chain", chain::run, 1),
    ("swim", swim::run, 0),
    ("primary", primary::run, 0),
    ("semaphore", semaphore::run, 1),
    ("saga", saga::run, 0),
    ("sequencer", sequencer::run, 1),
    ("reconfiguration", reconfiguration::run, 0),
    ("lock", lock::run, 0),
    ("consumer", consumer::run, 1),
    ("counter", counter::run, 0),
    ("feed", feed::run, 1),
    ("bully", bully::run, 0),
];

/// How many faults there are in the last line of a chart.
fn faults_of(report: &str) -> u64 {
    let line = report.lines().find(|line| line.trim_start().split(' ').nth(1) == Some("events,"));
    let with = line.and_then(|line| line.split("with ").nth(1));
    with.and_then(|with| with.split(' ').next()?.parse().ok()).unwrap_or(0)
}

#[test]
fn bugs_of_fresh_protocols_are_found_and_their_twins_are_clean() {
    let mut wrong = Vec::new();
    for (name, run, faults) in PROTOCOLS {
        let found = drawloom::explore("auto(iterations = 10000)".parse().unwrap(), move || run(false));
        match found.findings().first() {
            None => wrong.push(format!("{name}: nothing is found in {} executions", found.executions())),
            Some(first) => {
                let report = first.report();
                if std::env::var("SHOW").is_ok() {
                    println!("== {name}: {} executions\n{report}", found.executions());
                }
                if faults_of(&report) != *faults {
                    wrong.push(format!("{name}: {} faults, {faults} are needed\n{report}", faults_of(&report)));
                }
            }
        }
        let clean = drawloom::explore("auto(iterations = 2000)".parse().unwrap(), move || run(true));
        if let Some(first) = clean.findings().first() {
            wrong.push(format!("{name}, fixed: {}", first.report()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}
