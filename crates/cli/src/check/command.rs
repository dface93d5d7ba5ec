//! The command: its arguments, and what it says.

use std::io::Read;
use std::path::PathBuf;

use drawloom_check::Budget;
use serde::Serialize;

use super::{CheckError, Options};
use crate::answer::Answer;
use crate::args::{CheckArguments, Notation};
use crate::error::Error;

/// The name of the file that stands for standard input.
const STDIN: &str = "-";

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
    let (file, content) = match file.as_os_str() == STDIN {
        false => (file, None),
        true => {
            let file = PathBuf::from("standard input");
            let mut content = Vec::new();
            let read = std::io::stdin().read_to_end(&mut content);
            read.map_err(|error| CheckError::File { path: file.clone(), error })?;
            (file, Some(content))
        }
    };
    let answer = super::check(&Options { file, content, model, consistency, format, html, budget, progress })?;
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
