//! Answers: one value for each command, written for people or for programs.

use std::io::Write;

use serde::Serialize;

use crate::args::Format;
use crate::error::Error;

/// Nothing was found.
pub(crate) const CLEAN: u8 = 0;
/// Something was found, or a test failed.
pub(crate) const FOUND: u8 = 1;
/// It could not be done.
pub(crate) const IMPOSSIBLE: u8 = 2;
/// It was interrupted before anything was found.
pub(crate) const INTERRUPTED: u8 = 130;

/// What a command has to say.
pub(crate) trait Answer: Serialize {
    /// For people. It ends with a line break, unless it is empty.
    fn text(&self) -> String;

    /// The exit code.
    fn code(&self) -> u8 {
        CLEAN
    }
}

/// Writes an answer to stdout, and returns the exit code.
pub(crate) fn give(answer: &impl Answer, format: Format) -> u8 {
    print(&match format {
        Format::Human => answer.text(),
        Format::Json => json(answer) + "\n",
    });
    answer.code()
}

/// As the JSON that programs read.
pub(crate) fn json(answer: &impl Serialize) -> String {
    // Texts, numbers, lists and maps with texts as keys: nothing that JSON does not know.
    serde_json::to_string(answer).unwrap_or_else(|error| format!("{{\"type\":\"error\",\"message\":\"{error}\"}}"))
}

/// An error for programs.
#[derive(Serialize)]
pub(crate) struct Problem {
    r#type: &'static str,
    code: &'static str,
    message: String,
    help: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<String>,
}

impl Problem {
    pub(crate) fn of(error: &Error) -> Problem {
        Problem {
            r#type: "error",
            code: error.code(),
            message: error.to_string(),
            help: error.help(),
            output: error.output().map(str::to_owned),
        }
    }

    /// For people.
    pub(crate) fn text(&self) -> String {
        let help = self.help.map(|help| format!("\nhelp: {help}")).unwrap_or_default();
        let output = self.output.as_ref().map(|output| format!("\n{output}")).unwrap_or_default();
        format!("error: {}{help}{output}", self.message)
    }
}

/// Says why something could not be done, and returns the exit code.
pub(crate) fn refuse(error: &Error, format: Format) -> u8 {
    match format {
        Format::Json => print(&(json(&Problem::of(error)) + "\n")),
        // What the compiler said is on the screen already.
        Format::Human => eprintln!("{}", Problem { output: None, ..Problem::of(error) }.text()),
    }
    match error {
        Error::Interrupted => INTERRUPTED,
        _ => IMPOSSIBLE,
    }
}

/// Prints to stdout. Whoever reads may stop reading (`| head`), which is no reason to panic.
pub(crate) fn print(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}
