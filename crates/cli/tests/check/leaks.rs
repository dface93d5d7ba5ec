//! A file that is no history is somebody's: errors say where and what kind of thing stands there, and not what it says.

use crate::said;

const SECRET: &str = "hunter2";

#[test]
fn errors_do_not_repeat_the_words_of_a_file() {
    let models = drawloom_cli::check::models();
    let files = [
        SECRET.to_owned(),
        format!("password: {SECRET}\n{SECRET}"),
        format!("{{:password \"{SECRET}\"}}"),
        format!("{{:{SECRET} 1, :type :{SECRET}, :process 0, :f :{SECRET}}}"),
        format!("{{:type :ok, :process 0, :f :{SECRET} :value 1}}"),
        format!("{{:type :invoke, :process 0, :f :{SECRET} :value :{SECRET}}}"),
        format!("{{:type :invoke, :process [{SECRET}], :f :read}}"),
        format!("{{:type :invoke, :process 0, :f [:{SECRET}]}}"),
        format!("{{:type :invoke, :process 0, :f :cas, :value {SECRET}}}"),
        format!("{{:type :invoke, :process 0, :f :add, :value {SECRET}}}"),
        format!("{{:type :invoke, :process 0, :f :acquire, :value {SECRET}}}"),
        format!("{{:type :invoke, :process 0, :f :read}}{{:type :ok, :process 0, :f :read, :value :{SECRET}}}"),
        format!("{{:type :invoke, :process 0, :f :txn, :value [[:{SECRET} 1 2]]}}"),
        format!("{{:type :invoke, :process 0, :f :txn, :value :{SECRET}}}"),
        format!("{{:meta {{:model :{SECRET}}}}}"),
        format!(
            "{{:meta {{:init :{SECRET}, :capacity :{SECRET}, :permits \"{SECRET}\", :order {{:x :{SECRET}}}}}}}{{:type :invoke, :process 0, :f :read}}"
        ),
        format!("12{SECRET} \"{SECRET}\\q\" {{\"{SECRET}"),
        format!("{{\"password\":\"{SECRET}\"}}"),
        format!("{{\"type\":\"{SECRET}\",\"process\":\"{SECRET}\",\"f\":[\"{SECRET}\"]}}"),
        format!("{{\"type\":\"{SECRET}\",\"process\":0,\"f\":\"{SECRET}\"}}\n\"{SECRET}\"\n[\"{SECRET}\"]\n{SECRET}"),
        format!("{{\"type\":{{\"{SECRET}\":\"{SECRET}\"}},\"process\":0,\"f\":\"{SECRET}\"}}"),
    ];
    let levels = [None, Some("causal-memory"), Some("sequential"), Some("serializable")];
    for file in &files {
        for name in ["s.edn", "s.jsonl", ".env"] {
            for model in models.iter().map(|model| Some(*model)).chain([None]) {
                for level in levels {
                    if let Err(error) = said(name, file, model, level) {
                        assert!(!error.contains(SECRET), "{file}\n{error}");
                    }
                }
            }
        }
    }
}

#[test]
fn what_is_met_is_named_by_its_kind() {
    let error = |file: &str| said("k.edn", file, Some("register"), None).unwrap_err();
    assert_eq!(error("hello"), "FILE:\nline 1, column 1: a word where an event, which is a map, is expected");
    assert_eq!(error("{:type :okay, :process 0, :f :read}"), "FILE:\nline 1: `type` is not invoke, ok, fail or info");
    assert_eq!(
        error("{:type :ok, :process -1, :f :read}"),
        "FILE:\nline 1: `process` is a number below 0, not a number from 0 up"
    );
    assert_eq!(
        error("{:type :invoke, :process 0, :f :increment}"),
        "FILE:\nline 1: `f` is not an operation of a register, which has read, write and cas"
    );
}

/// Escape sequences, C1 controls and marks that turn text around, from names and values of a file.
#[test]
fn nothing_that_a_terminal_would_obey_is_printed() {
    let nasty = "\u{1b}[31m\u{7}\u{9b}2J\u{202e}\u{2066}\u{7f}\u{200b}";
    let quoted = serde_json::to_string(nasty).unwrap();
    let line = |process: u32, kind: &str, f: &str, value: &str| {
        format!("{{\"process\":{process},\"type\":\"{kind}\",\"f\":\"{f}\",\"key\":{quoted},\"value\":{value}}}\n")
    };
    let file = [
        line(0, "invoke", "write", &quoted),
        line(0, "ok", "write", &quoted),
        line(1, "invoke", "read", "null"),
        line(1, "ok", "read", "3"),
    ]
    .concat();
    let txn = format!(
        "{{\"process\":0,\"type\":\"ok\",\"f\":\"txn\",\"value\":[[\"w\",{quoted},{quoted}]]}}\n\
         {{\"process\":1,\"type\":\"ok\",\"f\":\"txn\",\"value\":[[\"r\",{quoted},\"{nasty2}\"]]}}\n",
        nasty2 = "\u{202e}\u{9b}"
    );
    let bad = |c: char| (c.is_control() && c != '\n') || "\u{202e}\u{2066}\u{200b}".contains(c);
    for (model, level, file) in [
        ("key-value", None, &file),
        ("key-value", Some("sequential"), &file),
        ("register", Some("causal-memory"), &file),
        ("register", Some("session-guarantees"), &file),
        ("rw-register", None, &txn),
    ] {
        let answer = said("n.jsonl", file, Some(model), level).unwrap();
        assert_eq!(answer.code, 1, "{}", answer.text);
        assert!(!answer.text.contains(bad), "{:?}", answer.text);
    }
}
