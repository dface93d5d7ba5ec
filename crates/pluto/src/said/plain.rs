//! What Pluto's own runtime says on standard error, and where it said less than it could have, a little more.

use std::fmt::Write;

use super::schedule;
use crate::options::Strategy;
use crate::story::Story;
use crate::verdict::Verdict;

pub(crate) fn plain(verdict: &Verdict) -> String {
    let mut out = String::new();
    if let Some(why) = &verdict.refused {
        let _ = writeln!(out, "{why}");
    }
    verdict.stories.iter().for_each(|story| finding(&mut out, story));
    if verdict.strategy == Strategy::Exhaustive {
        let schedules = if verdict.executions == 1 { "schedule" } else { "schedules" };
        let limit = if verdict.limited { " (limit reached)" } else { "" };
        let _ = writeln!(out, "  Exhaustive: {} {schedules} explored{limit}", verdict.executions);
        if !verdict.stories.is_empty() {
            let failures = if verdict.stories.len() == 1 { "failure" } else { "failures" };
            let _ = writeln!(out, "  {} {failures} found:", verdict.stories.len());
        }
        for story in &verdict.stories {
            let _ = writeln!(out, "    - {} in schedule {} (depth {})", story.kind, story.iteration, story.depth);
        }
    } else if let (Some(story), true) = (verdict.stories.first(), verdict.strategy != Strategy::Sequential) {
        let _ = writeln!(out, "  (seed: {:#x}, iteration: {})", story.seed, story.iteration);
    }
    out
}

fn finding(out: &mut String, story: &Story) {
    match story.kind.as_str() {
        "deadlock" => out.push_str("pluto: deadlock detected in test\n"),
        "livelock" => out.push_str("pluto: potential livelock in test\n"),
        "failure" => {}
        other => {
            let _ = writeln!(out, "pluto: {other}");
        }
    }
    for fiber in &story.fibers {
        let _ = writeln!(out, "  Fiber {}: {}", fiber.number, fiber.what);
    }
    story.more.iter().for_each(|line| out.push_str(&format!("  {line}\n")));
    let _ = writeln!(out, "  Schedule: {}", schedule(&story.schedule));
}
