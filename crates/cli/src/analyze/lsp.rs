//! `drawloom lsp`: a language server over stdin and stdout. Findings are diagnostics; checkpoints are inlay hints.

use std::collections::BTreeMap;
use std::io::{BufRead, Write};
use std::path::Path;

use drawloom_analyze::target::analyse_text;
use drawloom_analyze::{Analysis, Confidence, Options};
use serde_json::{Value, json};

use crate::error::Error;

/// A message is not longer than that: whoever sends more speaks another language.
const LONGEST: usize = 64 << 20;

/// Serves until the client says `exit`, or is gone.
pub(crate) fn serve() -> Result<(), Error> {
    let failed = |error: std::io::Error| Error::Refused(format!("the language server failed: {error}"));
    let mut input = std::io::stdin().lock();
    let mut server = Server { documents: BTreeMap::new() };
    while let Some(message) = read(&mut input).map_err(failed)? {
        if message["method"] == "exit" {
            break;
        }
        for answer in server.answer(&message) {
            send(&answer).map_err(failed)?;
        }
    }
    Ok(())
}

/// The next message; none at the end.
fn read(input: &mut impl BufRead) -> std::io::Result<Option<Value>> {
    let mut length = None;
    loop {
        let mut line = String::new();
        if input.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let line = line.trim();
        if line.is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse::<usize>().ok();
        }
    }
    let Some(length) = length.filter(|length| *length <= LONGEST) else {
        return Err(std::io::Error::new(std::io::ErrorKind::InvalidData, "a message without a length"));
    };
    let mut body = vec![0; length];
    input.read_exact(&mut body)?;
    Ok(Some(serde_json::from_slice(&body).unwrap_or(Value::Null)))
}

fn send(message: &Value) -> std::io::Result<()> {
    let text = message.to_string();
    let mut out = std::io::stdout().lock();
    write!(out, "Content-Length: {}\r\n\r\n{text}", text.len())?;
    out.flush()
}

struct Server {
    documents: BTreeMap<String, Analysis>,
}

impl Server {
    fn answer(&mut self, message: &Value) -> Vec<Value> {
        let id = message.get("id").cloned();
        let parameters = &message["params"];
        let reply = |result: Value| vec![json!({ "jsonrpc": "2.0", "id": id, "result": result })];
        match message["method"].as_str().unwrap_or_default() {
            "initialize" => reply(json!({
                "capabilities": {
                    "textDocumentSync": { "openClose": true, "change": 1, "save": { "includeText": true } },
                    "inlayHintProvider": true,
                },
                "serverInfo": { "name": "drawloom", "version": env!("CARGO_PKG_VERSION") },
            })),
            "textDocument/didOpen" => {
                self.changed(&parameters["textDocument"]["uri"], &parameters["textDocument"]["text"])
            }
            "textDocument/didChange" => {
                let last =
                    parameters["contentChanges"].as_array().and_then(|all| all.last()).cloned().unwrap_or_default();
                self.changed(&parameters["textDocument"]["uri"], &last["text"])
            }
            "textDocument/didSave" if parameters["text"].is_string() => {
                self.changed(&parameters["textDocument"]["uri"], &parameters["text"])
            }
            "textDocument/didClose" => {
                let uri = parameters["textDocument"]["uri"].as_str().unwrap_or_default();
                self.documents.remove(uri);
                vec![published(uri, Vec::new())]
            }
            "textDocument/inlayHint" => reply(self.hints(parameters)),
            "shutdown" => reply(Value::Null),
            _ if id.is_some() && message.get("method").is_some() => {
                vec![json!({ "jsonrpc": "2.0", "id": id, "error": { "code": -32601, "message": "not known here" } })]
            }
            _ => Vec::new(),
        }
    }

    fn changed(&mut self, uri: &Value, text: &Value) -> Vec<Value> {
        let (Some(uri), Some(text)) = (uri.as_str(), text.as_str()) else { return Vec::new() };
        let path = uri.strip_prefix("file://").unwrap_or(uri);
        let Some(analysis) = analyse_text(Path::new(path), text, Options::default()) else { return Vec::new() };
        let diagnostics = diagnostics(uri, &analysis);
        self.documents.insert(uri.to_owned(), analysis);
        vec![published(uri, diagnostics)]
    }

    fn hints(&self, parameters: &Value) -> Value {
        let uri = parameters["textDocument"]["uri"].as_str().unwrap_or_default();
        let Some(analysis) = self.documents.get(uri) else { return json!([]) };
        let number = |value: &Value, otherwise: u64| value.as_u64().unwrap_or(otherwise);
        let from = number(&parameters["range"]["start"]["line"], 0);
        let to = number(&parameters["range"]["end"]["line"], u64::MAX);
        let points = analysis.checkpoints.iter().filter_map(|point| {
            let line = u64::from(point.place.as_ref()?.line.saturating_sub(1));
            (line >= from && line <= to).then(|| {
                json!({
                    // At the end of the line, however long it is.
                    "position": { "line": line, "character": 10_000 },
                    "label": format!("← {}", point.mark),
                    "paddingLeft": true,
                })
            })
        });
        Value::Array(points.collect())
    }
}

fn published(uri: &str, diagnostics: Vec<Value>) -> Value {
    json!({
        "jsonrpc": "2.0",
        "method": "textDocument/publishDiagnostics",
        "params": { "uri": uri, "diagnostics": diagnostics },
    })
}

fn range(line: u32) -> Value {
    let line = line.saturating_sub(1);
    json!({ "start": { "line": line, "character": 0 }, "end": { "line": line, "character": 10_000 } })
}

fn diagnostics(uri: &str, analysis: &Analysis) -> Vec<Value> {
    let findings = analysis.findings.iter().filter(|finding| finding.evidence.confidence >= Confidence::Medium);
    let found = findings.map(|finding| {
        let related: Vec<Value> = finding
            .evidence
            .trace
            .iter()
            .map(|step| {
                json!({
                    "location": { "uri": uri, "range": range(step.place.line) },
                    "message": format!("{}. {}: {}", step.n, step.task, step.text),
                })
            })
            .collect();
        json!({
            "range": range(finding.act.line),
            "severity": if finding.evidence.confidence == Confidence::High { 1 } else { 2 },
            "code": finding.rule,
            "source": "drawloom",
            "message": format!("{}: {}", finding.class.title(), finding.sentence),
            "relatedInformation": related,
        })
    });
    let unread = analysis.problems.iter().map(|problem| {
        json!({
            "range": range(problem.place.line),
            "severity": 3,
            "source": "drawloom",
            "message": problem.message,
        })
    });
    found.chain(unread).collect()
}
