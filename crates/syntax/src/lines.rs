//! From offsets in a text to lines and columns.

use crate::Span;

/// Where the lines of a text begin.
pub(crate) struct Lines<'a> {
    text: &'a str,
    starts: Vec<u32>,
    ascii: bool,
}

impl<'a> Lines<'a> {
    pub(crate) fn of(text: &'a str) -> Lines<'a> {
        let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at as u32 + 1);
        Lines { text, starts: std::iter::once(0).chain(breaks).collect(), ascii: text.is_ascii() }
    }

    fn position(&self, offset: u32) -> (u32, u32) {
        let line = self.starts.partition_point(|start| *start <= offset).max(1);
        let start = self.starts[line - 1];
        let column = if self.ascii {
            offset - start
        } else {
            let bytes = self.text.get(start as usize..offset as usize).unwrap_or_default();
            bytes.chars().count() as u32
        };
        (line as u32, column + 1)
    }

    pub(crate) fn span(&self, start: u32, end: u32) -> Span {
        let (line, column) = self.position(start);
        let (end_line, end_column) = self.position(end);
        Span { line, column, end_line, end_column }
    }
}
