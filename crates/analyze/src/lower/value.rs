//! What is known of a value.

use std::rc::Rc;

use drawloom_syntax::FunctionId;

use crate::graph::{Loc, NodeId};
use crate::types::Type;

/// What is known of a value.
#[derive(Clone, Debug, Default)]
pub(crate) struct Val {
    pub(crate) kind: Type,
    /// The state that it is stored in.
    pub(crate) place: Option<Loc>,
    /// As the element of this key.
    pub(crate) key: Option<String>,
    /// The reads that it depends on.
    pub(crate) reads: Vec<NodeId>,
    /// The reads that were handed to something unknown that was awaited, and that it may depend on.
    pub(crate) far: Vec<NodeId>,
    /// The read that took it out of shared state, if it is still the same object.
    pub(crate) bound: Option<NodeId>,
    /// What it is called, the same for the same value.
    pub(crate) text: String,
    /// What can be called.
    pub(crate) callable: Option<Rc<Callable>>,
    /// What is still to be awaited.
    pub(crate) pending: Option<Rc<Pending>>,
    /// The locks whose guard it is.
    pub(crate) guards: Vec<NodeId>,
    /// As written out.
    pub(crate) literal: Option<String>,
    /// Whether it was made here, so that nobody else knows it.
    pub(crate) fresh: bool,
    /// The spawns whose handle it is.
    pub(crate) spawned: Vec<NodeId>,
    /// What a closure takes along.
    pub(crate) elements: Vec<Val>,
}

/// A function with what it is bound to.
#[derive(Clone, Debug)]
pub(crate) struct Callable {
    pub(crate) function: FunctionId,
    pub(crate) receiver: Option<Val>,
    /// The frame that it was written in, and that frame's variables.
    pub(crate) outer: Option<usize>,
    pub(crate) environment: Vec<(String, Val)>,
    /// Arguments bound beforehand.
    pub(crate) given: Vec<(Option<String>, Val)>,
}

/// A call whose body runs when it is awaited.
#[derive(Clone, Debug)]
pub(crate) struct Pending {
    pub(crate) callable: Callable,
    pub(crate) given: Vec<(Option<String>, Val)>,
}

impl Val {
    pub(crate) fn of(kind: Type) -> Val {
        Val { kind, ..Val::default() }
    }

    /// A plain value that depends on these reads.
    pub(crate) fn from(reads: Vec<NodeId>) -> Val {
        Val { reads, ..Val::default() }
    }

    /// With the reads of another one.
    pub(crate) fn with(mut self, reads: &[NodeId]) -> Val {
        merge(&mut self.reads, reads);
        self
    }

    /// What is known of it outside of the graph that it was made in.
    pub(crate) fn detached(&self) -> Val {
        Val {
            kind: self.kind.clone(),
            place: self.place,
            key: self.key.clone(),
            text: self.text.clone(),
            callable: self.callable.as_ref().map(|callable| {
                Rc::new(Callable {
                    receiver: callable.receiver.as_ref().map(Val::detached),
                    outer: None,
                    ..(**callable).clone()
                })
            }),
            ..Val::default()
        }
    }

    /// What tells it from others.
    pub(crate) fn signature(&self) -> String {
        let function = self.callable.as_ref().map(|callable| callable.function.0);
        format!("{:?}/{:?}/{:?}", self.kind, self.place, function)
    }

    /// One of two values, on two paths.
    pub(crate) fn join(&self, other: &Val) -> Val {
        let mut joined = self.clone();
        merge(&mut joined.reads, &other.reads);
        merge(&mut joined.spawned, &other.spawned);
        merge(&mut joined.far, &other.far);
        joined.kind = joined.kind.or(&other.kind);
        if joined.place != other.place {
            joined.place = joined.place.or(other.place).filter(|_| self.place.is_none() || other.place.is_none());
        }
        joined.bound = self.bound.or(other.bound);
        if joined.text != other.text && !other.text.is_empty() && !joined.text.is_empty() {
            joined.text = String::new();
        }
        if joined.literal != other.literal {
            joined.literal = None;
        }
        joined.callable = self.callable.clone().or_else(|| other.callable.clone());
        joined.fresh = self.fresh && other.fresh;
        joined
    }
}

/// Adds what is missing, in order.
pub(crate) fn merge(into: &mut Vec<NodeId>, from: &[NodeId]) {
    for node in from {
        if let Err(at) = into.binary_search(node) {
            into.insert(at, *node);
        }
    }
}
