//! What a page contains: its skeleton, data that cannot break out, and an order that is the engine's.

use std::collections::{BTreeMap, BTreeSet};

use drawloom_engine::causality::Causality;
use drawloom_engine::{ChannelState, Engine, OpKind, ResourceKind, State};
use drawloom_report::{PageOptions, Record, Shown, page};
use insta::assert_snapshot;
use serde_json::Value;

use crate::page_of;
use crate::programs::{SOURCE, deadlock, long, long_program, lost_update, passing};
use crate::script::*;

/// What stands between the first `begin` and the next `end`.
fn between<'a>(text: &'a str, begin: &str, end: &str) -> &'a str {
    let from = text.find(begin).expect("it begins") + begin.len();
    &text[from..from + text[from..].find(end).expect("it ends")]
}

fn data(page: &str) -> Value {
    serde_json::from_str(between(page, "id=\"data\">", "</script>")).expect("the data is JSON")
}

fn numbers(value: &Value) -> Vec<i64> {
    value.as_array().expect("a list").iter().map(|n| n.as_i64().expect("a number")).collect()
}

#[test]
fn the_skeleton_of_the_page() {
    let page = page_of(&[("failing", &lost_update())]);
    let style = between(&page, "<style>\n", "</style>");
    let json = between(&page, "id=\"data\">", "</script>");
    let script = between(&page, "\"use strict\";\n", "</script>");
    assert_snapshot!(page.replace(style, "…").replace(json, "…").replace(script, "…"));
}

#[test]
fn nothing_in_the_data_can_end_it() {
    let mut record = lost_update();
    record.meta.test = "<b>&\u{2028}{{data}}{{script}}".into();
    let page = page_of(&[("</script><!--", &record)]);
    let json = between(&page, "id=\"data\">", "</script>");
    assert!(!json.contains(['<', '\u{2028}', '\u{2029}']));
    assert!(page.contains("<title>&lt;b&gt;&amp;"));
    let data = data(&page);
    assert_eq!(data["records"][0]["label"], "</script><!--");
    assert_eq!(data["records"][0]["test"], "<b>&\\u{2028}{{data}}{{script}}", "what nobody can see is spelled out");
    assert_eq!(page.matches("<script").count(), 2);
    assert_eq!(page.matches("</script").count(), 2);
}

#[test]
fn the_page_asks_for_nothing() {
    let page = page_of(&[("failing", &lost_update())]);
    for outside in ["http://", "https://", "@import", "url(", "fetch(", "import("] {
        assert!(!page.contains(outside), "{outside}");
    }
    assert!(page.contains("default-src 'none'"));
}

#[test]
fn only_lines_around_the_places_are_kept() {
    let source = format!("{SOURCE}{}", "// far away\n".repeat(1000));
    let record = lost_update();
    let sources = |file: &str| (file == "src/x.rs").then(|| source.clone());
    let options = PageOptions { sources: &sources, ..PageOptions::default() };
    let page = page(&[Shown { label: "failing", record: &record }], &options);
    let files = data(&page)["sources"].clone();
    assert_eq!(files[0]["file"], "src/x.rs");
    let lines: usize = files[0]["parts"].as_array().unwrap().iter().map(|p| p[1].as_array().unwrap().len()).sum();
    assert!((20..40).contains(&lines), "{lines}");
}

#[test]
fn of_a_very_long_trace_the_end_is_shown_and_what_is_missing_is_said() {
    let record = long(3000);
    let shown = [Shown { label: "failing", record: &record }];
    let page = page(&shown, &PageOptions { max_steps: 500, ..PageOptions::default() });
    let record_data = &data(&page)["records"][0];
    assert_eq!(numbers(&record_data["steps"]["task"]).len(), 500);
    assert_eq!(record_data["first"].as_u64().unwrap() as usize, record.steps.len() - 500);
    // What is shown of it is what is shown in the whole.
    let whole = &data(&page_of(&[("failing", &record)]))["records"][0];
    let first = record.steps.len() as i64 - 500;
    let inside = |a: &[i64]| (a[0] >= first).then(|| [a[0] - first, a[1] - first, a[2]]);
    let expected: Vec<i64> = numbers(&whole["arrows"]).chunks(3).filter_map(inside).flatten().collect();
    assert_eq!(numbers(&record_data["arrows"]), expected);
    assert_eq!(states_in_the_end(record_data), states_in_the_end(whole));
    let holds = numbers(&record_data["holds"]);
    assert!(holds.chunks(5).all(|bar| bar[2] >= -1 && bar[3] >= 0 && bar[3] <= 500));
}

/// The last text of every resource.
fn states_in_the_end(record: &Value) -> BTreeMap<i64, String> {
    // Nothing is known of an atomic that was not accessed yet.
    let text = |number: i64| record["texts"][number as usize].as_str().unwrap_or_default().to_owned();
    numbers(&record["changes"]).chunks(3).map(|change| (change[1], text(change[2]))).collect()
}

#[test]
fn a_lock_has_one_holder_at_a_time() {
    let record = long(3000);
    let page = page_of(&[("failing", &record)]);
    let holds = numbers(&data(&page)["records"][0]["holds"]);
    let exclusive: Vec<&[i64]> = holds.chunks(5).filter(|bar| bar[4] == 0).collect();
    assert!(exclusive.len() > 300);
    for (i, a) in exclusive.iter().enumerate() {
        for b in &exclusive[i + 1..] {
            assert!(a[1] != b[1] || a[3] <= b[2] || b[3] <= a[2], "{a:?} and {b:?} overlap");
        }
    }
}

/// What `arrows` and the order of each task's own steps come to: for every step, those before it.
fn closure(record: &Record, arrows: &[(usize, usize)]) -> Vec<BTreeSet<usize>> {
    let mut before: Vec<BTreeSet<usize>> = Vec::new();
    let mut last = vec![None; record.tasks.len()];
    for (j, step) in record.steps.iter().enumerate() {
        let own = last[step.task as usize].replace(j);
        let into = arrows.iter().filter(|(_, to)| *to == j).map(|(from, _)| *from);
        let mut known = BTreeSet::new();
        for i in own.into_iter().chain(into) {
            known.insert(i);
            known.extend(&before[i]);
        }
        before.push(known);
    }
    before
}

/// The arrows say what the engine's clocks say, from which they were made by way of the trace file, and
/// none of them follows from the others.
fn assert_arrows(engine: &Engine) {
    let record = record(engine, engine.finding().expect("a finding"), "x");
    let record = Record::read(&record.write()).expect("it was just written");
    let page = page_of(&[("failing", &record)]);
    let flat = numbers(&data(&page)["records"][0]["arrows"]);
    let arrows: Vec<(usize, usize)> = flat.chunks(3).map(|a| (a[0] as usize, a[1] as usize)).collect();
    let steps = &engine.steps()[..record.steps.len()];
    let causality = Causality::of(steps);
    let before = closure(&record, &arrows);
    for (j, known) in before.iter().enumerate() {
        let expected: BTreeSet<usize> = (0..j).filter(|i| causality.before(*i, j)).collect();
        assert_eq!(*known, expected, "before step {j}");
    }
    for left_out in 0..arrows.len().min(20) {
        let mut fewer = arrows.clone();
        let (from, to) = fewer.remove(left_out);
        assert!(!closure(&record, &fewer)[to].contains(&from), "the arrow from {from} to {to} follows from others");
    }
}

#[test]
fn arrows_are_the_order_of_the_engine_and_no_more() {
    let (script, main) = long_program(400);
    assert_arrows(&script.run(main));
}

#[test]
fn arrows_follow_messages_notifications_and_timers() {
    let resources = [
        (ResourceKind::Channel, State::Channel(ChannelState::new(1)), 1, None),
        (ResourceKind::Mutex, State::Plain, 2, None),
        (ResourceKind::Condvar, State::Plain, 3, None),
    ];
    // As the front end announces them: with the capacity.
    let message = |kind, line| op(kind, 0, line).arg(1);
    let consumer = vec![
        message(OpKind::Recv, 10),
        bare(OpKind::Sleep, 1_000_000, 11),
        message(OpKind::Recv, 12),
        op(OpKind::Lock, 1, 13),
        op(OpKind::NotifyOne, 2, 14),
        op(OpKind::Unlock, 1, 15),
        message(OpKind::Recv, 16),
    ];
    let waiter = vec![
        op(OpKind::Lock, 1, 20),
        op(OpKind::CondWait, 2, 21).arg(1),
        op(OpKind::Lock, 1, 21),
        op(OpKind::Unlock, 1, 22),
    ];
    let main = vec![
        spawn(30, None, consumer),
        spawn(31, None, waiter),
        message(OpKind::Send, 32),
        message(OpKind::Send, 33),
        join(SECOND, 34),
        join(FIRST, 35),
    ];
    for picks in [&[MAIN, 3, 3, MAIN, 2][..], &[MAIN, MAIN, MAIN, 2, 3], &[2, 3, 3, 2]] {
        assert_arrows(&Script::with(&resources).picks(picks).run(main.clone()));
    }
}

#[test]
fn a_passing_record_can_be_kept_and_shown() {
    let record = Record::read(&passing().write()).expect("it was just written");
    let data = data(&page_of(&[("failing", &lost_update()), ("passing", &record)]));
    assert_eq!(data["records"][1]["passed"], true);
    assert_eq!(data["records"][1]["endings"].as_array().unwrap().len(), 0);
}

#[test]
fn a_window_outside_the_steps_is_damage() {
    let mut record = lost_update();
    assert_eq!(Record::read(&record.write()).expect("it is whole"), record);
    record.window = record.window.map(|window| drawloom_report::Window { to: 10_000, ..window });
    assert!(Record::read(&record.write()).is_err());
}

#[test]
fn a_deadlock_marks_the_requests_that_never_end() {
    let data = data(&page_of(&[("failing", &deadlock())]));
    assert_eq!(numbers(&data["records"][0]["failing"]), [4, 5]);
    assert_eq!(data["records"][0]["sentence"], "Tasks 0.1 (there) and 0.2 (back) wait for each other");
}
