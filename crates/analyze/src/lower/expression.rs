//! Expressions: what is read and written, in the order of evaluation.

use std::rc::Rc;

use drawloom_syntax::{Change, Collection, Expr, FunctionId, Generator, Kind, Span};

use super::value::merge;
use super::{Callable, Lowerer, Unwind, Val};
use crate::graph::{Certainty, DECREMENT, Edge, Event, INCREMENT, NodeId, Reading, Why, Writing};
use crate::types::Type;

/// What is nested deeper is left out.
const DEEPEST: usize = 400;
/// Containers of the whole process.
pub(crate) const PROCESS: [&str; 2] = ["sys.modules", "os.environ"];

impl<'m> Lowerer<'_, 'm> {
    /// The value of an expression.
    pub(super) fn expression(&mut self, expr: &'m Expr) -> Val {
        let value = self.place(expr);
        match expr.kind {
            // What is behind a guard, and not the guard.
            Kind::Deref(_) if !value.guards.is_empty() => {
                let read = self.read(value, expr.span);
                Val { guards: Vec::new(), ..read }
            }
            _ if value.guards.is_empty() => self.read(value, expr.span),
            _ => value,
        }
    }

    /// What an expression stands for, without a read of what it is stored in.
    pub(super) fn place(&mut self, expr: &'m Expr) -> Val {
        if self.depth > DEEPEST || self.unreachable() {
            return Val::default();
        }
        self.depth += 1;
        let value = self.place_of(expr);
        self.depth -= 1;
        value
    }

    fn several(&mut self, parts: &'m [Expr]) -> Val {
        let mut all = Val::default();
        let mut elements = Vec::new();
        for part in parts {
            let value = self.expression(part);
            merge(&mut all.reads, &value.reads);
            merge(&mut all.spawned, &value.spawned);
            elements.push(Val { guards: Vec::new(), ..value });
        }
        all.elements = elements;
        all
    }

    fn place_of(&mut self, expr: &'m Expr) -> Val {
        let span = expr.span;
        let discards = std::mem::take(&mut self.discards);
        match &expr.kind {
            Kind::Name(name) => self.name(name),
            Kind::Attribute(base, name) => {
                let base = self.place(base);
                // In Rust a field and a method can have the same name.
                if let (Type::Object(class), true) = (&base.kind, self.is_rust())
                    && self.facts.field(*class, name).is_some()
                {
                    let class = *class;
                    return self.field_of(base, class, name);
                }
                self.attribute(base, name, span)
            }
            Kind::Index(base, key) => {
                let base = self.place(base);
                let key_value = self.expression(key);
                self.element(base, &key_value, key)
            }
            Kind::Call(callee, given) => {
                self.discards = discards;
                self.call(callee, given, false, span)
            }
            Kind::Await(inner) => self.awaited(inner, span, discards),
            Kind::Literal(text) => {
                Val { kind: Type::Plain, literal: Some(text.clone()), text: text.clone(), ..Val::default() }
            }
            Kind::Binary(parts) => Val { kind: Type::Plain, elements: Vec::new(), ..self.several(parts) },
            Kind::Compare(parts, contains) => self.compare(parts, *contains, span),
            Kind::Not(inner) => {
                let value = self.expression(inner);
                Val { kind: Type::Plain, ..Val::from(value.reads) }
            }
            Kind::Assert(inner) => {
                let value = self.expression(inner);
                if !self.unreachable() {
                    self.emit(Event::Asserts { reads: value.reads }, span);
                }
                Val::default()
            }
            Kind::Either(parts) => self.either(parts),
            Kind::Collection(kind, parts) => {
                let all = self.several(parts);
                let element = all.elements.iter().fold(Type::Unknown, |kind, one| kind.or(&one.kind));
                if *kind == Collection::Tuple {
                    // `(me, "r")` is as much one's own as `me`.
                    let fresh = all.elements.iter().any(|one| one.fresh && one.kind == Type::Unknown);
                    return Val { text: expr.text(), fresh, ..all };
                }
                let kind = Type::Container(Box::new(element));
                let literal = parts.is_empty().then(|| "empty".to_owned());
                // What can be run is kept: somebody may begin a task for each.
                let elements = all.elements.iter().filter(|one| one.callable.is_some() || one.pending.is_some());
                let elements = elements.cloned().collect();
                Val { kind, fresh: true, literal, elements, ..all }
            }
            Kind::Comprehension { element, generators, .. } => self.comprehension(element, generators, span),
            Kind::Closure(id) | Kind::Definition(id) => self.closure(*id, matches!(expr.kind, Kind::Definition(_))),
            Kind::Assign { targets, value: source, declares, kind } => {
                let value = self.expression(source);
                let mut value = match kind {
                    Some(kind) => {
                        let written = self.facts.written(kind);
                        Val { kind: value.kind.clone().or(&written), ..value }
                    }
                    None => value,
                };
                // A lock that is put somewhere is the one that is there, in all variables that have it.
                if value.kind.is_lock() && value.place.is_none() {
                    let stored =
                        targets.iter().find(|target| matches!(target.kind, Kind::Index(..) | Kind::Attribute(..)));
                    if let Some(stored) = stored {
                        let there = self.place(stored);
                        self.is_stored(source, &value, &there);
                        (value.place, value.key) = (there.place, there.key);
                    }
                }
                for target in targets {
                    self.assign_to(target, value.clone(), *declares, span);
                }
                // As a condition: whether the pattern fits.
                Val { guards: Vec::new(), ..value }
            }
            Kind::Update(target, value, change) => {
                let place = self.place(target);
                let old = self.read(place.clone(), target.span);
                let new = self.expression(value);
                let literal = match change {
                    Change::More => Some(INCREMENT.to_owned()),
                    Change::Less => Some(DECREMENT.to_owned()),
                    Change::Other => None,
                };
                let value = Val { literal, ..Val::from(old.reads).with(&new.reads) };
                match (place.place, &target.kind) {
                    (Some(loc), _) if place.kind != Type::Local => {
                        let container = matches!(place.kind, Type::Container(_));
                        let how = if container { Writing::Add } else { Writing::Assign };
                        self.write(loc, place.key, how, &value, span);
                    }
                    (_, Kind::Name(name)) => self.define(name, value),
                    _ => {
                        if let Some(bound) = place.bound {
                            self.emit(Event::Use { bound, changes: true }, span);
                        }
                    }
                }
                Val::default()
            }
            Kind::Delete(targets) => {
                for target in targets {
                    let place = self.place(target);
                    match (place.place, &target.kind) {
                        (Some(loc), Kind::Index(..)) => {
                            let node = self.write(loc, place.key, Writing::Remove, &Val::default(), span);
                            self.raises(node, false);
                        }
                        (Some(loc), Kind::Attribute(..)) => {
                            self.write(loc, place.key, Writing::Assign, &Val::default(), span);
                        }
                        _ => {}
                    }
                }
                Val::default()
            }
            Kind::If(condition, body, otherwise) => self.if_(condition, body, otherwise, span),
            Kind::While(condition, body, otherwise) => {
                self.while_(condition.as_deref(), body, otherwise, span);
                Val::default()
            }
            Kind::For { target, iterable, body, otherwise, is_async } => {
                self.for_(target, iterable, body, otherwise, *is_async, span);
                Val::default()
            }
            Kind::Match(subject, arms) => self.match_(subject, arms, span),
            Kind::Try { body, handlers, otherwise, finally } => {
                self.try_(body, handlers, otherwise, finally, span);
                Val::default()
            }
            Kind::With(items, body, is_async) => self.with_(items, body, *is_async),
            Kind::Return(value) => {
                self.return_(value.as_deref(), span);
                Val::default()
            }
            Kind::Raise(value) => {
                self.jumped = true;
                if let Some(value) = value {
                    self.expression(value);
                }
                if !self.unreachable() {
                    let node = self.emit(Event::Nothing, span);
                    self.raises(node, false);
                }
                self.tails.clear();
                Val::default()
            }
            Kind::Question(inner) => {
                self.discards = discards;
                let value = self.place(inner);
                if !self.unreachable() && value.guards.is_empty() {
                    // Leaves the function, and gives back what it has.
                    self.jumped = true;
                    let node = self.emit(Event::Nothing, span);
                    let (frame, base, tails) = (self.frame, self.frames[self.frame].base, self.tails.clone());
                    let controls = self.controls.clone();
                    self.unwind(base, span);
                    let left = std::mem::replace(&mut self.tails, tails);
                    self.controls = controls;
                    self.frames[frame].returns.extend(left);
                    let _ = node;
                }
                value
            }
            Kind::Break(value) => {
                if let Some(value) = value {
                    self.expression(value);
                }
                self.jump(false, span);
                Val::default()
            }
            Kind::Continue => {
                self.jump(true, span);
                Val::default()
            }
            Kind::Yield(value) => self.yields(value.as_deref(), span),
            Kind::Block(body) => self.block(body),
            Kind::Same(inner) => self.place(inner),
            Kind::Deref(inner) => {
                let value = self.place(inner);
                if value.place.is_some() { value } else { Val { guards: Vec::new(), ..value } }
            }
            Kind::Select(branches) => self.select(branches, span),
            Kind::Join(parts) => {
                self.joined(parts, span);
                Val::default()
            }
            Kind::Opaque(_) => {
                self.emit(Event::Opaque, span);
                Val::default()
            }
            Kind::Nothing => Val::default(),
        }
    }

    /// A variable.
    pub(super) fn name(&mut self, name: &str) -> Val {
        let mut at = Some(self.frame);
        while let Some(frame) = at {
            let function = self.frames[frame].function;
            if let Some(value) = self.frames[frame].variables.get(name) {
                let mut value = (**value).clone();
                if self.facts.is_captured(function, name) && self.is_variable(&value) {
                    self.captured_place(function, name, &mut value);
                }
                return value;
            }
            at = self.frames[frame].outer;
        }
        // Of an outer function that is not being looked at.
        let mut outer = self.facts.function(self.frames[self.frame].function).parent;
        while let Some(id) = outer {
            if let Some(kind) = self.facts.local(id, name) {
                let mut value = Val { kind: kind.clone(), text: name.to_owned(), ..Val::default() };
                if self.facts.is_captured(id, name) && self.is_variable(&value) {
                    self.captured_place(id, name, &mut value);
                }
                return value;
            }
            outer = self.facts.function(id).parent;
        }
        if let Some(kind) = self.facts.globals.get(name) {
            let mut value = Val { kind: kind.clone(), text: name.to_owned(), ..Val::default() };
            if !matches!(kind, Type::Class(_) | Type::Local) {
                value.place = Some(self.names.number(name));
            }
            return value;
        }
        let function = self.frames[self.frame].function;
        if let Some(class) = self.facts.class_named(name) {
            return Val { kind: Type::Class(class), text: name.to_owned(), ..Val::default() };
        }
        if let Some(id) = self.facts.function_named(name).filter(|id| self.facts.function(*id).parent.is_none()) {
            return self.callable(id, None);
        }
        let path = Expr { kind: Kind::Name(name.to_owned()), span: Span::default() };
        if let Some(id) = self.facts.callee(&path, Some(function)) {
            return self.callable(id, None);
        }
        Val { text: name.to_owned(), ..Val::default() }
    }

    /// Whether a captured variable is state of its own: an object of the file is looked at field by field.
    fn is_variable(&self, value: &Val) -> bool {
        value.place.is_none()
            && value.callable.is_none()
            && value.pending.is_none()
            && !matches!(value.kind, Type::Object(_) | Type::Class(_) | Type::Local | Type::Group | Type::Future)
    }

    fn captured_place(&mut self, function: FunctionId, name: &str, value: &mut Val) {
        let path = format!("{}::<closure>.{name}", self.facts.function(function).qualified);
        value.place = Some(self.names.number(&path));
        value.bound = None;
    }

    pub(super) fn callable(&mut self, function: FunctionId, receiver: Option<Val>) -> Val {
        let callable = Callable { function, receiver, outer: None, environment: Vec::new(), given: Vec::new() };
        Val { text: self.facts.function(function).name.clone(), callable: Some(Rc::new(callable)), ..Val::default() }
    }

    fn closure(&mut self, id: FunctionId, defines: bool) -> Val {
        let mut environment = Vec::new();
        let mut at = Some(self.frame);
        while let Some(frame) = at {
            let function = self.frames[frame].function;
            for (name, value) in &self.frames[frame].variables {
                let mut value = value.detached();
                if self.facts.is_captured(function, name) && self.is_variable(&value) {
                    let path = format!("{}::<closure>.{name}", self.facts.function(function).qualified);
                    value.place = Some(self.names.number(&path));
                }
                environment.push((name.to_string(), value));
            }
            at = self.frames[frame].outer;
        }
        let function = self.facts.function(id);
        let callable =
            Rc::new(Callable { function: id, receiver: None, outer: Some(self.frame), environment, given: Vec::new() });
        let text = function.qualified.clone();
        let value = Val { callable: Some(callable.clone()), text, fresh: true, ..Val::default() };
        if defines {
            self.define(&function.name, value.clone());
        }
        if function.is_closure && function.is_async && self.is_rust() && function.parameters.is_empty() {
            // An async block is what is to be awaited.
            let pending = super::value::Pending { callable: (*callable).clone(), given: Vec::new() };
            return Val { pending: Some(Rc::new(pending)), ..value };
        }
        value
    }

    pub(super) fn attribute(&mut self, base: Val, name: &str, span: Span) -> Val {
        let text = format!("{}.{name}", base.text);
        let owner = match &base.kind {
            Type::Object(class) | Type::Class(class) => Some(*class),
            Type::Unknown if base.place.is_none() && base.callable.is_none() && !self.is_rust() => {
                // A parameter of unknown type, with a field that one class alone has.
                self.facts.only_owner(name).filter(|_| !base.text.is_empty() && base.pending.is_none())
            }
            _ => None,
        };
        if let Some(class) = owner {
            if let Some(method) = self.facts.method(class, name) {
                let function = self.facts.function(method);
                if function.decorators.iter().any(|it| it == "property" || it.ends_with("cached_property"))
                    && !self.is_rust()
                {
                    return self.method_call(method, base, Vec::new(), false, span);
                }
                return Val { text, ..self.callable(method, Some(base)) };
            }
            return self.field_of(base, class, name);
        }
        if PROCESS.contains(&text.as_str()) && base.place.is_none() && !self.is_rust() {
            let place = Some(self.names.number(&text));
            return Val { kind: Type::Container(Box::default()), place, text, ..Val::default() };
        }
        match base.place {
            Some(loc) if !matches!(base.kind, Type::Plain) => {
                let mut bound = base.bound;
                let path = match &base.key {
                    Some(key) => {
                        if !self.is_rust() && !base.kind.synchronises() {
                            // The element is looked up first.
                            let event = Event::Read { loc, key: Some(key.clone()), how: Reading::Value };
                            let node = self.emit(event, span);
                            self.raises(node, false);
                            bound = Some(node);
                        }
                        format!("{}[].{name}", self.names.name(loc))
                    }
                    None => format!("{}.{name}", self.names.name(loc)),
                };
                let place = Some(self.names.number(&path));
                // Of which element is a part of what it is.
                Val { place, text, key: base.key, bound, guards: base.guards, ..Val::default() }
            }
            _ => Val { text, bound: base.bound, reads: base.reads, ..Val::default() },
        }
    }

    /// A field of an object of the file.
    fn field_of(&mut self, base: Val, class: drawloom_syntax::ClassId, name: &str) -> Val {
        let text = format!("{}.{name}", base.text);
        let class = self.facts.owner(class, name);
        let kind = self.facts.field(class, name).cloned().unwrap_or_default();
        // In Rust only what is behind a guard, or is shared by its type, can be somebody else's.
        let tracked = !self.is_rust() || !base.guards.is_empty() || base.place.is_some() || shared_by_type(&kind);
        let path = format!("{}.{name}", self.facts.module.classes[class.0].name);
        let place = tracked.then(|| self.names.number(&path)).filter(|_| kind != Type::Local);
        // An object that was made here is nobody else's yet.
        let place = place.filter(|_| !base.fresh);
        Val { kind, place, text, bound: base.bound, guards: base.guards, ..Val::default() }
    }

    fn element(&mut self, base: Val, key_value: &Val, key: &Expr) -> Val {
        let text = self.key_text(key_value, key);
        let kind = base.kind.element();
        match base.place {
            Some(loc) if base.key.is_some() => {
                // An element of an element.
                let path = format!("{}[]", self.names.name(loc));
                let place = Some(self.names.number(&path));
                let key = Some(format!("{}|{text}", base.key.unwrap_or_default()));
                Val { kind, place, key, bound: base.bound, guards: base.guards, ..Val::default() }
            }
            Some(_) => {
                let text_of = format!("{}[{text}]", base.text);
                Val { kind, place: base.place, key: Some(text), text: text_of, guards: base.guards, ..Val::default() }
            }
            None => {
                let value = Val { kind, bound: base.bound, reads: base.reads, spawned: base.spawned, ..Val::default() };
                value.with(&key_value.reads)
            }
        }
    }

    /// What a key is called: the same for the same value.
    pub(super) fn key_text(&self, value: &Val, key: &Expr) -> String {
        if !value.text.is_empty() {
            return value.text.clone();
        }
        // A copy of a variable is called what the variable is called.
        let name = key.text();
        let known = self.frames[self.frame].variables.get(name.as_str()).map(|value| value.text.clone());
        known.filter(|text| !text.is_empty()).unwrap_or(name)
    }

    fn compare(&mut self, parts: &'m [Expr], contains: bool, span: Span) -> Val {
        if let ([item, container], true) = (parts, contains) {
            let item_value = self.expression(item);
            let held = self.place(container);
            let mut value = Val { kind: Type::Plain, ..Val::from(item_value.reads.clone()) };
            match held.place {
                Some(loc) if !held.kind.synchronises() => {
                    let key = Some(self.key_text(&item_value, item));
                    let event = Event::Read { loc, key, how: Reading::Contains };
                    let node = self.emit(event, span);
                    merge(&mut value.reads, &[node]);
                }
                _ => merge(&mut value.reads, &held.reads),
            }
            return value;
        }
        let value = self.several(parts);
        // `len(x) > 0` asks whether it is empty, and not how much room there is.
        if parts.iter().any(|part| matches!(&part.kind, Kind::Literal(text) if text == "0")) {
            for read in &value.reads {
                if let Event::Read { key: None, how: how @ Reading::Contains, .. } = &mut self.graph.nodes[*read].event
                {
                    *how = Reading::Empty;
                }
            }
        }
        Val { kind: Type::Plain, elements: Vec::new(), ..value }
    }

    fn either(&mut self, parts: &'m [Expr]) -> Val {
        let mut all = Val::default();
        let mut ends = Vec::new();
        let controls = self.controls.len();
        for (at, part) in parts.iter().enumerate() {
            let value = self.expression(part);
            all = if at == 0 { value } else { all.join(&value) };
            if at + 1 < parts.len() && !self.unreachable() {
                let branch = self.emit(Event::Branch { reads: all.reads.clone() }, part.span);
                self.controls.push(branch);
                ends.extend(self.tails.clone());
            }
        }
        self.controls.truncate(controls);
        self.tails.extend(ends);
        self.tails.sort_unstable();
        self.tails.dedup();
        // All of it has been read; reading it once more would forget the other parts.
        Val { place: None, key: None, ..all }
    }

    fn comprehension(&mut self, element: &'m [Expr], generators: &'m [Generator], span: Span) -> Val {
        self.loops += 1;
        let head = self.emit(Event::Nothing, span);
        let mut reads = Vec::new();
        let mut over = None;
        for generator in generators {
            let value = self.place(&generator.iterable);
            let value = self.iterated(value, generator.iterable.span);
            merge(&mut reads, &value.reads);
            if generator.is_async {
                self.checkpoint(Certainty::Always, Why::Next, "async for", span);
            }
            over = over.or(value.place.map(|loc| (loc, value.key.clone(), generator.iterable.span)));
            let item = Val {
                kind: value.kind.element(),
                reads: value.reads.clone(),
                spawned: value.spawned.clone(),
                ..Val::default()
            };
            self.assign_to(&generator.target, item, false, span);
            for condition in &generator.conditions {
                let value = self.expression(condition);
                merge(&mut reads, &value.reads);
            }
        }
        let inside = self.graph.nodes.len();
        let value = self.several(element);
        let suspends = self.graph.nodes[inside..].iter().any(|node| matches!(node.event, Event::Checkpoint { .. }));
        if let (Some((loc, key, at)), true, false) = (over, suspends, self.unreachable()) {
            self.emit(Event::Read { loc, key, how: Reading::Next }, at);
        }
        for (from, _) in self.tails.clone() {
            self.graph.nodes[from].next.push((head, Edge::Normal));
        }
        self.loops -= 1;
        merge(&mut reads, &value.reads);
        let kind = value.elements.last().map(|last| last.kind.clone()).unwrap_or_default();
        let elements = value.elements.iter().filter(|one| one.pending.is_some() || one.callable.is_some());
        Val {
            kind: Type::Container(Box::new(kind)),
            reads,
            spawned: value.spawned.clone(),
            // What is called once for each of many.
            elements: elements.flat_map(|one| [one.clone(), one.clone()]).collect(),
            ..Val::default()
        }
    }

    /// From now on a variable's value is the one that is stored there.
    fn is_stored(&mut self, source: &Expr, value: &Val, there: &Val) {
        if let Kind::Name(name) = &source.kind {
            let known = Val { place: there.place, key: there.key.clone(), ..value.clone() };
            self.define(name, known);
        }
    }

    /// Gives a variable a value.
    pub(super) fn define(&mut self, name: &str, value: Val) {
        let frame = &mut self.frames[self.frame];
        frame.variables.insert(Rc::from(name), Rc::new(value));
    }

    pub(super) fn assign_to(&mut self, target: &'m Expr, mut value: Val, declares: bool, span: Span) {
        if self.unreachable() {
            return;
        }
        match &target.kind {
            Kind::Name(name) => {
                if declares && !value.guards.is_empty() {
                    // A guard that has a name lives until the end of its block.
                    self.temporaries.retain(|guard| !value.guards.contains(guard));
                    let block = self.unwinds.iter_mut().rev().find_map(|unwind| match unwind {
                        Unwind::Guards(guards) => Some(guards),
                        _ => None,
                    });
                    if let Some(block) = block {
                        block.extend(&value.guards);
                    }
                }
                self.assign_name(name, value, declares, span);
            }
            Kind::Same(inner) | Kind::Deref(inner) if declares => {
                // `Some(x)` takes a part out of what it is matched with.
                if self.is_rust() && value.guards.is_empty() {
                    value.place = value.place.filter(|_| value.bound.is_none());
                }
                self.assign_to(inner, value, declares, span);
            }
            Kind::Collection(_, targets) => {
                let parts = (value.elements.len() == targets.len()).then(|| value.elements.clone());
                for (at, target) in targets.iter().enumerate() {
                    let part = match &parts {
                        Some(parts) => parts[at].clone(),
                        None => Val {
                            kind: value.kind.element(),
                            reads: value.reads.clone(),
                            bound: value.bound,
                            spawned: value.spawned.clone(),
                            ..Val::default()
                        },
                    };
                    self.assign_to(target, part, declares, span);
                }
            }
            Kind::Nothing | Kind::Literal(_) => {}
            _ => {
                let place = match &target.kind {
                    Kind::Attribute(of, name) if !self.is_rust() => {
                        let base = self.place(of);
                        // What a property does when it is assigned.
                        if let Type::Object(class) = base.kind
                            && let Some(setter) = self.facts.setter(class, name)
                        {
                            self.method_call(setter, base, vec![(None, value)], false, span);
                            return;
                        }
                        self.attribute(base, name, target.span)
                    }
                    _ => self.place(target),
                };
                match place.place {
                    Some(loc) => {
                        if let (true, Some(callable)) = (self.makes, &value.callable) {
                            let kept = Callable { outer: None, ..(**callable).clone() };
                            self.names.functions.insert(loc, Rc::new(kept));
                        }
                        if matches!(target.kind, Kind::Attribute(..)) {
                            self.graph.stored.extend(value.spawned.iter().map(|spawn| (*spawn, loc)));
                        }
                        let indexed = matches!(target.kind, Kind::Index(..));
                        let how = if indexed && place.key.is_some() { Writing::Add } else { Writing::Assign };
                        // Whose element it is, its key says.
                        value.fresh = false;
                        self.write(loc, place.key, how, &value, span);
                    }
                    None => {
                        if let Some(bound) = place.bound {
                            self.emit(Event::Use { bound, changes: true }, span);
                        }
                    }
                }
            }
        }
    }

    fn assign_name(&mut self, name: &str, mut value: Val, declares: bool, span: Span) {
        let function = self.frames[self.frame].function;
        let facts = self.facts.function(function);
        let top = function == self.facts.top;
        if (top && self.facts.globals.contains_key(name)) || facts.globals.iter().any(|global| global == name) {
            let loc = self.names.number(name);
            let kind = self.facts.globals.get(name).cloned().unwrap_or_default();
            if !matches!(kind, Type::Class(_) | Type::Local) {
                self.write(loc, None, Writing::Assign, &value, span);
            }
            return;
        }
        if !declares && self.is_rust() {
            // `x = …` of a variable that is there, perhaps a guard's content.
            if let Some(known) = self.frames[self.frame].variables.get(name).cloned()
                && let (Some(loc), false) = (known.place, known.guards.is_empty())
            {
                self.write(loc, None, Writing::Assign, &value, span);
                return;
            }
        }
        if facts.nonlocals.iter().any(|outer| outer == name) {
            let mut outer = facts.parent;
            while let Some(id) = outer {
                if self.facts.local(id, name).is_some() {
                    let path = format!("{}::<closure>.{name}", self.facts.function(id).qualified);
                    let loc = self.names.number(&path);
                    self.write(loc, None, Writing::Assign, &value, span);
                    return;
                }
                outer = self.facts.function(id).parent;
            }
        }
        if self.facts.is_captured(function, name) && self.is_variable(&value) {
            let path = format!("{}::<closure>.{name}", self.facts.function(function).qualified);
            let loc = self.names.number(&path);
            self.write(loc, None, Writing::Assign, &value, span);
        }
        if declares && value.place.is_none() && self.is_rust() && lockable(&value.kind) {
            value.place = Some(self.variable(function, name));
        }
        let suffix = &self.frames[self.frame].suffix;
        if value.place.is_none() || value.text.is_empty() {
            value.text = format!("{name}{suffix}");
        }
        self.define(name, value);
    }

    /// The state that a variable of Rust is, which can be shared by its type.
    pub(super) fn variable(&mut self, function: FunctionId, name: &str) -> usize {
        let path = format!("{}::<closure>.{name}", self.facts.function(function).qualified);
        self.names.number(&path)
    }

    fn yields(&mut self, value: Option<&'m Expr>, span: Span) -> Val {
        let value = value.map(|value| self.expression(value)).unwrap_or_default();
        let Some(body) = self.frames[self.frame].body.clone() else {
            let node = self.emit(Event::Suspend, span);
            self.raises(node, true);
            return Val::default();
        };
        // The body of the `with` comes here, in its own frame.
        let generator = std::mem::replace(&mut self.frame, body.frame);
        if let Some(target) = body.target {
            self.assign_to(target, value, false, span);
        }
        let cleanup = std::mem::take(&mut self.cleanup);
        self.with_(body.items, body.statements, body.is_async);
        self.cleanup = cleanup;
        self.frame = generator;
        Val::default()
    }

    fn select(&mut self, branches: &'m [(Expr, Expr, Expr)], span: Span) -> Val {
        self.emit(Event::Nothing, span);
        self.checkpoint(Certainty::May, Why::Await, "select", span);
        let (tails, before) = (self.tails.clone(), self.variables());
        let mut ends: Vec<(NodeId, Edge)> = Vec::new();
        let mut after = None;
        for (pattern, future, body) in branches {
            self.tails.clone_from(&tails);
            self.set_variables(before.clone());
            let value = self.place(future);
            let value = match value.pending.clone() {
                Some(pending) => self.run(&pending, span),
                None => value,
            };
            self.assign_to(pattern, Val { guards: Vec::new(), ..value }, true, span);
            self.block(std::slice::from_ref(body));
            if !self.unreachable() {
                if let Some(others) = after.take() {
                    self.join_variables(others);
                }
                after = Some(self.variables());
            }
            ends.append(&mut self.tails);
        }
        self.tails = ends;
        if let Some(after) = after {
            self.set_variables(after);
        }
        Val::default()
    }
}

/// Whether it holds something that tasks can share, and change under a lock or in one step.
pub(super) fn lockable(kind: &Type) -> bool {
    matches!(kind, Type::Around(..) | Type::Atomic | Type::ConcurrentMap(_))
}

/// Whether something of this type can be shared and changed in Rust without `&mut`.
pub(super) fn shared_by_type(kind: &Type) -> bool {
    matches!(
        kind,
        Type::Around(..)
            | Type::Atomic
            | Type::ConcurrentMap(_)
            | Type::Cell(_)
            | Type::Once(_)
            | Type::Notify
            | Type::Lock { .. }
            | Type::Event(_)
            | Type::Queue(_)
    )
}
