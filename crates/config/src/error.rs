//! What was wrong with a configuration, where, and what to write instead.

use std::ops::Range;

use thiserror::Error;

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
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{}", self.line())]
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

    fn line(&self) -> String {
        let mut line = String::new();
        if let Some(variable) = self.variable {
            line.push_str(variable);
            line.push_str(": ");
        }
        line.push_str(&self.message());
        if let Some(help) = &self.help {
            line.push_str("; ");
            line.push_str(help);
        }
        line
    }
}

/// The ways in which a configuration can be wrong.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(super) enum Problem {
    #[error("unknown strategy `{0}`")]
    UnknownStrategy(String),
    #[error("two strategies: `{first}` and `{second}`")]
    TwoStrategies { first: String, second: String },
    #[error("`{0}` is a strategy, not an argument")]
    StrategyAsArgument(String),
    #[error("unknown argument `{0}`")]
    UnknownArgument(String),
    #[error("`{argument}` is an argument of the strategy `{strategy}` alone")]
    Misplaced { argument: String, strategy: String },
    #[error("argument `{0}` is given twice")]
    GivenTwice(String),
    #[error("the strategy `{strategy}` needs the argument `{argument}`")]
    Missing { strategy: String, argument: String },
    #[error("argument `{0}` has no value")]
    NoValue(String),
    #[error("`{name}` takes {takes}, found `{found}`")]
    WrongType { name: String, takes: String, found: String },
    #[error("`{name}` must be at {bound}, found `{found}`")]
    OutOfRange { name: String, bound: String, found: String },
    #[error("expected {expected}, found {found}")]
    Unexpected { expected: &'static str, found: String },
    #[error("`{0}(` is never closed")]
    Unclosed(String),
    #[error("the string is never closed")]
    UnclosedString,
    #[error("unknown escape `{0}` in a string")]
    UnknownEscape(String),
}
