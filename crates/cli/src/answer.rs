//! Answers: one value for each command, written for people or for programs.

use std::io::Write;

use drawloom_report::{printable_colours, printable_json, printable_lines};
use serde::Serialize;

use crate::args::Format;
use crate::error::Error;
use crate::test::human::coloured;

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
    match format {
        Format::Human => say(&answer.text()),
        Format::Json => print(&(json(answer) + "\n")),
    }
    answer.code()
}

/// As the JSON that programs read.
pub(crate) fn json(answer: &impl Serialize) -> String {
    // Texts, numbers, lists and maps with texts as keys: nothing that JSON does not know.
    let json = serde_json::to_string(answer);
    let json = json.unwrap_or_else(|error| format!("{{\"type\":\"error\",\"message\":\"{error}\"}}"));
    printable_json(&json).into_owned()
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
        Format::Human => complain(&Problem { output: None, ..Problem::of(error) }.text()),
    }
    match error {
        Error::Interrupted => INTERRUPTED,
        _ => IMPOSSIBLE,
    }
}

/// Prints a text for people to stdout. Whatever names and messages are in it, nothing but colours steers the terminal.
pub(crate) fn say(text: &str) {
    print(&if coloured() { printable_colours(text) } else { printable_lines(text) });
}

/// The same for a line to stderr.
pub(crate) fn complain(line: &str) {
    eprintln!("{}", printable_colours(line));
}

/// Prints to stdout, as it is. Whoever reads may stop reading (`| head`), which is no reason to panic.
pub(crate) fn print(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}
