//! What there was before the first write.

use crate::{edn, json, said, word};

const LEVELS: [&str; 8] = [
    "causal-consistency",
    "causal-memory",
    "causal-convergence",
    "session-guarantees",
    "read-your-writes",
    "monotonic-reads",
    "monotonic-writes",
    "writes-follow-reads",
];

fn at(level: &str, file: &str) -> String {
    word(said("i.jsonl", file, Some("register"), Some(level)))
}

/// Lines of a file without calls: process, operation, value.
fn lines(init: Option<&str>, ops: &[(u32, &str, &str)]) -> String {
    let mut file = init.map_or(String::new(), |init| format!("{{\"meta\":{{\"init\":{init}}}}}\n"));
    for (process, f, value) in ops {
        file += &format!("{{\"process\":{process},\"type\":\"ok\",\"f\":\"{f}\",\"value\":{value}}}\n");
    }
    file
}

#[test]
fn causal_and_session_levels_begin_with_the_initial_value_of_the_file() {
    for level in LEVELS {
        for init in ["0", "\"\"", "[1,2]", "{\"b\":1,\"a\":2}", "18446744073709551616"] {
            let read = if init.starts_with('{') { "{\"a\":2,\"b\":1}" } else { init };
            let fine = lines(Some(init), &[(0, "read", read), (0, "write", "7"), (1, "read", read), (1, "read", "7")]);
            assert_eq!(at(level, &fine), "ok", "{level} {init}");
        }
        let without = lines(None, &[(0, "read", "0")]);
        assert_eq!(at(level, &without), "illegal", "{level}: nobody wrote 0");
        let null = lines(Some("0"), &[(0, "read", "null")]);
        assert_eq!(at(level, &null), "illegal", "{level}: it began with 0, and nobody wrote null");
    }
    let stale = lines(Some("0"), &[(0, "write", "1"), (0, "read", "0")]);
    for level in ["causal-consistency", "causal-memory", "causal-convergence", "session-guarantees", "read-your-writes"]
    {
        assert_eq!(at(level, &stale), "illegal", "{level}");
    }
}

#[test]
fn a_written_null_is_a_value_like_others() {
    for level in LEVELS {
        let file = lines(
            Some("0"),
            &[(0, "write", "1"), (0, "write", "null"), (0, "read", "null"), (1, "read", "1"), (1, "read", "null")],
        );
        assert_eq!(at(level, &file), "ok", "{level}");
        let back = lines(Some("0"), &[(0, "write", "null"), (0, "write", "1"), (1, "read", "1"), (1, "read", "null")]);
        let expected = match level {
            "read-your-writes" | "monotonic-writes" | "writes-follow-reads" => "ok",
            _ => "illegal",
        };
        assert_eq!(at(level, &back), expected, "{level}");
    }
}

/// Whether a read saw the initial value or a write of the same, nobody knows.
#[test]
fn a_read_of_the_initial_value_that_was_also_written_cannot_be_judged() {
    for level in LEVELS {
        for (init, value) in [(None, "null"), (Some("0"), "0")] {
            let file = lines(init, &[(0, "write", "1"), (0, "write", value), (0, "read", value)]);
            let error = said("i.jsonl", &file, Some("register"), Some(level)).unwrap_err();
            let expected = format!(
                "FILE: {value} is the initial value of key \"register\" and is written by line {}, and line {} reads it: \
                 values of a key must be distinct",
                2 + u32::from(init.is_some()),
                3 + u32::from(init.is_some())
            );
            assert_eq!(error, expected, "{level}");
            let unread = lines(init, &[(0, "write", "1"), (0, "write", value)]);
            assert_eq!(at(level, &unread), "ok", "{level}: nobody read it");
        }
    }
}

#[test]
fn transactions_begin_with_the_initial_value_of_the_file() {
    let file = r#"{"meta":{"model":"rw-register","init":0}}
{"process":0,"type":"ok","f":"txn","value":[["r","x",0],["w","x",1]]}
{"process":0,"type":"ok","f":"txn","value":[["r","x",1],["r","y",0]]}
"#;
    assert_eq!(word(said("i.jsonl", file, None, None)), "ok");
    let null = file.replace("[\"r\",\"y\",0]", "[\"r\",\"y\",null]");
    assert_eq!(word(said("i.jsonl", null, None, None)), "illegal");
    let lists = r#"{"meta":{"model":"list-append","init":[7]}}
{"process":0,"type":"ok","f":"txn","value":[["r","x",[7]]]}
"#;
    let error = said("i.jsonl", lists, None, None).unwrap_err();
    assert_eq!(error, "FILE: a list begins empty: `init` is a list, not null or []");
}

/// What a model cannot begin with is said instead of passed over.
#[test]
fn an_initial_value_that_a_model_has_no_use_for_is_an_error() {
    for model in ["set", "append-list", "queue", "stack", "priority-queue", "mutex", "semaphore"] {
        let (f, kind) = match model {
            "set" => ("add", "[1]"),
            "append-list" => ("append", "[1]"),
            "mutex" | "semaphore" => ("acquire", "[1]"),
            _ => ("insert", "[1]"),
        };
        let line = format!("{{\"process\":0,\"type\":\"invoke\",\"f\":\"{f}\",\"value\":1}}\n");
        let with = |init: &str| said("m.jsonl", format!("{{\"meta\":{{\"init\":{init}}}}}\n{line}"), Some(model), None);
        let error = with(kind).unwrap_err();
        assert!(error.starts_with("FILE: a ") && error.contains("`init` is a list"), "{model}: {error}");
        assert_eq!(word(with("null")), "ok", "{model}");
        assert_eq!(word(with("[]")), "ok", "{model}");
    }
}

/// A remove that returns null found nothing: whoever inserts null cannot be told from that.
#[test]
fn null_cannot_be_inserted_into_a_container() {
    for model in ["queue", "stack", "priority-queue"] {
        let [json, edn] = [(json(model, &[("insert", "null")])), (edn(model, &[("insert", "nil")]))];
        for error in [json, edn] {
            let expected = "FILE:\nline 1: null cannot be inserted: a remove that returns null found nothing";
            assert!(error.starts_with(expected), "{model}: {error}");
        }
    }
}
