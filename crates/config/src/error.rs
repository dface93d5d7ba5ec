//! The mistake in a configuration, its place, and a correction.

use std::fmt;
use std::ops::Range;

/// A configuration that could not be understood.
///
/// `Display` gives one line for a log; a front end that can point (a compiler, a terminal) takes
/// [`span`](Self::span), [`message`](Self::message) and [`help`](Self::help) apart.
///
/// ```
/// use drawloom_config::Config;
///
/// let error = "radnom(seed = 7)".parse::<Config>().unwrap_err();
/// assert_eq!(error.span(), 0..6);
/// assert_eq!(error.message(), "unknown strategy `radnom`");
/// assert!(error.help().unwrap().starts_with("did you mean `random`?"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// Boxed, so that a `Result` of the parser stays small where all is well.
    problem: Box<Problem>,
    span: Range<usize>,
    help: Option<String>,
    variable: Option<&'static str>,
}

impl ConfigError {
    pub(super) fn new(problem: Problem, span: Range<usize>) -> Self {
        Self { problem: Box::new(problem), span, help: None, variable: None }
    }

    pub(super) fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    pub(super) fn in_variable(mut self, variable: &'static str) -> Self {
        self.variable = Some(variable);
        self
    }

    /// Bytes of the text that are to blame; empty, at the end, where something is missing.
    pub fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    /// What is wrong, without where and without help.
    pub fn message(&self) -> String {
        self.problem.to_string()
    }

    /// What to write instead.
    pub fn help(&self) -> Option<&str> {
        self.help.as_deref()
    }

    /// The environment variable whose text it was, if it was one.
    pub fn variable(&self) -> Option<&'static str> {
        self.variable
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(variable) = self.variable {
            write!(f, "{variable}: ")?;
        }
        write!(f, "{}", self.problem)?;
        match &self.help {
            Some(help) => write!(f, "; {help}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for ConfigError {}

/// The ways in which a configuration can be wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Problem {
    UnknownStrategy(String),
    TwoStrategies { first: String, second: String },
    StrategyAsArgument(String),
    UnknownArgument(String),
    Misplaced { argument: String, strategy: String },
    GivenTwice(String),
    Missing { strategy: String, argument: String },
    NoValue(String),
    WrongType { name: String, takes: String, found: String },
    OutOfRange { name: String, bound: String, found: String },
    Unexpected { expected: &'static str, found: String },
    Unclosed(String),
    UnclosedString,
    UnknownEscape(String),
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::UnknownStrategy(name) => write!(f, "unknown strategy `{name}`"),
            Problem::TwoStrategies { first, second } => write!(f, "two strategies: `{first}` and `{second}`"),
            Problem::StrategyAsArgument(name) => write!(f, "`{name}` is a strategy, not an argument"),
            Problem::UnknownArgument(name) => write!(f, "unknown argument `{name}`"),
            Problem::Misplaced { argument, strategy } => {
                write!(f, "`{argument}` is an argument of the strategy `{strategy}` alone")
            }
            Problem::GivenTwice(name) => write!(f, "argument `{name}` is given twice"),
            Problem::Missing { strategy, argument } => {
                write!(f, "the strategy `{strategy}` needs the argument `{argument}`")
            }
            Problem::NoValue(name) => write!(f, "argument `{name}` has no value"),
            Problem::WrongType { name, takes, found } => write!(f, "`{name}` takes {takes}, found `{found}`"),
            Problem::OutOfRange { name, bound, found } => write!(f, "`{name}` must be at {bound}, found `{found}`"),
            Problem::Unexpected { expected, found } => write!(f, "expected {expected}, found {found}"),
            Problem::Unclosed(name) => write!(f, "`{name}(` is never closed"),
            Problem::UnclosedString => write!(f, "the string is never closed"),
            Problem::UnknownEscape(name) => write!(f, "unknown escape `{name}` in a string"),
        }
    }
}
