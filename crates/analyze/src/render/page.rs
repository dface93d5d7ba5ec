//! An analysis as one page for the browser, which needs nothing else.

use std::fmt::Write as _;

use drawloom_report::html_escaped;

use super::markdown::confirmed;
use crate::finding::{Analysis, Finding};

const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;max-width:62rem;margin:2rem auto;padding:0 1rem;color:#1b1f24;background:#fff}\
h1{font-size:1.4rem}h2{font-size:1.15rem;margin-top:2.5rem}h3{font-size:1rem;margin-top:1.5rem}table{border-collapse:collapse;width:100%}\
td,th{border:1px solid #d0d7de;padding:.3rem .5rem;text-align:left;vertical-align:top}pre{background:#f6f8fa;padding:.7rem;overflow-x:auto;border-radius:6px}\
.trace td:nth-child(2){width:42%}.trace td:nth-child(3){width:42%}.high{color:#b42318}.medium{color:#9a6700}.low{color:#57606a}\
code{font-family:ui-monospace,monospace;font-size:.9em}.window{background:#fff8c5}\
@media(prefers-color-scheme:dark){body{color:#e6edf3;background:#0d1117}pre{background:#161b22}td,th{border-color:#30363d}.window{background:#3b2f00}}";

/// Analyses as a page.
pub fn page(analyses: &[Analysis]) -> String {
    let mut out = String::new();
    let findings: usize = analyses.iter().map(|analysis| analysis.findings.len()).sum();
    // Writing to a string cannot fail, here and below.
    let _ = write!(
        out,
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
<title>Concurrency analysis</title><style>{STYLE}</style></head><body>\n<h1>Concurrency analysis: {findings} suspected in {} files</h1>\n",
        analyses.len()
    );
    for analysis in analyses {
        one(&mut out, analysis);
    }
    out += "</body></html>\n";
    out
}

fn one(out: &mut String, analysis: &Analysis) {
    let _ = writeln!(out, "<h2>{}</h2>", html_escaped(&analysis.target.path));
    for problem in &analysis.problems {
        let _ = writeln!(out, "<p>L{} cannot be parsed: {}</p>", problem.place.line, html_escaped(&problem.message));
    }
    if !analysis.shared_state.is_empty() {
        *out += "<h3>Shared state</h3>\n<table><tr><th>State</th><th>Writers</th><th>Readers</th><th>Guard</th></tr>\n";
        for state in &analysis.shared_state {
            let all = |of: &[drawloom_report::explain::Accessor]| {
                of.iter().map(|one| html_escaped(&one.task).to_string()).collect::<Vec<_>>().join(", ")
            };
            let _ = writeln!(
                out,
                "<tr><td><code>{}</code></td><td>{}</td><td>{}</td><td>{}</td></tr>",
                html_escaped(&state.state),
                all(&state.writers),
                all(&state.readers),
                html_escaped(&state.guard.text)
            );
        }
        *out += "</table>\n";
    }
    if !analysis.checkpoints.is_empty() {
        *out += "<h3>Checkpoints</h3>\n<pre>";
        for point in &analysis.checkpoints {
            let line = point.place.as_ref().map_or(0, |place| place.line);
            let source = point.source.as_deref().unwrap_or_default();
            let _ = writeln!(out, "L{line}: {}   ← {}", html_escaped(source), html_escaped(&point.mark));
        }
        *out += "</pre>\n";
    }
    for (number, found) in (1..).zip(&analysis.findings) {
        finding(out, number, found);
    }
    for note in &analysis.notes {
        let _ = writeln!(out, "<p>{} L{}: {}.</p>", note.rule, note.place.line, prose(&note.text));
    }
}

fn finding(out: &mut String, number: usize, finding: &Finding) {
    let evidence = &finding.evidence;
    let word = evidence.confidence.word();
    let _ = writeln!(
        out,
        "<h3 id=\"{}\">F{number} <span class=\"{word}\">{}</span>: {} <small>{} {}</small></h3>\n<p>{}.</p>",
        html_escaped(&finding.fingerprint),
        finding.class.title(),
        html_escaped(&finding.state),
        finding.rule,
        html_escaped(finding.title),
        prose(&finding.sentence)
    );
    *out += "<table class=\"trace\"><tr><th></th><th>Task A</th><th>Task B</th></tr>\n";
    for step in &evidence.trace {
        let inside = step.n >= evidence.window.from_step && step.n <= evidence.window.to_step;
        let text =
            format!("{}<br><code>L{}: {}</code>", prose(&step.text), step.place.line, html_escaped(&step.source));
        let (left, right) = if step.task == "Task A" { (text, String::new()) } else { (String::new(), text) };
        let class = if inside { " class=\"window\"" } else { "" };
        let _ = writeln!(out, "<tr{class}><td>{}</td><td>{left}</td><td>{right}</td></tr>", step.n);
    }
    let _ = writeln!(
        out,
        "</table>\n<p>Race window: steps {}–{} ({})</p>\n<p>{} ({word} confidence, {})</p>",
        evidence.window.from_step,
        evidence.window.to_step,
        html_escaped(&evidence.window.reason),
        prose(&finding.because()),
        evidence.score
    );
    if let Some(confirmation) = &finding.confirmation {
        let _ = writeln!(out, "<p>{}</p>", html_escaped(&confirmed(confirmation)));
    }
    for fix in &finding.fixes {
        let _ = writeln!(
            out,
            "<details><summary>{} [{}]</summary><pre>{}</pre><p>{}. Cost: {}. Risk: {}.</p></details>",
            prose(&fix.title),
            fix.effort.word(),
            html_escaped(&fix.sketch),
            prose(&fix.closes),
            prose(&fix.tradeoff),
            prose(&fix.risk)
        );
    }
}

/// Prose with what stands between backticks as code.
fn prose(text: &str) -> String {
    let mut out = String::new();
    for (at, part) in text.split('`').enumerate() {
        let escaped = html_escaped(part);
        let _ = if at % 2 == 1 { write!(out, "<code>{escaped}</code>") } else { write!(out, "{escaped}") };
    }
    out
}
