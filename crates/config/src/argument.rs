//! One row of a table: how an argument is called, what it takes, and which field it sets.

use super::error::{ConfigError, Problem};
use super::lexer::{Kind, Token};
use super::quantity;
use super::suggest::nearest;
use std::time::Duration;

/// How a bound that there is none is written.
const UNBOUNDED: &str = "unbounded";

/// An argument that sets a field of `T`: of a [`Config`](super::Config) if all strategies share it,
/// of a [`StrategySpec`](super::StrategySpec) if it is one strategy's own.
pub(super) struct Argument<T: 'static> {
    pub name: &'static str,
    pub doc: &'static str,
    pub field: Field<T>,
}

/// What the argument takes, with the way to and from its field. `get` gives `None` where there is
/// nothing to write.
pub(super) enum Field<T: 'static> {
    Whole {
        least: u64,
        most: u64,
        get: fn(&T) -> Option<u64>,
        set: fn(&mut T, u64),
    },
    /// A whole number, or `unbounded` for none.
    Bound {
        most: u64,
        get: fn(&T) -> Option<Option<u64>>,
        set: fn(&mut T, Option<u64>),
    },
    Size {
        least: u64,
        get: fn(&T) -> Option<u64>,
        set: fn(&mut T, usize),
    },
    Flag {
        get: fn(&T) -> Option<bool>,
        set: fn(&mut T, bool),
    },
    Text {
        get: fn(&T) -> Option<&str>,
        set: fn(&mut T, String),
    },
    Time {
        get: fn(&T) -> Option<Duration>,
        set: fn(&mut T, Duration),
    },
    Choice {
        names: &'static [&'static str],
        get: fn(&T) -> Option<usize>,
        set: fn(&mut T, usize),
    },
}

impl<T> Argument<T> {
    /// Sets the field of `target` to `value`, or says why that cannot be.
    pub fn assign(&self, target: &mut T, value: &Token<'_>) -> Result<(), ConfigError> {
        match &self.field {
            Field::Whole { least, most, set, .. } => {
                let number = Self::number(value).and_then(quantity::whole);
                let number = number.ok_or_else(|| self.wrong_type(value))?;
                set(target, self.within(number, *least, *most, value)?);
            }
            Field::Bound { most, set, .. } => match (&value.kind, value.text) {
                (Kind::Word, UNBOUNDED) => set(target, None),
                _ => {
                    let number = Self::number(value).and_then(quantity::whole);
                    let number = number.ok_or_else(|| self.wrong_type(value))?;
                    set(target, Some(self.within(number, 0, *most, value)?));
                }
            },
            Field::Size { least, set, .. } => {
                let bytes = Self::number_or_text(value).and_then(quantity::size);
                let bytes = bytes.ok_or_else(|| self.wrong_type(value))?;
                let bytes = self.within(bytes, *least, isize::MAX as u64, value)?;
                set(target, bytes as usize); // Lossless: no more than `isize::MAX`.
            }
            Field::Flag { set, .. } => match (&value.kind, value.text) {
                (Kind::Word, "true") => set(target, true),
                (Kind::Word, "false") => set(target, false),
                _ => return Err(self.wrong_type(value)),
            },
            Field::Text { set, .. } => match &value.kind {
                Kind::Text(text) => set(target, text.clone()),
                _ => return Err(self.wrong_type(value)),
            },
            Field::Time { set, .. } => {
                let time = Self::number_or_text(value).and_then(quantity::duration);
                let time = time.ok_or_else(|| self.wrong_type(value))?;
                if time.is_zero() {
                    return Err(self.out_of_range("least 1ns", value));
                }
                set(target, time);
            }
            Field::Choice { names, set, .. } => {
                let written = match &value.kind {
                    Kind::Text(text) => text,
                    _ => value.text,
                };
                let index = names.iter().position(|name| *name == written);
                set(target, index.ok_or_else(|| self.wrong_type(value))?);
            }
        }
        Ok(())
    }

    /// The field of `source` as it would be written; `None` where there is nothing to write.
    pub fn written(&self, source: &T) -> Option<String> {
        match &self.field {
            Field::Whole { get, .. } => get(source).map(|number| number.to_string()),
            Field::Bound { get, .. } => {
                get(source).map(|bound| bound.map_or_else(|| UNBOUNDED.to_owned(), |number| number.to_string()))
            }
            Field::Size { get, .. } => get(source).map(quantity::write_size),
            Field::Flag { get, .. } => get(source).map(|flag| flag.to_string()),
            Field::Text { get, .. } => get(source).map(|text| format!("{text:?}")),
            Field::Time { get, .. } => get(source).map(quantity::write_duration),
            Field::Choice { names, get, .. } => {
                get(source).and_then(|index| names.get(index)).map(|name| (*name).to_owned())
            }
        }
    }

    /// The kind of value, as a phrase after "takes".
    pub fn takes(&self) -> String {
        match &self.field {
            Field::Whole { .. } => "a whole number".to_owned(),
            Field::Bound { .. } => format!("a whole number or `{UNBOUNDED}`"),
            Field::Size { .. } => "a size".to_owned(),
            Field::Flag { .. } => "`true` or `false`".to_owned(),
            Field::Text { .. } => "a string".to_owned(),
            Field::Time { .. } => "a duration".to_owned(),
            Field::Choice { names, .. } => format!("`{}`", names.join("` or `")),
        }
    }

    fn number<'a>(value: &Token<'a>) -> Option<&'a str> {
        (value.kind == Kind::Number).then_some(value.text)
    }

    fn number_or_text<'v>(value: &'v Token<'_>) -> Option<&'v str> {
        match &value.kind {
            Kind::Text(text) => Some(text),
            _ => Self::number(value),
        }
    }

    fn within(&self, number: u128, least: u64, most: u64, value: &Token<'_>) -> Result<u64, ConfigError> {
        match u64::try_from(number) {
            Ok(number) if number < least => {
                let least = self.bound(least);
                Err(self.out_of_range(&format!("least {least}"), value))
            }
            Ok(number) if number <= most => Ok(number),
            _ => {
                let most = self.bound(most);
                Err(self.out_of_range(&format!("most {most}"), value))
            }
        }
    }

    fn bound(&self, bound: u64) -> String {
        match self.field {
            Field::Size { .. } => quantity::write_size(bound),
            _ => bound.to_string(),
        }
    }

    fn out_of_range(&self, bound: &str, value: &Token<'_>) -> ConfigError {
        let problem =
            Problem::OutOfRange { name: self.name.to_owned(), bound: bound.to_owned(), found: value.text.to_owned() };
        ConfigError::new(problem, value.span.clone())
    }

    fn wrong_type(&self, value: &Token<'_>) -> ConfigError {
        let problem =
            Problem::WrongType { name: self.name.to_owned(), takes: self.takes(), found: value.text.to_owned() };
        let name = self.name;
        let help = match &self.field {
            Field::Whole { .. } => format!("write it as `{name} = 1_000` or `{name} = 0x3e8`"),
            Field::Bound { .. } => format!("write it as `{name} = 2` or `{name} = {UNBOUNDED}`"),
            Field::Size { .. } => {
                format!("write it as `{name} = 262144` or `{name} = \"256KiB\"` (units: B, KiB, MiB, GiB)")
            }
            Field::Time { .. } => {
                format!("write it as `{name} = \"60s\"` or `{name} = 60s` (units: ns, us, ms, s, m, h)")
            }
            Field::Text { .. } => format!("write it as `{name} = \"…\"`"),
            Field::Flag { .. } => format!("write `{name} = true` or `{name} = false`"),
            Field::Choice { names, .. } => match nearest(value.text, names.iter().copied()) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => format!("write it as `{name} = {}`", names.join(&format!("` or `{name} = "))),
            },
        };
        ConfigError::new(problem, value.span.clone()).with_help(help)
    }
}
