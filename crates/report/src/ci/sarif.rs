//! SARIF 2.1.0, the format of GitHub's code scanning and of many editors: one result for each finding.

use serde_json::{Value, json};

use super::{Case, Problem, Spot, plain};

/// What is known of every kind, for lists of rules.
const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// Findings as SARIF. `version` is that of the tool.
pub fn sarif(cases: &[Case], version: &str) -> String {
    let found: Vec<(&Case, &Problem)> =
        cases.iter().flat_map(|case| case.problems.iter().map(move |problem| (case, problem))).collect();
    let mut kinds: Vec<&str> = found.iter().map(|(_, problem)| problem.kind.as_str()).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let rules: Vec<Value> = kinds.iter().map(|kind| rule(kind)).collect();
    let results: Vec<Value> = found
        .iter()
        .map(|(case, problem)| result(case, problem, kinds.iter().position(|kind| *kind == problem.kind)))
        .collect();
    let log = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": { "name": "drawloom", "version": version, "rules": rules } },
            "columnKind": "utf16CodeUnits",
            "results": results,
        }],
    });
    format!("{log:#}\n")
}

/// The name of a kind where no blanks may be: `data-race`.
fn id(kind: &str) -> String {
    plain(kind).split_whitespace().collect::<Vec<_>>().join("-")
}

fn rule(kind: &str) -> Value {
    json!({
        "id": id(kind),
        "name": id(kind),
        "shortDescription": { "text": format!("A schedule leads to: {}", plain(kind)) },
        "defaultConfiguration": { "level": "error" },
    })
}

fn result(case: &Case, problem: &Problem, rule: Option<usize>) -> Value {
    let mut text = format!("{} ({})", plain(&problem.sentence()), plain(&case.name));
    if let Some(replay) = &problem.replay {
        text += &format!("\nReplay: {}", plain(replay));
    }
    let mut result = json!({
        "ruleId": id(&problem.kind),
        "ruleIndex": rule,
        "level": "error",
        "message": { "text": text },
        "locations": problem.place.iter().map(|place| location(place, None)).collect::<Vec<_>>(),
        "relatedLocations":
            problem.related.iter().map(|(place, word)| location(place, Some(word))).collect::<Vec<_>>(),
        "properties": { "test": plain(&case.name) },
    });
    if let Some(cause) = &problem.cause {
        result["partialFingerprints"] =
            json!({ "drawloomCause/v1": format!("{}: {}", plain(&case.name), plain(cause)) });
    }
    result
}

fn location(place: &Spot, word: Option<&str>) -> Value {
    let mut location = json!({
        "physicalLocation": {
            "artifactLocation": { "uri": uri(&place.file) },
            "region": { "startLine": place.line.max(1) },
        },
    });
    if let Some(word) = word {
        location["message"] = json!({ "text": word });
    }
    location
}

/// A relative reference, or a `file:` URI of what lies elsewhere.
pub fn uri(file: &str) -> String {
    let written = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' => char::from(byte).to_string(),
        other => format!("%{other:02X}"),
    };
    let path: String = file.bytes().map(written).collect();
    if file.starts_with('/') { format!("file://{path}") } else { path }
}
