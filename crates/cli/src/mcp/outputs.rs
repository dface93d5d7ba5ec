//! The schema of each tool's structured content: the fields that book/src/reference/cli.md promises. There may be others.

use serde_json::{Map, Value, json};

/// Required properties first, then those that may be missing, each with a type.
fn object(required: &[(&str, Value)], others: &[(&str, Value)]) -> Value {
    let properties: Map<String, Value> =
        required.iter().chain(others).map(|(name, kind)| ((*name).to_owned(), kind.clone())).collect();
    let required: Vec<&str> = required.iter().map(|(name, _)| *name).collect();
    json!({ "type": "object", "properties": properties, "required": required })
}

fn of(kind: &str) -> Value {
    json!({ "type": kind })
}

fn or_null(kind: &str) -> Value {
    json!({ "type": [kind, "null"] })
}

fn list(items: Value) -> Value {
    json!({ "type": "array", "items": items })
}

fn one_of(words: &[&str]) -> Value {
    json!({ "type": "string", "enum": words })
}

/// The schema of what a tool answers.
pub(super) fn schema(tool: &str) -> Map<String, Value> {
    let (text, number, flag) = (of("string"), of("integer"), of("boolean"));
    let finding = || {
        object(
            &[("kind", text.clone()), ("message", text.clone()), ("token", text.clone())],
            &[("explanation", or_null("string")), ("place", or_null("string")), ("trace", or_null("string"))],
        )
    };
    let mut exploration = object(
        &[
            ("outcome", one_of(&["passed", "failed", "refused"])),
            ("exhausted", flag.clone()),
            ("summary", text.clone()),
        ],
        &[("executions", number.clone()), ("findings", list(finding())), ("weaker_accesses", number.clone())],
    );
    exploration["type"] = json!(["object", "null"]);
    let schema = match tool {
        "test" => {
            let statuses = one_of(&["passed", "failed", "ignored", "unfinished"]);
            let test = object(&[("name", text.clone()), ("status", statuses)], &[("exploration", exploration)]);
            let counts = ["tests", "passed", "failed", "ignored", "unfinished", "exit_code"];
            let counts: Vec<(&str, Value)> = counts.iter().map(|name| (*name, number.clone())).collect();
            object(&[("tests", list(test)), ("summary", object(&counts, &[("interrupted", flag)]))], &[])
        }
        "replay" | "shrink" => object(
            &[("type", text.clone()), ("status", text), ("failed", flag)],
            &[("minimised", or_null("object")), ("exploration", exploration)],
        ),
        "explain" => object(&[], &[("sentence", text), ("class", or_null("string")), ("fixes", list(of("object")))]),
        "diff" => object(
            &[("same", flag), ("one", of("object")), ("other", of("object")), ("common", number)],
            &[("first", json!({})), ("another_task", json!({}))],
        ),
        "analyze" => object(&[("schema", text), ("files", list(of("object")))], &[]),
        "check" => object(
            &[("verdict", one_of(&["ok", "illegal", "unknown"])), ("consistency", text), ("model", of("string"))],
            &[("because", json!({})), ("explanation", or_null("object"))],
        ),
        _ => object(
            &[("directory", text.clone()), ("findings", list(finding()))],
            &[("searches", list(of("object"))), ("regressions", list(of("object")))],
        ),
    };
    match schema {
        Value::Object(schema) => schema,
        _ => Map::new(),
    }
}
