//! History files: whether they have the level that they should have.

use drawloom_check::command::{self, Options};
use serde::Serialize;

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
    let CheckArguments { file, model, consistency, input, html, output: _ } = arguments.clone();
    let format = input.map(|notation| match notation {
        Notation::Jsonl => command::Format::Jsonl,
        Notation::Edn => command::Format::Edn,
    });
    let progress = command::progress_on_terminal();
    let answer = command::check(&Options { file, model, consistency, format, html, progress, ..Options::default() })?;
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
