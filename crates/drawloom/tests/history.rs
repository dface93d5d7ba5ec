//! Clients that are watched: what is recorded, what is refused, and that real time is the scheduler's to decide.

use drawloom::history::model::{Register, RegisterOp::*, RegisterRet::*};
use drawloom::history::{Budget, Outcome, Watch};
use drawloom::sync::Arc;
use drawloom::sync::atomic::{AtomicU32, Ordering::SeqCst};
use drawloom::{explore, thread};

fn watch() -> Watch<Register<u32>> {
    Watch::new(Register::new(0))
}

#[test]
fn a_call_ends_the_one_before_and_nobody_knows_how() {
    let watch = watch();
    let (mut one, mut other) = (watch.client(), watch.client());
    one.invoke(Write(1));
    one.invoke(Read);
    other.call(Read, || Value(1)); // so it was written
    one.ok(Value(1));
    other.invoke(Write(2));
    other.fail();
    other.invoke(Read);
    let history = watch.history();
    let outcomes: Vec<_> = history.operations().iter().map(|operation| operation.outcome.clone()).collect();
    assert_eq!(
        outcomes,
        [Outcome::Info, Outcome::Ok(Value(1)), Outcome::Ok(Value(1)), Outcome::Fail, Outcome::Pending]
    );
}

#[test]
#[should_panic(expected = "not linearizable: read → 0 cannot be placed")]
fn what_was_seen_cannot_be_unseen() {
    let (mut one, mut other) = {
        let watch = watch();
        (watch.client(), watch.client())
    };
    one.invoke(Write(1));
    other.call(Read, || Value(1));
    other.call(Read, || Value(0));
}

#[test]
#[should_panic(expected = "unknown")]
fn a_budget_that_runs_out_is_no_pass() {
    let watch = Watch::within(Register::new(0), Budget { steps: 0, ..Budget::default() });
    let mut client = watch.client();
    client.call(Write(1), || Written);
    client.call(Read, || Value(1));
}

#[test]
#[should_panic(expected = "process 0")]
fn what_was_not_called_cannot_return() {
    watch().client().ok(Written);
}

/// An answer that is stale if, and only if, the write ended before the read began: an exhaustive search comes to that
/// order, although nothing but the watch makes it differ.
#[test]
fn whether_one_ended_before_the_other_began_is_explored() {
    let body = |begins_after: bool| {
        move || {
            let (watch, copy) = (watch(), Arc::new(AtomicU32::new(0)));
            let (mut writer, mut reader) = (watch.client(), watch.client());
            let theirs = copy.clone();
            let other = thread::spawn(move || reader.call(Read, || Value(theirs.load(SeqCst))));
            match begins_after {
                true => writer.call(Write(1), || Written), // to nobody's knowledge
                false => {
                    writer.invoke(Write(1));
                    Written
                }
            };
            other.join().unwrap();
        }
    };
    let config = || "exhaustive, trace = false".parse().expect("a configuration");
    let ended = explore(config(), body(true));
    assert!(ended.findings()[0].message().contains("read → 0"), "{}", ended.summary());
    assert!(!ended.findings()[0].report().contains("UNGUARDED"), "what watches is no state of the program");
    let open = explore(config(), body(false));
    assert!(open.findings().is_empty() && open.exhausted(), "{}", open.summary());
}

/// A writer that has ended, and a reader that is told what was there before, beside somebody who has nothing to do with it.
fn answers_late() {
    let (watch, count) = (watch(), Arc::new(AtomicU32::new(0)));
    let (mut writer, mut reader) = (watch.client(), watch.client());
    let theirs = count.clone();
    let bystander = thread::spawn(move || theirs.fetch_add(1, SeqCst));
    let other = thread::spawn(move || reader.call(Read, || Value(0)));
    count.fetch_add(1, SeqCst);
    writer.call(Write(1), || Written);
    let _ = bystander.join();
    other.join().unwrap();
}

#[test]
fn what_is_not_linearizable_is_a_finding_of_its_own() {
    let exploration = explore("name = \"late\", trace = false".parse().expect("a configuration"), answers_late);
    let [finding] = exploration.findings() else { panic!("{}", exploration.summary()) };
    assert_eq!((finding.kind(), finding.is_certain()), ("not linearizable", true));
    assert!(finding.minimised().is_some(), "{}", finding.report());
    let report = finding.report();
    let told: Vec<&str> = report.lines().skip_while(|line| line.is_empty()).take(8).collect();
    insta::assert_snapshot!(told.join("\n"));
    let again = format!("name = \"late\", trace = false, replay(token = \"{}\")", finding.token());
    let again = explore(again.parse().expect("a configuration"), answers_late);
    assert_eq!(again.findings()[0].message(), finding.message());
}
