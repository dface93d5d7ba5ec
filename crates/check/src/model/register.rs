//! A register with reads, writes and compare-and-set.

use super::{Access, Call, Datum, Model, Next, Shape};

/// A register. A history without [`RegisterOp::Cas`] in which no value is written twice is checked in
/// near-linear time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Register<V> {
    /// The value before the first write.
    pub init: V,
}

/// The same model under the name that says what it also has.
pub type CasRegister<V> = Register<V>;

/// The operations of a register.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum RegisterOp<V> {
    /// Returns the value.
    Read,
    /// Changes the value.
    Write(V),
    /// Changes the first value to the second; fails if the value is another one.
    Cas(V, V),
}

/// The results of operations of a register.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum RegisterRet<V> {
    /// To a read.
    Value(V),
    /// To a write.
    Written,
    /// To a compare-and-set: whether it did.
    Swapped(bool),
}

impl<V> Register<V> {
    /// A register with this value.
    pub fn new(init: V) -> Register<V> {
        Register { init }
    }
}

impl<V: Datum> Model for Register<V> {
    type State = V;
    type Op = RegisterOp<V>;
    type Ret = RegisterRet<V>;

    fn init(&self) -> V {
        self.init.clone()
    }

    fn step(&self, state: &V, op: &RegisterOp<V>, ret: Option<&RegisterRet<V>>, next: &mut Next<V>) {
        match (op, ret) {
            (RegisterOp::Read, None) => next.unchanged(),
            (RegisterOp::Read, Some(RegisterRet::Value(value))) => next.unchanged_if(state == value),
            (RegisterOp::Write(value), None | Some(RegisterRet::Written)) => drop(next.copy(value)),
            (RegisterOp::Cas(from, to), Some(RegisterRet::Swapped(true))) if state == from => drop(next.copy(to)),
            (RegisterOp::Cas(from, _), Some(RegisterRet::Swapped(false))) => next.unchanged_if(state != from),
            (RegisterOp::Cas(from, to), None) if state == from => drop(next.copy(to)),
            (RegisterOp::Cas(..), None) => next.unchanged(),
            _ => {}
        }
    }

    fn observer(&self, op: &RegisterOp<V>, ret: Option<&RegisterRet<V>>) -> bool {
        matches!((op, ret), (RegisterOp::Read, _) | (RegisterOp::Cas(..), Some(RegisterRet::Swapped(false))))
    }

    fn hopeless<'a, I>(&self, state: &V, op: &'a RegisterOp<V>, ret: &'a RegisterRet<V>, mut others: I) -> bool
    where
        I: Iterator<Item = Call<'a, Self>> + Clone,
    {
        let makes = |value: &V, (op, ret): Call<'a, Self>| match (op, ret) {
            (RegisterOp::Write(to), _) => to == value,
            (RegisterOp::Cas(_, to), None | Some(RegisterRet::Swapped(true))) => to == value,
            _ => false,
        };
        match (op, ret) {
            (RegisterOp::Read, RegisterRet::Value(value)) | (RegisterOp::Cas(value, _), RegisterRet::Swapped(true)) => {
                state != value && !others.any(|other| makes(value, other))
            }
            _ => false,
        }
    }

    fn explain(&self, state: &V, op: &RegisterOp<V>, _: &RegisterRet<V>) -> String {
        match op {
            RegisterOp::Cas(from, _) if from == state => format!("the value is {state:?}, so it would have swapped"),
            _ => format!("the value is {state:?}"),
        }
    }

    fn describe(&self, op: &RegisterOp<V>, ret: Option<&RegisterRet<V>>) -> String {
        let text = match op {
            RegisterOp::Read => "read".to_owned(),
            RegisterOp::Write(value) => format!("write {value:?}"),
            RegisterOp::Cas(from, to) => format!("cas {from:?} to {to:?}"),
        };
        match ret {
            None => text + " → ?",
            Some(RegisterRet::Written) => text,
            Some(RegisterRet::Value(value)) => format!("{text} → {value:?}"),
            Some(RegisterRet::Swapped(done)) => text + if *done { " → done" } else { " → refused" },
        }
    }

    fn shape(&self) -> Shape<'_> {
        self.init.token().map_or(Shape::Generic, Shape::Register)
    }

    fn access<'a>(&self, op: &'a RegisterOp<V>, ret: Option<&'a RegisterRet<V>>) -> Access<'a> {
        let token = match (op, ret) {
            (RegisterOp::Write(value), None | Some(RegisterRet::Written)) => value.token().map(Access::Write),
            (RegisterOp::Read, Some(RegisterRet::Value(value))) => value.token().map(Access::Read),
            _ => None,
        };
        token.unwrap_or(Access::Other)
    }
}
