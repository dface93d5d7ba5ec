//! All task roots of a file with their graphs, and which of them can run beside each other.

use std::collections::{BTreeMap, BTreeSet};

use drawloom_syntax::{FunctionId, Language, Span};

use crate::customs::{ends, is_handler, makes, starts};
use crate::facts::Facts;
use crate::flow;
use crate::graph::{Event, Graph, Loc, NodeId};
use crate::lower::{Callable, Names, Root, RootKind, lower};
use crate::types::{Framework, LockKind, Type, Waits};

/// A file has at most so many roots.
const MOST_ROOTS: usize = 4000;

/// A task root with its graph.
pub(crate) struct Task {
    pub(crate) root: Root,
    pub(crate) graph: Graph,
    /// The roots that its spawns begin.
    pub(crate) children: Vec<usize>,
    /// Whether another one can come in anywhere, and not at checkpoints alone.
    pub(crate) preempted: bool,
    /// Whether it runs against itself.
    pub(crate) multi: bool,
    /// Whether that is known, and not merely possible.
    pub(crate) known: bool,
}

/// An access to shared state.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Access {
    pub(crate) task: usize,
    pub(crate) node: NodeId,
}

/// How tasks take turns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Model {
    /// As the frameworks in use say.
    Auto,
    /// At checkpoints alone.
    Tasks,
    /// Anywhere.
    Threads,
}

pub(crate) struct Program<'a, 'm> {
    pub(crate) facts: &'a Facts<'m>,
    pub(crate) names: Names,
    pub(crate) tasks: Vec<Task>,
    /// Pairs that can run beside each other, but for those of which one is there for others to call: these are too many.
    beside: BTreeSet<(usize, usize)>,
    /// Of each root, whether whoever owns an object calls it once, to open or to close it.
    once: Vec<bool>,
    /// Functions that an object runs as one task, whose handle is in a field.
    pub(crate) single: BTreeMap<FunctionId, Loc>,
    /// Functions that those tasks run, itself included, with the tasks.
    pub(crate) run_by_single: BTreeMap<FunctionId, BTreeSet<FunctionId>>,
    /// The locks that are held at accesses of the same line, in any root.
    pub(crate) locks_of_line: BTreeMap<(Loc, Span), BTreeSet<BTreeSet<Loc>>>,
    /// Every access to each piece of state.
    pub(crate) accesses: BTreeMap<Loc, Vec<Access>>,
    pub(crate) model: Model,
}

impl<'a, 'm> Program<'a, 'm> {
    pub(crate) fn of(facts: &'a Facts<'m>, model: Model) -> Program<'a, 'm> {
        let mut program = Program {
            facts,
            names: Names::default(),
            tasks: Vec::new(),
            beside: BTreeSet::new(),
            once: Vec::new(),
            single: BTreeMap::new(),
            run_by_single: BTreeMap::new(),
            locks_of_line: BTreeMap::new(),
            accesses: BTreeMap::new(),
            model,
        };
        program.find_tasks();
        program.find_beside();
        program.find_accesses();
        program.find_locks();
        program.find_single();
        program
    }

    fn plain(function: FunctionId, kind: RootKind) -> Root {
        let callable = Callable { function, receiver: None, outer: None, environment: Vec::new(), given: Vec::new() };
        Root { kind, callable, given: Vec::new(), explored: false, signature: format!("{kind:?}:{}", function.0) }
    }

    fn find_tasks(&mut self) {
        let facts = self.facts;
        let mut waiting: Vec<Root> = Vec::new();
        if facts.closed && facts.module.language == Language::Rust {
            waiting.extend(facts.function_named("main").map(|main| Self::plain(main, RootKind::Entry)));
        }
        if facts.module.language == Language::Python {
            waiting.push(Self::plain(facts.top, RootKind::Entry));
        }
        let mut known: BTreeMap<String, usize> = BTreeMap::new();
        let mut reached: BTreeSet<FunctionId> = BTreeSet::new();
        self.close(&mut waiting, &mut known, &mut reached);
        // Whatever nobody here runs is there for others. A helper that somebody here calls is looked at where it is called.
        for public in [true, false] {
            for (at, function) in facts.module.functions.iter().enumerate() {
                let id = FunctionId(at);
                if id == facts.top
                    || function.is_closure
                    || (function.parent.is_some() && function.decorators.is_empty())
                {
                    continue;
                }
                if matches!(
                    function.name.as_str(),
                    "__new__"
                        | "__post_init__"
                        | "__del__"
                        | "__repr__"
                        | "__str__"
                        | "__hash__"
                        | "__eq__"
                        | "drop"
                        | "fmt"
                        | "__init_subclass__"
                        | "__reduce__"
                        | "__getstate__"
                        | "__setstate__"
                ) {
                    continue;
                }
                let handler = function.decorators.iter().any(|it| is_handler(it));
                if reached.contains(&id) && (facts.closed || !function.public) && !handler {
                    continue;
                }
                // What is private comes after what is public, which may begin or call it.
                if function.public != public || (!public && facts.calls[at] > 0 && !handler) {
                    continue;
                }
                let thread = function.name == "run"
                    && function.class.is_some_and(|class| {
                        facts.module.classes[class.0].bases.iter().any(|base| base.rsplit('.').next() == Some("Thread"))
                    });
                waiting.push(Self::plain(id, if thread { RootKind::Thread } else { RootKind::Exported }));
            }
            self.close(&mut waiting, &mut known, &mut reached);
        }
        // What is called where nobody could follow is looked at by itself.
        for (at, function) in facts.module.functions.iter().enumerate() {
            let id = FunctionId(at);
            let called = facts.calls[at] > 0 && !function.is_closure && function.parent.is_none();
            if called && id != facts.top && !reached.contains(&id) && !makes(&function.name) {
                waiting.push(Self::plain(id, RootKind::Exported));
            }
        }
        self.close(&mut waiting, &mut known, &mut reached);
    }

    fn close(
        &mut self,
        waiting: &mut Vec<Root>,
        known: &mut BTreeMap<String, usize>,
        reached: &mut BTreeSet<FunctionId>,
    ) {
        waiting.reverse();
        // Children are numbered when they are met, and lowered in turn.
        let mut queue: Vec<(Root, Option<(usize, usize)>)> =
            std::mem::take(waiting).into_iter().map(|root| (root, None)).collect();
        while let Some((root, parent)) = queue.pop() {
            let index = match known.get(&root.signature) {
                Some(index) => *index,
                None if self.tasks.len() >= MOST_ROOTS => continue,
                None => {
                    let index = self.tasks.len();
                    known.insert(root.signature.clone(), index);
                    let (mut graph, children) = lower(self.facts, &mut self.names, &root);
                    let preempted = self.preempted(&root);
                    flow::analyse(&mut graph, !preempted);
                    reached.extend(graph.nodes.iter().map(|node| node.function));
                    reached.insert(root.callable.function);
                    for (at, child) in children.iter().enumerate().rev() {
                        queue.push((child.clone(), Some((index, at))));
                    }
                    let children = vec![usize::MAX; children.len()];
                    let known = root.kind != RootKind::Exported;
                    self.tasks.push(Task { root, graph, children, preempted, multi: false, known });
                    index
                }
            };
            if let Some((parent, at)) = parent {
                self.tasks[parent].children[at] = index;
            }
        }
    }

    /// Whether another one can come in anywhere.
    fn preempted(&self, root: &Root) -> bool {
        let facts = self.facts;
        if facts.module.language == Language::Rust {
            return true;
        }
        match self.model {
            Model::Tasks => return false,
            Model::Threads => return true,
            Model::Auto => {}
        }
        let function = facts.function(root.callable.function);
        match root.kind {
            RootKind::Thread => true,
            RootKind::Task => false,
            RootKind::Entry => facts.has_threads(),
            RootKind::Exported => {
                let by_threads = facts.frameworks == [Framework::Threads] && facts.starts_threads;
                let owns = function.class.is_some_and(|class| {
                    facts.fields_of(class).any(|(_, kind)| matches!(kind, Type::Lock { waits: Waits::Threads, kind } if *kind != LockKind::Semaphore))
                });
                !function.is_async && facts.has_threads() && (by_threads || owns)
            }
        }
    }

    fn find_beside(&mut self) {
        let count = self.tasks.len();
        // All roots that each one begins, itself included.
        let mut below: Vec<BTreeSet<usize>> = (0..count).map(|at| BTreeSet::from([at])).collect();
        for _ in 0..8 {
            let mut grown = false;
            for at in 0..count {
                for child in self.tasks[at].children.clone() {
                    if child == usize::MAX {
                        continue;
                    }
                    let more: Vec<usize> =
                        below[child].iter().copied().filter(|one| !below[at].contains(one)).collect();
                    grown |= !more.is_empty();
                    below[at].extend(more);
                }
            }
            if !grown {
                break;
            }
        }
        self.once = (0..count)
            .map(|at| {
                let function = self.facts.function(self.tasks[at].root.callable.function);
                let plain = function.parameters.len() <= 2;
                let exported = self.tasks[at].root.kind == RootKind::Exported;
                exported && plain && (starts(&function.name) || ends(&function.name))
            })
            .collect();
        let mut beside: BTreeSet<(usize, usize)> = BTreeSet::new();
        for task in &self.tasks {
            for (at, node) in task.graph.nodes.iter().enumerate() {
                let Event::Spawn { root, many } = node.event else { continue };
                let Some(child) = task.children.get(root).copied().filter(|child| *child != usize::MAX) else {
                    continue;
                };
                let mut others: BTreeSet<usize> = BTreeSet::new();
                if many {
                    others.extend(&below[child]);
                }
                for alive in &task.graph.alive[at] {
                    if let Event::Spawn { root, .. } = task.graph.nodes[*alive].event
                        && let Some(other) = task.children.get(root).copied().filter(|other| *other != usize::MAX)
                    {
                        others.extend(&below[other]);
                    }
                }
                for one in &below[child] {
                    for other in &others {
                        beside.insert((*one, *other));
                        beside.insert((*other, *one));
                    }
                }
                // A child's own children run beside it, and while it runs.
                for grandchild in below[child].iter().filter(|one| **one != child) {
                    beside.insert((child, *grandchild));
                    beside.insert((*grandchild, child));
                }
            }
        }
        let exported: Vec<usize> = (0..count).filter(|at| self.tasks[*at].root.kind == RootKind::Exported).collect();
        for one in &exported {
            // What an exported function begins can be there many times, unless it is what starts the object.
            let function = self.facts.function(self.tasks[*one].root.callable.function);
            if starts(&function.name) {
                continue;
            }
            for below in below[*one].iter().filter(|below| !self.tasks[**below].root.explored) {
                beside.insert((*below, *below));
            }
        }
        // Whoever runs many times has many children.
        let many: Vec<usize> = (0..count)
            .filter(|at| beside.contains(&(*at, *at)) || self.called_beside(*at, *at))
            .filter(|at| {
                let root = &self.tasks[*at].root;
                root.kind != RootKind::Exported || !starts(&self.facts.function(root.callable.function).name)
            })
            .collect();
        for one in many {
            for child in below[one].iter().filter(|child| !self.tasks[**child].root.explored) {
                beside.insert((*child, *child));
            }
        }
        for at in 0..count {
            self.tasks[at].multi = beside.contains(&(at, at)) || self.called_beside(at, at);
            if self.tasks[at].root.kind == RootKind::Exported {
                let function = self.facts.function(self.tasks[at].root.callable.function);
                self.tasks[at].known = function.decorators.iter().any(|it| is_handler(it));
            }
        }
        self.beside = beside;
    }

    /// Whether the other task can run while the first one is at this node.
    pub(crate) fn runs_beside(&self, at: Access, other: Access) -> bool {
        if self.beside.contains(&(at.task, other.task)) || self.called_beside(at.task, other.task) {
            return true;
        }
        self.is_alive(at, other.task) || self.is_alive(other, at.task)
    }

    /// Whether one of them is there for others to call, who may do so while the other one runs.
    fn called_beside(&self, one: usize, other: usize) -> bool {
        let kind = |at: usize| self.tasks[at].root.kind;
        let exported = kind(one) == RootKind::Exported || kind(other) == RootKind::Exported;
        let entry = kind(one) == RootKind::Entry || kind(other) == RootKind::Entry;
        // What is explored has an object of its own each time, which nobody else knows.
        let explored = self.tasks[one].root.explored || self.tasks[other].root.explored;
        if !exported || entry || explored {
            return false;
        }
        !(self.once[one] && self.once[other])
    }

    fn is_alive(&self, at: Access, other: usize) -> bool {
        let task = &self.tasks[at.task];
        task.graph.alive[at.node].iter().any(|spawn| match task.graph.nodes[*spawn].event {
            Event::Spawn { root, .. } => task
                .children
                .get(root)
                .is_some_and(|child| *child == other || (*child != usize::MAX && self.begins(*child, other, 0))),
            _ => false,
        })
    }

    fn begins(&self, task: usize, other: usize, depth: usize) -> bool {
        depth < 6
            && self.tasks[task].children.iter().any(|child| {
                *child == other || (*child != usize::MAX && *child != task && self.begins(*child, other, depth + 1))
            })
    }

    fn find_accesses(&mut self) {
        for (at, task) in self.tasks.iter().enumerate() {
            let exported = task.root.kind == RootKind::Exported;
            if exported && makes(&self.facts.function(task.root.callable.function).name) {
                continue;
            }
            for (node, it) in task.graph.nodes.iter().enumerate() {
                let (Event::Read { loc, .. } | Event::Write { loc, .. }) = &it.event else { continue };
                // Whoever makes an object has it alone.
                if makes(&self.facts.function(it.function).name) {
                    continue;
                }
                // What no path reaches is not done.
                if node != 0 && task.graph.before[node].is_empty() {
                    continue;
                }
                self.accesses.entry(*loc).or_default().push(Access { task: at, node });
            }
        }
    }

    pub(crate) fn node(&self, access: Access) -> &crate::graph::Node {
        &self.tasks[access.task].graph.nodes[access.node]
    }

    /// What a task is called: after the function that it runs.
    pub(crate) fn label(&self, task: usize) -> String {
        let function = self.facts.function(self.tasks[task].root.callable.function);
        match function.qualified.as_str() {
            "" => "main program".to_owned(),
            name => name.to_owned(),
        }
    }
}
