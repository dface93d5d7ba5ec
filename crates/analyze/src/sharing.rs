//! How sure it is that several tasks have the same state, and what a mistake would do: the sum of weights that is the confidence.

use drawloom_syntax::{ClassId, Language};

use crate::customs::{ends, is_handler};
use crate::graph::{Certainty, Event, Loc, Why, Writing};
use crate::lower::RootKind;
use crate::program::Program;
use crate::rules::{Found, Rule};
use crate::types::Type;

/// A weight, with the part of the sentence that says why.
pub(crate) type Weight = (i32, String);

/// The weights of a finding.
pub(crate) fn weigh(program: &Program<'_, '_>, found: &Found) -> Vec<Weight> {
    let mut weights = vec![sharing(program, found)];
    let graph = &program.tasks[found.task].graph;
    match found.gap.map(|gap| &graph.nodes[gap].event) {
        Some(Event::Suspend) if plain_generator(program, found) => {
            weights.push((-10, "the caller of the generator runs between them, and need not wait there".to_owned()));
        }
        Some(Event::Checkpoint { certainty: Certainty::Always, .. } | Event::Suspend) => {
            weights.push((15, "another task can run at the checkpoint between them".to_owned()));
        }
        Some(Event::Checkpoint { certainty: Certainty::May, why: Why::Exit | Why::Enter, .. }) => {
            weights.push((
                10,
                "the `async with` between them runs code of the context manager, which may switch".to_owned(),
            ));
        }
        Some(Event::Checkpoint { .. }) => {
            weights.push((5, "another task can run between them if the call has to wait".to_owned()))
        }
        _ if program.tasks[found.task].preempted => {
            weights.push((15, "another thread can run anywhere between them".to_owned()))
        }
        _ => weights.push((5, "a thread can come in between them".to_owned())),
    }
    match found.remote {
        Some(remote) if remote.task != found.task => {
            let function = &program.facts.function(program.node(remote).function).qualified;
            weights.push((15, format!("`{function}` comes in from another task")));
        }
        Some(remote) if program.node(remote).function != graph.nodes[found.opens].function => {
            let function = &program.facts.function(program.node(remote).function).qualified;
            weights.push((10, format!("`{function}` comes in from a second task of the same kind")));
        }
        Some(_) => weights.push((10, "a second task that runs the same function comes in".to_owned())),
        None => weights.push((10, "a cancellation can strike there".to_owned())),
    }
    weights.extend(harm(program, found));
    if found.lock.is_some() && found.rule == Rule::MissingGuard {
        weights.push((10, "the other side holds a lock".to_owned()));
    }
    if found.path.iter().any(|at| graph.nodes[*at].event == Event::Opaque) {
        weights.push((-10, "a macro in the window hides its effects".to_owned()));
    }
    let own = &program.facts.function(graph.nodes[found.opens].function).name;
    let theirs = found.remote.map(|remote| program.facts.function(program.node(remote).function).name.clone());
    let paired = matches!(found.rule, Rule::PairedState | Rule::LockLifetime | Rule::MissingGuard);
    let exported = |at: usize| program.tasks[at].root.kind == RootKind::Exported;
    let unlocked =
        program.accesses.get(&found.loc).is_none_or(|all| !all.iter().any(|access| program.locked_here(*access)));
    // Where nobody is known to run in a thread, threads count only for what a lock of threads protects somewhere.
    let by_threads = found.gap.is_none() && found.rule != Rule::CancellationLeak;
    let thread = |at: usize| program.tasks[at].root.kind == RootKind::Thread;
    if program.facts.module.language == Language::Python
        && by_threads
        && !thread(found.task)
        && found.remote.is_some_and(|remote| !thread(remote.task))
        && (exported(found.task) || found.remote.is_some_and(|remote| exported(remote.task)))
        && unlocked
    {
        weights.push((-50, "although no access to it holds a lock".to_owned()));
    }
    let function = |at: usize| program.tasks[at].root.callable.function;
    let inherits = |at: usize| {
        let root = program.facts.function(function(at));
        let elsewhere = |class: &ClassId| {
            let bases = &program.facts.module.classes[class.0].bases;
            bases.iter().any(|base| program.facts.class_named(base).is_none() && base != "object" && base != "ABC")
        };
        let hook = !root.public && program.facts.calls[function(at).0] == 0;
        exported(at) && hook && root.class.as_ref().is_some_and(elsewhere)
    };
    if program.facts.module.language == Language::Python && inherits(found.task) {
        weights.push((-20, "although only a class of another file calls it, perhaps under a lock".to_owned()));
    }
    if found.remote.is_some_and(|remote| program.of_one_task(found.task, remote.task)) {
        weights.push((-50, "although it is run by one task here".to_owned()));
    }
    if !paired && (ends(own) || theirs.is_some_and(|name| ends(&name))) {
        weights.push((-15, "only a shutdown has this order".to_owned()));
        if found.rule == Rule::CheckThenAct
            && ends(own)
            && matches!(&graph.nodes[found.closes].event, Event::Write { literal: Some(text), .. } if text == "True")
        {
            weights.push((-25, "to close twice is usually allowed".to_owned()));
        }
    }
    weights
}

/// Whether the window lies in a generator that is gone over, and no manager or asynchronous one.
fn plain_generator(program: &Program<'_, '_>, found: &Found) -> bool {
    let function = program.facts.function(program.tasks[found.task].graph.nodes[found.opens].function);
    function.is_generator && !function.is_async && function.decorators.is_empty()
}

/// How sure it is that it is shared.
fn sharing(program: &Program<'_, '_>, found: &Found) -> Weight {
    let facts = program.facts;
    let name = program.names.name(found.loc);
    let task = &program.tasks[found.task];
    let remote = found.remote.map_or(task, |remote| &program.tasks[remote.task]);
    if task.known && remote.known && task.root.kind != RootKind::Exported {
        return (30, "this file starts the tasks that share it".to_owned());
    }
    let handled = |root: &crate::program::Task| {
        facts.function(root.root.callable.function).decorators.iter().any(|it| is_handler(it))
    };
    let class = name.split_once('.').and_then(|(class, _)| facts.class_named(class));
    let Some(class) = class else {
        if name.contains("<closure>") {
            return (10, "an inner function shares it".to_owned());
        }
        let handled = handled(task) || handled(remote);
        let because = if handled {
            "handlers share the module's state"
        } else {
            "it belongs to the module, and all tasks share it"
        };
        // A function that nobody here runs as a task.
        return (
            if handled || program.facts.module.functions[task.root.callable.function.0].is_async { 30 } else { 15 },
            because.to_owned(),
        );
    };
    let field = name.split_once('.').map_or("", |(_, field)| field);
    let on_class = facts.is_class_level(class, field)
        && facts.module.language == Language::Python
        && !assigned_per_object(program, found.loc);
    if on_class && matches!(program.kind(found.loc), Type::Container(_)) {
        return (30, format!("`{name}` belongs to the class, and all tasks share it"));
    }
    let by_class = |at: usize| {
        let function = facts.function(program.tasks[at].root.callable.function);
        function.class == Some(class)
            && function.decorators.iter().any(|it| it == "classmethod" || it == "staticmethod")
    };
    let shared_by_class = facts.module.language == Language::Python
        && facts.function(graph_function(program, found)).class == Some(class)
        && facts.function(graph_function(program, found)).decorators.iter().any(|it| it == "classmethod");
    if shared_by_class || by_class(found.task) {
        return (30, format!("`{name}` belongs to the class, and all tasks share it"));
    }
    let (score, because) = of_class(program, class, found);
    let lasting = ["pool", "engine", "cache", "_instance", "singleton", "registry"];
    if score == -20 && lasting.iter().any(|word| field.to_lowercase().contains(word)) {
        return (0, format!("a `{field}` is usually shared"));
    }
    (score, because)
}

/// The function that closes the window.
fn graph_function(program: &Program<'_, '_>, found: &Found) -> drawloom_syntax::FunctionId {
    program.tasks[found.task].graph.nodes[found.closes].function
}

/// Whether a class-level field is only the default of a field of each object.
fn assigned_per_object(program: &Program<'_, '_>, loc: Loc) -> bool {
    let accesses = program.accesses.get(&loc).into_iter().flatten();
    let mut writes =
        accesses.filter(|access| matches!(program.node(**access).event, Event::Write { how: Writing::Assign, .. }));
    writes.next().is_some()
}

fn of_class(program: &Program<'_, '_>, class: ClassId, found: &Found) -> Weight {
    let facts = program.facts;
    let name = &facts.module.classes[class.0].name;
    let own = |word: &str| facts.method(class, word).is_some();
    if own("__anext__")
        || own("__next__")
        || ends_with_any(
            name,
            &[
                "Request",
                "Response",
                "Cursor",
                "Iterator",
                "Reader",
                "Parser",
                "Builder",
                "Message",
                "Event",
                "Transaction",
                "Context",
                "Error",
                "Exception",
                "TestCase",
                "Test",
                "Command",
            ],
        )
    {
        return (-40, format!("although one task at a time is what a `{name}` is for"));
    }
    if facts.module.classes[class.0]
        .bases
        .iter()
        .any(|base| ends_with_any(base, &["TestCase", "Exception", "Error", "Enum", "Protocol_"]))
    {
        return (-40, format!("although one task at a time is what a `{name}` is for"));
    }
    if facts.module.language == Language::Rust {
        return (30, format!("a `{name}` can be used through a shared reference"));
    }
    let enters = |at: crate::program::Access| {
        let name = facts.function(program.node(at).function).name.as_str();
        matches!(name, "__aenter__" | "__aexit__" | "__enter__" | "__exit__")
    };
    let opens = crate::program::Access { task: found.task, node: found.opens };
    if enters(opens) && found.remote.is_some_and(enters) {
        return (-40, format!("although one task enters and leaves a `{name}`"));
    }
    let wraps = name.ends_with("Lock") && own("acquire") && own("release");
    if wraps && facts.fields_of(class).any(|(_, kind)| kind.is_lock()) {
        return (-40, format!("although a `{name}` is a lock itself"));
    }
    let mut held: Vec<&str> = facts
        .fields_of(class)
        .filter(|(_, kind)| {
            matches!(kind, Type::Lock { .. } | Type::Queue(_))
                || matches!(kind, Type::Container(inner) if matches!(**inner, Type::Lock { .. } | Type::Future))
        })
        .map(|(name, _)| name)
        .collect();
    held.sort_unstable();
    if let Some(field) = held.first() {
        return (30, format!("`{name}` has `{field}`, which only an object that tasks share needs"));
    }
    let spawns = program.tasks.iter().any(|task| {
        let root = &task.root;
        root.kind != RootKind::Exported
            && root.kind != RootKind::Entry
            && facts.function(root.callable.function).class == Some(class)
    });
    let runs = |at: usize| program.tasks[at].root.kind != RootKind::Exported;
    if spawns && (runs(found.task) || found.remote.is_some_and(|remote| runs(remote.task))) {
        return (30, format!("`{name}` starts a task over its own method"));
    }
    let global = facts.globals.values().any(|kind| *kind == Type::Object(class));
    if global {
        return (30, format!("the module has a `{name}` that every task can reach"));
    }
    let usually = [
        "Pool",
        "Cache",
        "Manager",
        "Registry",
        "Limiter",
        "Broker",
        "Hub",
        "Store",
        "Server",
        "Connector",
        "Gate",
        "Throttle",
        "Semaphore",
        "Lock",
        "Queue",
        "Scheduler",
        "Dispatcher",
        "Storage",
        "Breaker",
        "Balancer",
        "Bus",
        "Backend",
        "Service",
    ];
    let plain = ["Impl", "Base"].iter().fold(name.as_str(), |name, end| name.strip_suffix(end).unwrap_or(name));
    if usually.iter().any(|word| plain.ends_with(word)) {
        return (0, format!("a `{name}` is usually shared"));
    }
    (-20, format!("a `{name}` may be shared"))
}

fn ends_with_any(name: &str, endings: &[&str]) -> bool {
    endings.iter().any(|ending| name.ends_with(ending))
}

/// What the mistake does.
fn harm(program: &Program<'_, '_>, found: &Found) -> Vec<Weight> {
    let graph = &program.tasks[found.task].graph;
    let closing = &graph.nodes[found.closes].event;
    match found.rule {
        Rule::PairedState => vec![(10, "a task that reads both finds one without the other".to_owned())],
        Rule::LockLifetime => vec![(15, "two tasks can then hold two locks for the same key".to_owned())],
        Rule::RacedGuard => vec![(10, "two tasks can then hold two locks for the same object".to_owned())],
        Rule::Iteration => vec![(10, "the loop can then fail or skip an element".to_owned())],
        Rule::CancellationLeak => match closing {
            Event::Release { .. } => vec![(20, "the lock is then held for ever".to_owned())],
            _ => vec![(15, "the taken resource is then never released".to_owned())],
        },
        Rule::LostWakeup => vec![(15, "the task then waits for ever".to_owned())],
        Rule::WakeOrder => vec![(15, "two tasks can then both believe that they are the only one".to_owned())],
        Rule::ReadModifyWrite | Rule::AwaitInUpdate => vec![(10, "the other task's change is then lost".to_owned())],
        Rule::StaleElement if matches!(closing, Event::Write { .. }) => {
            vec![(10, "the removed element may then be another than the checked one".to_owned())]
        }
        Rule::StaleElement => vec![(5, "the change is then made to an object that no task uses any more".to_owned())],
        Rule::MissingGuard => Vec::new(),
        Rule::CheckThenAct | Rule::AtomicPair => {
            vec![(10, "both tasks then act on the same check".to_owned())]
        }
    }
}

/// The sum, and the sentence.
pub(crate) fn score(weights: &[Weight]) -> (i32, String) {
    let sum = 20 + weights.iter().map(|(weight, _)| weight).sum::<i32>();
    let said: Vec<&str> = weights.iter().map(|(_, why)| why.as_str()).collect();
    (sum.clamp(0, 100), format!("Reporting because {}.", said.join("; ")))
}
