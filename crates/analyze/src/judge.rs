//! What rules ask about a program as a whole: what some state is, and which changes of it are harmless.

use crate::graph::{Event, Graph, Loc, NodeId, Writing};
use crate::program::{Access, Program};
use crate::tables::closes;
use crate::types::{LockKind, Type};

impl Program<'_, '_> {
    /// The type of a piece of state.
    pub(crate) fn kind(&self, loc: Loc) -> Type {
        let name = self.names.name(loc);
        if crate::lower::PROCESS.contains(&name) {
            return Type::Container(Box::default());
        }
        if let Some(kind) = self.facts.globals.get(name) {
            return kind.clone();
        }
        if let Some((function, variable)) = name.split_once("::<closure>.") {
            let found = self.facts.module.functions.iter().position(|it| it.qualified == function);
            let kind = found.and_then(|at| self.facts.local(drawloom_syntax::FunctionId(at), variable));
            return kind.cloned().unwrap_or_default();
        }
        let Some((class, field)) = name.split_once('.') else { return Type::Unknown };
        match self.facts.class_named(class) {
            Some(class) => self.facts.field(class, field).cloned().unwrap_or_default(),
            None => Type::Unknown,
        }
    }

    /// Whether all accesses are to an atomic, a concurrent map or a once cell.
    pub(crate) fn kind_is_atomic(&self, accesses: &[Access]) -> bool {
        let loc = accesses.first().map(|access| match self.node(*access).event {
            Event::Read { loc, .. } | Event::Write { loc, .. } => loc,
            _ => 0,
        });
        loc.is_some_and(|loc| matches!(self.kind(loc), Type::Atomic | Type::ConcurrentMap(_) | Type::Once(_)))
    }

    /// Whether two roots have a variable each: what inner functions use belongs to one call of the outer one.
    pub(crate) fn has_its_own(&self, loc: Loc, one: usize, other: usize) -> bool {
        if !self.names.name(loc).contains("<closure>") {
            return false;
        }
        let exported = |task: usize| self.tasks[task].root.kind == crate::lower::RootKind::Exported;
        exported(one) && exported(other)
    }

    /// Whether the same line of source makes the same access under a lock, where this file calls it: then whoever calls it from
    /// elsewhere is expected to hold the lock, too.
    pub(crate) fn usually_locked(&self, loc: Loc, access: Access) -> bool {
        let own = self.locks_at(access);
        let line = self.locks_of_line.get(&(loc, self.node(access).span));
        line.is_some_and(|all| all.iter().any(|locks| !locks.is_subset(&own)))
    }

    /// Whether an access is under a lock of threads that is taken in the same function.
    pub(crate) fn locked_here(&self, access: Access) -> bool {
        let graph = &self.tasks[access.task].graph;
        let own = graph.nodes[access.node].function;
        graph.held[access.node].iter().any(|taken| {
            let by_threads = match graph.nodes[*taken].event {
                Event::Acquire { lock, .. } => {
                    !matches!(self.kind(lock), Type::Lock { waits: crate::types::Waits::Tasks, .. })
                }
                _ => false,
            };
            by_threads && graph.nodes[*taken].function == own
        })
    }

    /// Whether it is an object's own state, and both roots run a function that the object runs as one task at a time: its handle is
    /// kept in one field.
    pub(crate) fn same_single_task(&self, loc: Loc, one: usize, other: usize) -> bool {
        let function = self.tasks[one].root.callable.function;
        if function != self.tasks[other].root.callable.function || !self.single.contains_key(&function) {
            return false;
        }
        let Some((class, field)) = self.names.name(loc).split_once('.') else { return false };
        let own = self.facts.function(function).class;
        let of = self.facts.class_named(class);
        of.is_some() && of == own && !of.is_some_and(|of| self.facts.is_class_level(of, field))
    }

    pub(crate) fn is_semaphore(&self, loc: Loc) -> bool {
        matches!(self.kind(loc), Type::Lock { kind: LockKind::Semaphore, .. })
    }

    /// Whether it is there to order tasks: an event that is cleared, a lock that is asked.
    pub(crate) fn is_ordering(&self, loc: Loc) -> bool {
        matches!(self.kind(loc), Type::Lock { .. } | Type::Event(_) | Type::Group | Type::Local | Type::Notify)
            && !matches!(self.kind(loc), Type::Lock { .. } if self.is_replaced(loc))
    }

    /// Whether a lock is put there while the program runs.
    fn is_replaced(&self, loc: Loc) -> bool {
        let accesses = self.accesses.get(&loc).into_iter().flatten();
        let mut writes = accesses.filter(|access| matches!(self.node(**access).event, Event::Write { .. }));
        writes.next().is_some()
    }

    /// Whether the wait on a path is that of a lock or queue of a library, which hands over what it has.
    pub(crate) fn is_library_wait(&self, graph: &Graph, path: &[NodeId]) -> bool {
        let waits = path.iter().filter_map(|at| match graph.nodes[*at].event {
            Event::Wait { loc } => Some(loc),
            _ => None,
        });
        let mut waits = waits.peekable();
        waits.peek().is_some() && waits.all(|loc| matches!(self.kind(loc), Type::Queue(_)))
    }

    /// Whether a write makes no difference when two tasks make it: a constant, and nothing else is done on the way.
    pub(crate) fn idempotent(&self, _loc: Loc, literal: Option<&str>, path: &[NodeId], task: usize) -> bool {
        let graph = &self.tasks[task].graph;
        let constant = literal.is_some_and(|text| matches!(text, "True" | "False" | "None" | "true" | "false"));
        let acts = path[1..path.len() - 1].iter().any(|at| {
            matches!(
                graph.nodes[*at].event,
                Event::Write { .. } | Event::Checkpoint { .. } | Event::Spawn { .. } | Event::Nothing
            )
        });
        constant && !acts && self.tasks[task].preempted
    }

    /// Whether a removed element is closed by whoever removes it.
    pub(crate) fn closes_after(&self, removal: Access) -> bool {
        let graph = &self.tasks[removal.task].graph;
        let function = graph.nodes[removal.node].function;
        let after = graph.nodes.iter().skip(removal.node);
        let mut closing =
            after.filter(|node| node.function == function || node.span.line >= graph.nodes[removal.node].span.line);
        let _ = closes;
        closing.any(|node| matches!(node.event, Event::Use { changes: true, .. }))
    }

    /// Whether a removal is in the same function as the use.
    pub(crate) fn in_cleanup_of_same(&self, removal: Access, used: Access) -> bool {
        self.node(removal).function == self.node(used).function
    }

    /// Whether a use is in a `try`, so that a mistake is expected.
    pub(crate) fn guarded_by_handler(&self, _used: Access) -> bool {
        false
    }

    /// Whether an event changes how many elements there are.
    pub(crate) fn resizes(&self, loc: Loc, event: &Event) -> bool {
        match event {
            Event::Write { how: Writing::Remove | Writing::Clear, .. } => true,
            // A list that grows is gone over to its new end; a map or set complains.
            Event::Write { how: Writing::Add | Writing::Atomic, key, .. } => {
                key.is_some() && !matches!(self.kind(loc), Type::Unknown)
            }
            _ => false,
        }
    }
}
