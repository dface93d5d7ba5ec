//! The command line of drawloom: runs tests, and replays, minimises, explains and shows what they find.
//!
//! - `args`: what can be asked for;
//! - `project`: what cargo knows, builds and lists; `run`: how tests are run, through cargo or nextest;
//! - `test`: running tests, also for a given time; `replay`: one test under one schedule;
//! - `store`: what is kept between runs; `regressions`: what users commit; `list`, `explain`, `view` and `diff` look at it;
//! - `analyze`: what is suspected of source, without a run; the language server;
//! - `cc`: compiling C programs; `installed`: where libraries and headers are;
//! - `pluto`: tests of Pluto programs, by the compiler as it is;
//! - `preload`: running other programs with C libraries looked at;
//! - [`check`]: history files, which need no project;
//! - `answer`: what a command says, to people and to programs; `error`: why it cannot;
//! - `mcp`: the same for coding agents.
#![forbid(unsafe_code)]

mod analyze;
mod answer;
mod args;
mod cc;
pub mod check;
mod diff;
mod error;
mod explain;
// Only the server ends what single threads do.
mod installed;
#[cfg_attr(not(feature = "mcp"), allow(dead_code))]
mod interrupt;
mod list;
#[cfg(feature = "mcp")]
mod mcp;
mod pluto;
mod preload;
mod project;
mod regressions;
mod replay;
mod run;
mod store;
mod test;
mod view;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::CommandFactory;

use args::{Arguments, Command, ExplainFormat, Format};
use replay::Wanted;

/// Does what the command line says.
pub fn main(arguments: impl IntoIterator<Item = impl Into<OsString> + Clone>) -> ExitCode {
    let Arguments { command } = match args::parse(arguments) {
        Ok(arguments) => arguments,
        // Clap's own: 0 for `--help`, 2 for a mistake.
        Err(error) => error.exit(),
    };
    let format = format_of(&command);
    ExitCode::from(run_command(&command, format).unwrap_or_else(|error| answer::refuse(&error, format)))
}

fn format_of(command: &Command) -> Format {
    match command {
        Command::Test(arguments) => arguments.output.format(),
        Command::Replay(arguments) | Command::Shrink(arguments) => arguments.output.format(),
        Command::Explain(arguments) if arguments.json || arguments.format == ExplainFormat::Json => Format::Json,
        Command::View(arguments) => arguments.output.format(),
        Command::Diff(arguments) => arguments.output.format(),
        Command::Check(arguments) => arguments.output.format(),
        Command::List(arguments) => arguments.output.format(),
        Command::Clean(arguments) => arguments.store.output.format(),
        Command::Analyze(arguments) if arguments.format == args::AnalyzeFormat::Json => Format::Json,
        Command::Analyze(_) | Command::Lsp => Format::Human,
        Command::Run(_)
        | Command::Cc(_)
        | Command::Pluto(_)
        | Command::Explain(_)
        | Command::Completions { .. }
        | Command::Man { .. } => Format::Human,
        #[cfg(feature = "mcp")]
        Command::Mcp => Format::Human,
    }
}

fn run_command(command: &Command, format: Format) -> Result<u8, error::Error> {
    match command {
        Command::Test(arguments) => {
            let summary = match format {
                Format::Human => test::test(
                    arguments,
                    &mut test::human::Human::new(arguments.quiet, test::human::coloured(), answer::say),
                ),
                Format::Json => test::test(arguments, &mut test::lines::Lines),
            };
            Ok(summary?.exit_code)
        }
        Command::Run(arguments) => Err(preload::run(arguments)),
        Command::Cc(arguments) => cc::compile(arguments),
        Command::Pluto(arguments) => pluto::test(arguments),
        Command::Replay(arguments) => Ok(answer::give(&replay::replay(arguments, Wanted::Replay)?, format)),
        Command::Shrink(arguments) => Ok(answer::give(&replay::replay(arguments, Wanted::Shrink)?, format)),
        Command::Explain(arguments) => explain::explain(arguments),
        Command::View(arguments) => Ok(answer::give(&view::view(arguments)?, format)),
        Command::Diff(arguments) => Ok(answer::give(&diff::diff(arguments)?, format)),
        Command::Check(arguments) => Ok(answer::give(&check::command::check(arguments)?, format)),
        Command::Analyze(arguments) => analyze::analyze(arguments),
        Command::Lsp => analyze::lsp::serve().map(|()| answer::CLEAN),
        Command::List(arguments) => Ok(answer::give(&list::list(arguments)?, format)),
        Command::Clean(arguments) => Ok(answer::give(&list::clean(arguments)?, format)),
        #[cfg(feature = "mcp")]
        Command::Mcp => mcp::serve().map(|()| answer::CLEAN),
        Command::Completions { shell } => {
            let mut text = Vec::new();
            clap_complete::generate(*shell, &mut Arguments::command(), "drawloom", &mut text);
            answer::print(&String::from_utf8_lossy(&text));
            Ok(answer::CLEAN)
        }
        Command::Man { command } => {
            let mut whole = Arguments::command();
            whole.build();
            let page = match command {
                None => clap_mangen::Man::new(whole),
                Some(name) => {
                    let found = whole.find_subcommand(name).cloned();
                    let found = found.ok_or_else(|| error::Error::NoCommand(name.clone()))?;
                    clap_mangen::Man::new(found).title(format!("drawloom-{name}"))
                }
            };
            let mut text = Vec::new();
            // Writing to memory cannot fail.
            let _ = page.render(&mut text);
            answer::print(&String::from_utf8_lossy(&text));
            Ok(answer::CLEAN)
        }
    }
}
