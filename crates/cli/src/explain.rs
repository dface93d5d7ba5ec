//! `drawloom explain`: what happened in a finding, in words.

use drawloom_report::{Knowledge, RenderOptions, markdown, render};

use crate::answer;
use crate::args::{ExplainArguments, ExplainFormat};
use crate::error::Error;
use crate::store::{Store, Stored};

/// Explains a finding that is kept.
pub(crate) fn explain(arguments: &ExplainArguments) -> Result<u8, Error> {
    let (store, stored) = find(arguments)?;
    let format = if arguments.json { ExplainFormat::Json } else { arguments.format };
    let text = match format {
        ExplainFormat::Human => terminal(&stored, &store, crate::test::human::coloured()),
        ExplainFormat::Markdown => {
            let sources = |file: &str| store.source(file);
            // Of what has no explanation, a leak say, the report says everything.
            let report = || format!("```text\n{}```\n", terminal(&stored, &store, false));
            markdown(&stored.record, &sources).unwrap_or_else(report)
        }
        ExplainFormat::Json => {
            answer::print(&(answer::json(&value(&stored)) + "\n"));
            return Ok(answer::CLEAN);
        }
    };
    answer::say(&text);
    Ok(answer::CLEAN)
}

/// For people and for programs.
#[cfg(feature = "mcp")]
pub(crate) fn both(arguments: &ExplainArguments) -> Result<(String, serde_json::Value), Error> {
    let (store, stored) = find(arguments)?;
    Ok((terminal(&stored, &store, false), value(&stored)))
}

/// The finding, with an explanation: one that was kept without is explained by itself alone.
fn find(arguments: &ExplainArguments) -> Result<(Store, Stored), Error> {
    let store = Store::for_finding(&arguments.finding, &arguments.place)?;
    let mut stored = store.find(&arguments.finding)?;
    if stored.record.explanation.is_none() {
        let sources = |file: &str| store.source(file);
        if let Some(explanation) = drawloom_report::explain(&stored.record, &Knowledge::default(), &sources) {
            stored.record.explained(explanation);
        }
    }
    Ok((store, stored))
}

/// The explanation, or the whole record of what has none: a leak, say.
fn value(stored: &Stored) -> serde_json::Value {
    let value = match &stored.record.explanation {
        Some(explanation) => serde_json::to_value(explanation),
        None => serde_json::to_value(&stored.record),
    };
    value.unwrap_or_default()
}

/// For a terminal.
pub(crate) fn terminal(stored: &Stored, store: &Store, colour: bool) -> String {
    let sources = |file: &str| store.source(file);
    let file = stored.file.display().to_string();
    let page = stored.page().map(|page| page.display().to_string());
    let options = RenderOptions {
        colour,
        sources: &sources,
        trace_file: Some(&file),
        page: page.as_deref(),
        ..RenderOptions::default()
    };
    render(&stored.record, &options)
}
