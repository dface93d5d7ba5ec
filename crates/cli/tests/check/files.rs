//! Files as others write them: nemesis lines, times, marks at the beginning, other names, nothing at all.

use crate::{said, word};

const WRITE: &str = "{:process 0, :type :invoke, :f :write, :value 1}\n{:process 0, :type :ok, :f :write, :value 1}\n";
const TXN: &str = "{:process 0, :type :ok, :f :txn, :value [[:w x 1]]}\n";

/// Lines that are no client's.
const NOBODY: [&str; 11] = [
    "{:process :nemesis, :type :info, :f nil, :value nil}",
    "{:process :nemesis, :type :info, :value nil}",
    "{:process nil, :type :info, :f :start, :value nil}",
    "{:process nil, :type :info, :f nil, :value nil}",
    "{:process :nemesis, :type :info, :f :start, :value #{\"n1\" \"n2\"}, :time 1.5}",
    "{:process :nemesis, :type :info, :f :partition, :value [[\"n1\" \"n2\"] [\"n3\"]]}",
    "{:process :nemesis, :type :info, :f :partition, :value [[\"n1\" [\"n2\"]] [[\"n3\"] 1 2]]}",
    "{:process :nemesis, :type :info, :f :partition, :value {\"n1\" #{\"n2\"}, 0 [1], nil 2}}",
    "{:process :nemesis, :f :log, :value 99999999999999999999N}",
    "{:process :nemesis, :type :info, :f [:a :b], :value [:isolated [[#{1} 2 3]]]}",
    "{:process :nemesis, :type :info, :f :clock, :value [[:r #{1} #{2}] [nil nil nil]], 3 4}",
];

#[test]
fn lines_that_are_no_client_s_are_passed_over() {
    for line in NOBODY {
        for (model, good) in [("register", WRITE), ("rw-register", TXN), ("list-append", "")] {
            let file = format!("{line}\n{good}{line}\n{{:process 1, :type :invoke, :f :txn, :value []}}\n");
            let file = if model == "register" { format!("{line}\n{good}{line}\n") } else { file };
            assert_eq!(word(said("n.edn", file, Some(model), None)), "ok", "{model}: {line}");
        }
    }
}

/// An operation without a process cannot be left out: it might be the one that is wrong.
#[test]
fn an_operation_of_nobody_is_an_error() {
    let file = format!("{WRITE}{{:process nil, :type :ok, :f :read, :value 7}}\n");
    let error = said("n.edn", file, Some("register"), None).unwrap_err();
    assert_eq!(error, "FILE:\nline 3: `process` is null, not a number from 0 up");
}

#[test]
fn times_are_of_any_kind() {
    for time in ["1.5", "nil", "99999999999999999999", "\"noon\"", "1/3", "#inst \"2026-01-01\""] {
        let file = WRITE.replace('}', &format!(", :time {time}}}"));
        assert_eq!(word(said("t.edn", &file, Some("register"), None)), "ok", "{file}");
        assert_eq!(
            word(said("t.edn", TXN.replace('}', &format!(", :time {time}}}")), Some("rw-register"), None)),
            "ok"
        );
    }
    let json = r#"{"process":0,"type":"invoke","f":"write","value":1,"time":0.5}"#;
    assert_eq!(word(said("t.jsonl", json, Some("register"), None)), "ok");
}

#[test]
fn a_byte_order_mark_is_passed_over() {
    for (name, model, text) in [
        ("b.edn", "register", WRITE),
        ("b.edn", "rw-register", TXN),
        ("b.jsonl", "register", r#"{"process":0,"type":"invoke","f":"write","value":1}"#),
        ("b.jsonl", "rw-register", r#"{"process":0,"type":"ok","f":"txn","value":[["w","x",1]]}"#),
    ] {
        assert_eq!(word(said(name, format!("\u{feff}{text}"), Some(model), None)), "ok", "{text}");
    }
}

#[test]
fn a_file_is_read_as_what_it_is_whatever_its_name() {
    let json = r#"{"process":0,"type":"invoke","f":"write","value":1}"#;
    for name in ["history.txt", "history.jsonl", "history", "history.edn"] {
        for edn in [WRITE.to_owned(), format!("; a comment\n[{WRITE}]"), format!("#jepsen.history.Op{WRITE}")] {
            assert_eq!(word(said(name, &edn, Some("register"), None)), "ok", "{name}: {edn}");
        }
        assert_eq!(word(said(name, json, Some("register"), None)), "ok", "{name}");
        assert_eq!(word(said(name, format!("\n {json}\n"), Some("register"), None)), "ok", "{name}");
        assert_eq!(word(said(name, "{\"process\" 0, \"type\" :invoke, \"f\" :write}", Some("register"), None)), "ok");
        assert_eq!(word(said(name, TXN, Some("rw-register"), None)), "ok", "{name}");
    }
    // A file that names its model names it in EDN, too.
    let file = format!("{{:meta {{:model :register}}}}\n{WRITE}");
    assert_eq!(word(said("history.txt", file, None, None)), "ok");
}

#[test]
fn a_format_that_is_asked_for_and_is_not_there_is_said() {
    use drawloom_cli::check::{Format, Options, check};
    let path = std::env::temp_dir().join(format!("drawloom-edges-{}-asked.edn", std::process::id()));
    std::fs::write(&path, WRITE).unwrap();
    let model = Some("register".to_owned());
    let options = Options { file: path.clone(), model, format: Some(Format::Jsonl), ..Options::default() };
    let error = check(&options).unwrap_err().to_string();
    std::fs::remove_file(path).unwrap();
    assert!(error.ends_with("the file looks like EDN, but `--input` says JSON lines"), "{error}");
}

#[test]
fn an_empty_history_is_said_to_be_empty() {
    for (name, content) in [
        ("e.jsonl", ""),
        ("e.edn", ""),
        ("e.jsonl", "\n  \n"),
        ("e.edn", "; nothing\n"),
        ("e.edn", "[]"),
        ("e.jsonl", "{\"meta\":{\"init\":0}}\n"),
    ] {
        for model in ["register", "list-append", "rw-register"] {
            let error = said(name, content, Some(model), None).unwrap_err();
            assert_eq!(error, "FILE: it holds no operations, so there is nothing to check", "{content:?}");
        }
        let error = said(name, content, Some("register"), Some("causal-memory")).unwrap_err();
        assert_eq!(error, "FILE: it holds no operations, so there is nothing to check", "{content:?}");
    }
    let error = said("e.jsonl", "", None, None).unwrap_err();
    assert_eq!(error, "FILE: it holds no operations, so there is nothing to check");
    let notes = "{:process :nemesis, :type :info, :f :start}\n";
    let error = said("e.edn", notes, Some("register"), None).unwrap_err();
    assert_eq!(error, "FILE: it holds no operations, so there is nothing to check");
}

#[test]
fn numbers_beyond_64_bits_and_the_largest_budget_are_fine() {
    use drawloom_check::Budget;
    use drawloom_cli::check::{Options, check};
    let digits = ["9".repeat(18), "9".repeat(19), "9".repeat(20), "9".repeat(40)];
    let path = std::env::temp_dir().join(format!("drawloom-edges-{}-large", std::process::id()));
    for number in digits {
        let txn = format!("{{\"process\":0,\"type\":\"ok\",\"f\":\"txn\",\"value\":[[\"w\",{number},{number}]]}}\n");
        let write =
            format!("{{\"process\":0,\"type\":\"invoke\",\"f\":\"write\",\"value\":{number},\"time\":{number}}}\n");
        let read = "{\"process\":1,\"type\":\"invoke\",\"f\":\"read\"}\n{\"process\":1,\"type\":\"ok\",\"f\":\"read\",\"value\":3}\n";
        for budget in [Budget::default(), Budget::UNLIMITED] {
            for (model, level, file, expected) in [
                ("rw-register", None, txn.clone(), "ok"),
                ("register", None, write.clone() + read, "illegal"),
                ("register", Some("sequential"), write.clone() + read, "illegal"),
                ("register", None, write.clone(), "ok"),
            ] {
                std::fs::write(&path, file).unwrap();
                let (model, consistency) = (Some(model.to_owned()), level.map(str::to_owned));
                let options = Options { file: path.clone(), model, consistency, budget, ..Options::default() };
                assert_eq!(check(&options).unwrap().json["verdict"], expected, "{number}");
            }
        }
    }
    std::fs::remove_file(path).unwrap();
}
