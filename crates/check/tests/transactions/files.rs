//! Files: JSON lines and EDN give the same history, and whatever is wrong with them is said with its line.

use drawloom_check::format::{Edn, Entry, JsonLines, Log};
use drawloom_check::transactions::{Model, Transactions, check};

use crate::stores::{Shape, Store, run};
use crate::support::Rng;

/// The example of the Elle paper (VLDB 2020, section 1), which has no processes: read skew of three transactions.
const PAPER: &str = "
{:index 0 :type :invoke  :value [[:append 253 1] [:append 253 3] [:append 253 4] [:append 255 2] [:append 255 3]
                                 [:append 255 4] [:append 255 5] [:append 256 1] [:append 256 2]]}
{:index 1 :type :ok      :value [[:append 253 1] [:append 253 3] [:append 253 4] [:append 255 2] [:append 255 3]
                                 [:append 255 4] [:append 255 5] [:append 256 1] [:append 256 2]]}
{:index 2 :type :invoke, :value [[:append 255 8] [:r 253 nil]]}
{:index 3 :type :ok,     :value [[:append 255 8] [:r 253 [1 3 4]]]}
{:index 4 :type :invoke, :value [[:append 256 4] [:r 255 nil] [:r 256 nil] [:r 253 nil]]}
{:index 5 :type :ok,     :value [[:append 256 4] [:r 255 [2 3 4 5 8]] [:r 256 [1 2 4]] [:r 253 [1 3 4]]]}
{:index 6 :type :invoke, :value [[:append 250 10] [:r 253 nil] [:r 255 nil] [:append 256 3]]}
{:index 7 :type :ok      :value [[:append 250 10] [:r 253 [1 3 4]] [:r 255 [2 3 4 5]] [:append 256 3]]}
";

#[test]
fn the_paper_s_example_is_found_and_explained() {
    let history = Transactions::from_edn(PAPER.as_bytes()).unwrap();
    let report = check(&history).unwrap();
    let text = report.text(&history, Model::Serializable);
    insta::assert_snapshot!(text, @r"
    illegal: the history is not serializable
      4 transactions committed, 0 aborted, 0 of unknown end; 4 sessions, 4 keys
      violates: consistent-view
      strongest level still possible: causal, strong-read-committed

    G-single: read skew: a cycle with exactly one read of a version that was replaced, 1 found
      T4 = process ?, line 11: append 250 10, r 253 [1 3 4], r 255 [2 3 4 5], append 256 3
      T2 = process ?, line 7: append 255 8, r 253 [1 3 4]
      T3 = process ?, line 9: append 256 4, r 255 [2 3 4 5 8], r 256 [1 2 4], r 253 [1 3 4]
        - T4 comes before T2 (rw): T4 read 255 without 8 (r 255 [2 3 4 5]), which T2 wrote (append 255 8)
        - T2 comes before T3 (wr): T3 read 8 from 255 (r 255 [2 3 4 5 8]), which T2 wrote (append 255 8)
        - T3 comes before T4 (ww): T4 appended 3 to 256 (append 256 3) after 4 of T3 (append 256 4)
    ");
    let json = report.json(&history, Model::Serializable);
    assert_eq!(json["verdict"], "illegal");
    assert_eq!(json["anomalies"]["G-single"], 1);
}

/// The same history in EDN: one map a line, one vector, or with line breaks inside.
fn edn(jsonl: &str, how: usize) -> String {
    let lines = jsonl.lines().map(|line| {
        let text = line.replace(':', " ").replace("null", "nil");
        // Names and words are keywords.
        let mut words = text.split('"');
        let mut out = words.next().unwrap_or_default().to_owned();
        for (at, word) in words.enumerate() {
            out += &if at % 2 == 0 { format!(":{word}") } else { word.to_owned() };
        }
        match how {
            2 => out.replacen(",", "\n  ; a comment with ] and \"\n ", 2),
            3 => format!("#jepsen.history.Op{out}"),
            _ => out,
        }
    });
    let lines: Vec<String> = lines.collect();
    match how {
        1 => format!("[{}]", lines.join("\n ")),
        4 => format!("({}) ; the end", lines.join(" ")),
        _ => lines.join("\n"),
    }
}

#[test]
fn both_formats_give_the_same_report() {
    for seed in 0..20 {
        let shape = Shape { txns: 30, sessions: 4, keys: 3, ops: 4, lists: seed % 2 == 0, lost: [5, 5] };
        let text = run(Store::Uncommitted, shape, &mut Rng(seed)).text();
        let history = Transactions::from_jsonl(text.as_bytes()).unwrap();
        let expected = check(&history).unwrap();
        for how in 0..5 {
            let edn = edn(&text, how);
            let other = Transactions::from_edn(edn.as_bytes()).unwrap_or_else(|error| panic!("{error}\n{edn}"));
            let report = check(&other).unwrap();
            assert_eq!(report.counts, expected.counts, "{edn}");
            assert_eq!(report.ruled_out, expected.ruled_out);
            let events = |entries: Vec<Entry>| entries.len();
            let log: Vec<Entry> = Edn::new(edn.as_bytes()).map(|entry| entry.unwrap()).collect();
            assert_eq!(events(log), text.lines().count());
        }
    }
}

#[test]
fn reports_are_the_same_byte_for_byte() {
    let shape = Shape { txns: 400, sessions: 8, keys: 6, ops: 5, lists: true, lost: [5, 5] };
    let text = run(Store::Uncommitted, shape, &mut Rng(7)).text();
    let report = || {
        let history = Transactions::from_jsonl(text.as_bytes()).unwrap();
        let report = check(&history).unwrap();
        let json = report.json(&history, Model::Serializable).to_string();
        report.text(&history, Model::Serializable) + &json
    };
    let first = report();
    assert!(first.contains("G0"));
    (0..3).for_each(|_| assert_eq!(report(), first));
}

/// The first error of a file of EDN.
fn edn_error(text: &str) -> String {
    Transactions::from_edn(text.as_bytes()).unwrap_err().to_string()
}

#[test]
fn errors_of_edn_name_the_line_and_the_reason() {
    let good = "{:process 0, :type :ok, :f :txn, :value [[:append x 1]]}\n";
    let cases = [
        ("{:process 0, :type :ok, :f :txn, :value [[:append x 2]}", "line 2, column 55: '}' where ']' is missing"),
        ("{:process 0, :type :oak, :f :txn, :value []}", "line 2: `type` is not invoke, ok, fail or info"),
        ("{:process 0, :type}", "line 2, column 19: a key has no value"),
        ("{:process -1, :type :ok, :value []}", "line 2: `process` is a number below 0, not a number from 0 up"),
        ("{:process 0, :type :ok, :f :read, :value 3}", "line 2: `f` is not txn"),
        ("{:process 0, :type :ok, :f :txn, :value 3}", "line 2: `value` is not a list of micro-operations"),
        ("{:process 0\n :type \"o\\q\"}", "line 3, column 10: an escape in a string is not known"),
        ("nonsense", "line 2, column 1: a word where an event, which is a map, is expected"),
        (
            "{:process 0, :type :ok, :value [[:r x [1 2",
            "line 2, column 1: the form that begins here is not closed when the file ends",
        ),
        ("{:process 12x, :type :ok}", "line 2, column 11: a word that starts like a number is not a number"),
    ];
    for (bad, expected) in cases {
        assert_eq!(edn_error(&format!("{good}{bad}")), expected);
    }
    assert_eq!(
        edn_error(&format!("[{good}")),
        "line 1, column 1: the vector that begins here is not closed when the file ends"
    );
    let mixed = "{:process 0, :type :invoke, :f :txn, :value []}\n{:process 1, :type :ok, :f :txn, :value []}\n";
    assert_eq!(edn_error(mixed), "line 2: process 1 ends a transaction, but has none open");
    let deep = "[".repeat(300) + &"]".repeat(300);
    assert!(edn_error(&format!("{{:extra {deep}}}")).contains("nested more than 100 deep"));
}

#[test]
fn errors_of_json_name_the_line_and_the_reason() {
    let good = "{\"process\":0,\"type\":\"ok\",\"f\":\"txn\",\"value\":[[\"append\",\"x\",1]]}\n";
    for (bad, expected) in [
        (
            "{\"process\":0,\"type\":\"ok\",\"value\":[[\"append\",\"x\",2}",
            "line 2, column 50: '}' where ']' is missing",
        ),
        ("{\"process\":0,\"type\":\"ok\",\"value\":[[\"cas\",\"x\",2]]}", "line 2: a micro-operation is"),
        ("{\"process\":0,\"value\":[]}", "line 2: an event needs `type`"),
        ("{\"process\":0,\"type\":\"ok\"}", "line 2: a transaction needs `value`"),
        ("[]", "line 2, column 2: a list where an event, which is a map, is expected"),
    ] {
        let error = Transactions::from_jsonl(format!("{good}{bad}").as_bytes()).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}");
    }
}

/// Changes bytes of a good file, and reads it. Errors must name a line that exists; nothing may panic.
fn mutate(count: u64, seed: u64) -> [u64; 2] {
    let shape = Shape { txns: 12, sessions: 3, keys: 3, ops: 4, lists: true, lost: [5, 5] };
    let mut answers = [0; 2];
    for number in 0..count {
        let mut rng = Rng(seed.wrapping_mul(1_000_003).wrapping_add(number));
        let json = run(Store::Committed, shape, &mut rng).text();
        let is_edn = rng.chance(60);
        let how = rng.below(5);
        let text = if is_edn { edn(&json, how) } else { json };
        let mut bytes = text.clone().into_bytes();
        let mut first_change = bytes.len();
        for _ in 0..1 + rng.below(3) {
            let at = rng.below(bytes.len());
            first_change = first_change.min(at);
            const ODD: &[u8] = b"{}[]()\"\\:;,#_-0n\n\x00\xff ";
            match rng.below(4) {
                0 => bytes[at] = ODD[rng.below(ODD.len())],
                1 => bytes.insert(at, ODD[rng.below(ODD.len())]),
                2 => drop(bytes.remove(at)),
                _ => bytes.truncate(at),
            }
            if bytes.is_empty() {
                break;
            }
        }
        let result = match is_edn {
            true => Transactions::from_edn(&bytes[..]),
            false => Transactions::from_jsonl(&bytes[..]),
        };
        // The reader of plain events has to survive the same.
        let _ = match is_edn {
            true => Log::read(Edn::new(&bytes[..])),
            false => Log::read(JsonLines::new(&bytes[..])),
        };
        let lines = bytes.split(|byte| *byte == b'\n').count() as u64;
        match result {
            Ok(history) => {
                answers[1] += 1;
                let _ = check(&history).map(|report| report.text(&history, Model::Serializable));
            }
            Err(errors) => {
                answers[0] += 1;
                for error in &errors.first {
                    assert!(error.line >= 1 && error.line <= lines, "{error} of {lines} lines");
                }
                // One record a line: what stands before the change is fine.
                let untouched = bytes[..first_change.min(bytes.len())].iter().filter(|byte| **byte == b'\n').count();
                if !is_edn || how == 0 || how == 3 {
                    assert!(errors.first[0].line > untouched as u64, "{errors}\nafter {untouched} good lines");
                }
            }
        }
    }
    answers
}

#[test]
fn changed_files_give_errors_of_lines_and_never_panic() {
    let answers = mutate(1_000, 1);
    assert!(answers.iter().all(|count| *count > 50), "{answers:?}");
}

#[test]
#[ignore = "half a minute in a release build"]
fn changed_files_give_errors_of_lines_and_never_panic_100_000_times() {
    println!("errors and readable files: {:?}", mutate(100_000, 2));
}

#[test]
#[ignore = "seconds in a release build"]
fn a_large_file_that_is_cut_gives_one_error_of_its_last_line() {
    let shape = Shape { txns: 60_000, sessions: 20, keys: 50, ops: 6, lists: false, lost: [1, 1] };
    let text = run(Store::Serializable, shape, &mut Rng(3)).text();
    assert!(text.len() > 10_000_000, "{}", text.len());
    for (format, text) in [("json", text.clone()), ("edn", edn(&text, 0))] {
        let cut = &text[..text.len() - 20];
        let lines = cut.lines().count() as u64;
        let errors = match format {
            "json" => Transactions::from_jsonl(cut.as_bytes()),
            _ => Transactions::from_edn(cut.as_bytes()),
        };
        let errors = errors.unwrap_err();
        assert_eq!((errors.count, errors.first[0].line), (1, lines), "{format}");
    }
}
