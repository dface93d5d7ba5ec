//! The same explanation in other forms: Markdown, JSON, the page, narrow and without sources.

use drawloom::Failure;
use drawloom_report::explain::{Class, EXPLANATION, Explanation, Mark};
use drawloom_report::{PageOptions, Record, RenderOptions, Shown, markdown, page, render};
use insta::assert_snapshot;

use crate::screens::without_backtrace;

use crate::programs::{atomicity, cache, waits};

fn found(body: fn()) -> Failure {
    let config = "auto, name = \"x::example\", seed = 1, threads = 1";
    let exploration = drawloom::explore(config.parse().expect("a configuration"), body);
    exploration.findings().first().expect("it fails").clone()
}

fn source(file: &str) -> Option<String> {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    std::fs::read_to_string(root.join(file)).ok()
}

#[test]
fn markdown_has_the_headings_of_a_structured_analysis() {
    let text = markdown(found(cache::lifetime_mismatch).record(), &source).expect("it is explained");
    let headings: Vec<&str> = text.lines().filter(|line| line.starts_with("##") && !line.starts_with("####")).collect();
    assert_eq!(
        headings,
        [
            "## Concurrency analysis: `x::example`",
            "### Shared state",
            "### Checkpoints",
            "### Race trace",
            "### Classification",
            "### Fixes",
        ]
    );
    assert_snapshot!(text);
}

#[test]
fn every_class_of_waits_has_them_too() {
    for body in [waits::opposite_order, waits::lost_wakeup, waits::channel_starvation] {
        let text = markdown(found(body).record(), &source).expect("it is explained");
        assert_eq!(text.lines().filter(|line| line.starts_with("### ")).count(), 5, "{text}");
    }
}

#[test]
fn json_is_versioned_and_read_back_as_it_was() {
    let failure = found(atomicity::lost_update);
    let explanation = failure.record().explanation.as_deref().expect("it is explained");
    assert_eq!(explanation.schema, EXPLANATION);
    assert_eq!(explanation.class, Some(Class::AtomicityGap));
    assert!(explanation.fixes.iter().any(|fix| fix.guard.is_some()), "a fix can be tried");
    let json = explanation.to_json();
    assert!(json.starts_with("{\n  \"schema\": \"drawloom.explanation/1\""), "{json}");
    let again: Explanation = Explanation::read(&json).expect("it is JSON");
    assert_eq!(&again, explanation);
    // And with its record, as a trace file has it.
    let mut record = Record::read(&failure.record().write()).expect("a trace file");
    assert!(!record.meta.own, "what a file says of itself is nobody's word");
    record.meta.own = true;
    assert_eq!(&record, failure.record());
}

#[test]
fn the_page_has_the_sentence_and_shades_the_window() {
    let failure = found(atomicity::lost_update);
    let record = failure.record();
    let explanation = record.explanation.as_deref().expect("it is explained");
    let opened = explanation.lines().find(|line| line.mark == Some(Mark::Opens)).and_then(|line| line.step);
    assert_eq!(record.window.map(|window| window.from), opened);
    let html = page(&[Shown { label: "failing", record }], &PageOptions { sources: &source, ..PageOptions::default() });
    assert!(html.contains("both read `balance` before either wrote it back"));
    assert!(html.contains("Atomicity gap: another task runs between steps that belong together"));
    assert!(html.contains("Race window: step"));
}

#[test]
fn where_there_is_no_room_for_columns_lines_are_tagged() {
    let options = RenderOptions { width: 72, sources: &source, ..RenderOptions::default() };
    assert_snapshot!(without_backtrace(&render(found(atomicity::lost_update).record(), &options)));
}

#[test]
fn an_explanation_is_the_same_whenever_it_is_made() {
    for body in [atomicity::check_then_act, cache::lifetime_mismatch, waits::opposite_order] {
        assert_eq!(found(body).record().explanation, found(body).record().explanation);
    }
}

#[test]
fn the_window_is_found_thousands_of_steps_before_the_failure() {
    use drawloom::sync::atomic::{AtomicU64, Ordering::SeqCst};
    use drawloom::{sync::Arc, thread};

    let config = "pct(depth = 2), seed = 1, threads = 1, fixes = 0, trace = false";
    let exploration = drawloom::explore(config.parse().expect("a configuration"), || {
        let count = Arc::new(AtomicU64::new(0));
        let workers = [0; 2].map(|_| {
            let count = count.clone();
            thread::spawn(move || (0..1_500).for_each(|_| count.store(count.load(SeqCst) + 1, SeqCst)))
        });
        workers.into_iter().for_each(|worker| worker.join().unwrap());
        assert_eq!(count.load(SeqCst), 3_000);
    });
    let record = exploration.findings().first().expect("an update is lost").record();
    let explanation = record.explanation.as_deref().expect("it is explained");
    assert_eq!(explanation.subkind.as_deref(), Some("lost-update"), "{}", explanation.sentence);
    let window = explanation.window.as_ref().expect("a window");
    assert!(record.steps.len() as u32 - window.from > 3_000, "{window:?} of {}", record.steps.len());
}
