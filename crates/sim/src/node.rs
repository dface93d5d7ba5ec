//! The code of a node.

use std::any::Any;
use std::cell::{Ref, RefCell, RefMut};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use crate::clock::Timer;
use crate::ctx::Ctx;
use crate::id::NodeId;
use crate::stream::{StreamEvent, StreamId};

/// The code of a node: a state machine without I/O, which is told what has happened and says through [`Ctx`] what it does about it.
///
/// A node keeps what it knows in its fields. A crash loses them; what must survive goes into storage ([`Ctx::save`]).
pub trait Node<M>: Any {
    /// The node begins: when the run does, and whenever it restarts after a crash.
    fn on_start(&mut self, cx: &mut Ctx<'_, M>) {
        let _ = cx;
    }

    /// A message has arrived.
    fn on_message(&mut self, from: NodeId, message: M, cx: &mut Ctx<'_, M>);

    /// A timer has fired.
    fn on_timer(&mut self, timer: Timer, cx: &mut Ctx<'_, M>) {
        let _ = (timer, cx);
    }

    /// A message could not be delivered, and the network says so ([`Mode::Reject`](crate::Mode::Reject)).
    fn on_rejected(&mut self, to: NodeId, message: M, cx: &mut Ctx<'_, M>) {
        let _ = (to, message, cx);
    }

    /// Something has happened on a stream that this node has opened or accepted.
    fn on_stream(&mut self, stream: StreamId, event: StreamEvent<M>, cx: &mut Ctx<'_, M>) {
        let _ = (stream, event, cx);
    }

    /// The node is asked to end; it is gone afterwards.
    fn on_stop(&mut self, cx: &mut Ctx<'_, M>) {
        let _ = cx;
    }
}

/// A configuration of a node: a copy shares nothing with the original.
///
/// The closure that makes a node can capture only what is `Copy`, so it cannot hold the memory of another node. What else it needs is
/// handed to it through this trait ([`Cluster::node_with`](crate::Cluster::node_with)), as a deep copy for every start.
pub trait Isolate: 'static {
    /// A copy that shares nothing with the original; but for a [`Probe`], which is meant to.
    #[must_use]
    fn isolate(&self) -> Self;
}

macro_rules! plain {
    ($($type:ty),+ $(,)?) => {
        $(impl Isolate for $type {
            fn isolate(&self) -> Self {
                self.clone()
            }
        })+
    };
}

plain!(
    (),
    bool,
    char,
    u8,
    u16,
    u32,
    u64,
    u128,
    usize,
    i8,
    i16,
    i32,
    i64,
    i128,
    isize,
    f32,
    f64,
    String,
    &'static str,
    NodeId,
    std::time::Duration,
);

impl<T: Isolate> Isolate for Vec<T> {
    fn isolate(&self) -> Self {
        self.iter().map(T::isolate).collect()
    }
}

impl<T: Isolate> Isolate for Option<T> {
    fn isolate(&self) -> Self {
        self.as_ref().map(T::isolate)
    }
}

impl<T: Isolate> Isolate for Box<T> {
    fn isolate(&self) -> Self {
        Box::new(T::isolate(self))
    }
}

impl<T: Isolate, const N: usize> Isolate for [T; N] {
    fn isolate(&self) -> Self {
        std::array::from_fn(|at| self[at].isolate())
    }
}

impl<K: Isolate + Ord, V: Isolate> Isolate for BTreeMap<K, V> {
    fn isolate(&self) -> Self {
        self.iter().map(|(key, value)| (key.isolate(), value.isolate())).collect()
    }
}

impl<T: Isolate + Ord> Isolate for BTreeSet<T> {
    fn isolate(&self) -> Self {
        self.iter().map(T::isolate).collect()
    }
}

macro_rules! tuples {
    ($($name:ident),+) => {
        impl<$($name: Isolate),+> Isolate for ($($name,)+) {
            fn isolate(&self) -> Self {
                #[expect(non_snake_case)]
                let ($($name,)+) = self;
                ($($name.isolate(),)+)
            }
        }
    };
}

tuples!(A);
tuples!(A, B);
tuples!(A, B, C);
tuples!(A, B, C, D);
tuples!(A, B, C, D, E);

/// A value that nodes show to the test without the network, for invariants. No node should read it to decide what it does.
#[derive(Debug, Default)]
pub struct Probe<T>(Rc<RefCell<T>>);

impl<T> Probe<T> {
    /// Begins with `value`.
    pub fn new(value: T) -> Probe<T> {
        Probe(Rc::new(RefCell::new(value)))
    }

    /// The value.
    pub fn get(&self) -> Ref<'_, T> {
        self.0.borrow()
    }

    /// Takes note of something.
    pub fn note(&self) -> RefMut<'_, T> {
        self.0.borrow_mut()
    }
}

impl<T> Clone for Probe<T> {
    fn clone(&self) -> Self {
        Probe(Rc::clone(&self.0))
    }
}

impl<T: 'static> Isolate for Probe<T> {
    fn isolate(&self) -> Self {
        self.clone()
    }
}
