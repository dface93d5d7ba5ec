//! What is printed: sections with a table and the verdicts on their gates.

use std::time::Duration;

use drawloom_bench::table;

/// A part of the report, and whether all its gates were passed.
pub struct Section {
    pub text: String,
    pub passed: bool,
}

/// A table below a title, and the verdicts below the table.
pub fn section(title: &str, heading: &[&str], rows: &[Vec<String>], verdicts: Vec<(bool, String)>) -> Section {
    let heading: Vec<String> = heading.iter().map(|cell| cell.to_string()).collect();
    let lines: Vec<String> = verdicts.iter().map(|(_, line)| format!("    {line}\n")).collect();
    Section {
        text: format!("### {title}\n\n{}\n{}", table::render(&heading, rows), lines.concat()),
        passed: verdicts.iter().all(|(passed, _)| *passed),
    }
}

/// A gate: whether it was passed, and the line that says so.
pub fn verdict(passed: bool, what: String) -> (bool, String) {
    (passed, format!("{}  {what}", if passed { "PASS" } else { "FAIL" }))
}

/// What is no gate, but worth a line.
pub fn note(what: String) -> (bool, String) {
    (true, format!("      {what}"))
}

/// A duration with three digits that count.
pub fn time(duration: Duration) -> String {
    let seconds = duration.as_secs_f64();
    let (number, unit) = match seconds {
        s if s < 1e-3 => (s * 1e6, "µs"),
        s if s < 1.0 => (s * 1e3, "ms"),
        s => (s, "s"),
    };
    let decimals = if number < 10.0 { 2 } else { usize::from(number < 100.0) };
    format!("{number:.decimals$} {unit}")
}

/// A ratio with two digits that count, at least.
pub fn grouped_times(times: f64) -> String {
    if times < 100.0 { format!("{times:.1}") } else { grouped(times.round() as u64) }
}

/// A number with its thousands set apart.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().map(|group| std::str::from_utf8(group).unwrap_or_default()).collect();
    groups.join(",")
}
