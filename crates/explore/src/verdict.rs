//! What an exploration that has found nothing may claim, and no more.

use drawloom_engine::config::StrategySpec;
use drawloom_engine::strategy::{Auto, Pct};

use super::plan::GUIDED;

/// How sure a claim is: it is wrong with this probability at most.
const DOUBT: f64 = 0.05;

/// Of so many executions of PCT, one has no change points and counts for nothing.
const MEASURING: u64 = Pct::measures_one_in();

/// What is known when sampling has ended.
pub(super) struct Evidence<'a> {
    pub(super) strategy: &'a StrategySpec,
    /// Whether a strategy of the user's own made the choices.
    pub(super) custom: bool,
    /// Executions that were sampled.
    pub(super) executions: u64,
    /// The most tasks and the most choices of an execution: PCT's n and k.
    pub(super) tasks: u64,
    pub(super) choices: u64,
}

/// The claim, if there is one to be made.
pub(super) fn claim(evidence: &Evidence<'_>) -> Option<String> {
    let n = evidence.executions;
    if evidence.custom || n == 0 {
        return None;
    }
    match evidence.strategy {
        StrategySpec::Random | StrategySpec::Sticky { .. } | StrategySpec::Pos => {
            Some(residual(n, evidence.strategy.name(), ""))
        }
        StrategySpec::Pct { depth } => Some(certificate(evidence, &[(*depth, n)])),
        StrategySpec::FairPct { fair_depth } => Some(certificate(evidence, &[(*fair_depth, n)])),
        StrategySpec::Idpct { shallowest, deepest } => {
            let depths = u64::from(deepest.saturating_sub(*shallowest)) + 1;
            let of_each: Vec<(u32, u64)> = (*shallowest..=*deepest).map(|depth| (depth, n / depths)).collect();
            Some(certificate(evidence, &of_each))
        }
        StrategySpec::Auto => {
            // The other shares follow a profile that changes, and guided executions avoid each other: they
            // are not alike.
            let drawn = (GUIDED..n).filter(|number| Auto::is_turn_of_pos(*number)).count() as u64;
            (drawn > 0).then(|| residual(drawn, "pos", &format!(", which made {drawn} of them")))
        }
        // Their executions follow a profile that changes: they are not alike, and nothing is known.
        StrategySpec::Surw | StrategySpec::Urw | StrategySpec::RaceDirected { .. } => None,
        StrategySpec::DelayBounded { .. } => None,
        // They are made of each other.
        StrategySpec::Corpus => None,
        StrategySpec::Sequential | StrategySpec::RoundRobin => None,
        StrategySpec::Exhaustive { .. } | StrategySpec::Replay { .. } => None,
        // A strategy that is not known here claims nothing.
        _ => None,
    }
}

/// The rule of three: independent draws that have not failed.
fn residual(draws: u64, strategy: &str, note: &str) -> String {
    let bound = (1.0 - DOUBT.powf(1.0 / draws as f64)).min(1.0);
    format!("a failing schedule has probability < {} under `{strategy}`{note}, 95 %", percent(bound))
}

/// PCT's bound, for the executions made at each depth: the largest depth at which it would have missed
/// a bug with little probability.
fn certificate(evidence: &Evidence<'_>, of_each: &[(u32, u64)]) -> String {
    let (tasks, choices) = (evidence.tasks.max(1) as f64, evidence.choices.max(1) as f64);
    let hit = |depth: u32| 1.0 / (tasks * choices.powi(depth as i32 - 1));
    let effective = |runs: u64| runs.saturating_sub(runs.div_ceil(MEASURING)) as f64;
    let missed = |depth: u32, runs: u64| (effective(runs) * (-hit(depth)).ln_1p()).exp();
    let seen = format!("with {tasks} tasks and {choices} choices as seen");
    match of_each.iter().rev().find(|(depth, runs)| missed(*depth, *runs) < DOUBT) {
        Some((depth, _)) => format!("a bug of depth {depth} or less would have been found, 95 %, {seen}"),
        None => {
            let depth = of_each.iter().map(|(depth, _)| *depth).min().unwrap_or(1);
            let needed = (DOUBT.ln() / (-hit(depth)).ln_1p()).ceil();
            let share = of_each.len().max(1) as f64 * MEASURING as f64 / (MEASURING - 1) as f64;
            format!("to be sure of depth {depth} takes {:.0} executions, {seen}", (needed * share).ceil())
        }
    }
}

/// How many schedules still show a behaviour that was never seen before (Good–Turing).
pub(super) fn novelty(seen_once: u64, executions: u64) -> String {
    let rate = seen_once as f64 / executions.max(1) as f64;
    match seen_once {
        0 => "every behaviour was seen more than once".to_owned(),
        _ => format!("a new behaviour in {} of schedules", percent(rate)),
    }
}

/// A share with two digits that mean something.
fn percent(share: f64) -> String {
    let percent = share * 100.0;
    match percent {
        p if p >= 10.0 => format!("{p:.0} %"),
        p if p >= 0.1 => format!("{p:.1} %"),
        p => format!("{p:.1e} %"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_of_a_thousand() {
        let text = residual(1000, "random", "");
        assert_eq!(text, "a failing schedule has probability < 0.3 % under `random`, 95 %");
        assert_eq!(percent(0.123), "12 %");
        assert_eq!(percent(0.000_003), "3.0e-4 %");
    }
}
