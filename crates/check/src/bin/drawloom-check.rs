//! Checks a history file: `drawloom-check history.jsonl --model cas-register --consistency linearizable`.

use std::process::ExitCode;

use drawloom_check::command::{Format, Options, check, levels, models, progress_on_terminal};

const USAGE: &str = "usage: drawloom-check FILE [--model NAME] [--consistency NAME] [--format jsonl|edn] [--html FILE] \
                     [--json] [--steps NUMBER] [--bytes NUMBER]";

fn main() -> ExitCode {
    let (options, json) = match arguments(std::env::args().skip(1)) {
        Ok(parsed) => parsed,
        Err(message) => {
            eprintln!("{message}");
            return ExitCode::from(2);
        }
    };
    match check(&options) {
        Ok(answer) => {
            match json {
                true => println!("{}", answer.json_text()),
                false => print!("{}", answer.text),
            }
            ExitCode::from(answer.code)
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

fn arguments(mut args: impl Iterator<Item = String>) -> Result<(Options, bool), String> {
    let (mut options, mut json, mut file) =
        (Options { progress: progress_on_terminal(), ..Options::default() }, false, None);
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or_else(|| format!("{arg} needs a value\n{USAGE}"));
        match arg.as_str() {
            "--model" => options.model = Some(value()?),
            "--consistency" => options.consistency = Some(value()?),
            "--format" => {
                let name = value()?;
                let format = Format::from_name(&name);
                options.format = Some(format.ok_or_else(|| format!("the format {name:?} is not known\n{USAGE}"))?);
            }
            "--html" => options.html = Some(value()?.into()),
            "--json" => json = true,
            "--steps" | "--bytes" => {
                let text = value()?;
                let number = text.parse().map_err(|_| format!("{arg} is {text:?}, not a number\n{USAGE}"))?;
                options.budget = match arg.as_str() {
                    "--steps" => options.budget.steps(number),
                    _ => options.budget.bytes(number),
                };
            }
            "--help" | "-h" => {
                return Err(format!("{USAGE}\n\nmodels: {}\nlevels: {}", models().join(", "), levels().join(", ")));
            }
            other if other.starts_with("--") => return Err(format!("{other} is not known\n{USAGE}")),
            _ if file.is_none() => file = Some(arg),
            other => return Err(format!("only one file at a time: {other}\n{USAGE}")),
        }
    }
    options.file = file.ok_or(USAGE)?.into();
    Ok((options, json))
}
