//! Statements: branches, loops, `try`, `with`.

use drawloom_syntax::{Arm, Expr, Handler, Kind, Span};

use super::{Body, Catch, Lowerer, Unwind, Val};
use crate::graph::{Certainty, Edge, Event, NodeId, Reading, Why};
use crate::types::{Framework, LockKind, Type, Waits};

/// Exceptions that a cancellation is one of.
const CANCELLED: [&str; 7] = [
    "BaseException",
    "CancelledError",
    "Cancelled",
    "get_cancelled_exc_class",
    "BaseExceptionGroup",
    "TimeoutError_",
    "?",
];
/// What a look-up of something that is not there raises.
const MISSING: [&str; 5] = ["KeyError", "IndexError", "LookupError", "AttributeError", "NameError"];

/// `CancelScope(shield=True)`, `move_on_after(1, shield=True)`
fn shields(context: &Expr) -> bool {
    let Kind::Call(_, given) = &context.kind else { return false };
    given.iter().any(|given| {
        given.name.as_deref() == Some("shield") && matches!(&given.value.kind, Kind::Literal(text) if text == "True")
    })
}

/// `&*a`
fn is_behind(source: &Expr) -> bool {
    match &source.kind {
        Kind::Same(inner) => is_behind(inner),
        Kind::Deref(_) => true,
        _ => false,
    }
}

impl<'m> Lowerer<'_, 'm> {
    /// The statements of a block; the value of the last one.
    pub(super) fn block(&mut self, body: &'m [Expr]) -> Val {
        let rust = self.is_rust();
        if rust {
            self.unwinds.push(Unwind::Guards(Vec::new()));
        }
        let depth = self.unwinds.len();
        // Those of whoever calls live on.
        let outer = std::mem::take(&mut self.temporaries);
        let mut value = Val::default();
        for statement in body {
            if self.unreachable() {
                break;
            }
            value = self.one(statement);
            if rust {
                let keep = value.guards.clone();
                let dropped = std::mem::take(&mut self.temporaries);
                let (kept, dropped): (Vec<_>, Vec<_>) = dropped.into_iter().partition(|guard| keep.contains(guard));
                self.release(&dropped, statement.span);
                self.temporaries = kept;
            }
        }
        if rust {
            debug_assert!(self.unwinds.len() >= depth, "whatever a block has pushed it has popped");
            self.unwinds.truncate(depth);
            if let Some(Unwind::Guards(guards)) = self.unwinds.pop() {
                let span = body.last().map(|last| last.span).unwrap_or_default();
                let guards: Vec<NodeId> = guards.into_iter().filter(|guard| !value.guards.contains(guard)).collect();
                self.release(&guards, span);
            }
        }
        self.temporaries.splice(0..0, outer);
        value
    }

    fn one(&mut self, statement: &'m Expr) -> Val {
        self.discards = matches!(statement.kind, Kind::Call(..) | Kind::Await(_) | Kind::Question(_));
        let value = self.expression(statement);
        self.discards = false;
        value
    }

    /// A decision, by what was read for it.
    fn branch(&mut self, condition: &Val, span: Span) -> NodeId {
        self.emit(Event::Branch { reads: condition.reads.clone() }, span)
    }

    pub(super) fn if_(&mut self, condition: &'m Expr, body: &'m [Expr], otherwise: &'m [Expr], span: Span) -> Val {
        let pattern = matches!(condition.kind, Kind::Assign { .. });
        let tested = match &condition.kind {
            Kind::Assign { targets, value, .. } if self.is_rust() && is_behind(value) => {
                self.matched(targets, value, condition.span)
            }
            _ => self.expression(condition),
        };
        // A guard in a condition lives on only where a pattern is matched.
        let mut kept = Vec::new();
        if self.is_rust() {
            let temporaries = std::mem::take(&mut self.temporaries);
            if pattern { kept = temporaries } else { self.release(&temporaries, span) }
        }
        let branch = self.branch(&tested, condition.span);
        self.controls.push(branch);
        let at = self.controls.len();
        let outer_jump = std::mem::take(&mut self.jumped);
        let (tails, before) = (self.tails.clone(), self.variables());
        let value = self.block(body);
        let left = std::mem::replace(&mut self.tails, tails);
        let first_dead = left.is_empty();
        let after = self.variables();
        self.set_variables(before);
        self.controls.truncate(at);
        let other = self.block(otherwise);
        let second_dead = self.unreachable();
        match (first_dead, second_dead) {
            (true, _) => {}
            (false, true) => self.set_variables(after),
            (false, false) => self.join_variables(after),
        }
        self.tails.extend(left);
        self.release(&kept, span);
        self.controls.truncate(at - 1);
        if self.jumped {
            // Whether what follows is done depends on it, too.
            self.controls.push(branch);
        }
        self.jumped |= outer_jump;
        match (first_dead, second_dead) {
            (true, _) => other,
            (_, true) => value,
            _ => value.join(&other).with(&tested.reads),
        }
    }

    /// `Some(x) = &*lock.read()`: what is behind the guard is looked at, and the guard has no name.
    fn matched(&mut self, targets: &'m [Expr], source: &'m Expr, span: Span) -> Val {
        let behind = self.expression(source);
        let mut seen = Val { guards: Vec::new(), ..behind };
        if let (Some(loc), true, false) = (seen.place, seen.reads.is_empty(), self.unreachable()) {
            let event = Event::Read { loc, key: seen.key.clone(), how: Reading::Value };
            seen.reads = vec![self.emit(event, span)];
        }
        for target in targets {
            self.assign_to(target, seen.clone(), true, span);
        }
        seen
    }

    pub(super) fn while_(&mut self, condition: Option<&'m Expr>, body: &'m [Expr], otherwise: &'m [Expr], span: Span) {
        self.loops += 1;
        let head = self.emit(Event::Nothing, span);
        let controls = self.controls.len();
        let mut leaves = Vec::new();
        let mut ends_by = None;
        let before = self.variables();
        if let Some(condition) = condition {
            let tested = self.expression(condition);
            let kept = std::mem::take(&mut self.temporaries);
            let branch = self.branch(&tested, condition.span);
            self.temporaries = kept;
            self.controls.push(branch);
            let endless =
                matches!(&condition.kind, Kind::Literal(text) if text == "True" || text == "true" || text == "1");
            if !endless {
                leaves = self.tails.clone();
                ends_by = Some(branch);
            }
        }
        let guards = std::mem::take(&mut self.temporaries);
        let (breaks, continues) = self.looped(body);
        self.tails.extend(continues);
        self.release(&guards, span);
        for (from, edge) in std::mem::take(&mut self.tails) {
            self.graph.nodes[from].next.push((head, edge));
        }
        self.loops -= 1;
        self.controls.truncate(controls);
        self.join_variables(before);
        self.tails = leaves;
        if !self.unreachable() {
            self.release(&guards, span);
            self.block(otherwise);
        }
        // Whoever comes past a loop that waits has seen that it need not.
        if breaks.is_empty() && !self.is_rust() {
            self.controls.extend(ends_by);
        }
        self.tails.extend(breaks);
    }

    /// The body of a loop; what leaves it, and what goes on with it.
    #[allow(clippy::type_complexity)]
    fn looped(&mut self, body: &'m [Expr]) -> (Vec<(NodeId, Edge)>, Vec<(NodeId, Edge)>) {
        self.unwinds.push(Unwind::Loop { breaks: Vec::new(), continues: Vec::new() });
        let depth = self.unwinds.len();
        let (controls, jumped) = (self.controls.len(), self.jumped);
        self.block(body);
        self.controls.truncate(controls);
        self.jumped = jumped;
        self.unwinds.truncate(depth);
        match self.unwinds.pop() {
            Some(Unwind::Loop { breaks, continues }) => (breaks, continues),
            _ => (Vec::new(), Vec::new()),
        }
    }

    /// `break` or `continue`.
    pub(super) fn jump(&mut self, goes_on: bool, span: Span) {
        self.jumped = true;
        let found = self.unwinds.iter().rposition(|unwind| matches!(unwind, Unwind::Loop { .. }));
        let Some(found) = found else {
            self.tails.clear();
            return;
        };
        self.unwind(found + 1, span);
        let tails = std::mem::take(&mut self.tails);
        if let Some(Unwind::Loop { breaks, continues }) = self.unwinds.get_mut(found) {
            if goes_on { continues.extend(tails) } else { breaks.extend(tails) }
        }
    }

    pub(super) fn return_(&mut self, value: Option<&'m Expr>, span: Span) {
        self.jumped = true;
        let value = value.map(|value| self.expression(value)).unwrap_or_default();
        if self.is_rust() {
            let temporaries = std::mem::take(&mut self.temporaries);
            let dropped: Vec<NodeId> = temporaries.into_iter().filter(|guard| !value.guards.contains(guard)).collect();
            self.release(&dropped, span);
        }
        let (frame, base) = (self.frame, self.frames[self.frame].base);
        self.unwind(base, span);
        let tails = std::mem::take(&mut self.tails);
        let own = &mut self.frames[frame];
        own.returns.extend(tails);
        own.result = Some(match own.result.take() {
            Some(known) => known.join(&value),
            None => value,
        });
    }

    pub(super) fn for_(
        &mut self,
        target: &'m Expr,
        iterable: &'m Expr,
        body: &'m [Expr],
        otherwise: &'m [Expr],
        is_async: bool,
        span: Span,
    ) {
        let over = self.place(iterable);
        let over = self.iterated(over, iterable.span);
        let kept = std::mem::take(&mut self.temporaries);
        self.loops += 1;
        let head = self.emit(Event::Nothing, span);
        if is_async {
            self.checkpoint(Certainty::Always, Why::Next, "async for", span);
        }
        let leaves = self.tails.clone();
        let before = self.variables();
        let element = Val {
            kind: over.kind.element(),
            reads: over.reads.clone(),
            spawned: over.spawned.clone(),
            ..Val::default()
        };
        self.assign_to(target, element, false, span);
        let (breaks, mut continues) = self.looped(body);
        continues.append(&mut self.tails);
        // The next element is asked for here: that is when a change of what is gone over is noticed.
        self.tails = continues;
        if let (Some(loc), false) = (over.place, self.unreachable()) {
            let event = Event::Read { loc, key: over.key.clone(), how: Reading::Next };
            self.emit(event, iterable.span);
        }
        for (from, edge) in std::mem::take(&mut self.tails) {
            self.graph.nodes[from].next.push((head, edge));
        }
        self.loops -= 1;
        self.join_variables(before);
        self.tails = leaves;
        self.release(&kept, span);
        self.block(otherwise);
        self.tails.extend(breaks);
    }

    /// What is gone over: the container itself, or a value.
    pub(super) fn iterated(&mut self, over: Val, span: Span) -> Val {
        let place = over.place.filter(|_| {
            !over.kind.synchronises() && !matches!(over.kind, Type::Plain | Type::Object(_)) && !self.unreachable()
        });
        let key = over.key.clone();
        let mut read = match place {
            // `d.items()` has asked for the first one already.
            Some(_) if over.reads.is_empty() => self.read_as(over, Reading::Iterates, span),
            _ => over,
        };
        read.place = place;
        read.key = key;
        read
    }

    pub(super) fn match_(&mut self, subject: &'m Expr, arms: &'m [Arm], span: Span) -> Val {
        let tested = self.expression(subject);
        // Guards in what is matched live until the end of it.
        let kept = std::mem::take(&mut self.temporaries);
        let branch = self.branch(&tested, subject.span);
        self.controls.push(branch);
        let at = self.controls.len();
        let outer_jump = std::mem::take(&mut self.jumped);
        let (tails, before) = (self.tails.clone(), self.variables());
        let mut ends = Vec::new();
        let mut value: Option<Val> = None;
        let mut after = None;
        for arm in arms {
            self.tails.clone_from(&tails);
            self.set_variables(before.clone());
            self.controls.truncate(at);
            let bound = Val { guards: Vec::new(), ..tested.clone() };
            self.assign_to(&arm.pattern, bound, true, span);
            if let Some(guard) = &arm.guard {
                let tested = self.expression(guard);
                self.branch(&tested, guard.span);
            }
            let result = self.block(&arm.body);
            if !self.unreachable() {
                value = Some(value.map_or(result.clone(), |value| value.join(&result)));
                let own = self.variables();
                match after.take() {
                    None => after = Some(own),
                    Some(others) => {
                        self.join_variables(others);
                        after = Some(self.variables());
                    }
                }
            }
            ends.append(&mut self.tails);
        }
        if !self.is_rust() || arms.is_empty() {
            // No case has to fit.
            ends.extend(tails);
        }
        self.tails = ends;
        if let Some(after) = after {
            self.set_variables(after);
        }
        self.release(&kept, span);
        self.controls.truncate(at - 1);
        if self.jumped {
            self.controls.push(branch);
        }
        self.jumped |= outer_jump;
        value.unwrap_or_default().with(&tested.reads)
    }

    pub(super) fn try_(
        &mut self,
        body: &'m [Expr],
        handlers: &'m [Handler],
        otherwise: &'m [Expr],
        finally: &'m [Expr],
        span: Span,
    ) {
        if finally.is_empty() {
            self.try_except(body, handlers, otherwise, span);
            return;
        }
        let (frame, catch) = (self.frame, self.catches.len());
        self.protected(
            Unwind::Finally { body: finally, frame, catch },
            &mut |lowerer| {
                lowerer.try_except(body, handlers, otherwise, span);
                Val::default()
            },
            &mut |lowerer| {
                let working = std::mem::replace(&mut lowerer.frame, frame);
                lowerer.cleanup += 1;
                lowerer.block(finally);
                lowerer.cleanup -= 1;
                lowerer.frame = working;
            },
        );
    }

    fn try_except(&mut self, body: &'m [Expr], handlers: &'m [Handler], otherwise: &'m [Expr], span: Span) {
        if handlers.is_empty() {
            self.block(body);
            self.block(otherwise);
            return;
        }
        let before = self.variables();
        self.catches.push(Catch::default());
        self.unwinds.push(Unwind::Nothing);
        let first = self.graph.nodes.len();
        let controls = self.controls.len();
        self.block(body);
        self.unwinds.pop();
        let catch = self.catches.pop().unwrap_or_default();
        let looked_up: Vec<NodeId> = (first..self.graph.nodes.len())
            .filter(|at| matches!(self.graph.nodes[*at].event, Event::Read { .. }) && catch.errors.contains(at))
            .collect();
        let asks = handlers.iter().any(|handler| handler.types.iter().any(|name| MISSING.contains(&name.as_str())));
        let mut decision = None;
        if asks && !looked_up.is_empty() && !self.unreachable() {
            // A look-up that succeeds is a test, as one that fails is.
            decision = Some(self.emit(Event::Branch { reads: looked_up.clone() }, span));
        }
        self.controls.extend(decision);
        if !self.unreachable() {
            self.block(otherwise);
        }
        let mut ends = std::mem::take(&mut self.tails);
        let after = self.variables();
        let mut caught = false;
        let mut passes = false;
        for handler in handlers {
            let cancels =
                handler.types.is_empty() || handler.types.iter().any(|name| CANCELLED.contains(&name.as_str()));
            let errors = handler.types.is_empty()
                || handler.types.iter().any(|name| !matches!(name.as_str(), "CancelledError" | "Cancelled"));
            let mut tails: Vec<(NodeId, Edge)> = Vec::new();
            if errors {
                tails.extend(catch.errors.iter().map(|node| (*node, Edge::Error)));
            }
            if cancels && !caught {
                tails.extend(catch.cancels.iter().map(|node| (*node, Edge::Cancel)));
                caught = true;
            }
            passes |= handler.types.is_empty()
                || handler.types.iter().any(|name| matches!(name.as_str(), "BaseException" | "Exception"));
            if tails.is_empty() {
                continue;
            }
            self.tails = tails;
            self.set_variables(before.clone());
            self.join_variables(after.clone());
            self.controls.truncate(controls);
            self.unwinds.push(Unwind::Nothing);
            let missing = handler.types.iter().any(|name| MISSING.contains(&name.as_str()));
            if missing && !looked_up.is_empty() {
                let branch = self.emit(Event::Branch { reads: looked_up.clone() }, handler.span);
                self.controls.push(branch);
            } else {
                self.cleanup += 1;
            }
            self.emit(Event::Nothing, handler.span);
            if let Some(name) = &handler.name {
                self.define(name, Val::default());
            }
            self.block(&handler.body);
            if !missing || looked_up.is_empty() {
                self.cleanup -= 1;
            }
            self.unwinds.pop();
            ends.append(&mut self.tails);
            self.join_variables(after.clone());
        }
        self.controls.truncate(controls);
        if let Some(outer) = self.catches.last_mut() {
            if !passes {
                outer.errors.extend(&catch.errors);
            }
            if !caught {
                outer.cancels.extend(&catch.cancels);
            }
        }
        self.tails = ends;
        if self.jumped && asks {
            self.controls.extend(decision);
        }
    }

    /// `with` over the first of `items`, and the others in it.
    pub(super) fn with_(&mut self, items: &'m [(Expr, Option<Expr>)], body: &'m [Expr], is_async: bool) -> Val {
        let Some(((context, target), rest)) = items.split_first() else { return self.block(body) };
        let at = context.span;
        if shields(context) {
            self.shielded += 1;
            self.place(context);
            let value = self.with_(rest, body, is_async);
            self.shielded -= 1;
            return value;
        }
        let value = self.place(context);
        if let Type::Lock { waits, kind } = value.kind {
            let shared = kind == LockKind::Semaphore;
            return self.locked(&value, waits, shared, is_async, at, &mut |lowerer| {
                if let Some(target) = target {
                    lowerer.assign_to(target, value.clone(), false, at);
                }
                lowerer.with_(rest, body, is_async)
            });
        }
        if let Some(pending) = value.pending.clone().filter(|pending| self.generator(pending)) {
            let body = Body { frame: self.frame, target: target.as_ref(), statements: body, items: rest, is_async };
            return self.through_generator(&pending, body, at);
        }
        let own = match value.kind {
            Type::Object(class) => Some(class),
            _ => None,
        };
        let names = if is_async { ["__aenter__", "__aexit__"] } else { ["__enter__", "__exit__"] };
        let methods = own.map(|class| names.map(|name| self.facts.method(class, name)));
        let entered = match methods {
            Some([Some(enter), _]) => self.method_call(enter, value.clone(), Vec::new(), is_async, at),
            Some(_) => value.clone(),
            None => {
                if is_async {
                    self.enter_checkpoint(&value, at);
                }
                Val { place: None, pending: None, ..value.clone() }
            }
        };
        if let Some(target) = target {
            self.assign_to(target, entered, false, at);
        }
        let first = self.graph.nodes.len();
        let group = value.kind == Type::Group;
        let catch = self.catches.len();
        let after = |lowerer: &mut Self, first: usize| match methods {
            Some([_, Some(exit)]) => {
                lowerer.method_call(exit, value.clone(), Vec::new(), is_async, at);
            }
            Some(_) => {}
            None => {
                if is_async && (!group || lowerer.facts.tasks() != Framework::Asyncio || lowerer.spawns_since(first)) {
                    lowerer.exit_checkpoint(at);
                }
                if group {
                    let inside = lowerer.spawned_since(first);
                    lowerer.emit(Event::Join(Some(inside)), at);
                }
            }
        };
        let unwind = if is_async && methods.is_none() { Unwind::Exit { span: at, catch } } else { Unwind::Nothing };
        self.protected(unwind, &mut |lowerer| lowerer.with_(rest, body, is_async), &mut |lowerer| {
            after(lowerer, first);
        })
    }

    pub(super) fn spawns_since(&self, first: NodeId) -> bool {
        !self.spawned_since(first).is_empty()
    }

    pub(super) fn spawned_since(&self, first: NodeId) -> Vec<NodeId> {
        let all = first..self.graph.nodes.len();
        all.filter(|at| matches!(self.graph.nodes[*at].event, Event::Spawn { .. })).collect()
    }

    /// What is done under a lock.
    pub(super) fn locked(
        &mut self,
        value: &Val,
        waits: Waits,
        shared: bool,
        is_async: bool,
        span: Span,
        body: &mut dyn FnMut(&mut Self) -> Val,
    ) -> Val {
        let Some(lock) = value.place else {
            // A lock that nobody else has protects nothing.
            if is_async {
                self.checkpoint(Certainty::May, Why::Lock, "lock", span);
            }
            return body(self);
        };
        let key = value.key.clone();
        if is_async || waits == Waits::Tasks {
            self.lock_checkpoint(span);
        }
        self.emit(Event::Acquire { lock, key: key.clone(), shared }, span);
        let release = Unwind::Release { lock, key: key.clone(), span };
        self.protected(release, body, &mut |lowerer| {
            lowerer.emit(Event::Release { lock, key: key.clone() }, span);
        })
    }

    /// The checkpoint of taking a lock of tasks.
    pub(super) fn lock_checkpoint(&mut self, span: Span) {
        let certainty = match self.facts.tasks() {
            Framework::Trio | Framework::Anyio => Certainty::Always,
            Framework::Asyncio | Framework::Threads | Framework::Tokio => Certainty::May,
        };
        self.checkpoint(certainty, Why::Lock, "if the lock is taken", span);
    }

    pub(super) fn exit_checkpoint(&mut self, span: Span) {
        self.checkpoint(Certainty::May, Why::Exit, "on exit", span);
    }

    pub(super) fn enter_checkpoint(&mut self, value: &Val, span: Span) {
        if value.kind != Type::Group {
            self.checkpoint(Certainty::May, Why::Enter, "on entry", span);
        }
    }

    pub(super) fn checkpoint(&mut self, certainty: Certainty, why: Why, note: &'static str, span: Span) -> NodeId {
        let cancels = self.shielded == 0 && (why != Why::CancelOnly || self.facts.tasks() != Framework::Asyncio);
        let node = self.emit(Event::Checkpoint { certainty, cancels, why, note }, span);
        self.raises(node, cancels);
        node
    }
}
