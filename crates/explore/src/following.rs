//! Following a schedule of a program that may have changed since: strictly as long as that works, and then as far as it goes.

use std::path::Path;

use drawloom_engine::config::{Config, StrategySpec};
use drawloom_engine::finding::{Divergence, FindingKind};
use drawloom_engine::schedule::Schedule;
use drawloom_report::{Departure, Record, kept};

use super::exploration::Exploration;
use super::output::MOST_TRACE_BYTES;

/// Replays the schedule of `config` by `explore`. A strict replay ends where the program does something else than the schedule
/// says. A lenient one is strict at first, too, so that this place is known, and then goes on from there.
pub(super) fn replay(config: &Config, explore: impl Fn(&Config) -> Exploration) -> Exploration {
    let StrategySpec::Replay { token, lenient } = &config.strategy else { return explore(config) };
    let strictly = StrategySpec::Replay { token: token.clone(), lenient: false };
    let mut strict = explore(&config.clone().strategy(strictly));
    let divergence = strict.failures.iter().find_map(|failure| match &failure.finding.kind {
        FindingKind::Divergence(divergence) => Some(divergence),
        _ => None,
    });
    let Some(divergence) = divergence else { return strict };
    let departure = departure(divergence, &Schedule::decode(token).unwrap_or_default());
    if !lenient {
        strict.departure = departure;
        return strict;
    }
    Exploration { departure, ..explore(config) }
}

/// Where the program leaves the path of `schedule`. A program that goes on where it failed before makes all the steps, and
/// more: it does not leave the path.
pub(super) fn departure(divergence: &Divergence, schedule: &Schedule) -> Option<Departure> {
    let Divergence { step, expected, found, .. } = divergence;
    let (expected, found) = (expected.clone(), found.clone());
    (*step < schedule.len()).then(|| Departure { step: step + 1, expected, found })
}

/// The same configuration with the token itself where a replay names the trace file that has it.
pub(super) fn with_token(config: Config) -> Result<Config, String> {
    match &config.strategy {
        StrategySpec::Replay { token, lenient } if !token.starts_with("dl1") && Path::new(token).is_file() => {
            let cannot = |error: &dyn std::fmt::Display| format!("{token} cannot be replayed: {error}");
            let text = kept::read(Path::new(token), MOST_TRACE_BYTES).map_err(|error| cannot(&error))?;
            let seen = Record::glance(&text).map_err(|error| cannot(&error))?;
            if seen.meta.token.is_empty() {
                return Err(cannot(&format!("it has no schedule ({})", seen.finding.kind)));
            }
            let strategy = StrategySpec::Replay { token: seen.meta.token, lenient: *lenient };
            Ok(config.strategy(strategy))
        }
        _ => Ok(config),
    }
}
