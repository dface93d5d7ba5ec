//! Tables that can be read in a terminal and pasted into a Markdown page.

/// Prints rows below a heading; the first column is text and the others are numbers.
pub fn print(heading: &[String], rows: &[Vec<String>]) {
    let width = |column: usize| {
        rows.iter()
            .map(|row| row[column].chars().count())
            .chain([heading[column].chars().count()])
            .max()
            .unwrap_or(0)
    };
    let widths: Vec<usize> = (0..heading.len()).map(width).collect();
    let line = |cells: &[String]| {
        for (column, cell) in cells.iter().enumerate() {
            let width = widths[column];
            if column == 0 {
                print!("| {cell:<width$} ");
            } else {
                print!("| {cell:>width$} ");
            }
        }
        println!("|");
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
}
