//! Explores two deposits into one account twice: with the bug, whose report is printed, and without,
//! which is proved.
//!
//! Exits with 0 if the bug was found in the first, and the second was exhausted without a finding.

use std::process::ExitCode;

use drawloom::{Config, Exploration};
use drawloom_examples::bank::{both_arrive, deposit_buggy, deposit_fixed};

fn main() -> ExitCode {
    println!("── deposits that take the lock twice ──\n");
    // The name of the test that explores the same, so that the printed line replays it there.
    let config = Config::new().name("bank::a_deposit_is_lost");
    let buggy = drawloom::explore(config, || both_arrive(deposit_buggy));
    print(&buggy);

    println!("\n── the same with one lock each: every behaviour ──\n");
    let config = "exhaustive".parse::<Config>().unwrap_or_default().name("bank::both_deposits_arrive");
    let fixed = drawloom::explore(config, || both_arrive(deposit_fixed));
    print(&fixed);

    let as_expected = !buggy.findings().is_empty() && fixed.findings().is_empty() && fixed.exhausted();
    if as_expected { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn print(exploration: &Exploration) {
    for failure in exploration.findings() {
        println!("{}", failure.report());
    }
    println!("{}", exploration.summary());
}
