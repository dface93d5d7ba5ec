//! The paths under construction: nodes, ways out of blocks, variables.

use std::collections::BTreeMap;
use std::rc::Rc;

use drawloom_syntax::{Expr, Kind, Language, Span};

use super::{Catch, Frame, Lowerer, Root, Unwind, Val};
use crate::graph::{Edge, Event, Loc, Node, NodeId, Reading, Writing};
use crate::types::Type;

/// The variables of all frames, at some point.
pub(super) type Variables = Vec<BTreeMap<Rc<str>, Rc<Val>>>;

impl<'m> Lowerer<'_, 'm> {
    pub(super) fn root(&mut self, root: &Root) {
        let function = root.callable.function;
        let span = self.facts.function(function).head;
        self.frames.push(Frame {
            function,
            variables: BTreeMap::new(),
            outer: None,
            suffix: String::new(),
            returns: Vec::new(),
            result: None,
            base: 0,
            body: None,
        });
        self.catches.push(Catch::default());
        self.emit(Event::Nothing, span);
        self.bind_parameters(0, &root.callable, &root.given);
        for (name, value) in &root.callable.environment {
            self.frames[0].variables.entry(Rc::from(name.as_str())).or_insert_with(|| Rc::new(value.clone()));
        }
        self.active.push(function);
        let body = &self.facts.function(function).body;
        let value = self.block(body);
        self.tails.extend(std::mem::take(&mut self.frames[0].returns));
        self.release(&value.guards, span);
        let end = self.facts.function(function).span;
        let end = Span { line: end.end_line, column: 1, end_line: end.end_line, end_column: 1 };
        let normal = self.emit(Event::Nothing, end);
        let catch = self.catches.pop().unwrap_or_default();
        self.tails = catch.errors.iter().map(|node| (*node, Edge::Error)).collect();
        let error = self.emit(Event::Nothing, end);
        self.tails = catch.cancels.iter().map(|node| (*node, Edge::Cancel)).collect();
        let cancel = self.emit(Event::Nothing, end);
        self.graph.ends = [normal, error, cancel];
    }

    pub(super) fn emit(&mut self, event: Event, span: Span) -> NodeId {
        let id = self.graph.nodes.len();
        // Whoever makes an object has it alone.
        let event = if self.makes && event.touches().is_some() { Event::Nothing } else { event };
        for (from, edge) in std::mem::take(&mut self.tails) {
            self.graph.nodes[from].next.push((id, edge));
        }
        self.graph.nodes.push(Node {
            event,
            span,
            function: self.frames[self.frame].function,
            call: self.frame,
            next: Vec::new(),
            controls: self.controls.clone(),
            cleanup: self.cleanup > 0,
        });
        self.tails.push((id, Edge::Normal));
        id
    }

    /// Whether no path comes here.
    pub(super) fn unreachable(&self) -> bool {
        self.tails.is_empty()
    }

    /// Something that can raise; whether a cancellation is among it.
    pub(super) fn raises(&mut self, node: NodeId, cancels: bool) {
        if let Some(catch) = self.catches.last_mut() {
            catch.errors.push(node);
            if cancels {
                catch.cancels.push(node);
            }
        }
    }

    pub(super) fn is_rust(&self) -> bool {
        self.facts.module.language == Language::Rust
    }

    /// Reads what a value is stored in, unless it is there to order tasks.
    pub(super) fn read(&mut self, value: Val, span: Span) -> Val {
        self.read_as(value, Reading::Value, span)
    }

    pub(super) fn read_as(&mut self, mut value: Val, how: Reading, span: Span) -> Val {
        let Some(loc) = value.place else { return value };
        if value.kind.synchronises() || matches!(value.kind, Type::Around(..) | Type::Atomic | Type::Class(_)) {
            return value;
        }
        if matches!(value.kind, Type::ConcurrentMap(_)) && value.key.is_none() && how == Reading::Value {
            return value;
        }
        // What is in an object of the file is looked at field by field.
        if matches!(value.kind, Type::Object(_)) && self.is_rust() && value.key.is_none() && value.guards.is_empty() {
            return value;
        }
        let node = self.emit(Event::Read { loc, key: value.key.clone(), how }, span);
        if value.key.is_some() && !self.is_rust() {
            self.raises(node, false);
        }
        value.reads = vec![node];
        if !matches!(value.kind, Type::Plain) {
            value.bound = Some(node);
        }
        // From here on it is a value, and changes of the variable change nothing else; an object stays the same one.
        if !matches!(value.kind, Type::Container(_) | Type::Object(_) | Type::Cell(_)) || value.key.is_some() {
            value.place = None;
            value.key = None;
        }
        value
    }

    pub(super) fn write(&mut self, loc: Loc, key: Option<String>, how: Writing, value: &Val, span: Span) -> NodeId {
        let mut from = value.reads.clone();
        crate::lower::merge(&mut from, &value.far);
        let event = Event::Write {
            loc,
            key,
            how,
            from,
            literal: match value.kind {
                Type::Lock { .. } => Some(crate::graph::LOCK.to_owned()),
                Type::Future if value.fresh => Some(crate::graph::FUTURE.to_owned()),
                _ if value.literal.is_none() && self.is_part(&value.text) => Some(crate::graph::PART.to_owned()),
                _ => value.literal.clone(),
            },
            own: value.fresh && !matches!(how, Writing::Assign),
        };
        self.emit(event, span)
    }

    /// Whether a value is an attribute of a variable that the function returns.
    fn is_part(&self, text: &str) -> bool {
        let Some((base, _)) = text.split_once('.') else { return false };
        let name = base.split('\'').next().unwrap_or(base);
        let function = self.facts.function(self.frames[self.frame].function);
        let is_own = !self.is_rust() && function.parameters.iter().all(|parameter| parameter.name != name);
        let mut returned = false;
        if is_own && self.facts.local(self.frames[self.frame].function, name).is_some() {
            for statement in &function.body {
                statement.walk(&mut |expr| {
                    returned |= matches!(&expr.kind, Kind::Return(Some(value)) if matches!(&value.kind, Kind::Name(it) if it == name));
                });
            }
        }
        returned
    }

    pub(super) fn release(&mut self, guards: &[NodeId], span: Span) {
        for guard in guards {
            let Event::Acquire { lock, key, .. } = self.graph.nodes[*guard].event.clone() else { continue };
            if !self.unreachable() {
                self.emit(Event::Release { lock, key }, span);
            }
        }
        self.temporaries.retain(|temporary| !guards.contains(temporary));
    }

    pub(super) fn variables(&self) -> Variables {
        self.frames.iter().map(|frame| frame.variables.clone()).collect()
    }

    pub(super) fn set_variables(&mut self, variables: Variables) {
        for (frame, variables) in self.frames.iter_mut().zip(variables) {
            frame.variables = variables;
        }
    }

    /// What variables are after one of two paths; `others` are those of the other one.
    pub(super) fn join_variables(&mut self, others: Variables) {
        for (frame, others) in self.frames.iter_mut().zip(others) {
            for (name, other) in others {
                match frame.variables.get_mut(&name) {
                    Some(own) if Rc::ptr_eq(own, &other) => {}
                    Some(own) => *own = Rc::new(own.join(&other)),
                    None => {
                        frame.variables.insert(name, other);
                    }
                }
            }
        }
    }

    /// Leaves all blocks down to `depth`, doing what each wants done.
    pub(super) fn unwind(&mut self, depth: usize, span: Span) {
        let mut taken = Vec::new();
        let mut catches = Vec::new();
        while self.unwinds.len() > depth && !self.unreachable() {
            let Some(top) = self.unwinds.pop() else { break };
            let (frame, cleanup) = (self.frame, self.cleanup);
            match &top {
                Unwind::Finally { body, frame: of, catch } => {
                    while self.catches.len() > (*catch).max(1) {
                        catches.push(self.catches.pop().unwrap_or_default());
                    }
                    let body: &'m [Expr] = body;
                    self.frame = *of;
                    self.cleanup += 1;
                    self.block(body);
                }
                Unwind::Release { lock, key, span } => {
                    self.emit(Event::Release { lock: *lock, key: key.clone() }, *span);
                }
                Unwind::Exit { span, catch } => {
                    while self.catches.len() > (*catch).max(1) {
                        catches.push(self.catches.pop().unwrap_or_default());
                    }
                    self.exit_checkpoint(*span);
                }
                Unwind::Guards(guards) => self.release(&guards.clone(), span),
                Unwind::Loop { .. } | Unwind::Nothing => {}
            }
            (self.frame, self.cleanup) = (frame, cleanup);
            taken.push(top);
        }
        while let Some(catch) = catches.pop() {
            self.catches.push(catch);
        }
        while let Some(top) = taken.pop() {
            self.unwinds.push(top);
        }
    }

    /// What is caught by nobody here goes on to whoever is next.
    pub(super) fn pass_on(&mut self, edge: Edge) {
        let tails = std::mem::take(&mut self.tails);
        if let Some(catch) = self.catches.last_mut() {
            let nodes = tails.into_iter().map(|(node, _)| node);
            match edge {
                Edge::Cancel => catch.cancels.extend(nodes),
                Edge::Normal | Edge::Error => catch.errors.extend(nodes),
            }
        }
    }

    /// Lowers `body` so that `after` comes at its end, however it ends.
    pub(super) fn protected(
        &mut self,
        unwind: Unwind<'m>,
        body: &mut dyn FnMut(&mut Self) -> Val,
        after: &mut dyn FnMut(&mut Self),
    ) -> Val {
        self.catches.push(Catch::default());
        self.unwinds.push(unwind);
        let before = self.variables();
        let value = body(self);
        self.unwinds.pop();
        let catch = self.catches.pop().unwrap_or_default();
        if !self.unreachable() {
            after(self);
        }
        let (tails, variables) = (std::mem::take(&mut self.tails), self.variables());
        for (nodes, edge) in [(catch.errors, Edge::Error), (catch.cancels, Edge::Cancel)] {
            if nodes.is_empty() || self.graph.nodes.len() > 4 * super::MOST_NODES {
                continue;
            }
            // Something between the beginning and the end has raised: variables may be as before, or as after.
            self.set_variables(before.clone());
            self.join_variables(variables.clone());
            self.tails = nodes.into_iter().map(|node| (node, edge)).collect();
            self.cleanup += 1;
            after(self);
            self.cleanup -= 1;
            self.pass_on(edge);
        }
        self.tails = tails;
        self.set_variables(variables);
        value
    }
}
