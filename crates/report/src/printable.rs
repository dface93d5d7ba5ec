//! Text that a terminal shows as it is: what would steer the terminal, or change the order of what is read, is spelled out.
//!
//! Names, messages, paths and lines of source come from programs under test and from trace files that somebody else has
//! written. A control character among them could move the cursor, set the clipboard or hide a line; a mark for
//! right-to-left text lets one thing look like another. Every renderer shows a copy of its record that has none of them
//! ([`Record::printable`]), so that only our own colours reach a terminal.

use std::borrow::Cow;
use std::fmt::Write as _;

use crate::json;
use crate::record::Record;

/// Whether `c` is shown as what it is, and changes nothing around it.
pub fn is_printable(c: char) -> bool {
    !c.is_control()
        && !matches!(c,
            // The soft hyphen, and marks and controls of writing directions.
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}'
            // Line breaks to some readers and not to others; what has no width. (Joiners belong to words and emoji.)
            | '\u{200b}' | '\u{2028}' | '\u{2029}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
            // Tags: invisible letters.
            | '\u{e0000}'..='\u{e007f}')
}

// Writing to a string cannot fail, here and below.
/// `text` in one line: `\u{1b}` for what is not printable, `\n` for a line break. Tabs are blanks.
pub fn printable(text: &str) -> Cow<'_, str> {
    if text.chars().all(is_printable) {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '\t' => plain.push(' '),
            '\n' => plain.push_str("\\n"),
            '\r' => plain.push_str("\\r"),
            c if is_printable(c) => plain.push(c),
            c => {
                let _ = write!(plain, "\\u{{{:x}}}", u32::from(c));
            }
        }
    }
    Cow::Owned(plain)
}

/// `text` with its lines and tabs, and each line [`printable`].
pub fn printable_lines(text: &str) -> Cow<'_, str> {
    if text.chars().all(|c| is_printable(c) || matches!(c, '\n' | '\t')) {
        return Cow::Borrowed(text);
    }
    let cells = |line: &str| line.split('\t').map(printable).collect::<Vec<_>>().join("\t");
    let lines = text.split('\n').map(|line| cells(line.strip_suffix('\r').unwrap_or(line)));
    Cow::Owned(lines.collect::<Vec<_>>().join("\n"))
}

/// `text` with its lines, tabs and colours, and nothing else that would steer a terminal: for output of programs that
/// paint it themselves.
pub fn printable_colours(text: &str) -> Cow<'_, str> {
    if !text.contains('\u{1b}') {
        return printable_lines(text);
    }
    let mut plain = String::with_capacity(text.len() + 16);
    let mut rest = text;
    while let Some(at) = rest.find('\u{1b}') {
        let (before, from) = rest.split_at(at);
        plain.push_str(&printable_lines(before));
        let length = colour(from).unwrap_or(0);
        plain.push_str(&from[..length]);
        plain.push_str(if length == 0 { "\\u{1b}" } else { "" });
        rest = &from[length.max(1)..];
    }
    plain.push_str(&printable_lines(rest));
    Cow::Owned(plain)
}

/// The length of the escape sequence that `text` begins with, if it is one that changes how letters look, and does not
/// hide them.
fn colour(text: &str) -> Option<usize> {
    let inside = text.strip_prefix("\u{1b}[")?;
    let codes = &inside[..inside.find(|c: char| !c.is_ascii_digit() && c != ';')?];
    let known = |code: &str| matches!(code.parse(), Ok(0..=4 | 22..=24 | 30..=37 | 39 | 90..=97u8)) || code.is_empty();
    (inside[codes.len()..].starts_with('m') && codes.split(';').all(known)).then_some("\u{1b}[m".len() + codes.len())
}

/// A JSON text in which every character that is not printable is written by its number: the same to who reads it.
pub fn printable_json(json: &str) -> Cow<'_, str> {
    if json.chars().all(|c| is_printable(c) || c == '\n') {
        return Cow::Borrowed(json);
    }
    let mut plain = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        match is_printable(c) || c == '\n' {
            true => plain.push(c),
            false => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    let _ = write!(plain, "\\u{unit:04x}");
                }
            }
        }
    }
    Cow::Owned(plain)
}

/// What a record has in several lines; a line break anywhere else could pose as a line of the report.
const SEVERAL_LINES: [&str; 4] = ["message", "aside", "backtrace", "sketch"];

impl Record {
    /// The record as it is shown: no text in it has a character that is not [`printable`].
    ///
    /// It goes through the form of a trace file, so that no text can be forgotten, whatever an explanation will have.
    pub(crate) fn printable(&self) -> Record {
        let mut bare = self.clone();
        let steps = std::mem::take(&mut bare.steps);
        let plain = json::with_texts(&json::text(&bare), &|field, text| match field {
            Some(field) if SEVERAL_LINES.contains(&field) => printable_lines(text),
            _ => printable(text),
        });
        // A text stays a text: what could be written can be read.
        let mut plain: Record = json::read(&plain).expect("texts were replaced by texts");
        plain.meta.own = self.meta.own;
        Record { steps, ..plain }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_steer_a_terminal_is_spelled_out() {
        for (text, shown) in [
            ("plain, with ä, →, 日本 and 👩‍💻", "plain, with ä, →, 日本 and 👩‍💻"),
            ("\u{1b}[2J", "\\u{1b}[2J"),
            ("\u{1b}]52;c;cm0=\u{7}", "\\u{1b}]52;c;cm0=\\u{7}"),
            ("\u{9b}31m", "\\u{9b}31m"),
            ("a\rb\nc\td", "a\\rb\\nc d"),
            ("\u{202e}txt.exe", "\\u{202e}txt.exe"),
            ("\u{2066}\u{200f}\u{61c}\u{feff}\u{e0041}", "\\u{2066}\\u{200f}\\u{61c}\\u{feff}\\u{e0041}"),
        ] {
            assert_eq!(printable(text), shown);
        }
        let json = serde_json::to_string("\u{9b}\u{202e}\u{e0041}\u{1b}ä\n").expect("a text");
        let plain = printable_json(&json);
        assert_eq!(plain, r#""\u009b\u202e\udb40\udc41\u001bä\n""#);
        assert_eq!(serde_json::from_str::<String>(&plain).expect("JSON"), "\u{9b}\u{202e}\u{e0041}\u{1b}ä\n");
        let painted = "\u{1b}[1;31mred\u{1b}[0m\u{1b}[m";
        assert_eq!(printable_colours(painted), painted);
        assert_eq!(printable_colours("\u{1b}[8mx\u{1b}[2J\u{1b}\u{9b}\n"), "\\u{1b}[8mx\\u{1b}[2J\\u{1b}\\u{9b}\n");
        assert_eq!(printable_lines("a\tb\r\nc\u{1b}\rd"), "a\tb\nc\\u{1b}\\rd");
    }
}
