//! Tables that can be read in a terminal and pasted into a Markdown page.

use std::fmt::Write;

/// Prints rows below a heading; the first column is text and the others are numbers.
pub fn print(heading: &[String], rows: &[Vec<String>]) {
    print!("{}", render(heading, rows));
}

/// Rows below a heading, as text; the first column is text and the others are numbers.
pub fn render(heading: &[String], rows: &[Vec<String>]) -> String {
    let width = |column: usize| {
        rows.iter().map(|row| row[column].chars().count()).chain([heading[column].chars().count()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..heading.len()).map(width).collect();
    let mut text = String::new();
    let mut line = |cells: &[String]| {
        for (column, cell) in cells.iter().enumerate() {
            let width = widths[column];
            let written =
                if column == 0 { write!(text, "| {cell:<width$} ") } else { write!(text, "| {cell:>width$} ") };
            written.expect("a string takes everything");
        }
        text.push_str("|\n");
    };
    line(heading);
    line(
        &widths
            .iter()
            .enumerate()
            .map(|(column, &width)| match column {
                0 => "-".repeat(width),
                _ => "-".repeat(width - 1) + ":",
            })
            .collect::<Vec<_>>(),
    );
    rows.iter().for_each(|row| line(row));
    text
}
