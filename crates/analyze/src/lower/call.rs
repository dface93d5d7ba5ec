//! Calls of functions of the file: their bodies are put in place.

use std::collections::BTreeMap;
use std::rc::Rc;

use drawloom_syntax::{Argument, Expr, FunctionId, Kind, Span};

use super::value::{Pending, merge};
use super::{Body, Callable, DEEPEST, Frame, Lowerer, MOST_NODES, Val};
use crate::graph::{Certainty, Event, Why};
use crate::types::Type;

/// Arguments, each with the name that it is passed by.
pub(super) type Given = Vec<(Option<String>, Val)>;

impl<'m> Lowerer<'_, 'm> {
    pub(super) fn arguments(&mut self, given: &'m [Argument]) -> Given {
        let mut all = Vec::new();
        for argument in given {
            let value = self.expression(&argument.value);
            all.push((argument.name.clone(), value));
        }
        all
    }

    /// A call; `awaited` if what it gives is awaited at once.
    pub(super) fn call(&mut self, callee: &'m Expr, given: &'m [Argument], awaited: bool, span: Span) -> Val {
        let discards = std::mem::take(&mut self.discards);
        if let Some(value) = self.spawns(callee, given, awaited, span) {
            return value;
        }
        if awaited
            && let Kind::Attribute(_, name) | Kind::Name(name) = &callee.kind
            && name == "checkpoint_if_cancelled"
        {
            // Whoever writes it as a loop has it run only for those who are cancelled.
            self.arguments(given);
            self.checkpoint(Certainty::May, Why::CancelOnly, "", span);
            return Val::default();
        }
        let target = match &callee.kind {
            Kind::Attribute(base, name) if name == "__await__" => {
                let value = self.place(base);
                if let Some(pending) = value.pending.clone() {
                    return self.run(&pending, span);
                }
                self.attribute(value, name, span)
            }
            Kind::Attribute(base, name) => {
                let base = self.place(base);
                if let Some(value) = self.library_method(base.clone(), name, given, awaited, discards, callee, span) {
                    return value;
                }
                self.attribute(base, name, span)
            }
            Kind::Name(name) if name == "super" => Val::of(self.own_class()),
            Kind::Name(name) if name.contains("::") => {
                match self.facts.callee(callee, Some(self.frames[self.frame].function)) {
                    Some(id) => {
                        let takes_self = self.facts.function(id).parameters.first().is_some_and(|it| it.name == "self");
                        if takes_self {
                            let mut given = self.arguments(given);
                            let receiver = if given.is_empty() { Val::default() } else { given.remove(0).1 };
                            return self.method_call(id, receiver, given, awaited, span);
                        }
                        self.callable(id, None)
                    }
                    None => Val { text: name.clone(), ..Val::default() },
                }
            }
            _ => self.place(callee),
        };
        let kept = target.place.and_then(|loc| self.names.functions.get(&loc).cloned());
        if let Some(callable) = target.callable.clone().or(kept) {
            let given = self.arguments(given);
            return self.invoke(&callable, given, awaited, span);
        }
        if let Type::Class(class) = target.kind {
            let given = self.arguments(given);
            let reads = given.iter().flat_map(|(_, value)| value.reads.clone()).collect::<Vec<_>>();
            return Val { kind: Type::Object(class), fresh: true, ..Val::default() }.with(&sorted(reads));
        }
        self.library_function(callee, given, awaited, &target, span)
    }

    fn own_class(&self) -> Type {
        let class = self.facts.function(self.frames[self.frame].function).class;
        let base = class.and_then(|class| {
            let bases = &self.facts.module.classes[class.0].bases;
            bases.iter().find_map(|base| self.facts.class_named(base))
        });
        base.map(Type::Object).unwrap_or_default()
    }

    /// A closure that is given to a method runs at once, and often many times: `map`, `for_each`, `retain` …
    pub(super) fn closures(&mut self, given: &Given, span: Span) -> Val {
        let mut all = Val::default();
        for (_, value) in given {
            let Some(callable) = value.callable.clone().filter(|_| value.pending.is_none()) else { continue };
            if self.unreachable() {
                break;
            }
            self.loops += 1;
            let head = self.emit(Event::Nothing, span);
            let result = self.invoke(&callable, Vec::new(), false, span);
            for (from, edge) in self.tails.clone() {
                self.graph.nodes[from].next.push((head, edge));
            }
            self.loops -= 1;
            merge(&mut all.reads, &result.reads);
            merge(&mut all.spawned, &result.spawned);
        }
        all
    }

    pub(super) fn method_call(
        &mut self,
        id: FunctionId,
        receiver: Val,
        given: Given,
        awaited: bool,
        span: Span,
    ) -> Val {
        let callable = Callable {
            function: id,
            receiver: Some(receiver),
            outer: None,
            environment: Vec::new(),
            given: Vec::new(),
        };
        self.invoke(&callable, given, awaited, span)
    }

    /// Calls a function of the file.
    pub(super) fn invoke(&mut self, callable: &Callable, given: Given, awaited: bool, span: Span) -> Val {
        let function = self.facts.function(callable.function);
        let pending = Pending { callable: callable.clone(), given };
        let is_generator = function.is_generator && !self.is_rust();
        let later = (function.is_async && !awaited) || is_generator;
        if later {
            let text = function.qualified.clone();
            return Val { pending: Some(Rc::new(pending)), text, ..Val::default() };
        }
        self.run(&pending, span)
    }

    /// Whether a call gives a context manager made of a generator of the file.
    pub(super) fn generator(&self, pending: &Pending) -> bool {
        let function = self.facts.function(pending.callable.function);
        function.is_generator
            && function.decorators.iter().any(|it| it.ends_with("contextmanager") || it == "acm" || it == "cm")
    }

    pub(super) fn through_generator(&mut self, pending: &Pending, body: Body<'m>, span: Span) -> Val {
        if !self.can_enter(pending.callable.function) {
            self.exit_checkpoint(span);
            let Body { items, statements, is_async, .. } = body;
            let value = self.with_(items, statements, is_async);
            if !self.unreachable() {
                self.exit_checkpoint(span);
            }
            return value;
        }
        self.enter(pending, Some(body), span)
    }

    fn can_enter(&self, function: FunctionId) -> bool {
        !self.facts.is_abstract(function)
            && self.active.len() <= DEEPEST
            && !self.active.contains(&function)
            && self.graph.nodes.len() < MOST_NODES
    }

    /// Runs the body of a call.
    pub(super) fn run(&mut self, pending: &Pending, span: Span) -> Val {
        let id = pending.callable.function;
        if !self.can_enter(id) {
            let function = self.facts.function(id);
            if function.is_async {
                let certainty = self.facts.suspends[id.0];
                if certainty != Certainty::Never {
                    let why = if function.name == "wait" { Why::Wakeup } else { Why::Await };
                    self.checkpoint(certainty, why, "", span);
                }
            }
            let reads = pending.given.iter().flat_map(|(_, value)| value.reads.clone()).collect();
            return Val::from(sorted(reads));
        }
        self.enter(pending, None, span)
    }

    fn enter(&mut self, pending: &Pending, body: Option<Body<'m>>, span: Span) -> Val {
        let callable = &pending.callable;
        let id = callable.function;
        self.active.push(id);
        let caller = self.frame;
        self.frames.push(Frame {
            function: id,
            variables: BTreeMap::new(),
            outer: callable.outer.filter(|outer| *outer < self.frames.len()),
            suffix: format!("'{}", self.frames.len()),
            returns: Vec::new(),
            result: None,
            base: self.unwinds.len(),
            body,
        });
        let frame = self.frames.len() - 1;
        self.frame = frame;
        let mut given: Given = callable.given.clone();
        given.extend(pending.given.iter().cloned());
        self.bind_parameters(frame, callable, &given);
        if callable.outer.is_none() {
            for (name, value) in &callable.environment {
                self.frames[frame].variables.entry(Rc::from(name.as_str())).or_insert_with(|| Rc::new(value.clone()));
            }
        }
        let (controls, jumped) = (self.controls.len(), self.jumped);
        let statements = &self.facts.function(id).body;
        let last = self.block(statements);
        self.controls.truncate(controls);
        self.jumped = jumped;
        let own = &mut self.frames[frame];
        let returns = std::mem::take(&mut own.returns);
        let result = own.result.take();
        self.tails.extend(returns);
        self.tails.sort_unstable();
        self.tails.dedup();
        self.frame = caller;
        self.active.pop();
        let _ = span;
        let value = match result {
            Some(result) if self.is_rust() => result.join(&last),
            Some(result) => result,
            None if self.is_rust() => last,
            None => Val::default(),
        };
        for guard in &value.guards {
            if !self.temporaries.contains(guard) {
                self.temporaries.push(*guard);
            }
        }
        value
    }

    pub(super) fn bind_parameters(&mut self, frame: usize, callable: &Callable, given: &Given) {
        let function = self.facts.function(callable.function);
        let is_static = function.decorators.iter().any(|it| it == "staticmethod");
        let mut names: Vec<&str> = function.parameters.iter().map(|parameter| parameter.name.as_str()).collect();
        let mut values: Vec<(&str, Val)> = Vec::new();
        let method = function.class.is_some() && !is_static;
        let takes_self = if self.is_rust() { names.first() == Some(&"self") } else { method };
        if takes_self && !names.is_empty() {
            let own = names.remove(0);
            let class = function.class.map(|class| {
                let of_class = function.decorators.iter().any(|it| it == "classmethod");
                if of_class { Type::Class(class) } else { Type::Object(class) }
            });
            let mut receiver = callable.receiver.clone().unwrap_or_default();
            receiver.kind = class.unwrap_or_default();
            receiver.reads = Vec::new();
            receiver.bound = None;
            if receiver.text.is_empty() {
                receiver.text = own.to_owned();
            }
            if self.is_rust() {
                // What is exclusively borrowed or owned is not shared; what is in it by type is.
                receiver.place = None;
                receiver.key = None;
            }
            values.push((own, receiver));
        }
        let mut positional = given.iter().filter(|(name, _)| name.is_none());
        for name in names {
            let named = given.iter().find(|(given, _)| given.as_deref() == Some(name)).map(|(_, value)| value);
            let kind = self.facts.local(callable.function, name).cloned().unwrap_or_default();
            let value = match named.or_else(|| positional.next().map(|(_, value)| value)) {
                Some(value) => Val { kind: value.kind.clone().or(&kind), ..value.clone() },
                None => {
                    let shared = self.is_rust() && super::expression::lockable(&kind);
                    let place = shared.then(|| self.variable(callable.function, name));
                    Val { kind, place, text: name.to_owned(), ..Val::default() }
                }
            };
            values.push((name, value));
        }
        for (name, value) in values {
            self.frames[frame].variables.insert(Rc::from(name), Rc::new(value));
        }
    }
}

pub(super) fn sorted(mut reads: Vec<usize>) -> Vec<usize> {
    reads.sort_unstable();
    reads.dedup();
    reads
}
