//! A line for each test, dotted to one column, what failed below it, and a sum.

use std::fmt::Write;

use super::schedule;
use crate::options::Strategy;
use crate::story::Story;
use crate::verdict::Verdict;

/// Where results stand.
const COLUMN: usize = 43;

/// Lines of output that are shown of a test that failed.
const MOST_LINES: usize = 40;

pub(crate) fn report(verdict: &Verdict, printed: &[u8], file: Option<&str>) -> String {
    let title = format!("test {}{} ", verdict.name, strategy(verdict));
    let dots = COLUMN.saturating_sub(title.chars().count()).max(3);
    let mut out = format!("{title}{} {}\n", ".".repeat(dots), result(verdict));
    if let Some(why) = &verdict.refused {
        let _ = writeln!(out, "  {why}");
    }
    for story in &verdict.stories {
        finding(&mut out, verdict, story, file);
    }
    if verdict.failed() && !printed.is_empty() {
        out.push_str("  Printed in this schedule:\n");
        let printed = String::from_utf8_lossy(printed);
        printed.lines().take(MOST_LINES).for_each(|line| out.push_str(&format!("    {line}\n")));
        if printed.lines().count() > MOST_LINES {
            out.push_str("    ...\n");
        }
    }
    out
}

fn strategy(verdict: &Verdict) -> String {
    match verdict.strategy {
        Strategy::Sequential => String::new(),
        Strategy::RoundRobin => " @round_robin".to_owned(),
        Strategy::Random => format!(" @random({})", verdict.iterations),
        Strategy::Exhaustive => " @exhaustive".to_owned(),
    }
}

fn result(verdict: &Verdict) -> String {
    let schedules = match verdict.executions {
        1 => "1 schedule".to_owned(),
        n => format!("{n} schedules"),
    };
    let limit = if verdict.limited { ", limit reached" } else { "" };
    match (verdict.strategy, verdict.stories.first()) {
        _ if verdict.refused.is_some() => "REFUSED".to_owned(),
        (Strategy::Exhaustive, None) => format!("ok (explored {schedules}{limit})"),
        (Strategy::Random, None) => format!("ok ({} iterations)", verdict.executions),
        (_, None) => "ok".to_owned(),
        (Strategy::Exhaustive, Some(_)) => {
            let failures = if verdict.stories.len() == 1 { "failure" } else { "failures" };
            format!("FAILED ({} {failures}, explored {schedules}{limit})", verdict.stories.len())
        }
        (Strategy::Random, Some(story)) => {
            format!("FAILED (seed: {:#X}, iteration: {})", story.seed, story.iteration).replace("0X", "0x")
        }
        (_, Some(_)) => "FAILED".to_owned(),
    }
}

fn finding(out: &mut String, verdict: &Verdict, story: &Story, file: Option<&str>) {
    match story.kind.as_str() {
        "deadlock" => out.push_str(&format!("  DEADLOCK in test \"{}\":\n", verdict.name)),
        "livelock" => out.push_str(&format!("  POTENTIAL LIVELOCK in test \"{}\":\n", verdict.name)),
        _ => {}
    }
    let indent = if matches!(story.kind.as_str(), "deadlock" | "livelock") { "    " } else { "  " };
    if story.kind == "livelock" {
        story.more.iter().for_each(|line| out.push_str(&format!("{indent}{line}\n")));
    }
    for fiber in &story.fibers {
        let _ = writeln!(out, "{indent}Fiber {} ({}): {}", fiber.number, fiber.who, fiber.what);
    }
    if story.kind == "deadlock" {
        story.more.iter().for_each(|line| out.push_str(&format!("{indent}{line}\n")));
    }
    let _ = writeln!(out, "  Schedule: {}", schedule(&story.schedule));
    let file = file.unwrap_or("FILE");
    let _ = writeln!(out, "  Replay: drawloom pluto {file} --test {:?} --replay {}", verdict.name, story.token);
}

pub(crate) fn summary(passed: u64, failed: u64) -> String {
    let tests = match passed + failed {
        1 => "1 test".to_owned(),
        n => format!("{n} tests"),
    };
    format!("\n{tests}: {passed} passed, {failed} failed\n")
}
