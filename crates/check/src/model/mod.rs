//! Models: what one client, alone, would see.
//!
//! Write a [`Spec`] if there is a sequential implementation, or a [`Model`] if the object is allowed to choose
//! or the search should be told more.

mod container;
mod counter;
mod datum;
mod key_value;
mod list;
mod mutex;
mod next;
mod read;
mod register;
mod semaphore;
mod set;
mod shape;
mod spec;

use std::fmt::Debug;
use std::hash::Hash;

pub use container::{
    Container, ContainerOp, ContainerRet, Discipline, Fifo, FifoQueue, Lifo, LifoStack, Priority, PriorityQueue,
};
pub use counter::{Counter, CounterOp, CounterRet};
pub use datum::{Datum, Token};
pub use key_value::{KeyValue, KeyValueOp, KeyValueRet, Pairs};
pub use list::{AppendList, ListOp, ListRet};
pub use mutex::{LockOp, LockRet, Mutex};
pub use next::Next;
pub use read::{Readable, history_from_log};
pub use register::{CasRegister, Register, RegisterOp, RegisterRet};
pub use semaphore::{PermitOp, Semaphore};
pub use set::{Set, SetOp, SetRet};
pub use shape::{Access, Shape};
pub use spec::Spec;

/// An operation as a model sees it: the call, and the result if it is known.
pub type Call<'a, M> = (&'a <M as Model>::Op, Option<&'a <M as Model>::Ret>);

/// A model: a sequential object, as the specification of a concurrent one.
///
/// Only [`init`](Model::init) and [`step`](Model::step) are needed. The others make the search faster or its
/// explanations better; each says what must hold, and a checker is wrong if that does not hold.
pub trait Model {
    /// A state of the object.
    type State: Clone + Eq + Hash + Debug;
    /// What can be called.
    type Op: Eq + Hash + Debug;
    /// What can come back.
    type Ret: Eq + Hash + Debug;

    /// The state at the beginning.
    fn init(&self) -> Self::State;

    /// Puts into `next` the states that the object may be in after `op` returned `ret` in `state`: none if it cannot
    /// return that, several if the object is free to choose. `ret` is `None` if nobody knows what it returned.
    fn step(&self, state: &Self::State, op: &Self::Op, ret: Option<&Self::Ret>, next: &mut Next<Self::State>);

    /// Whether the operation, with this result, changes no state *whatever the state is*: a read, a failed
    /// comparison. Such an operation is placed as soon as it fits. "It does not change this state" is not enough.
    fn observer(&self, op: &Self::Op, ret: Option<&Self::Ret>) -> bool {
        let _ = (op, ret);
        false
    }

    /// The part of the object that the operation is confined to. Parts are checked one by one, which is much faster.
    /// One operation without a part makes the whole history one part.
    fn partition<'a>(&self, op: &'a Self::Op) -> Option<Token<'a>> {
        let _ = op;
        None
    }

    /// Whether `op` can certainly not return `ret` from `state` on, however many of `others` come before it, in
    /// whatever order. `false` is always right.
    fn hopeless<'a, I>(&self, state: &Self::State, op: &'a Self::Op, ret: &'a Self::Ret, others: I) -> bool
    where
        I: Iterator<Item = Call<'a, Self>> + Clone,
        Self::Op: 'a,
        Self::Ret: 'a,
    {
        let _ = (state, op, ret, others);
        false
    }

    /// How many bytes a state takes beside its own size, for the budget. A rough number will do.
    fn heap(&self, state: &Self::State) -> usize {
        let _ = state;
        0
    }

    /// Why `op` cannot return `ret` in `state`, in words.
    fn explain(&self, state: &Self::State, op: &Self::Op, ret: &Self::Ret) -> String {
        let _ = (op, ret);
        format!("the state is {state:?}")
    }

    /// An operation in words.
    fn describe(&self, op: &Self::Op, ret: Option<&Self::Ret>) -> String {
        match ret {
            Some(ret) => format!("{op:?} → {ret:?}"),
            None => format!("{op:?} → ?"),
        }
    }

    /// Whether the object is one for which there is a faster algorithm.
    fn shape(&self) -> Shape<'_> {
        Shape::Generic
    }

    /// What the operation does, in the words of the [shape](Model::shape).
    fn access<'a>(&self, op: &'a Self::Op, ret: Option<&'a Self::Ret>) -> Access<'a> {
        let _ = (op, ret);
        Access::Other
    }
}
