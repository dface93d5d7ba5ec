//! Every anomaly by its definition: a history that has it and nothing else, and one like it that does not.
//!
//! A line is a transaction: its process, and what it did. `x+1` appends, `x:1,2` reads a list, `x=1` writes a register,
//! `x?1` reads it (`x?0` is the initial value). `fail` and `info` in front say how it ended.

use drawloom_check::transactions::{Anomaly, Class, Model, Suffix, Transactions, check};

use crate::support::{End, Op, Txn, line, parse, without_calls, word};

fn txn(text: &str) -> Txn {
    let mut words = text.split_whitespace().peekable();
    let end = match words.next_if(|word| ["fail", "info"].contains(word)) {
        Some("fail") => End::Fail,
        Some(_) => End::Info,
        None => End::Ok,
    };
    let session = words.next().unwrap().parse().unwrap();
    let ops = words.map(|word| {
        let key = usize::from(word.as_bytes()[0] - b'x');
        let (kind, rest) = word[1..].split_at(1);
        match kind {
            "+" => Op::Append(key, rest.parse().unwrap()),
            "=" => Op::Write(key, rest.parse().unwrap()),
            "?" => Op::Read(key, rest.parse().unwrap()),
            ":" => Op::ReadList(key, rest.split(',').filter(|v| !v.is_empty()).map(|v| v.parse().unwrap()).collect()),
            _ => panic!("{word}"),
        }
    });
    let ops = ops.collect();
    Txn { session, end, ops }
}

/// Nothing is known of real time.
fn history(text: &str) -> Transactions {
    let txns: Vec<Txn> = text.lines().map(str::trim).filter(|line| !line.is_empty()).map(txn).collect();
    parse(&without_calls(&txns))
}

/// Calls and ends in the order of `events`: the first time that a transaction's number stands there it begins, the
/// second time it ends.
fn timed(text: &str, events: &[usize]) -> Transactions {
    let txns: Vec<Txn> = text.lines().map(str::trim).filter(|line| !line.is_empty()).map(txn).collect();
    let mut file = String::new();
    for (at, event) in events.iter().enumerate() {
        let Txn { session, end, ops } = &txns[*event];
        let word = if events[..at].contains(event) { word(*end) } else { "invoke" };
        line(&mut file, *session, word, ops);
    }
    parse(&file)
}

fn anomalies(history: &Transactions) -> Vec<String> {
    check(history).unwrap().counts.iter().map(|(anomaly, _)| anomaly.to_string()).collect()
}

#[track_caller]
fn only(expected: &[&str], has: &str, has_not: &str) {
    assert_eq!(anomalies(&history(has)), expected, "{has}");
    let found = anomalies(&history(has_not));
    assert!(!found.iter().any(|name| name == expected[0]), "{found:?} in {has_not}");
}

#[test]
fn duplicate_elements_are_elements_that_stand_twice_in_a_list() {
    only(&["duplicate-elements"], "0 x+1\n 1 x:1,1", "0 x+1\n 1 x:1");
}

#[test]
fn a_garbage_read_returns_what_nobody_wrote() {
    only(&["garbage-read"], "0 x:9", "0 x+9\n 1 x:9");
    only(&["garbage-read"], "0 y=1\n 0 x?9", "0 x=9\n 1 x?9");
}

#[test]
fn incompatible_orders_are_two_reads_none_of_which_begins_the_other() {
    only(&["incompatible-order"], "0 x+1\n 1 x+2\n 2 x:1\n 3 x:2", "0 x+1\n 1 x+2\n 2 x:1\n 3 x:1,2");
    // The longest read is what others are compared with, whenever it was made.
    let report = check(&history("0 x+1\n 1 x+2\n 2 x+3\n 3 x:2\n 4 x:1\n 5 x:1,2,3")).unwrap();
    assert_eq!(report.count(Anomaly::IncompatibleOrder), 1);
}

#[test]
fn a_dirty_update_is_a_committed_write_behind_an_aborted_one() {
    only(&["dirty-update", "G1a"], "fail 0 x+1\n 1 x+2\n 2 x:1,2", "fail 0 x+1\n 1 x+2\n 2 x:2");
}

#[test]
fn a_future_read_returns_what_the_transaction_writes_later() {
    only(&["future-read"], "0 x:1 x+1", "0 x+1 x:1");
    only(&["future-read"], "0 x?1 x=1", "0 x=1 x?1");
}

#[test]
fn an_internal_anomaly_is_a_transaction_that_disagrees_with_itself() {
    only(&["internal"], "0 x+1 x:", "0 x+1 x:1");
    only(&["internal"], "0 x+1\n 1 x:1 x+2 x:1", "0 x+1\n 1 x:1 x+2 x:1,2");
    only(&["internal"], "0 x=1\n 1 x=2 x?1", "0 x=1\n 1 x?1 x=2 x?2");
    // Two reads of different versions are also read skew.
    only(&["internal", "G-single"], "0 x+1\n 1 x: x:1", "0 x+1\n 1 x:1 x:1");
}

#[test]
fn g1a_is_a_read_of_an_aborted_transaction() {
    only(&["G1a"], "fail 0 x+1\n 1 x:1", "info 0 x+1\n 1 x:1");
    only(&["G1a"], "fail 0 x=1\n 1 x?1", "info 0 x=1\n 1 x?1");
}

#[test]
fn g1b_is_a_read_of_a_version_that_its_writer_replaced() {
    only(&["G1b"], "0 x+1 x+2\n 1 x:1", "0 x+1 x+2\n 1 x:1,2");
    only(&["G1b"], "0 x=1 x=2\n 1 x?1", "0 x=1 x=2\n 1 x?2");
}

#[test]
fn a_lost_update_is_two_transactions_that_replace_the_same_version() {
    only(&["lost-update", "G-single"], "0 x: x+1\n 1 x: x+2\n 2 x:1,2", "0 x: x+1\n 1 x:1 x+2\n 2 x:1,2");
    let lost = "0 x=1\n 1 x?1 x=2\n 2 x?1 x=3";
    // Whichever of the two came first: the rules about reads alone show a cycle of two anti-dependencies.
    only(&["lost-update", "G2-item"], lost, "0 x=1\n 1 x?1 x=2\n 2 x?2 x=3");
    assert!(check(&history(lost)).unwrap().ruled_out.contains(Model::SnapshotIsolation));
}

#[test]
fn g0_is_a_cycle_of_writes() {
    only(&["G0"], "0 x+1 y+2\n 1 x+3 y+4\n 2 x:1,3\n 3 y:4,2", "0 x+1 y+2\n 1 x+3 y+4\n 2 x:1,3\n 3 y:2,4");
}

#[test]
fn g1c_is_a_cycle_of_writes_and_reads() {
    only(&["G1c"], "0 x+1 y:2\n 1 y+2 x:1", "0 x+1 y:2\n 1 y+2 x:");
    only(&["G1c"], "0 x=1 y?2\n 1 y=2 x?1", "0 x=1 y?2\n 1 y=2");
    // A write dependency may take part: the second appends behind the first, and the first has read the second.
    only(&["G1c"], "0 x+1 y:2\n 1 x+3 y+2\n 2 x:1,3", "0 x+1 y:2\n 1 x+3 y+2\n 2 x:3,1");
}

#[test]
fn g_single_is_a_cycle_with_one_anti_dependency() {
    only(&["G-single"], "0 x+1 y+2\n 1 x:1 y:", "0 x+1 y+2\n 1 x:1 y:2");
    only(&["G-single"], "0 x=1 y=2\n 1 x?1 y?0", "0 x=1 y=2\n 1 x?1 y?2");
    // Known by the update that the writer made: 3 replaced 1.
    only(&["G-single"], "0 x=1\n 1 x?1 x=3 y=2\n 2 y?2 x?1", "0 x=1\n 1 x?1 x=3 y=2\n 2 y?2 x?3");
}

#[test]
fn g_nonadjacent_is_a_cycle_whose_anti_dependencies_are_apart() {
    // The long fork: two readers see two writes in different orders.
    only(&["G-nonadjacent"], "0 x+1\n 1 y+2\n 2 x: y:2\n 3 x:1 y:", "0 x+1\n 1 y+2\n 2 x: y:2\n 3 x:1 y:2");
    only(&["G-nonadjacent"], "0 x=1\n 1 y=2\n 2 x?0 y?2\n 3 x?1 y?0", "0 x=1\n 1 y=2\n 2 x?0 y?2\n 3 x?1 y?2");
}

#[test]
fn g2_item_is_a_cycle_with_anti_dependencies_next_to_each_other() {
    only(&["G2-item"], "0 x: y+1\n 1 y: x+2", "0 x: y+1\n 1 y:1 x+2");
    only(&["G2-item"], "0 x?0 y=1\n 1 y?0 x=2", "0 x?0 y=1\n 1 y?1 x=2");
}

#[test]
fn cycles_of_sessions_have_their_names() {
    only(&["G0-process"], "0 x+1\n 0 x+2\n 1 x:2,1", "0 x+1\n 0 x+2\n 1 x:1,2");
    only(&["G1c-process"], "0 x:1\n 0 x+1", "0 x:\n 0 x+1");
    only(&["G-single-process"], "0 x+1\n 0 x:", "0 x+1\n 0 x:1");
    only(&["G-nonadjacent-process"], "0 x+1\n 0 y:\n 1 y+2\n 1 x:", "0 x+1\n 0 y:\n 1 y+2\n 1 x:1");
    only(&["G2-item-process"], "0 y+2\n 0 x:\n 1 x+1 y:", "0 y+2\n 0 x:1\n 1 x+1 y:");
    // A register's versions are known to be in the order of a session only for levels with sessions.
    only(&["G-single-process"], "0 x=1\n 0 x=2 y=3\n 1 y?3 x?1", "0 x=1\n 0 x=2 y=3\n 1 y?3 x?2");
}

#[test]
fn cycles_of_real_time_have_their_names() {
    let one_by_one: Vec<usize> = [0, 0, 1, 1, 2, 2].to_vec();
    let found = |text: &str, events: &[usize]| anomalies(&timed(text, events));
    assert_eq!(found("0 x+1\n 1 x+2\n 2 x:2,1", &one_by_one), ["G0-realtime"]);
    assert_eq!(found("0 x:1\n 1 x+1", &one_by_one[..4]), ["G1c-realtime"]);
    assert_eq!(found("0 x+1\n 1 x:", &one_by_one[..4]), ["G-single-realtime"]);
    let fork = "0 x: y:2\n 1 y+2\n 2 x+1\n 3 y:";
    assert_eq!(found(fork, &[0, 1, 2, 2, 3, 3, 1, 0]), ["G-nonadjacent-realtime"]);
    let skew = "0 y+2\n 1 x:\n 2 x+1 y:";
    assert_eq!(found(skew, &[0, 2, 0, 1, 1, 2]), ["G2-item-realtime"]);
    // The same, all at the same time: nothing is wrong.
    assert!(found("0 x+1\n 1 x:", &[0, 1, 0, 1]).is_empty());
    assert!(found(fork, &[0, 1, 2, 3, 2, 3, 1, 0]).is_empty());
    assert!(found(skew, &[0, 1, 2, 0, 1, 2]).is_empty());
    // Versions of a register are in the order of real time only for levels with real time.
    assert_eq!(found("0 x=1\n 1 x=2\n 2 x?1", &one_by_one), ["G-single-realtime"]);
    // One whose end is unknown may take effect at any time after its call.
    assert!(found("info 0 x+1\n 1 x:\n 2 x:1", &one_by_one).is_empty());
}

/// What an anomaly leaves over: the weakest levels that are violated, the strongest that are possible.
#[test]
fn anomalies_rule_levels_out() {
    let levels = |text: &str| {
        let report = check(&history(text)).unwrap();
        let names = |models: Vec<Model>| models.iter().map(|model| model.name()).collect::<Vec<_>>().join(" ");
        (names(report.ruled_out.weakest()), names(report.ruled_out.strongest_possible()))
    };
    let said = |weakest: &str, strongest: &str| (weakest.to_owned(), strongest.to_owned());
    assert_eq!(
        levels("0 x: y+1\n 1 y: x+2"),
        said("repeatable-read", "strong-snapshot-isolation"),
        "write skew is what snapshot isolation allows"
    );
    assert_eq!(
        levels("0 x+1\n 1 y+2\n 2 x: y:2\n 3 x:1 y:"),
        said("repeatable-read snapshot-isolation", "consistent-view causal strong-read-committed"),
        "the long fork is what causal consistency allows"
    );
    assert_eq!(
        levels("0 x+1\n 0 x:"),
        said("strong-session-snapshot-isolation", "serializable causal strong-read-committed")
    );
    assert_eq!(levels("0 x+1\n 1 x:1"), said("", "strict-serializable"));
    for class in Class::ALL {
        for suffix in Suffix::ALL {
            assert!(!Anomaly::Cycle(class, suffix).rules_out().is_empty());
        }
    }
}

#[test]
fn a_recorded_order_tells_what_reads_do_not() {
    // Two blind writes, and a reader who has seen both: only the store knows which was first.
    let text = "0 x=1 y=1\n 1 x=2 y=2\n 2 x?1 y?2";
    assert_eq!(anomalies(&history(text)), Vec::<String>::new());
    let txns: Vec<Txn> = text.lines().map(str::trim).map(txn).collect();
    let recorded = format!("{{\"meta\":{{\"order\":{{\"0\":[1,2],\"1\":[1,2]}}}}}}\n{}", without_calls(&txns));
    assert_eq!(anomalies(&parse(&recorded)), ["G-single"]);
    let crossed = recorded.replace("\"1\":[1,2]", "\"1\":[2,1]");
    assert_eq!(anomalies(&parse(&crossed)), ["G0", "G-single"]);
    let missing = recorded.replace("\"1\":[1,2]", "\"1\":[1]");
    let error = check(&parse(&missing)).unwrap_err().to_string();
    assert_eq!(error, "the recorded order of key 1 does not fit: w 1 2 is missing");
}

#[test]
fn a_value_that_is_written_twice_cannot_be_judged() {
    let error = check(&history("0 x+1\n 1 x+1")).unwrap_err().to_string();
    assert_eq!(error, "1 is written to key 0 twice, by line 1 and line 2: values of a key must be distinct");
}
