//! The command: its arguments, and what it says.

use drawloom_check::Budget;
use serde::Serialize;

use super::Options;
use crate::answer::Answer;
use crate::args::{CheckArguments, Notation};
use crate::error::Error;

/// What came of a check.
#[derive(Serialize)]
pub(crate) struct Checked {
    r#type: &'static str,
    #[serde(flatten)]
    json: serde_json::Value,
    #[serde(skip)]
    text: String,
    #[serde(skip)]
    code: u8,
}

pub(crate) fn check(arguments: &CheckArguments) -> Result<Checked, Error> {
    let CheckArguments { file, model, consistency, input, html, steps, bytes, output: _ } = arguments.clone();
    let format = input.map(|notation| match notation {
        Notation::Jsonl => super::Format::Jsonl,
        Notation::Edn => super::Format::Edn,
    });
    let budget = Budget::default();
    let budget = steps.map_or(budget, |steps| budget.steps(steps));
    let budget = bytes.map_or(budget, |bytes| budget.bytes(bytes));
    let progress = super::progress_on_terminal();
    let answer = super::check(&Options { file, model, consistency, format, html, budget, progress })?;
    Ok(Checked { r#type: "check", json: answer.json, text: answer.text, code: answer.code })
}

impl Answer for Checked {
    fn text(&self) -> String {
        self.text.clone()
    }

    fn code(&self) -> u8 {
        self.code
    }
}
