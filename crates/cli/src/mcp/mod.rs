//! `drawloom mcp`: the commands as tools of the Model Context Protocol, over stdin and stdout.
//!
//! A tool's arguments become a command line and go through the same parser ([`arguments`]), so that there is one set of
//! rules and messages. The answer is the text for people and, as structured content, the JSON for programs ([`outputs`]). A
//! call that the client cancels ends its tests; when the client is gone, so are they.

mod arguments;
mod outputs;

use std::sync::Arc;
use std::time::Duration;

use drawloom_report::printable_lines;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData, Implementation, ListToolsResult,
    PaginatedRequestParams, ProgressNotificationParam, ServerCapabilities, ServerConfig, Tool, ToolAnnotations,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler, ServiceExt};
use serde::Serialize;
use serde_json::Value;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::answer::{Answer, INTERRUPTED, Problem};
use crate::args::{self, Command};
use crate::error::Error;
use crate::interrupt::{self, Stop};
use crate::replay::{Wanted, replay};
use crate::store::Store;
use crate::test::Show;
use crate::test::human::Human;
use crate::test::report::{Summary, TestReport};
use crate::{analyze, check, diff, explain, list, test};

const INSTRUCTIONS: &str = "\
Drawloom runs concurrent tests under a scheduler that it controls. Run `test` (for Rust; pytest runs Python's); for a \
failure, `explain` shows the cause, `replay` repeats it after a fix, `shrink` simplifies its schedule, `diff` compares two. \
`check` judges a recorded history. A finding is named by its token (`dl1…`), its trace file or its test.";

/// A command as a tool.
struct Offered {
    name: &'static str,
    description: &'static str,
    /// Whether it writes nothing and runs nothing.
    only_reads: bool,
    /// Whether it can remove something that users have committed.
    destroys: bool,
}

const TOOLS: [Offered; 8] = [
    Offered {
        name: "test",
        description: "Run the project's tests under drawloom, in the interleavings that a strategy chooses. Reports \
             for each test how much was explored and each finding, with a token that replays it.",
        only_reads: false,
        // `stale` can remove lines of files of regressions.
        destroys: true,
    },
    Offered {
        name: "replay",
        description: "Repeat the execution of a finding step by step, and report whether it still fails: whether a fix works.",
        only_reads: false,
        destroys: false,
    },
    Offered {
        name: "shrink",
        description: "Minimise the schedule of a finding without a budget: fewer preemptions, switches and steps.",
        only_reads: false,
        destroys: false,
    },
    Offered {
        name: "explain",
        description: "Explain a finding: the interleaving in source lines, the waits, the shared state, and possible \
             fixes.",
        only_reads: true,
        destroys: false,
    },
    Offered {
        name: "diff",
        description: "Show at which choice two executions diverge, and what that changed.",
        only_reads: true,
        destroys: false,
    },
    Offered {
        name: "check",
        description: "Check whether a recorded history of clients is linearizable, serializable …, and if not, show \
             the operations that prove it.",
        only_reads: true,
        destroys: false,
    },
    Offered {
        name: "analyze",
        description: "Find suspected concurrency bugs in Python and Rust source, without running it: shared state and its \
            guards, checkpoints, the interleaving that would go wrong, its class, fixes. `confirm` runs the suspected code.",
        // What is confirmed is run.
        only_reads: false,
        destroys: false,
    },
    Offered {
        name: "findings",
        description: "List the saved findings, with their tokens and trace files, and unfinished searches.",
        only_reads: true,
        destroys: false,
    },
];

impl Offered {
    fn tool(&self) -> Tool {
        let mut hints = ToolAnnotations::new();
        hints.read_only_hint = Some(self.only_reads);
        hints.destructive_hint = Some(self.destroys);
        hints.open_world_hint = Some(false);
        Tool::new(self.name, self.description, arguments::schema(self.name))
            .with_raw_output_schema(Arc::new(outputs::schema(self.name)))
            .with_annotations(hints)
    }
}

/// Tests that still run when the client is gone have so long to end.
const LAST_GRACE: Duration = Duration::from_secs(8);

/// Serves until stdin is closed.
pub(crate) fn serve() -> Result<(), Error> {
    let failed = |error: &dyn std::fmt::Display| Error::Server(error.to_string());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|e| failed(&e))?;
    let served = runtime.block_on(async {
        let serving = Server.serve(rmcp::transport::stdio()).await.map_err(|e| failed(&e))?;
        serving.waiting().await.map_err(|e| failed(&e))?;
        Ok(())
    });
    // Nobody will read what is still under way.
    interrupt::request();
    runtime.shutdown_timeout(LAST_GRACE);
    served
}

/// The tools.
#[derive(Clone)]
struct Server;

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let mut info = ServerConfig::new(ServerCapabilities::builder().enable_tools().build());
        info.server_info = Implementation::new("drawloom", env!("CARGO_PKG_VERSION"));
        info.instructions = Some(INSTRUCTIONS.to_owned());
        info
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult { tools: TOOLS.iter().map(Offered::tool).collect(), ..ListToolsResult::default() })
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        TOOLS.iter().find(|offered| offered.name == name).map(Offered::tool)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let name = match request.name.as_ref() {
            // Its former name.
            "list" => "findings",
            name => name,
        };
        let Some(offered) = TOOLS.iter().find(|offered| offered.name == name) else {
            let known: Vec<&str> = TOOLS.iter().map(|offered| offered.name).collect();
            return Err(ErrorData::invalid_params(format!("there are the tools {}", known.join(", ")), None));
        };
        let line = arguments::command_line(offered.name, &request.arguments.unwrap_or_default());
        let line = line.map_err(|problem| ErrorData::invalid_params(problem, None))?;
        Ok(call(line, context).await.into())
    }
}

/// How far a run has come: tests that are over, how many there are, and what there is to say.
struct Come {
    tests: usize,
    of: usize,
    said: String,
}

/// Carries out a command, off the thread that speaks with the client.
async fn call(line: Vec<String>, context: RequestContext<RoleServer>) -> CallToolResult {
    let (come, mut comes) = unbounded_channel::<Come>();
    let (peer, token) = (context.peer.clone(), context.meta.get_progress_token());
    let telling = tokio::spawn(async move {
        while let Some(Come { tests, of, said }) = comes.recv().await {
            let Some(token) = &token else { continue };
            let mut progress = ProgressNotificationParam::new(token.clone(), tests as f64);
            progress.total = Some(of as f64);
            progress.message = Some(printable_lines(&said).into_owned());
            let _ = peer.notify_progress(progress).await;
        }
    });
    let stop = Stop::default();
    let (stopped, cancelled) = (stop.clone(), context.ct.clone());
    let stopping = tokio::spawn(async move {
        cancelled.cancelled().await;
        stopped.request();
    });
    let done = tokio::task::spawn_blocking(move || {
        let _within = stop.in_this_thread();
        let arguments = args::parse(line).map_err(|error| error.to_string())?;
        answer(&arguments.command, come).map_err(|error| Problem::of(&error).text())
    });
    let done = done.await;
    stopping.abort();
    // Progress comes before the result.
    let _ = telling.await;
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
fn answer(command: &Command, come: UnboundedSender<Come>) -> Result<(String, Value), Error> {
    match command {
        Command::Test(arguments) => {
            let mut collected = Collected::new(come);
            test::test(arguments, &mut collected)?;
            Ok((collected.text, value(&collected.whole)))
        }
        Command::Replay(arguments) => replay(arguments, Wanted::Replay).map(|answer| both(&answer)),
        Command::Shrink(arguments) => replay(arguments, Wanted::Shrink).map(|answer| both(&answer)),
        Command::Explain(arguments) => explain::both(arguments),
        Command::List(arguments) => list::list(arguments).map(|answer| both(&answer)),
        Command::Diff(arguments) => diff::diff(arguments).map(|answer| both(&answer)),
        Command::Check(arguments) => check::command::check(arguments).map(|answer| both(&answer)),
        Command::Analyze(arguments) => analyze::both(arguments),
        Command::Run(_)
        | Command::Cc(_)
        | Command::Pluto(_)
        | Command::Lsp
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
struct Collected {
    text: String,
    whole: Whole,
    longest: usize,
    come: UnboundedSender<Come>,
    over: usize,
    of: usize,
}

impl Collected {
    fn new(come: UnboundedSender<Come>) -> Collected {
        Collected { text: String::new(), whole: Whole::default(), longest: 0, come, over: 0, of: 0 }
    }

    fn tell(&self, said: String) {
        // Nobody may listen.
        let _ = self.come.send(Come { tests: self.over, of: self.of, said });
    }
}

#[derive(Default, Serialize)]
struct Whole {
    tests: Vec<TestReport>,
    summary: Option<Summary>,
}

impl Show for Collected {
    fn begins(&mut self, tests: usize, longest: usize) {
        (self.of, self.longest) = (tests, longest);
        self.tell("the tests are built".to_owned());
    }

    fn turn(&mut self, report: &TestReport, left: Duration) {
        self.tell(format!("exploring {} ({} s left)", report.name, left.as_secs()));
    }

    fn ended(&mut self, report: &TestReport) {
        let mut human = Human::new(false, false, |text: &str| self.text.push_str(text));
        human.begins(self.of, self.longest);
        human.ended(report);
        self.over += 1;
        self.tell(format!("{} is over", report.name));
    }

    fn summary(&mut self, summary: &Summary, reports: &[TestReport], store: &Store) {
        Human::new(false, false, |text: &str| self.text.push_str(text)).summary(summary, reports, store);
        self.whole = Whole { tests: reports.to_vec(), summary: Some(summary.clone()) };
    }
}
