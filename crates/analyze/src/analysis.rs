//! From a source file to its analysis: rules, then filters, then words.

use std::collections::BTreeSet;

use drawloom_report::Place;
use drawloom_report::explain::Effect;
use drawloom_syntax::{Function, Language, Module, Parser, Span};

use crate::choose;
use crate::facts::Facts;
use crate::finding::{Also, Analysis, Confidence, Evidence, Finding, Step, Target, Unread, Window};
use crate::fixes::fixes;
use crate::graph::{Event, NodeId, Reading, Why, Writing};
use crate::inventory::{self, Source};
use crate::notes::notes;
use crate::program::{Access, Model, Program};
use crate::rules::{self, Found, Rule};
use crate::sharing;
use crate::types::Framework;

/// How a file is analysed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// The library that runs tasks, if not the one that is imported.
    pub framework: Option<Framework>,
    /// How tasks take turns.
    pub model: Turns,
}

/// How tasks take turns.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Turns {
    /// As the library in use has it.
    #[default]
    Auto,
    /// At checkpoints alone.
    Tasks,
    /// Anywhere.
    Threads,
}

impl Default for Options {
    fn default() -> Options {
        Options { framework: None, model: Turns::Auto }
    }
}

impl From<Turns> for Model {
    fn from(turns: Turns) -> Model {
        match turns {
            Turns::Auto => Model::Auto,
            Turns::Tasks => Model::Tasks,
            Turns::Threads => Model::Threads,
        }
    }
}

/// Analyses the source of one file, which is called `path` in what is said of it.
pub fn analyse(parser: &dyn Parser, source: &str, path: &str, options: Options) -> Analysis {
    let module = modelled(parser, source);
    let facts = Facts::of(&module, options.framework);
    let program = Program::of(&facts, options.model.into());
    let lines = Source { path, lines: source.lines().collect() };
    let raw = choose::chosen(&program, rules::all(&program));
    let windows: Vec<Found> = raw.iter().map(|chosen| chosen.found.clone()).collect();
    let notes = notes(&program, &lines, &windows);
    let mut findings: Vec<Finding> = raw.iter().map(|chosen| finding(&program, &lines, chosen)).collect();
    findings.sort_by(|one, other| {
        let key = |it: &Finding| (-it.evidence.score, it.act.line, it.rule, it.state.clone());
        key(one).cmp(&key(other))
    });
    let before = findings.len();
    findings.retain(|finding| !crate::ignore::is_ignored(&module, finding));
    let wanted: BTreeSet<usize> = windows.iter().flat_map(|found| [Some(found.loc), found.second]).flatten().collect();
    Analysis {
        target: Target {
            path: path.to_owned(),
            language: match module.language {
                Language::Python => "python",
                Language::Rust => "rust",
            },
            frameworks: facts.frameworks.iter().map(|framework| framework.word()).collect(),
            model: match options.model {
                Turns::Auto => "auto",
                Turns::Tasks => "tasks",
                Turns::Threads => "threads",
            },
            lines: None,
            functions: module.functions.len() - 1,
            hash: format!("{:016x}", hash(source.as_bytes())),
        },
        shared_state: inventory::shared(&program, &lines, &wanted),
        checkpoints: inventory::checkpoints(&program, &lines),
        ignored: before - findings.len(),
        findings,
        notes,
        problems: module
            .problems
            .iter()
            .map(|problem| Unread { place: lines.place(problem.span), message: problem.message.clone() })
            .chain(
                crate::ignore::without_reason(&module).into_iter().map(|line| Unread {
                    place: Place { file: path.to_owned(), line, column: 0 },
                    message: "to leave something out, name the rule and a reason: `drawloom: ignore[DL001] because …`"
                        .to_owned(),
                }),
            )
            .collect(),
        lines: lines.lines.len(),
    }
}

/// The tree of a file, with what is run at its top as its last function.
pub(crate) fn modelled(parser: &dyn Parser, source: &str) -> Module {
    let mut module = parser.parse(source);
    let top = top(&mut module);
    module.functions.push(top);
    module
}

/// What is run at the top of a file, as a function without a name.
fn top(module: &mut Module) -> Function {
    Function {
        name: String::new(),
        qualified: String::new(),
        class: None,
        parent: None,
        is_async: false,
        is_generator: false,
        is_closure: false,
        public: false,
        decorators: Vec::new(),
        parameters: Vec::new(),
        globals: Vec::new(),
        nonlocals: Vec::new(),
        body: std::mem::take(&mut module.body),
        span: Span::default(),
        head: Span::default(),
    }
}

/// FNV-1a.
pub(crate) fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

fn finding(program: &Program<'_, '_>, source: &Source<'_>, chosen: &choose::Chosen) -> Finding {
    let found = &chosen.found;
    let graph = &program.tasks[found.task].graph;
    let weights = sharing::weigh(program, found);
    let (score, because) = sharing::score(&weights);
    let confidence = Confidence::of(score);
    let state = program.names.name(found.loc).to_owned();
    let other = found.second.map(|loc| program.names.name(loc).to_owned()).unwrap_or_default();
    let (trace, window) = schedule(program, source, found);
    let function = program.facts.function(graph.nodes[found.opens].function).qualified.clone();
    let theirs = found.remote.map(|remote| program.facts.function(program.node(remote).function).qualified.clone());
    let theirs = match theirs {
        Some(name) if name != function => format!("`{name}`"),
        _ => "a second one".to_owned(),
    };
    let sentence = sentence(found, &state, &other, &function, &theirs, program);
    let gap = found.gap.map(|gap| graph.nodes[gap].span);
    let closes = match (found.rule, found.remote) {
        (Rule::LockLifetime | Rule::MissingGuard, Some(remote)) => program.node(remote).span,
        _ => graph.nodes[found.closes].span,
    };
    let first = match found.rule {
        Rule::LockLifetime | Rule::MissingGuard => closes,
        _ => gap.unwrap_or(closes),
    };
    let snippets = format!(
        "{}|{}|{}|{}|{}",
        found.rule.id(),
        state,
        function,
        squeezed(&source.line(graph.nodes[found.opens].span.line)),
        squeezed(&source.line(closes.line))
    );
    Finding {
        rule: found.rule.id(),
        title: found.rule.title(),
        class: found.rule.class(),
        subkind: found.rule.subkind(),
        state,
        sentence,
        function: if function.is_empty() { "module".to_owned() } else { function },
        place: source.place(first),
        act: source.place(closes),
        evidence: Evidence { score, confidence, because, trace, window },
        also: also(program, source, &chosen.also, closes),
        fixes: fixes(program, found),
        fingerprint: format!("{:016x}", hash(snippets.as_bytes())),
        confirmation: None,
    }
}

/// Where else the same is done to the same state.
fn also(program: &Program<'_, '_>, source: &Source<'_>, others: &[Access], known: Span) -> Vec<Also> {
    let mut all: Vec<Also> = others
        .iter()
        .map(|at| program.node(*at))
        .filter(|node| node.span.line != known.line)
        .map(|node| Also {
            function: program.facts.function(node.function).qualified.clone(),
            place: source.place(node.span),
        })
        .collect();
    all.sort_by_key(|it| (it.place.line, it.place.column));
    all.dedup_by_key(|it| it.place.line);
    all
}

fn squeezed(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn sentence(
    found: &Found,
    state: &str,
    other: &str,
    function: &str,
    theirs: &str,
    program: &Program<'_, '_>,
) -> String {
    match found.rule {
        Rule::CheckThenAct if found.second.is_some() => format!(
            "`{function}` checks `{state}` and enters `{other}` later, and {theirs} sets the first and iterates over the second in between"
        ),
        Rule::CheckThenAct | Rule::AtomicPair => {
            format!("`{function}` checks `{state}` and acts on it later, and {theirs} can change it in between")
        }
        Rule::ReadModifyWrite | Rule::AwaitInUpdate => {
            format!(
                "`{function}` writes `{state}` from a value that it read earlier, and loses what {theirs} wrote in between"
            )
        }
        Rule::PairedState => {
            format!(
                "`{function}` changes `{state}` and `{other}` in two steps, and {theirs} can see one without the other"
            )
        }
        Rule::LockLifetime => {
            format!(
                "the lock in `{state}` is removed while {function} may hold or await it, and the next task makes a new one",
                function = if function.is_empty() { "a task".to_owned() } else { format!("`{function}`") }
            )
        }
        Rule::StaleElement => format!("`{function}` uses an element of `{state}` that {theirs} can have removed"),
        Rule::Iteration => format!("`{function}` iterates over `{state}` while {theirs} can add or remove elements"),
        Rule::MissingGuard => {
            let lock = found.lock.map(|lock| program.names.name(lock)).unwrap_or_default();
            format!("`{function}` uses `{state}` under `{lock}`, and {theirs} changes it without that lock")
        }
        Rule::CancellationLeak => {
            let graph = &program.tasks[found.task].graph;
            if found.remote.is_some() {
                return format!(
                    "`{function}` waits in `{state}`, and if it is cancelled after {theirs} has woken it, it keeps `{other}`"
                );
            }
            if matches!(graph.nodes[found.opens].event, Event::Acquire { .. }) {
                format!("`{function}` takes `{state}`, and a cancellation before the release leaves it taken")
            } else {
                format!("`{function}` changes `{state}`, and a cancellation before it is restored leaves it changed")
            }
        }
        Rule::LostWakeup => format!(
            "`{function}` checks `{state}` and waits for `{other}` later: a wake-up by {theirs} in between is lost"
        ),
        Rule::RacedGuard => format!(
            "`{function}` makes a lock in `{state}` if there is none, and {theirs} can make another one at the same time"
        ),
        Rule::WakeOrder => {
            format!("`{function}` changes `{state}` only after it was woken, and {theirs} can come first")
        }
    }
}

/// The suspected schedule: opens, gap, intrudes, closes.
fn schedule(program: &Program<'_, '_>, source: &Source<'_>, found: &Found) -> (Vec<Step>, Window) {
    let mut steps: Vec<Step> = Vec::new();
    let mut push = |task: &'static str, at: Access, text: String, effect: Effect| {
        let node = program.node(at);
        let graph = &program.tasks[at.task].graph;
        let mut holds: Vec<String> = graph.held[at.node]
            .iter()
            .filter_map(|taken| crate::flow::lock_of(&graph.nodes[*taken].event))
            .map(|(lock, ..)| program.names.name(lock).to_owned())
            .collect();
        holds.dedup();
        steps.push(Step {
            n: steps.len() as u32 + 1,
            task,
            runs: program.label(at.task),
            function: program.facts.function(node.function).qualified.clone(),
            text,
            effect,
            place: source.place(node.span),
            source: source.line(node.span.line),
            holds,
        });
    };
    let own = |node: NodeId| Access { task: found.task, node };
    let (text, effect) = words(program, own(found.opens));
    push("Task A", own(found.opens), text, effect);
    if let Some(gap) = found.gap.filter(|gap| *gap != found.closes) {
        let (text, effect) = words(program, own(gap));
        push("Task A", own(gap), text, effect);
    }
    if let Some(remote) = found.remote {
        let (text, effect) = words(program, remote);
        push("Task B", remote, text, effect);
    } else {
        push("Task A", own(found.gap.unwrap_or(found.opens)), "is cancelled here".to_owned(), Effect::Other);
    }
    if found.rule == Rule::CancellationLeak {
        let (text, _) = words(program, own(found.closes));
        let text = match found.remote {
            Some(_) => {
                push("Task A", own(found.closes), "is cancelled before it runs".to_owned(), Effect::Other);
                "holds a resource that no task releases any more".to_owned()
            }
            None => format!("never reaches: {text}"),
        };
        push("Task A", own(found.closes), text, Effect::Crash);
    } else {
        let (text, effect) = words(program, own(found.closes));
        push("Task A", own(found.closes), text, effect);
        push("Task A", own(found.closes), harm(found.rule).to_owned(), Effect::Crash);
    }
    let to_step = steps.len() as u32 - u32::from(found.rule != Rule::CancellationLeak);
    let reason = match found.rule {
        Rule::CheckThenAct | Rule::AtomicPair | Rule::RacedGuard => "the checked condition may no longer hold",
        Rule::ReadModifyWrite | Rule::AwaitInUpdate => "the value that was read is out of date",
        Rule::PairedState => "one is changed and the other is not",
        Rule::LockLifetime => "the lock that is taken is not the one in the map",
        Rule::StaleElement => "the element may be gone",
        Rule::Iteration => "the iterated collection changes",
        Rule::MissingGuard => "one side holds the lock, the other does not",
        Rule::CancellationLeak => "changed, and not restored",
        Rule::LostWakeup => "has decided to wait but is not waiting yet",
        Rule::WakeOrder => "woken, but the state does not show it yet",
    };
    let window = Window { from_step: 1, to_step, reason: reason.to_owned() };
    (steps, window)
}

fn harm(rule: Rule) -> &'static str {
    match rule {
        Rule::CheckThenAct | Rule::AtomicPair => "both have acted on the same check",
        Rule::ReadModifyWrite | Rule::AwaitInUpdate => "the other change is lost",
        Rule::PairedState => "the two disagree up to this point",
        Rule::LockLifetime => "two tasks hold two locks for one key",
        Rule::StaleElement => "changes a value that no task uses any more",
        Rule::Iteration => "the loop fails, or skips an element",
        Rule::MissingGuard => "finds a state that it did not leave",
        Rule::CancellationLeak => "",
        Rule::LostWakeup => "waits for a wake-up that is past",
        Rule::RacedGuard => "two locks for one object",
        Rule::WakeOrder => "two tasks both believe that they are the only one",
    }
}

/// What happens at a node, in words.
fn words(program: &Program<'_, '_>, at: Access) -> (String, Effect) {
    let name = |loc: usize| program.names.name(loc);
    let of = |key: &Option<String>| match key {
        Some(key) => format!("[{}]", key.split('\'').next().unwrap_or(key)),
        None => String::new(),
    };
    match &program.node(at).event {
        Event::Read { loc, key, how } => {
            let text = match how {
                Reading::Value => format!("reads `{}{}`", name(*loc), of(key)),
                Reading::Empty => format!("looks whether `{}` is empty", name(*loc)),
                Reading::Contains => match key {
                    Some(key) => format!("looks whether `{key}` is in `{}`", name(*loc)),
                    None => format!("looks at `{}`", name(*loc)),
                },
                Reading::Iterates | Reading::Next => format!("goes over `{}`", name(*loc)),
                Reading::Snapshot => format!("copies `{}`", name(*loc)),
            };
            (text, Effect::Read)
        }
        Event::Write { loc, key, how, literal, .. } => {
            let value = literal
                .as_ref()
                .filter(|text| text.len() < 20 && !text.ends_with('='))
                .map(|text| format!(" = {text}"))
                .unwrap_or_default();
            let text = match how {
                Writing::Assign => format!("writes `{}{}{value}`", name(*loc), of(key)),
                Writing::Add => format!("adds to `{}{}`", name(*loc), of(key)),
                Writing::Remove => format!("removes from `{}{}`", name(*loc), of(key)),
                Writing::Clear => format!("clears `{}`", name(*loc)),
                Writing::Mutate => format!("changes `{}{}`", name(*loc), of(key)),
                Writing::Atomic => format!("looks up or adds `{}{}` in one step", name(*loc), of(key)),
            };
            let effect = if *how == Writing::Atomic { Effect::Update } else { Effect::Write };
            (text, effect)
        }
        Event::Acquire { lock, key, .. } => (format!("takes `{}{}`", name(*lock), of(key)), Effect::Acquire),
        Event::Release { lock, key } => (format!("releases `{}{}`", name(*lock), of(key)), Effect::Release),
        Event::Checkpoint { why: Why::Exit, .. } => ("leaves the `async with` → CHECKPOINT".to_owned(), Effect::Wait),
        Event::Checkpoint { why: Why::Lock, .. } => ("waits for a lock → CHECKPOINT".to_owned(), Effect::Wait),
        Event::Checkpoint { why: Why::Wakeup, .. } => ("waits to be woken → CHECKPOINT".to_owned(), Effect::Wait),
        Event::Checkpoint { .. } => ("awaits → CHECKPOINT".to_owned(), Effect::Wait),
        Event::Suspend => ("yields to the caller → SUSPEND".to_owned(), Effect::Wait),
        Event::Wake { loc, .. } => (format!("wakes the tasks that wait for `{}`", name(*loc)), Effect::Wake),
        Event::Wait { loc } => (format!("begins to wait for `{}`", name(*loc)), Effect::Wait),
        Event::Use { bound, changes } => {
            let graph = &program.tasks[at.task].graph;
            let loc = match graph.nodes[*bound].event {
                Event::Read { loc, .. } | Event::Write { loc, .. } => name(loc),
                _ => "",
            };
            let word = if *changes { "changes" } else { "uses" };
            (format!("{word} the element taken from `{loc}`"), if *changes { Effect::Write } else { Effect::Read })
        }
        _ => ("continues".to_owned(), Effect::Other),
    }
}

/// The place of a line, for targets.
pub(crate) fn covers(finding: &Finding, lines: (u32, u32)) -> bool {
    let inside = |place: &Place| place.line >= lines.0 && place.line <= lines.1;
    finding.evidence.trace.iter().any(|step| inside(&step.place))
        || inside(&finding.place)
        || inside(&finding.act)
        || finding.also.iter().any(|also| inside(&also.place))
}
