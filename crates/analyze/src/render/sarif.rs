//! SARIF 2.1.0: a result for each finding, with one thread flow for each task and their common order.

use std::collections::BTreeSet;

use drawloom_report::Place;
use serde_json::{Value, json};

use crate::finding::{Analysis, Confidence, Finding};
use crate::rules::Rule;

/// Analyses as SARIF. `version` is that of the tool.
pub fn sarif(analyses: &[Analysis], version: &str) -> String {
    let used: BTreeSet<&str> =
        analyses.iter().flat_map(|analysis| &analysis.findings).map(|finding| finding.rule).collect();
    let used: Vec<Rule> = Rule::ALL.into_iter().filter(|rule| used.contains(rule.id())).collect();
    let rules: Vec<Value> = used.iter().map(|rule| described(*rule)).collect();
    let results: Vec<Value> = analyses
        .iter()
        .flat_map(|analysis| &analysis.findings)
        .map(|finding| result(finding, used.iter().position(|rule| rule.id() == finding.rule)))
        .collect();
    let unread: Vec<Value> = analyses
        .iter()
        .flat_map(|analysis| &analysis.problems)
        .map(|problem| {
            json!({
                "level": "warning",
                "message": { "text": problem.message },
                "locations": [location(&problem.place, None)],
            })
        })
        .collect();
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": { "name": "drawloom", "version": version, "rules": rules } },
            "columnKind": "unicodeCodePoints",
            "invocations": [{ "executionSuccessful": true, "toolExecutionNotifications": unread }],
            "results": results,
        }],
    });
    format!("{log:#}\n")
}

fn described(rule: Rule) -> Value {
    let class = rule.class();
    json!({
        "id": rule.id(),
        "name": rule.title().split([' ', ',']).filter(|part| !part.is_empty()).map(capital).collect::<String>(),
        "shortDescription": { "text": rule.title() },
        "fullDescription": { "text": format!("{}: {}", class.title(), class.meaning()) },
        "help": {
            "text": format!("{}: {}.", class.title(), class.meaning()),
            "markdown": format!("**{}** ({}): {}.", class.title(), rule.subkind(), class.meaning()),
        },
        "defaultConfiguration": { "level": "warning" },
        "properties": { "tags": ["concurrency", class.word(), rule.subkind()] },
    })
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

fn result(finding: &Finding, rule: Option<usize>) -> Value {
    let level = match finding.evidence.confidence {
        Confidence::High => "error",
        Confidence::Medium => "warning",
        Confidence::Low => "note",
    };
    let mut related: Vec<Value> = Vec::new();
    for (id, step) in (1..).zip(&finding.evidence.trace) {
        let mut it = location(&step.place, Some(&format!("{}. {}: {}", step.n, step.task, step.text)));
        it["id"] = json!(id);
        related.push(it);
    }
    for (id, also) in (related.len() + 1..).zip(&finding.also) {
        let mut it = location(&also.place, Some(&format!("the same in {}", also.function)));
        it["id"] = json!(id);
        related.push(it);
    }
    json!({
        "ruleId": finding.rule,
        "ruleIndex": rule,
        "level": level,
        "rank": f64::from(finding.evidence.score),
        "message": { "text": format!("{}: {}. {}", finding.class.title(), finding.sentence, finding.because()) },
        "locations": [location(&finding.place, None)],
        "relatedLocations": related,
        "codeFlows": [{ "threadFlows": flows(finding) }],
        "partialFingerprints": { "drawloom/v1": finding.fingerprint },
        "properties": { "class": finding.class.word(), "subkind": finding.subkind, "state": finding.state },
    })
}

/// One thread flow for each task; `executionOrder` says how they are interleaved.
fn flows(finding: &Finding) -> Vec<Value> {
    let mut tasks: Vec<&str> = finding.evidence.trace.iter().map(|step| step.task).collect();
    tasks.sort_unstable();
    tasks.dedup();
    let flow = |task: &&str| {
        let steps = finding.evidence.trace.iter().filter(|step| step.task == *task);
        let runs = steps.clone().next().map(|step| step.runs.clone()).unwrap_or_default();
        let locations: Vec<Value> = steps
            .map(|step| {
                json!({
                    "location": location(&step.place, Some(&step.text)),
                    "executionOrder": step.n,
                    "importance": "essential",
                })
            })
            .collect();
        json!({ "id": task, "message": { "text": runs }, "locations": locations })
    };
    tasks.iter().map(flow).collect()
}

fn location(place: &Place, word: Option<&str>) -> Value {
    let mut region = json!({ "startLine": place.line.max(1) });
    if place.column > 0 {
        region["startColumn"] = json!(place.column);
    }
    let mut location = json!({
        "physicalLocation": {
            "artifactLocation": { "uri": drawloom_report::ci::uri(&place.file) },
            "region": region,
        },
    });
    if let Some(word) = word {
        location["message"] = json!({ "text": word });
    }
    location
}
