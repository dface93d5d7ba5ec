//! Settings from environment variables, for users who run a test without editing it: a CI job that
//! wants more iterations, a person with a replay token in the clipboard.
//!
//! The environment is passed in, so that the engine stays a pure function and tests need no lock.

use super::error::{ConfigError, Problem};
use super::lexer::{self, Kind, Token};
use super::{Config, StrategySpec, apply, table};

/// A whole configuration in the attribute's grammar; it leaves everything that it does not mention unchanged.
pub const ENV_STRATEGY: &str = "DRAWLOOM_STRATEGY";
/// The seed alone.
pub const ENV_SEED: &str = "DRAWLOOM_SEED";
/// The number of executions alone.
pub const ENV_ITERATIONS: &str = "DRAWLOOM_ITERATIONS";
/// The wall-clock budget alone.
pub const ENV_TIMEOUT: &str = "DRAWLOOM_TIMEOUT";
/// The number of OS threads alone.
pub const ENV_THREADS: &str = "DRAWLOOM_THREADS";
/// Whether findings are minimised: the argument `shrink` alone.
pub const ENV_SHRINK: &str = "DRAWLOOM_SHRINK";
/// With how many schedules fixes are tried: the argument `fixes` alone.
pub const ENV_FIXES: &str = "DRAWLOOM_FIXES";
/// The directory for failing schedules; `off` for none.
pub const ENV_REGRESSIONS: &str = "DRAWLOOM_REGRESSIONS";
/// A schedule to replay, whatever the strategy was: a token, or the trace file of a finding. It is followed as far as it goes;
/// `DRAWLOOM_STRATEGY='replay(token = "…")'` ends where the program differs.
pub const ENV_REPLAY: &str = "DRAWLOOM_REPLAY";

impl Config {
    /// This configuration as changed by the environment, which `get` reads.
    ///
    /// The more special variable wins: `DRAWLOOM_STRATEGY` comes first, then `DRAWLOOM_SEED`,
    /// `DRAWLOOM_ITERATIONS`, `DRAWLOOM_TIMEOUT`, `DRAWLOOM_THREADS`, `DRAWLOOM_SHRINK` and `DRAWLOOM_FIXES`, and
    /// last `DRAWLOOM_REPLAY`. An empty variable counts as none, since that is how CI files unset one. Errors
    /// name the variable.
    ///
    /// ```
    /// use drawloom_config::Config;
    ///
    /// let written: Config = "random(seed = 1), max_steps = 500".parse()?;
    /// let environment = |name: &str| (name == "DRAWLOOM_SEED").then(|| "42".to_owned());
    /// let run = written.with_environment(environment)?;
    /// assert_eq!(run.to_string(), "random(seed = 42), max_steps = 500");
    /// # Ok::<(), drawloom_config::ConfigError>(())
    /// ```
    pub fn with_environment(mut self, get: impl Fn(&str) -> Option<String>) -> Result<Self, ConfigError> {
        let given = |variable| get(variable).filter(|text| !text.trim().is_empty());
        if let Some(text) = given(ENV_STRATEGY) {
            apply::apply(&mut self, &text).map_err(|error| error.in_variable(ENV_STRATEGY))?;
        }
        let single = [
            (ENV_SEED, "seed"),
            (ENV_ITERATIONS, "iterations"),
            (ENV_TIMEOUT, "timeout"),
            (ENV_THREADS, "threads"),
            (ENV_SHRINK, "shrink"),
            (ENV_FIXES, "fixes"),
        ];
        for (variable, argument) in single {
            if let Some(text) = given(variable) {
                assign(&mut self, argument, &text).map_err(|error| error.in_variable(variable))?;
            }
        }
        if let Some(token) = given(ENV_REPLAY) {
            self.strategy = StrategySpec::Replay { token: token.trim().to_owned(), lenient: true };
        }
        Ok(self)
    }
}

/// Sets the shared argument `name` to the value that is all of `text`.
fn assign(config: &mut Config, name: &str, text: &str) -> Result<(), ConfigError> {
    let argument = table::shared(name)
        .ok_or_else(|| ConfigError::new(Problem::UnknownArgument(name.to_owned()), 0..text.len()))?;
    let lone = lexer::tokens(text).ok().filter(|tokens| tokens.len() == 1).and_then(|mut tokens| tokens.pop());
    // More or less than one value is of no type at all: a word, which no number is.
    let value = lone.unwrap_or(Token { kind: Kind::Word, text: text.trim(), span: 0..text.len() });
    argument.assign(config, &value)
}
