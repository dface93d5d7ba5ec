//! The command for histories of transactions.

use drawloom_check::transactions::{self, Holds, Model, Transactions};

use super::{Answer, CheckError, Format, Options, Shown, code};

pub(super) const MODELS: [&str; 2] = ["list-append", "rw-register"];

/// The name of a transactional model, by any of its names.
pub(super) fn canonical(name: &str) -> Option<&'static str> {
    match name {
        "list-append" | "append" => Some(MODELS[0]),
        "rw-register" | "rw" => Some(MODELS[1]),
        _ => None,
    }
}

pub(super) fn levels() -> Vec<&'static str> {
    Model::ALL.iter().map(|model| model.name()).collect()
}

pub(super) fn check(options: &Options, kind: &str) -> Result<Answer, CheckError> {
    let asked = match &options.consistency {
        None => Model::Serializable,
        Some(name) => Model::from_name(name).ok_or_else(|| CheckError::Name {
            what: "the level",
            name: name.clone(),
            known: levels(),
        })?,
    };
    let source = options.open()?;
    let history = match options.format()? {
        Format::Jsonl => Transactions::from_jsonl(source),
        Format::Edn => Transactions::from_edn(source),
    }
    .map_err(|errors| options.content(errors))?;
    if history.is_empty() {
        return Err(options.empty());
    }
    let other = if kind == MODELS[0] { history.has_registers() } else { history.has_lists() };
    if other {
        return Err(options.unfit(format!("it is not a history of {kind}")));
    }
    let report = transactions::check(&history).map_err(|error| options.unfit(error))?;
    let word = match report.holds(asked) {
        Holds::Yes => "ok",
        Holds::No => "illegal",
        Holds::Unknown => "unknown",
    };
    Ok(Answer {
        text: report.text(&history, asked),
        json: report.json(&history, asked),
        code: code(word),
        shown: Shown::Cycles(report.findings),
    })
}
