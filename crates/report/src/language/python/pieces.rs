//! Pieces of coroutines: from where one is resumed to where it waits again. To the engine a piece is one step, at the
//! line where it begins; what it does to shared state stands further down, or in the function that awaited it.

use crate::record::Place;
use crate::source::Sources;
use crate::source::statement::mentions;

/// Lines of a piece that are looked at,
const LINES: u32 = 40;
/// and functions that it may return through, or call.
const DEEPEST: u32 = 4;

/// Whether a piece of a coroutine begins with `line`.
pub(super) fn begins_piece(line: &str) -> bool {
    mentions(line, "await") || line.starts_with("async ")
}

/// The first line of the piece that is the beginning of the function at `place`, if it uses anything.
pub(super) fn first_of_piece(sources: &Sources<'_>, place: &Place) -> Option<Place> {
    let declares = sources.line(place)?.starts_with("async def");
    let first = Place { line: place.line + 1, column: 0, ..place.clone() };
    let uses =
        |line: &String| line.contains(['.', '[']) && !mentions(line, "await") && !line.starts_with(['"', '\'', '#']);
    sources.line(&first).filter(|line| declares && uses(line)).map(|_| first)
}

/// The line of the piece that begins at `place` in which one of `names` is used first.
pub(super) fn in_piece(sources: &Sources<'_>, place: &Place, names: &[String]) -> Option<Place> {
    let mut from = place.clone();
    for _ in 0..DEEPEST {
        // What stands beside an `await` that was just over belongs to the piece: `self.x = await f()`.
        let resumed = sources.line(&from).filter(|line| mentions(line, "await"));
        let target = resumed.as_deref().and_then(|line| line.split_once("await")).map(|(before, _)| before);
        if target.is_some_and(|target| names.iter().any(|name| uses(target, name))) {
            return Some(from);
        }
        match until_wait(sources, &from, names, DEEPEST) {
            Found::Line(line) => return Some(Place { line, column: 0, ..from }),
            Found::Wait => return None,
            Found::Return => {
                let function = sources.function(&from)?;
                let awaits = |call: &Place| sources.line(call).is_some_and(|line| mentions(&line, "await"));
                from = sources.calls(&from.file, &function).into_iter().find(awaits)?;
            }
        }
    }
    None
}

/// What comes first below `from`: a line that uses one of `names`, a wait, or the end of the function. A coroutine
/// that is awaited runs within the same piece, until it waits itself: that is followed so deep.
fn until_wait(sources: &Sources<'_>, from: &Place, names: &[String], depth: u32) -> Found {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let Some(first) = sources.raw(&from.file, from.line) else { return Found::Wait };
    let starts = first.trim_start().starts_with("async def") || first.trim_start().starts_with("def ");
    let function = (1..=from.line).rev().filter_map(|n| sources.raw(&from.file, n)).find(|line| {
        let text = line.trim_start();
        (text.starts_with("async def") || text.starts_with("def ")) && (starts || indent(line) < indent(&first))
    });
    let least = function.map_or(0, |line| indent(&line));
    for n in from.line + 1..from.line + LINES {
        let Some(line) = sources.raw(&from.file, n) else { return Found::Return };
        if line.trim().is_empty() {
            continue;
        }
        if indent(&line) <= least {
            return Found::Return;
        }
        let before = line.split("await").next().unwrap_or_default();
        if names.iter().any(|name| uses(before, name)) && !before.contains(" = ")
            || (names.iter().any(|name| uses(&line, name)) && !mentions(&line, "await"))
        {
            return Found::Line(n);
        }
        if mentions(&line, "await") {
            match awaited(sources, &from.file, &line).filter(|_| depth > 0) {
                Some(coroutine) => match until_wait(sources, &coroutine, names, depth - 1) {
                    Found::Return => {}
                    found => return found,
                },
                None => return Found::Wait,
            }
        }
    }
    Found::Wait
}

/// Whether a line uses what has this name; of an attribute, it begins with its dot.
fn uses(line: &str, name: &str) -> bool {
    let ends = |after: &str| !after.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    match name.starts_with('.') {
        true => line.match_indices(name).any(|(at, _)| ends(&line[at + name.len()..])),
        false => mentions(line, name),
    }
}

/// Where the coroutine begins that a line awaits, if it is in the same file: `await wait_for(self.deliver(5), 10)`.
fn awaited(sources: &Sources<'_>, file: &str, line: &str) -> Option<Place> {
    let (_, awaited) = line.split_once("await")?;
    let before = awaited.split('(').map(|text| text.rsplit(|c: char| !c.is_alphanumeric() && c != '_').next());
    let called: Vec<String> = before.flatten().filter(|name| !name.is_empty()).map(|n| format!("def {n}(")).collect();
    let lines = sources.file(file)?;
    let at = lines.iter().position(|line| {
        let line = line.trim_start();
        line.starts_with("async ") && called.iter().any(|called| line.contains(called))
    })?;
    Some(Place { file: file.to_owned(), line: at as u32 + 1, column: 0 })
}

enum Found {
    Line(u32),
    Wait,
    Return,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::PYTHON;

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

    async def patient(self):
        await asyncio.wait_for(self.call(1), 10)
";

    #[test]
    fn a_piece_is_shown_where_it_uses_what_is_shared() {
        let read = |_: &str| Some(PROGRAM.to_owned());
        let sources = Sources::read_by(&read, PYTHON);
        let at = |line| Place { file: "x".to_owned(), line, column: 0 };
        let shown = |line, name: &str| sources.in_piece(&at(line), &[name.to_owned()]).map(|place| place.line);
        assert_eq!(shown(7, "quota"), Some(8));
        assert_eq!(shown(4, "quota"), Some(10), "after the helper has returned");
        assert_eq!(shown(7, "calls"), None, "that is in a later piece");
        assert_eq!(shown(14, "tokens"), Some(14));
        assert_eq!(shown(14, ".tokens"), Some(14));
        assert_eq!(shown(7, ".quot"), None, "that is another attribute");
        assert_eq!(shown(16, "quota"), Some(8), "in the coroutine that is awaited");
        assert_eq!(sources.first_of_piece(&at(7)).map(|place| place.line), Some(8));
        assert_eq!(sources.first_of_piece(&at(16)), None, "the first line waits");
        assert!(sources.begins_piece(&at(4)) && sources.begins_piece(&at(7)) && !sources.begins_piece(&at(10)));
    }
}
