//! What calls of libraries do: locks, events, queues, containers, and whatever is awaited.

use drawloom_syntax::{Argument, Expr, Kind, Span};

use super::call::{Given, sorted};
use super::value::merge;
use super::{Lowerer, Val};
use crate::graph::{Certainty, Event, NodeId, Reading, Why, Writing};
use crate::tables::{Touch, atomic, closes, touch, transparent};
use crate::types::{Framework, LockKind, Type, Waits};

impl<'m> Lowerer<'_, 'm> {
    /// `await inner`
    pub(super) fn awaited(&mut self, inner: &'m Expr, span: Span, discards: bool) -> Val {
        if let Kind::Call(callee, given) = &inner.kind {
            self.discards = discards;
            // In Rust the `.await` is what suspends, perhaps some lines below.
            return self.call(callee, given, true, if self.is_rust() { inner.span } else { span });
        }
        let value = self.place(inner);
        if let Some(pending) = value.pending.clone() {
            return self.run(&pending, span);
        }
        match value.kind {
            Type::Future => {
                let own = Some(value.spawned.clone()).filter(|spawned| !spawned.is_empty());
                self.checkpoint(Certainty::May, Why::Wakeup, "if it is not done", span);
                if let Some(loc) = value.place {
                    self.emit(Event::Wait { loc }, span);
                }
                if own.is_some() {
                    self.emit(Event::Join(own), span);
                }
            }
            Type::Notify => {
                self.checkpoint(Certainty::Always, Why::Wakeup, "", span);
            }
            _ => {
                let value = self.read(value.clone(), span);
                self.checkpoint(Certainty::Always, Why::Await, "", span);
                if !value.spawned.is_empty() {
                    self.emit(Event::Join(Some(value.spawned.clone())), span);
                }
                return Val::from(value.reads);
            }
        }
        Val { place: None, ..value }
    }

    fn reads_of(given: &Given) -> Vec<NodeId> {
        sorted(given.iter().flat_map(|(_, value)| value.reads.clone()).collect())
    }

    /// A checkpoint for something that is awaited, unless it is not.
    fn if_awaited(&mut self, awaited: bool, certainty: Certainty, why: Why, note: &'static str, span: Span) {
        if awaited {
            self.checkpoint(certainty, why, note, span);
        }
    }

    /// How certain a checkpoint is in a library that has one at every call, or only if it has to wait.
    fn only_if_waiting(&self) -> Certainty {
        match self.facts.tasks() {
            Framework::Trio | Framework::Anyio => Certainty::Always,
            Framework::Asyncio | Framework::Tokio | Framework::Threads => Certainty::May,
        }
    }

    #[allow(clippy::too_many_arguments)]
    pub(super) fn library_method(
        &mut self,
        base: Val,
        name: &str,
        given: &'m [Argument],
        awaited: bool,
        discards: bool,
        callee: &'m Expr,
        span: Span,
    ) -> Option<Val> {
        if name == "create_future" {
            return Some(Val { kind: Type::Future, fresh: true, ..Val::default() });
        }
        match base.kind.clone() {
            Type::Lock { kind, .. } => {
                let given = self.arguments(given);
                Some(self.lock_method(&base, kind, name, awaited, &given, span))
            }
            Type::Around(kind, inner) => {
                let given = self.arguments(given);
                self.around_method(&base, kind, &inner, name, awaited, &given, span)
            }
            Type::Event(waits) => {
                self.arguments(given);
                Some(self.event_method(&base, waits, name, awaited, span))
            }
            Type::Notify => {
                if let Some(loc) = base.place {
                    match name {
                        "notify_one" => drop(self.emit(Event::Wake { loc, stores: true }, span)),
                        "notify_waiters" => drop(self.emit(Event::Wake { loc, stores: false }, span)),
                        "notified" => drop(self.emit(Event::Wait { loc }, span)),
                        _ => {}
                    }
                }
                self.if_awaited(awaited, Certainty::Always, Why::Wakeup, "", span);
                Some(Val { place: None, ..base })
            }
            Type::Queue(waits) => {
                let given = self.arguments(given);
                Some(self.queue_method(&base, waits, name, awaited, &given, span))
            }
            Type::Future => match name {
                "join" => {
                    self.arguments(given);
                    let own = Some(base.spawned.clone()).filter(|spawned| !spawned.is_empty());
                    self.emit(Event::Join(own), span);
                    Some(Val::default())
                }
                "set_result" | "set_exception" | "cancel" => {
                    self.arguments(given);
                    let loc = base.place.unwrap_or_else(|| self.names.number("future"));
                    self.emit(Event::Wake { loc, stores: true }, span);
                    Some(Val::default())
                }
                _ => {
                    let given = self.arguments(given);
                    self.if_awaited(awaited, Certainty::May, Why::Wakeup, "", span);
                    Some(Val::from(Self::reads_of(&given)))
                }
            },
            Type::Once(inner) => {
                let given = self.arguments(given);
                // The one who comes first initialises; the others wait.
                for (_, value) in &given {
                    if let Some(callable) = value.callable.clone() {
                        self.invoke(&callable, Vec::new(), true, span);
                    }
                }
                self.if_awaited(awaited, Certainty::May, Why::Await, "", span);
                // What is in it is always the same.
                let shared = super::expression::shared_by_type(&inner);
                let place = base.place.filter(|_| shared && name.starts_with("get"));
                Some(Val { kind: *inner, place, text: base.text, ..Val::default() })
            }
            Type::Atomic => {
                let given = self.arguments(given);
                Some(self.atomic_method(&base, name, &given, discards, span))
            }
            Type::Cell(inner) => {
                let given = self.arguments(given);
                let content = Val { kind: (*inner).clone(), ..base };
                match name {
                    "borrow" | "borrow_mut" | "try_borrow_mut" | "try_borrow" => Some(content),
                    "get" => Some(self.read(Val { kind: Type::Unknown, ..content }, span)),
                    "set" | "replace" | "take" => {
                        let value = given.first().map(|(_, value)| value.clone()).unwrap_or_default();
                        if let Some(loc) = content.place {
                            self.write(loc, None, Writing::Assign, &value, span);
                        }
                        Some(Val::default())
                    }
                    _ => Some(content),
                }
            }
            Type::Object(class) | Type::Class(class) if self.facts.method(class, name).is_some() => None,
            Type::Object(class) | Type::Class(class) if !self.is_rust() && self.facts.field(class, name).is_some() => {
                None
            }
            Type::Group if matches!(name, "join_next" | "join" | "shutdown" | "wait") => {
                self.arguments(given);
                self.if_awaited(awaited, Certainty::Always, Why::Wakeup, "", span);
                self.emit(Event::Join(None), span);
                Some(Val::default())
            }
            _ => self.plain_method(base, name, given, awaited, discards, callee, span),
        }
    }

    fn lock_method(&mut self, base: &Val, kind: LockKind, name: &str, awaited: bool, given: &Given, span: Span) -> Val {
        let Some(lock) = base.place else {
            self.if_awaited(awaited, Certainty::May, Why::Lock, "", span);
            return Val::default();
        };
        let key = base.key.clone();
        let shared = kind == LockKind::Semaphore;
        match name {
            "acquire" | "acquire_nowait" | "acquire_on_behalf_of" | "__aenter__" | "__enter__" => {
                if awaited {
                    self.lock_checkpoint(span);
                }
                self.emit(Event::Acquire { lock, key, shared }, span);
            }
            "release" | "release_on_behalf_of" | "__aexit__" | "__exit__" => {
                self.emit(Event::Release { lock, key }, span);
            }
            "wait" | "wait_for" => {
                // `wait_for` looks itself, under the lock.
                if name == "wait" {
                    self.emit(Event::Wait { loc: lock }, span);
                }
                self.emit(Event::Release { lock, key: key.clone() }, span);
                self.checkpoint(Certainty::Always, Why::Wakeup, "", span);
                self.emit(Event::Acquire { lock, key, shared: false }, span);
            }
            "notify" | "notify_all" => {
                self.emit(Event::Wake { loc: lock, stores: false }, span);
            }
            "locked" | "statistics" => {
                let node = self.emit(Event::Read { loc: lock, key, how: Reading::Value }, span);
                return Val::from(vec![node]);
            }
            // `reader_lock`, `writer_lock`, `reader`, `writer`, `read`, `gen_rlock` …
            name if kind == LockKind::ReadWrite => {
                let _ = name;
                return base.clone();
            }
            _ => self.if_awaited(awaited, Certainty::May, Why::Lock, "", span),
        }
        Val::from(Self::reads_of(given))
    }

    #[allow(clippy::too_many_arguments)]
    fn around_method(
        &mut self,
        base: &Val,
        kind: LockKind,
        inner: &Type,
        name: &str,
        awaited: bool,
        given: &Given,
        span: Span,
    ) -> Option<Val> {
        let shared = match (kind, name) {
            (
                _,
                "lock" | "write" | "lock_owned" | "write_owned" | "blocking_lock" | "blocking_write" | "try_lock"
                | "try_write",
            ) => false,
            (LockKind::ReadWrite, "read" | "read_owned" | "try_read" | "blocking_read" | "upgradable_read") => true,
            (_, name) if transparent(name) => return Some(base.clone()),
            _ => return None,
        };
        let _ = given;
        let loc = base.place?;
        if awaited {
            self.lock_checkpoint(span);
        }
        let node = self.emit(Event::Acquire { lock: loc, key: base.key.clone(), shared }, span);
        self.temporaries.push(node);
        Some(Val {
            kind: inner.clone(),
            place: Some(loc),
            key: base.key.clone(),
            guards: vec![node],
            text: base.text.clone(),
            ..Val::default()
        })
    }

    fn event_method(&mut self, base: &Val, waits: Waits, name: &str, awaited: bool, span: Span) -> Val {
        let loc = base.place.unwrap_or_else(|| self.names.number("event"));
        match name {
            "set" | "notify_one" | "notify_all" => {
                self.emit(Event::Wake { loc, stores: name == "set" }, span);
            }
            "wait" | "wait_for" | "wait_while" => {
                self.emit(Event::Wait { loc }, span);
                if awaited || waits == Waits::Threads {
                    let certainty = self.only_if_waiting();
                    self.checkpoint(certainty, Why::Wakeup, "if it is not set", span);
                }
            }
            "clear" => {
                self.emit(
                    Event::Write { loc, key: None, how: Writing::Clear, from: Vec::new(), literal: None, own: true },
                    span,
                );
            }
            "is_set" => {
                let node = self.emit(Event::Read { loc, key: None, how: Reading::Value }, span);
                return Val::from(vec![node]);
            }
            _ => self.if_awaited(awaited, Certainty::May, Why::Wakeup, "", span),
        }
        Val::default()
    }

    fn queue_method(&mut self, base: &Val, waits: Waits, name: &str, awaited: bool, given: &Given, span: Span) -> Val {
        let reads = Self::reads_of(given);
        let Some(loc) = base.place else {
            let certainty = self.only_if_waiting();
            self.if_awaited(awaited, certainty, Why::Wakeup, "if it has to wait", span);
            return Val::from(reads);
        };
        match name {
            "empty" | "full" | "qsize" | "is_empty" | "len" => {
                let node = self.emit(Event::Read { loc, key: None, how: Reading::Contains }, span);
                return Val::from(vec![node]);
            }
            "get_nowait" | "try_recv" | "receive_nowait" => {
                let node = self.write(loc, None, Writing::Remove, &Val::default(), span);
                self.raises(node, false);
            }
            "put_nowait" | "try_send" | "send_nowait" => {
                let node = self.write(loc, None, Writing::Add, &Val { fresh: false, ..Val::from(reads) }, span);
                self.raises(node, false);
            }
            "get" | "put" | "send" | "recv" | "receive" | "join" => {
                if awaited {
                    let certainty = self.only_if_waiting();
                    self.checkpoint(certainty, Why::Wakeup, "if it has to wait", span);
                }
                if waits == Waits::Threads && !self.is_rust() {
                    let how = if name == "put" { Writing::Add } else { Writing::Remove };
                    self.write(loc, None, how, &Val::default(), span);
                }
            }
            _ => self.if_awaited(awaited, Certainty::May, Why::Await, "", span),
        }
        Val::default()
    }

    fn atomic_method(&mut self, base: &Val, name: &str, given: &Given, discards: bool, span: Span) -> Val {
        let reads = Self::reads_of(given);
        let Some(loc) = base.place else { return Val::from(reads) };
        match atomic(name) {
            Some(Touch::Reads(how)) => {
                let node = self.emit(Event::Read { loc, key: base.key.clone(), how }, span);
                Val::from(vec![node])
            }
            Some(Touch::Writes(Writing::Assign)) => {
                let value = given.first().map(|(_, value)| value.clone()).unwrap_or_default();
                self.write(loc, base.key.clone(), Writing::Assign, &Val { reads, ..value }, span);
                Val::default()
            }
            Some(Touch::Writes(_)) if discards => {
                self.write(loc, base.key.clone(), Writing::Mutate, &Val::from(reads), span);
                Val::default()
            }
            // Whoever uses the answer knows what was there.
            Some(Touch::Writes(_) | Touch::Both) => {
                let node = self.write(loc, base.key.clone(), Writing::Atomic, &Val::from(reads), span);
                Val::from(vec![node])
            }
            None => Val::from(reads),
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn plain_method(
        &mut self,
        base: Val,
        name: &str,
        given: &'m [Argument],
        awaited: bool,
        discards: bool,
        callee: &'m Expr,
        span: Span,
    ) -> Option<Val> {
        let rust = self.is_rust();
        if rust
            && transparent(name)
            && (given.is_empty()
                || matches!(name, "expect" | "unwrap_or_else" | "map_err" | "context" | "with_context" | "unwrap_or"))
        {
            let looks = name == "clone" || name == "cloned" || name == "copied";
            if !(looks && base.place.is_some() && !matches!(base.kind, Type::Object(_) | Type::Unknown)) {
                self.arguments(given);
                if awaited && base.pending.is_some() {
                    let pending = base.pending.clone()?;
                    return Some(self.run(&pending, span));
                }
                if looks && base.place.is_some() && !base.guards.is_empty() {
                    let read = self.read(base, span);
                    return Some(Val { guards: Vec::new(), ..read });
                }
                return Some(base);
            }
        }
        if name == "set" && given.is_empty() && !rust {
            // Of an event whose type is not known.
            let loc = base.place.unwrap_or_else(|| self.names.number("event"));
            self.emit(Event::Wake { loc, stores: true }, span);
            return Some(Val::default());
        }
        let known = touch(name);
        let Some(loc) = base.place else {
            if base.callable.is_none()
                && base.pending.is_none()
                && !matches!(base.kind, Type::Object(_) | Type::Class(_))
            {
                return self.placeless(&base, name, given, awaited, callee, span);
            }
            return None;
        };
        // `wait_for(self.queue.get(), 1)` and the like come here with their module as base.
        let first = given.first().map(|argument| &argument.value);
        let given_values = self.arguments(given);
        let reads = Self::reads_of(&given_values);
        // A closure that is given to a method runs at once: `map`, `and_then`, `retain` …
        let mut from_closures = Vec::new();
        if rust {
            from_closures = self.closures(&given_values, span).reads;
        }
        let concurrent = matches!(base.kind, Type::ConcurrentMap(_));
        let keyed = matches!(base.kind, Type::Container(_) | Type::ConcurrentMap(_) | Type::Unknown)
            && matches!(
                name,
                "get"
                    | "pop"
                    | "remove"
                    | "insert"
                    | "contains_key"
                    | "setdefault"
                    | "entry"
                    | "contains"
                    | "get_mut"
                    | "discard"
                    | "add"
            );
        let list_like = matches!(name, "add" | "discard") || (name == "insert" && !rust);
        let key = if keyed && !list_like {
            first.zip(given_values.first()).map(|(expr, (_, value))| self.key_text(value, expr))
        } else if list_like && name != "insert" {
            first.zip(given_values.first()).map(|(expr, (_, value))| self.key_text(value, expr))
        } else {
            None
        };
        let key = key.or_else(|| base.key.clone());
        if let Some(bound) = base.bound {
            // To add or take out what is one's own is no change for others.
            let token = !rust && given_values.first().is_some_and(|(_, value)| value.fresh);
            let changes = matches!(known, Some(Touch::Writes(_) | Touch::Both)) && !token || closes(name);
            self.emit(Event::Use { bound, changes }, span);
        }
        let element = base.kind.element();
        // What is put under a key is as much one's own as the key; otherwise the element itself says.
        let keyed_put = matches!(name, "insert" | "setdefault" | "entry") && given_values.len() > 1;
        let own = if keyed_put { given_values.first() } else { given_values.last() };
        let own = own.is_some_and(|(_, value)| value.fresh);
        let value = Val { fresh: own, ..Val::from(reads.clone()) };
        let result = match known {
            _ if closes(name) && !matches!(base.kind, Type::Container(_)) => {
                // The object is at its end: who has it still has nothing.
                let node = self.emit(Event::Read { loc, key: base.key.clone(), how: Reading::Value }, span);
                Val::from(vec![node])
            }
            Some(Touch::Reads(how)) => {
                let node = self.emit(Event::Read { loc, key: key.clone(), how }, span);
                let bound = (matches!(name, "get" | "get_mut") && key.is_some()).then_some(node);
                let iterates = how == Reading::Iterates;
                let kind = match (name, &base.kind) {
                    ("copy" | "to_vec" | "clone", kind) => kind.clone(),
                    ("items", Type::Container(inner)) => Type::Container(inner.clone()),
                    _ if iterates => Type::Container(Box::new(element)),
                    _ => element,
                };
                let found = kind.is_lock() && key.is_some() && !rust;
                let place = (iterates || found).then_some(loc);
                let key = key.filter(|_| found);
                Val { kind, bound, place, key, ..Val::from(vec![node]) }
            }
            Some(Touch::Writes(how)) => {
                let used = !discards;
                let how = if concurrent && used && matches!(how, Writing::Add | Writing::Remove) {
                    Writing::Atomic
                } else {
                    how
                };
                let key = if matches!(name, "append" | "extend" | "appendleft" | "push" | "push_back" | "push_front")
                    && base.key.is_none()
                {
                    None
                } else {
                    key
                };
                let has_default = given_values.len() > 1;
                let tolerant = !rust && (name == "discard" || name == "pop" && has_default);
                let merges = !rust && matches!(name, "update" | "extend" | "difference_update");
                let literal = if tolerant {
                    Some(crate::graph::IF_THERE.to_owned())
                } else {
                    merges.then(|| crate::graph::MERGE.to_owned())
                };
                let node = self.write(loc, key.clone(), how, &Val { literal, ..value }, span);
                if !rust && matches!(how, Writing::Remove) && !has_default {
                    self.raises(node, false);
                }
                let mut taken = Val { kind: element, ..Val::default() };
                if how == Writing::Atomic {
                    taken.reads = vec![node];
                }
                taken
            }
            Some(Touch::Both) => {
                let node = self.write(loc, key.clone(), Writing::Atomic, &value, span);
                let made = given_values.get(1).map(|(_, value)| value.kind.clone()).unwrap_or_default();
                let mut found = Val { kind: element.or(&made), place: Some(loc), key, ..Val::default() };
                if !found.kind.is_lock() && !matches!(found.kind, Type::Object(_)) {
                    found.place = found.place.filter(|_| !rust || !concurrent);
                }
                found.bound = Some(node);
                found.reads = vec![node];
                found
            }
            None => {
                let read = self.read(Val { bound: None, ..base.clone() }, span);
                Val { kind: Type::Unknown, ..Val::from(read.reads) }.with(&reads)
            }
        };
        if concurrent && rust && !awaited && matches!(name, "get" | "get_mut" | "entry" | "iter" | "iter_mut") {
            // What comes out of a concurrent map keeps a part of the map locked as long as it lives.
            let shared = matches!(name, "get" | "iter");
            let key = base
                .key
                .clone()
                .or_else(|| first.zip(given_values.first()).map(|(expr, (_, value))| self.key_text(value, expr)));
            let guard = self.emit(Event::Acquire { lock: loc, key, shared }, span);
            self.temporaries.push(guard);
            return Some(Val { guards: vec![guard], ..result.with(&from_closures) });
        }
        if awaited {
            self.checkpoint(Certainty::Always, Why::Await, "", span);
            let mut result = Val { place: None, ..result };
            result.spawned.clear();
            if known.is_none() && !rust {
                result.far = std::mem::take(&mut result.reads);
            }
            return Some(result.with(&from_closures));
        }
        Some(Val { guards: Vec::new(), ..result.with(&from_closures) })
    }

    /// A method of something that is no state of its own: an object of a library, or a library itself.
    fn placeless(
        &mut self,
        base: &Val,
        name: &str,
        given: &'m [Argument],
        awaited: bool,
        callee: &'m Expr,
        span: Span,
    ) -> Option<Val> {
        if let Some(bound) = base.bound {
            let named = |value: &Expr| match &value.kind {
                Kind::Name(name) => {
                    self.frames[self.frame].variables.get(name.as_str()).is_some_and(|value| value.fresh)
                }
                _ => false,
            };
            let token = !self.is_rust() && given.first().is_some_and(|first| named(&first.value));
            let changes = matches!(touch(name), Some(Touch::Writes(_) | Touch::Both)) && !token || closes(name);
            self.emit(Event::Use { bound, changes }, span);
        }
        let through = name.starts_with("or_") || matches!(name, "value" | "value_mut" | "key" | "pair" | "pair_mut");
        if self.is_rust() && !base.guards.is_empty() && through {
            let given_values = self.arguments(given);
            self.closures(&given_values, span);
            return Some(base.clone());
        }
        if !base.reads.is_empty() || !base.spawned.is_empty() {
            let given_values = self.arguments(given);
            let mut reads = base.reads.clone();
            merge(&mut reads, &Self::reads_of(&given_values));
            if name == "join" && !base.spawned.is_empty() {
                self.emit(Event::Join(Some(base.spawned.clone())), span);
            }
            if name == "set_result" || name == "set_exception" {
                let loc = self.names.number("future");
                self.emit(Event::Wake { loc, stores: true }, span);
            }
            if self.is_rust() {
                for (_, value) in &given_values {
                    if let Some(callable) = value.callable.clone().filter(|_| value.pending.is_none()) {
                        let result = self.invoke(&callable, Vec::new(), false, span);
                        merge(&mut reads, &result.reads);
                    }
                }
            }
            self.if_awaited(awaited, Certainty::Always, Why::Await, "", span);
            return Some(Val { reads, spawned: base.spawned.clone(), bound: None, ..Val::default() });
        }
        let _ = callee;
        None
    }

    /// A function of a library, or something that is not known.
    pub(super) fn library_function(
        &mut self,
        callee: &'m Expr,
        given: &'m [Argument],
        awaited: bool,
        target: &Val,
        span: Span,
    ) -> Val {
        let path = self.facts.path(callee).unwrap_or_default();
        let last = path.rsplit(['.', ':']).next().unwrap_or_default().to_owned();
        let kind = self.facts.infer(
            &Expr { kind: Kind::Call(Box::new(callee.clone()), Vec::new()), span },
            Some(self.frames[self.frame].function),
        );
        // `list(d)`, `len(d)`, `sorted(d)`: all of it at once.
        let looks = matches!(
            path.as_str(),
            "list"
                | "tuple"
                | "set"
                | "dict"
                | "sorted"
                | "len"
                | "bool"
                | "sum"
                | "max"
                | "min"
                | "any"
                | "all"
                | "frozenset"
                | "copy.copy"
        );
        let passes = matches!(
            path.as_str(),
            "iter" | "enumerate" | "reversed" | "zip" | "map" | "filter" | "contextlib.suppress" | "partial"
        );
        if (looks || passes) && !given.is_empty() {
            let mut all = Val::default();
            let mut place = None;
            let mut of = Type::Unknown;
            for argument in given {
                let value = self.place(&argument.value);
                let how = if matches!(path.as_str(), "len" | "bool") { Reading::Contains } else { Reading::Snapshot };
                if passes {
                    place = place.or(value.place.zip(Some(value.key.clone())));
                    of = of.or(&value.kind);
                    merge(&mut all.reads, &value.reads);
                } else {
                    let read = self.read_as(value.clone(), how, argument.value.span);
                    merge(&mut all.reads, &read.reads);
                    of = of.or(&read.kind);
                }
                merge(&mut all.spawned, &value.spawned);
                all.elements.extend(value.elements.iter().filter(|one| one.pending.is_some()).cloned());
            }
            all.kind = if path == "len" || path == "bool" { Type::Plain } else { of };
            if let Some((loc, key)) = place {
                all.place = Some(loc);
                all.key = key;
            }
            return all;
        }
        if path == "type"
            && let [of] = given
        {
            let of = self.place(&of.value);
            let kind = if let Type::Object(class) = of.kind { Type::Class(class) } else { Type::Unknown };
            return Val { kind, text: format!("type({})", of.text), reads: of.reads, ..Val::default() };
        }
        if path == "typing.cast" && given.len() == 2 {
            return self.place(&given[1].value);
        }
        let mut values = self.arguments(given);
        let reads = Self::reads_of(&values);
        if path == "functools.partial"
            && let Some((_, first)) = values.first()
            && let Some(callable) = &first.callable
        {
            let mut bound = (**callable).clone();
            bound.given.extend(values[1..].iter().cloned());
            return Val { callable: Some(std::rc::Rc::new(bound)), ..Val::default() };
        }
        if self.is_rust() {
            if matches!(path.rsplit('.').next(), Some("drop")) && values.len() == 1 {
                let guards = values[0].1.guards.clone();
                self.release(&guards, span);
                for unwind in &mut self.unwinds {
                    if let super::Unwind::Guards(held) = unwind {
                        held.retain(|guard| !guards.contains(guard));
                    }
                }
                return Val::default();
            }
            let wraps = matches!(
                last.as_str(),
                "new" | "from" | "Some" | "Ok" | "Box" | "pin" | "clone" | "downgrade" | "timeout" | "poll_fn"
            ) || matches!(path.as_str(), "Some" | "Ok" | "Err");
            if wraps && values.len() == 1 && kind != Type::Atomic && !matches!(kind, Type::Around(..) | Type::Cell(_)) {
                return values.into_iter().next().map(|(_, value)| value).unwrap_or_default();
            }
            let result = self.closures(&values, span);
            for (_, value) in &mut values {
                merge(&mut value.spawned, &result.spawned);
            }
        }
        if awaited {
            // Whatever was handed over and is awaited inside runs here: `wait_for(f(), 1)`, `shield(f())`.
            for (_, value) in &values {
                if let Some(pending) = &value.pending {
                    self.run(&pending.clone(), span);
                }
            }
            let (certainty, why, note) = self.awaited_library(&path, &last, target);
            if certainty != Certainty::Never {
                self.checkpoint(certainty, why, note, span);
            }
            let spawned: Vec<NodeId> = values.iter().flat_map(|(_, value)| value.spawned.clone()).collect();
            if !spawned.is_empty() {
                self.emit(Event::Join(Some(sorted(spawned))), span);
            }
        } else {
            let node = self.emit(Event::Nothing, span);
            self.raises(node, false);
        }
        let fresh = kind != Type::Unknown
            || matches!(
                last.as_str(),
                "current_task" | "create_future" | "object" | "uuid4" | "current_thread" | "get_ident"
            );
        let pending = values.iter().find_map(|(_, value)| value.pending.clone()).filter(|_| !awaited);
        let spawned = sorted(values.iter().flat_map(|(_, value)| value.spawned.clone()).collect());
        // An answer from elsewhere may depend on what was asked, but decides nothing about it.
        let (reads, far) = if awaited && !self.is_rust() { (Vec::new(), reads) } else { (reads, Vec::new()) };
        Val { kind, fresh, pending, reads, far, spawned, ..Val::default() }
    }

    /// Whether awaiting a library's function lets others run.
    fn awaited_library(&self, path: &str, last: &str, target: &Val) -> (Certainty, Why, &'static str) {
        if matches!(last, "checkpoint_if_cancelled") {
            return (Certainty::May, Why::CancelOnly, "");
        }
        if last == "cancel_shielded_checkpoint" {
            return (Certainty::Always, Why::Await, "");
        }
        // A parameter or variable that is called: whether it suspends is up to whoever passes it.
        let local = !path.contains('.') && !self.facts.module.imports.iter().any(|(name, _)| name == path);
        if local && target.callable.is_none() && !self.is_rust() {
            return (Certainty::Always, Why::Await, "");
        }
        if matches!(last, "wait_for" | "gather" | "shield" | "timeout") && self.facts.tasks() == Framework::Asyncio {
            return (Certainty::May, Why::Await, "if it has to wait");
        }
        (Certainty::Always, Why::Await, "")
    }
}
