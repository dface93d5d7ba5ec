//! The statement around a place, and what becomes of the value there: whether something is decided by it, what it is
//! bound to, whether it is dropped. The [syntax](Syntax) of a language says so; here is what all have in common.

use super::Sources;
use crate::language::Syntax;
use crate::record::Place;

/// What stands before and after a place, within its statement.
#[derive(Clone)]
pub(crate) struct Statement {
    pub(crate) syntax: &'static dyn Syntax,
    pub(crate) before: String,
    pub(crate) after: String,
    /// What ends it: `;`, `{`, `}` or `,`; a blank if that is not known.
    pub(crate) end: char,
}

const COMPARISONS: [&str; 13] = [
    " == ",
    " != ",
    " < ",
    " > ",
    " <= ",
    " >= ",
    ".is_none()",
    ".is_some()",
    ".is_empty()",
    ".is_ok()",
    ".is_err()",
    ".contains_key(",
    ".contains(",
];

impl Sources<'_> {
    /// The statement around `place`.
    pub(crate) fn statement(&self, place: &Place) -> Option<Statement> {
        self.language.syntax.statement(self, place)
    }

    /// The function around `place`: its name.
    pub(crate) fn function(&self, place: &Place) -> Option<String> {
        /// A longer function is none that a value is passed through.
        const FURTHEST: u32 = 60;
        let word = format!("{} ", self.language.syntax.declares());
        (place.line.saturating_sub(FURTHEST)..=place.line).rev().find_map(|n| {
            let line = self.raw(&place.file, n)?;
            let (before, rest) = line.split_once(&word)?;
            let declares = before.split_whitespace().all(|word| word.starts_with("pub") || MODIFIERS.contains(&word));
            let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            (declares && !name.is_empty()).then_some(name)
        })
    }

    /// Where a file calls a function.
    pub(crate) fn calls(&self, file: &str, function: &str) -> Vec<Place> {
        let Some(lines) = self.file(file) else { return Vec::new() };
        let call = format!("{function}(");
        let found = (1..).zip(lines.iter()).filter_map(|(n, line)| {
            let at = line.find(&call)?;
            let before = &line[..at];
            let whole = !before.ends_with(|c: char| c.is_alphanumeric() || c == '_');
            let declared = before.trim_end().ends_with(self.language.syntax.declares());
            let column = before.chars().count() as u32 + 1;
            (whole && !declared).then(|| Place { file: file.to_owned(), line: n, column })
        });
        found.collect()
    }
}

const MODIFIERS: [&str; 5] = ["async", "const", "unsafe", "extern", "crate)"];

impl Statement {
    /// Whether something is decided by the value.
    pub(crate) fn is_condition(&self) -> bool {
        self.syntax.is_condition(self)
    }

    /// Whether it stands in the head of a loop over something: `for i in 0..self.len()`.
    pub(crate) fn is_loop(&self) -> bool {
        self.syntax.is_loop(self)
    }

    pub(crate) fn is_assertion(&self) -> bool {
        self.syntax.is_assertion(self)
    }

    /// The variables that it is bound to.
    pub(crate) fn bound(&self) -> Vec<String> {
        self.syntax.bound(self)
    }

    /// Whether it is what the function around it comes to.
    pub(crate) fn is_returned(&self) -> bool {
        self.syntax.is_returned(self)
    }

    /// Whether nobody learns what was found: a blind write.
    pub(crate) fn is_blind(&self) -> bool {
        self.syntax.is_blind(self)
    }

    /// Whether it puts something in the place of what was there: `self.best = score`.
    pub(crate) fn assigns(&self) -> bool {
        self.syntax.assigns(self)
    }

    /// Whether it is a call, and assigns nothing.
    pub(crate) fn calls(&self) -> bool {
        self.syntax.calls(self)
    }

    /// Of a lock that is taken here, whether what it guards is used at once: `*self.total.lock().unwrap() += 1`.
    pub(crate) fn uses_guarded(&self) -> bool {
        self.syntax.uses_guarded(self)
    }

    /// Of a lock that is taken here, whether what it guards is only read; none if that cannot be told.
    pub(crate) fn only_reads(&self) -> Option<bool> {
        self.syntax.only_reads(self)
    }

    /// Whether a variable is in it.
    pub(crate) fn mentions(&self, name: &str) -> bool {
        mentions(&self.before, name) || mentions(&self.after, name)
    }
}

/// Whether a line decides something, by its words.
pub(crate) fn is_condition(line: &str) -> bool {
    let decides = |word: &str| matches!(word, "if" | "while" | "match" | "then" | "then_some" | "elif");
    line.split(|c: char| !c.is_alphanumeric() && c != '_').any(decides) || is_compared(line)
}

/// Whether something is compared in a text.
pub(crate) fn is_compared(text: &str) -> bool {
    COMPARISONS.iter().any(|sign| text.contains(sign))
}

/// The variables in a pattern.
pub(crate) fn variables(pattern: &str) -> Vec<String> {
    let words = pattern.split(|c: char| !c.is_alphanumeric() && c != '_');
    let variable = |word: &&str| {
        word.starts_with(|c: char| c.is_lowercase() || c == '_') && !matches!(*word, "_" | "mut" | "ref" | "let")
    };
    words.filter(variable).map(str::to_owned).collect()
}

pub(crate) fn is_assertion(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("assert") || line.starts_with("debug_assert")
}

pub(crate) fn mentions(line: &str, name: &str) -> bool {
    line.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == name)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::language::Language;

    /// The statement at the `@` in `text`.
    pub(crate) fn statement_at(language: Language, text: &str) -> Statement {
        let (before, _) = text.split_once('@').expect("the place is marked");
        let line = before.lines().count().max(1) as u32;
        let column = before.lines().last().unwrap_or_default().chars().count() as u32 + 1;
        let plain = text.replace('@', "");
        let read = move |_: &str| Some(plain.clone());
        let sources = Sources::read_by(&read, language);
        sources.statement(&Place { file: "x".to_owned(), line, column }).expect("a statement")
    }
}
