//! The program's source, as far as it is known: generated code has no lines, and each of its functions has a name.
//!
//! A spawn is known by the address that it returns to. Where a function has as many spawns in its source as were seen of it, the first
//! address is the first of them, and so on. Else nothing is said.

use std::collections::BTreeMap;

/// Whether a function is a test: they are numbered, behind a hash of the file.
pub(crate) fn is_test(symbol: &str) -> bool {
    symbol.starts_with("__test_")
}

pub(crate) struct Source {
    lines: Vec<String>,
}

impl Source {
    /// The file, if it can be read.
    pub(crate) fn read(file: Option<&str>) -> Option<Source> {
        let text = std::fs::read_to_string(file?).ok()?;
        Some(Source { lines: text.lines().map(str::to_owned).collect() })
    }

    /// A line, from 1.
    pub(crate) fn line(&self, number: usize) -> Option<&str> {
        self.lines.get(number.checked_sub(1)?).map(|line| line.trim())
    }

    /// The lines of the spawns between a line and the end of the block that begins there.
    fn spawns_from(&self, first: usize) -> Vec<usize> {
        let mut depth = 0i64;
        let mut lines = Vec::new();
        for (at, line) in self.lines.iter().enumerate().skip(first) {
            let code = line.split("//").next().unwrap_or_default();
            let words = code.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
            lines.extend(words.filter(|word| *word == "spawn").map(|_| at + 1));
            let opened = depth;
            depth += code.matches('{').count() as i64 - code.matches('}').count() as i64;
            if depth <= 0 && (opened > 0 || code.contains('{')) {
                break;
            }
        }
        lines
    }

    /// Where a function begins, by its symbol: the tests are numbered.
    fn begin_of(&self, symbol: &str) -> Option<usize> {
        if let Some((_, number)) = symbol.rsplit_once('_').filter(|_| is_test(symbol)) {
            let number: usize = number.parse().ok()?;
            let begins = |line: &String| line.trim_start().starts_with("test \"");
            return self.lines.iter().enumerate().filter(|(_, line)| begins(line)).nth(number).map(|(at, _)| at);
        }
        let begins = |line: &String| {
            let line = line.trim_start().trim_start_matches("pub ");
            line.strip_prefix("fn ").is_some_and(|rest| rest.split(['(', '<']).next() == Some(symbol))
        };
        self.lines.iter().position(begins)
    }

    /// The line of each of these places, `symbol+0x1c`, where that can be told.
    pub(crate) fn lines_of<'a>(&self, places: impl Iterator<Item = &'a str>) -> BTreeMap<String, usize> {
        let mut by_function: BTreeMap<&str, Vec<(u64, &str)>> = BTreeMap::new();
        for place in places {
            if let Some((symbol, offset)) = place.rsplit_once("+0x") {
                if let Ok(offset) = u64::from_str_radix(offset, 16) {
                    by_function.entry(symbol).or_default().push((offset, place));
                }
            }
        }
        let mut lines = BTreeMap::new();
        for (symbol, mut seen) in by_function {
            seen.sort_unstable();
            seen.dedup();
            let Some(begin) = self.begin_of(symbol) else { continue };
            let spawns = self.spawns_from(begin);
            if spawns.len() == seen.len() {
                lines.extend(seen.iter().zip(spawns).map(|((_, place), line)| ((*place).to_owned(), line)));
            }
        }
        lines
    }
}
