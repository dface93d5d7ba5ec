//! Where tasks and threads begin.

use drawloom_syntax::{Argument, Expr, Kind, Span};

use super::value::Pending;
use super::{Callable, Lowerer, Root, RootKind, Val};
use crate::graph::{Certainty, Event, NodeId, Why};
use crate::types::Type;

/// How a function that begins tasks treats its arguments.
enum Spawner {
    /// Begins a task, and goes on.
    Task,
    /// Begins a thread, and goes on.
    Thread,
    /// Begins a task for each argument, and waits for all of them.
    AllTasks,
    /// Runs all functions that it is given beside each other, in many orders, and waits for them.
    Explores,
    /// Begins a task and waits until it says that it has started.
    Started,
    /// Begins a thread and waits for its end.
    ThreadEnd,
    /// Begins a task for each client that comes.
    Serves,
    /// Runs a task until its end.
    Runs,
}

impl<'m> Lowerer<'_, 'm> {
    fn spawner(&self, callee: &Expr, awaited: bool) -> Option<Spawner> {
        let (name, method) = match &callee.kind {
            Kind::Attribute(_, name) => (name.as_str(), true),
            Kind::Name(name) => (name.rsplit("::").next().unwrap_or(name), false),
            _ => return None,
        };
        if self.is_rust() {
            let path = self.facts.path(callee).unwrap_or_default();
            return match name {
                "spawn" | "spawn_local" | "spawn_on" | "spawn_scoped" if method => {
                    Some(if path.contains("rayon") { Spawner::Thread } else { Spawner::Task })
                }
                "spawn" if path.contains("thread") || path.contains("rayon") => Some(Spawner::Thread),
                "spawn" | "spawn_local" | "spawn_pinned" => Some(Spawner::Task),
                "spawn_blocking" => Some(Spawner::Thread),
                "block_on" => Some(Spawner::Runs),
                _ => None,
            };
        }
        Some(match name {
            "start_soon"
            | "create_task"
            | "ensure_future"
            | "run_coroutine_threadsafe"
            | "call_soon"
            | "call_later"
            | "call_at"
            | "call_soon_threadsafe"
            | "add_done_callback"
            | "spawn"
            | "spawn_system_task"
            | "add_background_task"
            | "create_background_task"
            | "start_background_task"
            | "soonify"
            | "run_sync_soon" => Spawner::Task,
            "explore" | "explore_dpor" | "explore_interleavings" if !awaited => Spawner::Explores,
            "start" if awaited => Spawner::Started,
            // `event.wait()` is a method of the event.
            "wait" if self.is_event(callee) => return None,
            "gather" | "wait" | "as_completed" => Spawner::AllTasks,
            "start_server" | "serve_tcp" | "open_tcp_listeners" | "serve_listeners" | "serve" | "start_unix_server"
                if awaited =>
            {
                Spawner::Serves
            }
            "Thread" | "Timer" | "start_new_thread" | "Process" => Spawner::Thread,
            "submit" | "apply_async" | "map_async" => Spawner::Thread,
            "map" | "starmap" | "imap" | "imap_unordered" if method && self.is_pool(callee) => Spawner::Thread,
            "run_in_executor" | "to_thread" | "run_sync" if awaited => Spawner::ThreadEnd,
            "run_in_executor" => Spawner::Thread,
            "run" | "run_until_complete" => {
                let path = self.facts.path(callee).unwrap_or_default();
                let runs = matches!(path.as_str(), "asyncio.run" | "trio.run" | "anyio.run" | "uvloop.run")
                    || name == "run_until_complete";
                return runs.then_some(Spawner::Runs);
            }
            _ => return None,
        })
    }

    fn is_event(&self, callee: &Expr) -> bool {
        let Kind::Attribute(base, _) = &callee.kind else { return false };
        matches!(self.facts.infer(base, Some(self.frames[self.frame].function)), Type::Event(_))
    }

    /// Whether a method is one of a pool of threads.
    fn is_pool(&self, callee: &Expr) -> bool {
        let Kind::Attribute(base, _) = &callee.kind else { return false };
        self.facts.infer(base, Some(self.frames[self.frame].function)) == Type::Group && self.facts.has_threads()
    }

    /// A call that begins tasks, if it is one.
    pub(super) fn spawns(&mut self, callee: &'m Expr, given: &'m [Argument], awaited: bool, span: Span) -> Option<Val> {
        let spawner = self.spawner(callee, awaited)?;
        let function = self.frames[self.frame].function;
        // A method of that name in the file is what it says there.
        if self.facts.callee(callee, Some(function)).is_some() {
            return None;
        }
        if let Kind::Attribute(base, _) = &callee.kind {
            self.place(base);
        }
        let values: Vec<(Option<String>, Val)> = self.arguments(given);
        let mut bodies: Vec<Pending> = Vec::new();
        let mut rest: Vec<(Option<String>, Val)> = Vec::new();
        for (name, value) in &values {
            let many = value.elements.iter();
            let own = std::iter::once(value).filter(|_| !matches!(spawner, Spawner::Explores));
            for one in own.chain(many) {
                if let Some(pending) = &one.pending {
                    bodies.push((**pending).clone());
                } else if let Some(callable) = &one.callable {
                    bodies.push(Pending { callable: (**callable).clone(), given: Vec::new() });
                } else if std::ptr::eq(one, value) && name.as_deref() != Some("name") {
                    rest.push((name.clone(), value.clone()));
                }
            }
        }
        if matches!(spawner, Spawner::Explores) {
            let state = self.explored_state(&values, span);
            for body in bodies.iter_mut().filter(|body| body.given.is_empty()) {
                body.given.push((None, state.clone()));
            }
        }
        let single = !matches!(spawner, Spawner::AllTasks | Spawner::Explores);
        if single {
            bodies.truncate(1);
        }
        if bodies.is_empty() && !matches!(spawner, Spawner::AllTasks) {
            if !awaited {
                return Some(Val { kind: self.handle(&spawner), ..Val::default() });
            }
            self.checkpoint(Certainty::Always, Why::Await, "", span);
            return Some(Val::default());
        }
        if single && bodies[0].given.is_empty() {
            bodies[0].given = passed(&rest);
        }
        let kind = match spawner {
            Spawner::Thread | Spawner::ThreadEnd | Spawner::Explores => RootKind::Thread,
            _ => RootKind::Task,
        };
        let path = self.facts.path(callee).unwrap_or_default();
        let maps = matches!(path.rsplit('.').next(), Some("map" | "starmap" | "imap" | "imap_unordered" | "map_async"));
        let all = maps || matches!(spawner, Spawner::Serves);
        let mut spawned: Vec<NodeId> = Vec::new();
        for body in bodies {
            let explored = matches!(spawner, Spawner::Explores);
            // Tasks are explored as tasks.
            let is_async = self.facts.function(body.callable.function).is_async;
            let kind = if explored && is_async { RootKind::Task } else { kind };
            let node = self.begin(kind, body, all, span);
            if explored && let Event::Spawn { root, .. } = self.graph.nodes[node].event {
                self.spawned[root].explored = true;
            }
            spawned.push(node);
        }
        // What was made here may be known to the new task from now on.
        for frame in &mut self.frames {
            for value in frame.variables.values_mut() {
                if value.fresh && matches!(value.kind, Type::Object(_)) {
                    std::rc::Rc::make_mut(value).fresh = false;
                }
            }
        }
        let known: Vec<NodeId> = values.iter().flat_map(|(_, value)| value.spawned.clone()).collect();
        match spawner {
            Spawner::AllTasks => {
                let mut over = spawned.clone();
                over.extend(&known);
                if awaited {
                    self.checkpoint(Certainty::May, Why::Wakeup, "if it has to wait", span);
                    self.emit(Event::Join(Some(over)), span);
                    return Some(Val::default());
                }
                return Some(Val { kind: Type::Future, spawned: over, ..Val::default() });
            }
            Spawner::ThreadEnd | Spawner::Runs | Spawner::Explores => {
                if awaited {
                    self.checkpoint(Certainty::Always, Why::Await, "", span);
                }
                self.emit(Event::Join(Some(spawned)), span);
                return Some(Val::default());
            }
            Spawner::Started | Spawner::Serves => {
                self.checkpoint(Certainty::Always, Why::Await, "", span);
            }
            Spawner::Task | Spawner::Thread if awaited => {
                self.checkpoint(Certainty::Always, Why::Await, "", span);
                self.emit(Event::Join(Some(spawned)), span);
                return Some(Val::default());
            }
            Spawner::Task | Spawner::Thread => {}
        }
        Some(Val { kind: self.handle(&spawner), spawned, fresh: true, ..Val::default() })
    }

    /// What is explored: `setup`, or the first argument, makes it. What its functions are is known from then on.
    fn explored_state(&mut self, values: &[(Option<String>, Val)], span: Span) -> Val {
        let named = values.iter().find(|(name, _)| name.as_deref() == Some("setup"));
        let Some((_, setup)) = named.or_else(|| values.first().filter(|(name, _)| name.is_none())) else {
            return Val::default();
        };
        self.makes = true;
        let made = match (&setup.kind, setup.callable.clone()) {
            (Type::Class(class), _) => {
                if let Some(init) = self.facts.method(*class, "__init__") {
                    let own = Val { kind: Type::Object(*class), text: "state".to_owned(), ..Val::default() };
                    self.method_call(init, own, Vec::new(), false, span);
                }
                Type::Object(*class)
            }
            (_, Some(callable)) => self.invoke(&callable, Vec::new(), false, span).kind,
            _ => Type::Unknown,
        };
        self.makes = false;
        Val { kind: made, text: "state".to_owned(), ..Val::default() }
    }

    fn handle(&self, spawner: &Spawner) -> Type {
        match spawner {
            Spawner::Task | Spawner::Thread => Type::Future,
            _ => Type::Unknown,
        }
    }

    /// Begins a task root.
    fn begin(&mut self, kind: RootKind, body: Pending, many: bool, span: Span) -> NodeId {
        let receiver = body.callable.receiver.as_ref().map(Val::detached);
        let given: Vec<(Option<String>, Val)> =
            body.given.iter().map(|(name, value)| (name.clone(), value.detached())).collect();
        let environment = body.callable.environment.clone();
        let function = body.callable.function;
        let mut signature = format!("{kind:?}:{}", function.0);
        for value in receiver.iter().chain(given.iter().map(|(_, value)| value)) {
            signature += "|";
            signature += &value.signature();
        }
        let callable = Callable { function, receiver, outer: None, environment, given: detached(&body.callable.given) };
        let root = Root { kind, callable, given, explored: false, signature };
        let index = match self.spawned.iter().position(|known| known.signature == root.signature) {
            Some(known) => known,
            None => {
                self.spawned.push(root);
                self.spawned.len() - 1
            }
        };
        self.emit(Event::Spawn { root: index, many }, span)
    }

    /// Futures that run beside each other, and are waited for.
    pub(super) fn joined(&mut self, parts: &'m [Expr], span: Span) {
        let mut spawned = Vec::new();
        for part in parts {
            let value = self.place(part);
            if let Some(pending) = value.pending {
                spawned.push(self.begin(RootKind::Task, (*pending).clone(), false, span));
            }
            spawned.extend(value.spawned);
        }
        self.checkpoint(Certainty::Always, Why::Await, "", span);
        self.emit(Event::Join(Some(spawned)), span);
    }
}

/// The arguments of the function that a task runs: those after it, or `args=(…)`.
fn passed(rest: &[(Option<String>, Val)]) -> Vec<(Option<String>, Val)> {
    let named = rest.iter().find(|(name, _)| name.as_deref() == Some("args")).map(|(_, value)| &value.elements);
    match named {
        Some(elements) => elements.iter().map(|value| (None, value.clone())).collect(),
        None => rest.to_vec(),
    }
}

fn detached(given: &[(Option<String>, Val)]) -> Vec<(Option<String>, Val)> {
    given.iter().map(|(name, value)| (name.clone(), value.detached())).collect()
}
