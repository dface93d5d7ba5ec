//! What processes, or nodes of a cluster, said to each other, and what is left of them: a row for each message, where it was received.

use std::fmt::Write as _;

use super::lanes::Lanes;
use super::paint::{Ink, Paint};
use super::{MOST_LISTED, RenderOptions};
use crate::names::{Names, count};
use crate::processes::{Kind, Row, Standing, Told, lost, standing, story};
use crate::record::{Details, Place, Record};

/// Names are not padded beyond this.
const WIDEST_NAME: usize = 26;
/// What is said is not padded beyond this.
const WIDEST_TEXT: usize = 56;
/// Rows: the last so many, since the failure is at the end.
const MOST_ROWS: usize = 48;
/// Messages of one mailbox.
const MOST_LEFT: usize = 4;

/// The two sections; nothing where there were no processes.
pub(super) fn processes(record: &Record, names: &Names<'_>, options: &RenderOptions<'_>) -> String {
    if cfg!(feature = "processes") { sections(record, names, options) } else { String::new() }
}

fn sections(record: &Record, names: &Names<'_>, options: &RenderOptions<'_>) -> String {
    let told = Told { record, names };
    let rows = story(told);
    if rows.is_empty() {
        return String::new();
    }
    let paint = Paint(options.colour);
    let mut out = String::new();
    let has_nodes = !record.processes.nodes.is_empty();
    let heading = if has_nodes { "What happened in the cluster" } else { "What the processes did" };
    let _ = writeln!(out, "\n{}", paint.ink(Ink::Strong, heading));
    let most = MOST_ROWS.min(options.max_steps.max(1));
    let hidden = rows.len().saturating_sub(most);
    if hidden > 0 {
        let _ = writeln!(out, "  {}", paint.ink(Ink::Dim, &format!("… {} before …", count(hidden as u64, "row"))));
    }
    let shown = &rows[hidden..];
    let lanes = if has_nodes { Lanes::of(record, names, shown, options.width) } else { None };
    table(&mut out, record, names, shown, lanes.as_ref(), options);
    if has_nodes {
        let _ = writeln!(out, "  {}", faults(&rows));
    }
    in_the_end(&mut out, told, paint, options);
    out
}

/// `with 1 fault: s0 crashes (step 12)`
fn faults(rows: &[Row]) -> String {
    let told = |row: &&Row| {
        let hit = row.other.as_deref().unwrap_or_default();
        format!("{hit} {} (step {})", row.text, row.step + 1)
    };
    let all: Vec<String> = rows.iter().filter(|row| row.kind == Kind::Struck).map(|row| told(&row)).collect();
    match all.len() {
        0 => format!("{}, without a fault", count(rows.len() as u64, "event")),
        many => {
            let events = count((rows.len() - many) as u64, "event");
            format!("{events}, with {}: {}", count(many as u64, "fault"), all.join("; "))
        }
    }
}

fn table(
    out: &mut String,
    record: &Record,
    names: &Names<'_>,
    rows: &[Row],
    lanes: Option<&Lanes>,
    options: &RenderOptions<'_>,
) {
    let paint = Paint(options.colour);
    let length = |text: &str| text.chars().count();
    let who = |row: &Row| names.tag(row.task);
    let other = |row: &Row| row.other.clone().unwrap_or_default();
    let digits = rows.last().map_or(1, |row| (row.step + 1).to_string().len());
    let own = rows.iter().map(|row| length(&who(row))).max().unwrap_or(0).min(WIDEST_NAME);
    let others = rows.iter().map(|row| length(&other(row))).max().unwrap_or(0).min(WIDEST_NAME);
    let texts = rows.iter().filter(|row| row.other.is_some()).map(|row| length(&row.text)).max().unwrap_or(0);
    let width = if options.width == 0 { 200 } else { options.width };
    let before = 2 + digits + 2 + lanes.map_or(0, |lanes| lanes.width() + 2) + own + 3 + others + 2;
    let text_width = texts.min(WIDEST_TEXT).min(width.saturating_sub(before + 18).max(16));
    if let Some(lanes) = lanes {
        let _ = writeln!(out, "  {:>digits$}  {}", "", lanes.head().trim_end());
    }
    for row in rows {
        let number = paint.ink(Ink::Dim, &format!("{:>digits$}", row.step + 1));
        let name = paint.ink(Ink::Task(row.task), &format!("{:<own$}", cut(&who(row), own)));
        let sign = match row.kind {
            Kind::Received => "←",
            Kind::Sent => "→",
            Kind::Signalled => "⇒",
            Kind::Ended => "■",
            Kind::Did => "·",
            Kind::Lost => "✗",
            Kind::Struck => "↯",
        };
        let at = record.place(row.place).map(short).unwrap_or_default();
        let what = match (&row.other, row.kind) {
            (Some(other), _) => {
                let other = cut(other, others);
                format!("{other:<others$}  {:<text_width$}", row.text)
            }
            (None, Kind::Ended) => format!("ends: {}", row.text),
            (None, _) => row.text.clone(),
        };
        let room = others + 2 + text_width;
        let what = format!("{:<room$}", cut(&what, width.saturating_sub(before - others - 2 + length(&at) + 2)));
        let lanes = lanes.map(|lanes| format!("{}  ", paint.ink(Ink::Dim, &lanes.line(row)))).unwrap_or_default();
        let line = format!("  {number}  {lanes}{name} {sign} {what}  {}", paint.ink(Ink::Dim, &at));
        let _ = writeln!(out, "{}", line.trim_end());
    }
}

fn in_the_end(out: &mut String, told: Told<'_>, paint: Paint, options: &RenderOptions<'_>) {
    let Told { record, names } = told;
    let standing = standing(told);
    let panics = matches!(record.finding.details, Details::Panic { .. });
    let is_finding = |s: &Standing| panics && s.task == record.finding.task;
    let failed = |s: &Standing| s.reason.as_deref().is_some_and(|reason| !reason.is_empty() && reason != "normal");
    let worth = |s: &&Standing| {
        let is_told =
            s.reason.is_none() && (!s.mailbox.is_empty() || !s.links.is_empty() || !s.monitors.is_empty()) || failed(s);
        is_told && !is_finding(s)
    };
    let lines: Vec<String> = standing.iter().filter(worth).flat_map(|s| lines(told, s)).collect();
    let lost = lost(told);
    if lines.is_empty() && lost.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n{}", paint.ink(Ink::Strong, "In the end"));
    let width = if options.width == 0 { 200 } else { options.width };
    for line in lines.iter().take(MOST_LISTED) {
        let _ = writeln!(out, "  {}", cut(line, width.saturating_sub(2)));
    }
    if lines.len() > MOST_LISTED {
        let _ = writeln!(out, "  … and {} more", count((lines.len() - MOST_LISTED) as u64, "line"));
    }
    for lost in lost.iter().take(MOST_LISTED) {
        let why = if lost.late { "had ended" } else { "ended before it received it" };
        let at = record.place(record.steps[lost.step as usize].place).map(|p| format!(", {}", short(p)));
        let line = format!(
            "lost: {} from {} (step {}{}): {} {why}",
            lost.text,
            lost.from,
            lost.step + 1,
            at.unwrap_or_default(),
            names.tag(lost.to),
        );
        let _ = writeln!(out, "  {}", paint.ink(Ink::Alarm, &cut(&line, width.saturating_sub(2))));
    }
}

/// What there is to say of a process in the end.
fn lines(told: Told<'_>, s: &Standing) -> Vec<String> {
    let Told { record, names } = told;
    let who = names.tag(s.task);
    if let Some(reason) = &s.reason {
        return vec![format!("{who} has ended: {}", reason.lines().next().unwrap_or_default())];
    }
    let mut lines = Vec::new();
    let ties = [("linked to", &s.links), ("monitors", &s.monitors)];
    let ties: Vec<String> = ties
        .iter()
        .filter(|(_, all)| !all.is_empty())
        .map(|(word, all)| format!("{word} {}", all.join(", ")))
        .collect();
    if !ties.is_empty() {
        lines.push(format!("{who}: {}", ties.join("; ")));
    }
    for &step in s.mailbox.iter().take(MOST_LEFT) {
        let delivery = &record.steps[step as usize];
        let at = record.place(delivery.place).map(|p| format!(", {}", short(p))).unwrap_or_default();
        let from = told.sender(delivery);
        let text = told.text(step).unwrap_or_else(|| "a message".to_owned());
        lines.push(format!("{who}: in its mailbox {text} of {from} (step {}{at})", step + 1));
    }
    if s.mailbox.len() > MOST_LEFT {
        lines.push(format!("{who}: … and {} more in its mailbox", s.mailbox.len() - MOST_LEFT));
    }
    lines
}

/// `bank.rs:9`
fn short(place: &Place) -> String {
    let file = place.file.rsplit(['/', '\\']).next().unwrap_or(&place.file);
    format!("{file}:{}", place.line)
}

fn cut(text: &str, room: usize) -> String {
    if text.chars().count() <= room {
        return text.to_owned();
    }
    text.chars().take(room.saturating_sub(1)).chain(['…']).collect()
}
