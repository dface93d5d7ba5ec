//! Pieces of coroutines: from where one is resumed to where it waits again. To the engine a piece is one step, at the
//! line where it begins; what it does to shared state stands further down, or in the function that awaited it.

use super::Sources;
use super::statement::mentions;
use crate::language::Language;
use crate::record::Place;

/// Lines of a piece that are looked at,
const LINES: u32 = 40;
/// and functions that it may return through.
const RETURNS: u32 = 4;

impl Sources<'_> {
    /// Whether a piece of a coroutine begins at `place`.
    pub(crate) fn begins_piece(&self, place: &Place) -> bool {
        let line = || self.line(place).unwrap_or_default();
        self.language == Language::Python && (mentions(&line(), "await") || line().starts_with("async "))
    }

    /// The line of the piece that begins at `place` in which one of `names` is used first.
    pub(crate) fn in_piece(&self, place: &Place, names: &[String]) -> Option<Place> {
        let mut from = place.clone();
        for _ in 0..RETURNS {
            // What stands beside an `await` that was just over belongs to the piece: `self.x = await f()`.
            let resumed = self.line(&from).filter(|line| mentions(line, "await"));
            let target = resumed.as_deref().and_then(|line| line.split_once("await")).map(|(before, _)| before);
            if target.is_some_and(|target| names.iter().any(|name| mentions(target, name))) {
                return Some(from);
            }
            match self.until_wait(&from, names) {
                Found::Line(line) => return Some(Place { line, column: 0, ..from }),
                Found::Wait => return None,
                Found::Return => {
                    let function = self.function(&from)?;
                    let awaits = |call: &Place| self.line(call).is_some_and(|line| mentions(&line, "await"));
                    from = self.calls(&from.file, &function).into_iter().find(awaits)?;
                }
            }
        }
        None
    }

    /// What comes first below `from`: a line that uses one of `names`, a wait, or the end of the function.
    fn until_wait(&self, from: &Place, names: &[String]) -> Found {
        let indent = |line: &str| line.len() - line.trim_start().len();
        let Some(first) = self.raw(&from.file, from.line) else { return Found::Wait };
        let starts = first.trim_start().starts_with("async def") || first.trim_start().starts_with("def ");
        let function = (1..=from.line).rev().filter_map(|n| self.raw(&from.file, n)).find(|line| {
            let text = line.trim_start();
            (text.starts_with("async def") || text.starts_with("def ")) && (starts || indent(line) < indent(&first))
        });
        let least = function.map_or(0, |line| indent(&line));
        for n in from.line + 1..from.line + LINES {
            let Some(line) = self.raw(&from.file, n) else { return Found::Return };
            if line.trim().is_empty() {
                continue;
            }
            if indent(&line) <= least {
                return Found::Return;
            }
            let before = line.split("await").next().unwrap_or_default();
            if names.iter().any(|name| mentions(before, name)) && !before.contains(" = ")
                || (names.iter().any(|name| mentions(&line, name)) && !mentions(&line, "await"))
            {
                return Found::Line(n);
            }
            if mentions(&line, "await") {
                return Found::Wait;
            }
        }
        Found::Wait
    }
}

enum Found {
    Line(u32),
    Wait,
    Return,
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROGRAM: &str = "
class Throttle:
    async def authorise(self, user):
        await asyncio.sleep(0)
        return bool(user)

    async def call(self, user):
        if self.quota > 0:
            if await self.authorise(user):
                self.quota -= 1
                self.calls.append(user)

    async def token(self):
        self.tokens[1] = await self.log_in()
";

    #[test]
    fn a_piece_is_shown_where_it_uses_what_is_shared() {
        let read = |_: &str| Some(PROGRAM.to_owned());
        let sources = Sources { read: &read, language: Language::Python, files: Default::default() };
        let at = |line| Place { file: "x".to_owned(), line, column: 0 };
        let shown = |line, name: &str| sources.in_piece(&at(line), &[name.to_owned()]).map(|place| place.line);
        assert_eq!(shown(7, "quota"), Some(8));
        assert_eq!(shown(4, "quota"), Some(10), "after the helper has returned");
        assert_eq!(shown(7, "calls"), None, "that is in a later piece");
        assert_eq!(shown(14, "tokens"), Some(14));
        assert!(sources.begins_piece(&at(4)) && sources.begins_piece(&at(7)) && !sources.begins_piece(&at(10)));
    }
}
