//! A configuration back to text: the canonical string, and the reference of the whole grammar.

use std::fmt::{self, Write as _};

use super::Config;
use super::argument::Argument;
use super::table::{self, SAMPLING, SHARED, STRATEGIES};

/// The canonical string: the strategy, then every argument that differs from its default, in the
/// order of the tables. It parses back to an equal value.
impl fmt::Display for Config {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut inside = Vec::new();
        let mut outside = Vec::new();
        if let Some(row) = table::strategy(self.strategy.name()) {
            let start = (row.start)();
            for argument in row.arguments {
                let required = row.required == Some(argument.name);
                inside.extend(assignment(argument, &self.strategy, &start, required));
            }
        }
        let default = Config::new();
        for argument in SHARED {
            let sampling = self.strategy.is_randomised() && SAMPLING.contains(&argument.name);
            let group = if sampling { &mut inside } else { &mut outside };
            group.extend(assignment(argument, self, &default, false));
        }
        out.write_str(self.strategy.name())?;
        if !inside.is_empty() {
            write!(out, "({})", inside.join(", "))?;
        }
        for assignment in outside {
            write!(out, ", {assignment}")?;
        }
        Ok(())
    }
}

/// `name = value`, unless the value is the default and may be left out.
fn assignment<T>(argument: &Argument<T>, source: &T, default: &T, required: bool) -> Option<String> {
    let value = argument.written(source)?;
    let left_out = !required && argument.written(default).as_ref() == Some(&value);
    (!left_out).then(|| format!("{} = {value}", argument.name))
}

/// Every strategy and argument with what it takes, its default and its purpose: the text behind a
/// command's `--help`. It is made from the tables that the parser reads, so it cannot be out of date.
///
/// ```
/// let reference = drawloom_config::reference();
/// assert!(reference.contains("max_steps = 1000000"));
/// ```
pub fn reference() -> String {
    let mut text = String::from("strategies:\n");
    for row in STRATEGIES {
        line(&mut text, 2, row.name, row.doc);
        for argument in row.arguments {
            let required = row.required == Some(argument.name);
            let default = argument.written(&(row.start)()).filter(|_| !required);
            line(&mut text, 4, &entry(argument, default), argument.doc);
        }
    }
    text.push_str("\narguments:\n");
    for argument in SHARED {
        let default = argument.written(&Config::new());
        line(&mut text, 2, &entry(argument, default), argument.doc);
    }
    text
}

/// `name = default`, or `name = <what it takes>` where there is no default.
fn entry<T>(argument: &Argument<T>, default: Option<String>) -> String {
    let value = default.unwrap_or_else(|| format!("<{}>", argument.takes()));
    format!("{} = {value}", argument.name)
}

fn line(text: &mut String, indent: usize, entry: &str, doc: &str) {
    const DOC_COLUMN: usize = 30;
    let width = DOC_COLUMN - indent;
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{:indent$}{entry:<width$}{doc}", "");
}
