//! Items to settings: looks every name up in the tables and words what is wrong with it.

use super::argument::{Argument, Field};
use super::error::{ConfigError, Problem};
use super::grammar::{self, Assignment, Item, Name};
use super::suggest::nearest;
use super::table::{self, SHARED, STRATEGIES, Strategy};
use super::{Config, StrategySpec};

/// Changes `config` by what `source` says and leaves the rest of it alone.
pub(super) fn apply(config: &mut Config, source: &str) -> Result<(), ConfigError> {
    let mut given = Given::default();
    let mut chosen: Option<&Strategy> = None;
    for item in grammar::items(source)? {
        match item {
            Item::Argument(assignment) => assign(config, &assignment, None, &mut given)?,
            Item::Strategy { name, arguments } => {
                let row = look_up(&name)?;
                if let Some(first) = chosen.replace(row) {
                    return Err(two_strategies(first, &name));
                }
                config.strategy = (row.start)();
                for assignment in &arguments {
                    assign(config, assignment, Some(row), &mut given)?;
                }
                require(row, &name, &given)?;
            }
        }
    }
    Ok(())
}

/// The names that were given so far. Each may be given once, be it inside or outside of the
/// parentheses: which one would win is not for the reader to guess.
#[derive(Default)]
struct Given(Vec<String>);

impl Given {
    fn contains(&self, name: &str) -> bool {
        self.0.iter().any(|given| given == name)
    }

    fn add(&mut self, name: &Name<'_>) -> Result<(), ConfigError> {
        if self.contains(name.text) {
            let problem = Problem::GivenTwice(name.text.to_owned());
            return Err(ConfigError::new(problem, name.span.clone()).with_help("keep one of them"));
        }
        self.0.push(name.text.to_owned());
        Ok(())
    }
}

/// Carries out one `name = value`, inside the parentheses of the strategy `within` if there is one.
fn assign(
    config: &mut Config,
    Assignment { name, value }: &Assignment<'_>,
    within: Option<&Strategy>,
    given: &mut Given,
) -> Result<(), ConfigError> {
    let own = within.and_then(|row| own(row, name.text));
    if let Some(argument) = own {
        given.add(name)?;
        argument.assign(&mut config.strategy, value)
    } else if let Some(argument) = table::shared(name.text) {
        given.add(name)?;
        argument.assign(config, value)
    } else {
        Err(unknown_argument(name, within))
    }
}

fn own(row: &Strategy, name: &str) -> Option<&'static Argument<StrategySpec>> {
    row.arguments.iter().find(|argument| argument.name == name)
}

fn require(row: &Strategy, name: &Name<'_>, given: &Given) -> Result<(), ConfigError> {
    match row.required {
        Some(required) if !given.contains(required) => {
            let problem = Problem::Missing { strategy: row.name.to_owned(), argument: required.to_owned() };
            Err(ConfigError::new(problem, name.span.clone()).with_help(format!("write `{}({required} = …)`", row.name)))
        }
        _ => Ok(()),
    }
}

fn look_up(name: &Name<'_>) -> Result<&'static Strategy, ConfigError> {
    table::strategy(name.text).ok_or_else(|| {
        if let Some(argument) = table::shared(name.text) {
            // A flag is often written like this elsewhere, and then means yes.
            let value = match argument.field {
                Field::Flag { .. } => "true",
                _ => "…",
            };
            return ConfigError::new(Problem::NoValue(name.text.to_owned()), name.span.clone())
                .with_help(format!("write `{} = {value}`", name.text));
        }
        let valid: Vec<_> = STRATEGIES.iter().map(|row| row.name).collect();
        let problem = Problem::UnknownStrategy(name.text.to_owned());
        ConfigError::new(problem, name.span.clone()).with_help(choose_from(name.text, "strategies", &valid))
    })
}

fn two_strategies(first: &Strategy, second: &Name<'_>) -> ConfigError {
    let problem = Problem::TwoStrategies { first: first.name.to_owned(), second: second.text.to_owned() };
    ConfigError::new(problem, second.span.clone()).with_help("a test has one strategy: keep one of them")
}

fn unknown_argument(name: &Name<'_>, within: Option<&Strategy>) -> ConfigError {
    if table::strategy(name.text).is_some() {
        let problem = Problem::StrategyAsArgument(name.text.to_owned());
        return ConfigError::new(problem, name.span.clone()).with_help(format!("write `{0}` or `{0}(…)`", name.text));
    }
    if let Some(owner) = STRATEGIES.iter().find(|row| own(row, name.text).is_some()) {
        let problem = Problem::Misplaced { argument: name.text.to_owned(), strategy: owner.name.to_owned() };
        return ConfigError::new(problem, name.span.clone())
            .with_help(format!("write `{}({} = …)`", owner.name, name.text));
    }
    let own = within.map_or(&[][..], |row| row.arguments);
    let valid: Vec<_> =
        own.iter().map(|argument| argument.name).chain(SHARED.iter().map(|argument| argument.name)).collect();
    ConfigError::new(Problem::UnknownArgument(name.text.to_owned()), name.span.clone()).with_help(choose_from(
        name.text,
        "arguments",
        &valid,
    ))
}

/// "did you mean `seed`? valid arguments are `iterations`, `seed`, …"
fn choose_from(wrong: &str, what: &str, valid: &[&str]) -> String {
    let valid_are = format!("valid {what} are `{}`", valid.join("`, `"));
    match nearest(wrong, valid.iter().copied()) {
        Some(meant) => format!("did you mean `{meant}`? {valid_are}"),
        None => valid_are,
    }
}
