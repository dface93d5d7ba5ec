//! Under which schedules a test fails, and under which it passes now.

use drawloom_report::{Standings, printable_lines};

use super::exploration::{Exploration, Failure};
use super::output;

/// A schedule that was followed without a finding.
pub(super) struct Passed {
    pub(super) token: String,
    /// How that went, in words.
    pub(super) how: String,
}

/// Notes that `failures` of the test `test` are kept.
pub(super) fn failed<'f>(test: &str, failures: impl Iterator<Item = &'f Failure>) {
    let mut standings = Standings::of(&output::directory(), test);
    for failure in failures.filter(|failure| !failure.token().is_empty()) {
        let standing = standings.entry(failure.token());
        (standing.passes, standing.told) = (None, false);
    }
    write(&standings);
}

/// Notes that nothing was found. Only what shows it counts: everything was explored, or these schedules were followed.
pub(super) fn passed(test: &str, exploration: &Exploration, followed: &[Passed]) {
    let before = Standings::of(&output::directory(), test);
    let everything = exploration.exhausted().then(|| printable_lines(&exploration.summary()).into_owned());
    let mut standings = before.clone();
    for known in before.all() {
        let followed = || followed.iter().find(|passed| passed.token == known.token).map(|passed| passed.how.clone());
        if let Some(how) = everything.clone().or_else(followed) {
            standings.entry(&known.token).passes = Some(how);
        }
    }
    if standings != before {
        write(&standings);
    }
}

/// What cannot be noted is no reason to fail.
fn write(standings: &Standings) {
    let _ = standings.write(&output::unique());
}
