//! `drawloom mcp`: the commands as tools of the Model Context Protocol, over stdin and stdout.
//!
//! A tool's arguments become a command line and go through the same parser, so that there is one set of
//! rules and messages. The answer is the text for people and, as structured content, the JSON for programs.

use drawloom_report::printable_lines;
use rmcp::handler::server::router::tool::ToolRouter;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::{CallToolResult, ContentBlock, Implementation, ServerCapabilities, ServerConfig};
use rmcp::schemars::{self, JsonSchema};
use rmcp::{ServerHandler, ServiceExt, tool, tool_handler, tool_router};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::answer::{Answer, INTERRUPTED, Problem};
use crate::args::{self, Command};
use crate::error::Error;
use crate::replay::{Wanted, replay};
use crate::store::Store;
use crate::test::Show;
use crate::test::human::Human;
use crate::test::report::{Summary, TestReport};
use crate::{check, diff, explain, interrupt, list, test};

const INSTRUCTIONS: &str = "\
Drawloom runs concurrent Rust tests under a scheduler that it controls. Run `test`; for what fails, `explain` says what \
happened, `replay` repeats it after a fix, `shrink` simplifies its schedule, `diff` compares two. `check` judges a recorded \
history. A finding is named by its token (`dl1…`), its \
trace file or its test.";

/// Serves until stdin is closed.
pub(crate) fn serve() -> Result<(), Error> {
    let failed = |error: &dyn std::fmt::Display| Error::Server(error.to_string());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|e| failed(&e))?;
    runtime.block_on(async {
        let server = Server { tools: Server::tools() };
        let serving = server.serve(rmcp::transport::stdio()).await.map_err(|e| failed(&e))?;
        serving.waiting().await.map_err(|e| failed(&e))?;
        Ok(())
    })
}

/// The tools.
#[derive(Clone)]
struct Server {
    tools: ToolRouter<Server>,
}

#[tool_handler(router = self.tools)]
impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let mut info = ServerConfig::new(ServerCapabilities::builder().enable_tools().build());
        info.server_info = Implementation::new("drawloom", env!("CARGO_PKG_VERSION"));
        info.instructions = Some(INSTRUCTIONS.to_owned());
        info
    }
}

/// Which tests to run, and how.
#[derive(Debug, Default, Deserialize, JsonSchema)]
struct TestTool {
    /// Only tests whose path contains this text.
    filter: Option<String>,
    /// Where randomised strategies begin to draw: a number, decimal or hexadecimal.
    seed: Option<String>,
    /// Executions of each test, if its strategy is randomised.
    iterations: Option<u64>,
    /// A strategy (`exhaustive`, `pct(depth = 3)`, …) or a whole configuration as in `#[drawloom::test(…)]`.
    strategy: Option<String>,
    /// Go on exploring for so long in all: `90s`, `10m`.
    time: Option<String>,
    /// Put the project's tokio under control, without an edit: tests that know nothing of drawloom explore.
    tokio: Option<bool>,
    /// Only tests of this package.
    package: Option<String>,
    /// The manifest of the project, if it is not in the directory that the server was started in.
    manifest_path: Option<String>,
}

/// Which finding to run again.
#[derive(Debug, Default, Deserialize, JsonSchema)]
struct ReplayTool {
    /// A token (`dl1…`), a trace file, or the name of a test that has failed.
    finding: String,
    /// End where the program no longer does what the schedule says, instead of following it as far as it goes.
    strict: Option<bool>,
    /// For a finding of a test that was run with `tokio`.
    tokio: Option<bool>,
    /// The manifest of the project, if it is not in the directory that the server was started in.
    manifest_path: Option<String>,
}

impl ReplayTool {
    async fn call(self, command: &str) -> CallToolResult {
        let asked = [(self.strict, "--strict"), (self.tokio, "--tokio")];
        let flags: Vec<&str> = asked.iter().filter(|(asked, _)| *asked == Some(true)).map(|(_, flag)| *flag).collect();
        call(command, Some(self.finding), [("--manifest-path", self.manifest_path)], &flags).await
    }
}

/// Which finding to explain.
#[derive(Debug, Default, Deserialize, JsonSchema)]
struct ExplainTool {
    /// A trace file, or the token (`dl1…`) or the name of a test of a finding that is kept.
    finding: String,
    /// The manifest of the project, if it is not in the directory that the server was started in.
    manifest_path: Option<String>,
}

/// Which executions to compare.
#[derive(Debug, Default, Deserialize, JsonSchema)]
struct DiffTool {
    /// A trace file, or the token (`dl1…`) or the name of a test of a finding that is kept.
    one: String,
    /// Another one; a replay that passes leaves the trace `<test>.passed.json`.
    other: String,
    /// The manifest of the project, if it is not in the directory that the server was started in.
    manifest_path: Option<String>,
}

/// Which history to check.
#[derive(Debug, Default, Deserialize, JsonSchema)]
struct CheckTool {
    /// The file: JSON lines, or Jepsen's EDN.
    file: String,
    /// What the clients used (`register`, `queue`, `list-append` …), if the file does not say.
    model: Option<String>,
    /// What it should be (`linearizable`, `serializable` …), if not the strongest usual level of the model.
    consistency: Option<String>,
}

/// Which findings to list.
#[derive(Debug, Default, Deserialize, JsonSchema)]
struct ListTool {
    /// Only those of tests whose name contains this text.
    filter: Option<String>,
    /// The manifest of the project, if it is not in the directory that the server was started in.
    manifest_path: Option<String>,
}

#[tool_router(router = tools)]
impl Server {
    #[tool(
        description = "Run the project's tests under drawloom: every interleaving that a strategy chooses. Says for \
        each test what was explored and found, with a token that replays each finding."
    )]
    async fn test(&self, Parameters(tool): Parameters<TestTool>) -> CallToolResult {
        let options = [
            ("--seed", tool.seed),
            ("--iterations", tool.iterations.map(|iterations| iterations.to_string())),
            ("--strategy", tool.strategy),
            ("--time", tool.time),
            ("--package", tool.package),
            ("--manifest-path", tool.manifest_path),
        ];
        let flags: &[&str] = if tool.tokio == Some(true) { &["--tokio"] } else { &[] };
        call("test", tool.filter, options, flags).await
    }

    #[tool(
        description = "Repeat the execution of a finding, step by step, and say what it comes to: whether a fix works."
    )]
    async fn replay(&self, Parameters(tool): Parameters<ReplayTool>) -> CallToolResult {
        tool.call("replay").await
    }

    #[tool(description = "Minimise the schedule of a finding without a budget: fewer preemptions, switches and steps.")]
    async fn shrink(&self, Parameters(tool): Parameters<ReplayTool>) -> CallToolResult {
        tool.call("shrink").await
    }

    #[tool(
        description = "Say what happened in a finding: the interleaving in source lines, who waited for whom, what \
        was shared."
    )]
    async fn explain(&self, Parameters(tool): Parameters<ExplainTool>) -> CallToolResult {
        call("explain", Some(tool.finding), [("--manifest-path", tool.manifest_path)], &[]).await
    }

    #[tool(description = "Say at which choice two executions part, and what that changed.")]
    async fn diff(&self, Parameters(tool): Parameters<DiffTool>) -> CallToolResult {
        call("diff", [tool.one, tool.other], [("--manifest-path", tool.manifest_path)], &[]).await
    }

    #[tool(
        description = "Say whether a recorded history of clients is linearizable, serializable …, and if not, which \
        operations show it."
    )]
    async fn check(&self, Parameters(tool): Parameters<CheckTool>) -> CallToolResult {
        call("check", [tool.file], [("--model", tool.model), ("--consistency", tool.consistency)], &[]).await
    }

    #[tool(
        description = "List the findings that are kept, with their tokens and trace files, and unfinished searches."
    )]
    async fn list(&self, Parameters(tool): Parameters<ListTool>) -> CallToolResult {
        call("list", tool.filter, [("--manifest-path", tool.manifest_path)], &[]).await
    }
}

/// Carries out a command, off the thread that speaks with the client.
async fn call<const N: usize>(
    command: &str,
    what: impl IntoIterator<Item = String>,
    options: [(&str, Option<String>); N],
    flags: &[&str],
) -> CallToolResult {
    let mut line = vec!["drawloom".to_owned(), command.to_owned()];
    for (option, value) in options {
        // Joined, so that no value can pose as an option.
        line.extend(value.map(|value| format!("{option}={value}")));
    }
    line.extend(flags.iter().map(|flag| (*flag).to_owned()));
    // What begins with a dash would be an option too, and is the name of nothing.
    line.extend(what.into_iter().map(|what| what.trim_start_matches('-').to_owned()));
    let done = tokio::task::spawn_blocking(move || {
        let arguments = args::parse(line).map_err(|error| error.to_string())?;
        answer(&arguments.command).map_err(|error| Problem::of(&error).text())
    });
    let done = done.await;
    if interrupt::requested() {
        // Whoever wants the tool to end wants the server to.
        std::process::exit(INTERRUPTED.into());
    }
    // An agent may show it on a terminal.
    let said = |text: &str| vec![ContentBlock::text(printable_lines(text).into_owned())];
    match done {
        Ok(Ok((text, value))) => {
            let mut result = CallToolResult::structured(value);
            result.content = said(&text);
            result
        }
        Ok(Err(problem)) => CallToolResult::error(said(&problem)),
        Err(error) => CallToolResult::error(said(&error.to_string())),
    }
}

/// What a command comes to, for people and for programs.
fn answer(command: &Command) -> Result<(String, Value), Error> {
    match command {
        Command::Test(arguments) => {
            let mut collected = Collected::default();
            test::test(arguments, &mut collected)?;
            Ok((collected.text, value(&collected.whole)))
        }
        Command::Replay(arguments) => replay(arguments, Wanted::Replay).map(|answer| both(&answer)),
        Command::Shrink(arguments) => replay(arguments, Wanted::Shrink).map(|answer| both(&answer)),
        Command::Explain(arguments) => explain::both(arguments),
        Command::List(arguments) => list::list(arguments).map(|answer| both(&answer)),
        Command::Diff(arguments) => diff::diff(arguments).map(|answer| both(&answer)),
        Command::Check(arguments) => check::command::check(arguments).map(|answer| both(&answer)),
        Command::Run(_)
        | Command::View(_)
        | Command::Clean(_)
        | Command::Mcp
        | Command::Completions { .. }
        | Command::Man { .. } => Err(Error::NoCommand(format!("{command:?}"))),
    }
}

fn both(answer: &impl Answer) -> (String, Value) {
    (answer.text(), value(answer))
}

fn value(answer: &impl Serialize) -> Value {
    serde_json::to_value(answer).unwrap_or_default()
}

/// A run of tests, as one answer.
#[derive(Default)]
struct Collected {
    text: String,
    whole: Whole,
    longest: usize,
}

#[derive(Default, Serialize)]
struct Whole {
    tests: Vec<TestReport>,
    summary: Option<Summary>,
}

impl Show for Collected {
    fn begins(&mut self, longest: usize) {
        self.longest = longest;
    }

    fn ended(&mut self, report: &TestReport) {
        let mut human = Human::new(false, false, |text: &str| self.text.push_str(text));
        human.begins(self.longest);
        human.ended(report);
    }

    fn summary(&mut self, summary: &Summary, reports: &[TestReport], store: &Store) {
        Human::new(false, false, |text: &str| self.text.push_str(text)).summary(summary, reports, store);
        self.whole = Whole { tests: reports.to_vec(), summary: Some(summary.clone()) };
    }
}
