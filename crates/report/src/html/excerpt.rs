//! The source lines around the places that records refer to.

use drawloom_engine::sorted::{Map, Set};

use super::Shown;
use crate::printable::printable_lines;

/// Lines shown before and after a place.
const AROUND: u32 = 5;
/// A longer line is cut: generated code.
const LONGEST_LINE: usize = 240;
/// Lines of source that a page holds at most.
const MOST_LINES: usize = 20_000;

/// What is shown of a file.
pub(super) struct File<'a> {
    file: &'a str,
    /// Stretches of consecutive lines, each with the number of its first.
    parts: Vec<(u32, Vec<String>)>,
}

/// Excerpts of every file that can be read.
pub(super) fn of<'a>(records: &[Shown<'a>], read: &dyn Fn(&str) -> Option<String>) -> Vec<File<'a>> {
    let mut wanted: Map<&str, Set<u32>> = Map::default();
    for place in records.iter().flat_map(|shown| &shown.record.places) {
        wanted.at(&place.file).insert(place.line);
    }
    let mut room = MOST_LINES;
    let mut files = Vec::new();
    for (file, lines) in wanted {
        let Some(text) = read(file) else { continue };
        let shown: Set<u32> =
            lines.iter().flat_map(|line| line.saturating_sub(AROUND).max(1)..=line.saturating_add(AROUND)).collect();
        let mut parts: Vec<(u32, Vec<String>)> = Vec::new();
        for (number, line) in (1..).zip(text.lines()).filter(|(number, _)| shown.contains(number)) {
            if room == 0 {
                break;
            }
            room -= 1;
            match parts.last_mut() {
                Some((first, lines)) if *first + lines.len() as u32 == number => lines.push(cut(line)),
                _ => parts.push((number, vec![cut(line)])),
            }
        }
        files.push(File { file, parts });
    }
    files
}

fn cut(line: &str) -> String {
    let shown = match line.char_indices().nth(LONGEST_LINE) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.trim_end().to_owned(),
    };
    printable_lines(&shown).into_owned()
}

crate::json::written! {
    File<'a> { file, parts }
}
