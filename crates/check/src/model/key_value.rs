//! A store of values by key; each key is a part of its own.

mod pairs;

use std::marker::PhantomData;

use super::{Access, Call, Datum, Model, Next, Shape, Token};
pub use pairs::Pairs;

/// A key–value store. Keys that nobody has written hold the initial value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyValue<K, V> {
    /// The value of a key before its first write.
    pub init: V,
    keys: PhantomData<K>,
}

/// The operations of a store.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum KeyValueOp<K, V> {
    /// Returns the value of a key.
    Get(K),
    /// Changes the value of a key.
    Put(K, V),
    /// Appends to the value of a key.
    Append(K, V),
    /// Changes the first value to the second; fails if the value is another one.
    Cas(K, V, V),
}

/// The results of operations of a store.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum KeyValueRet<V> {
    /// To a get.
    Value(V),
    /// To a put or an append.
    Done,
    /// To a compare-and-set: whether it did.
    Swapped(bool),
}

impl<K, V> KeyValueOp<K, V> {
    /// The key that it is about.
    pub fn key(&self) -> &K {
        match self {
            KeyValueOp::Get(key) | KeyValueOp::Put(key, _) | KeyValueOp::Append(key, _) => key,
            KeyValueOp::Cas(key, _, _) => key,
        }
    }
}

impl<K, V> KeyValue<K, V> {
    /// A store whose keys hold this value.
    pub fn new(init: V) -> KeyValue<K, V> {
        KeyValue { init, keys: PhantomData }
    }

    fn value<'a>(&'a self, state: &'a Pairs<K, V>, key: &K) -> &'a V
    where
        K: Ord,
    {
        state.get(key).unwrap_or(&self.init)
    }
}

impl<K: Datum + Ord, V: Datum> Model for KeyValue<K, V> {
    type State = Pairs<K, V>;
    type Op = KeyValueOp<K, V>;
    type Ret = KeyValueRet<V>;

    fn init(&self) -> Self::State {
        Pairs::default()
    }

    fn step(&self, state: &Self::State, op: &Self::Op, ret: Option<&KeyValueRet<V>>, next: &mut Next<Self::State>) {
        match (op, ret) {
            (KeyValueOp::Get(_), None) => next.unchanged(),
            (KeyValueOp::Get(key), Some(KeyValueRet::Value(value))) => {
                next.unchanged_if(self.value(state, key) == value)
            }
            (KeyValueOp::Put(key, value), None | Some(KeyValueRet::Done)) => {
                next.copy(state).slot(key, &self.init).clone_from(value)
            }
            (KeyValueOp::Append(key, value), None | Some(KeyValueRet::Done)) => {
                let appended = next.copy(state).slot(key, &self.init).append(value);
                if !appended {
                    next.take_back();
                }
            }
            (KeyValueOp::Cas(key, from, to), None | Some(KeyValueRet::Swapped(_))) => {
                let swaps = self.value(state, key) == from;
                match ret {
                    Some(KeyValueRet::Swapped(swapped)) if *swapped != swaps => {}
                    _ if swaps => next.copy(state).slot(key, &self.init).clone_from(to),
                    _ => next.unchanged(),
                }
            }
            _ => {}
        }
    }

    fn observer(&self, op: &Self::Op, ret: Option<&KeyValueRet<V>>) -> bool {
        matches!((op, ret), (KeyValueOp::Get(_), _) | (KeyValueOp::Cas(..), Some(KeyValueRet::Swapped(false))))
    }

    fn partition<'a>(&self, op: &'a Self::Op) -> Option<Token<'a>> {
        op.key().token()
    }

    fn hopeless<'a, I>(&self, state: &Self::State, op: &'a Self::Op, ret: &'a KeyValueRet<V>, others: I) -> bool
    where
        I: Iterator<Item = Call<'a, Self>> + Clone,
    {
        let wanted = match (op, ret) {
            (KeyValueOp::Get(_), KeyValueRet::Value(value)) => value,
            (KeyValueOp::Cas(_, from, _), KeyValueRet::Swapped(true)) => from,
            _ => return false,
        };
        let key = op.key();
        let now = self.value(state, key);
        if now == wanted {
            return false;
        }
        // What is put must be how the wanted value begins, or what is appended next must continue what is there; and what
        // is appended last must be how it ends.
        let begins = V::begins(wanted, now);
        let (mut begun, mut ended) = (false, false);
        for (other, ret) in others.filter(|(other, _)| other.key() == key) {
            match (other, ret) {
                (KeyValueOp::Append(_, value), _) => {
                    ended = ended || V::ends(wanted, value);
                    begun = begun || (begins && V::follows(wanted, now, value));
                }
                (KeyValueOp::Put(_, value), _)
                | (KeyValueOp::Cas(_, _, value), None | Some(KeyValueRet::Swapped(true))) => {
                    begun |= V::begins(wanted, value);
                    ended |= value == wanted;
                }
                _ => {}
            }
            if begun && ended {
                return false;
            }
        }
        true
    }

    fn heap(&self, state: &Self::State) -> usize {
        state.heap()
    }

    fn explain(&self, state: &Self::State, op: &Self::Op, _: &KeyValueRet<V>) -> String {
        format!("{:?} holds {:?}", op.key(), self.value(state, op.key()))
    }

    fn describe(&self, op: &Self::Op, ret: Option<&KeyValueRet<V>>) -> String {
        let text = match op {
            KeyValueOp::Get(key) => format!("get {key:?}"),
            KeyValueOp::Put(key, value) => format!("put {key:?} {value:?}"),
            KeyValueOp::Append(key, value) => format!("append {key:?} {value:?}"),
            KeyValueOp::Cas(key, from, to) => format!("cas {key:?} {from:?} to {to:?}"),
        };
        match ret {
            None => text + " → ?",
            Some(KeyValueRet::Done) => text,
            Some(KeyValueRet::Value(value)) => format!("{text} → {value:?}"),
            Some(KeyValueRet::Swapped(done)) => text + if *done { " → done" } else { " → refused" },
        }
    }

    fn shape(&self) -> Shape<'_> {
        self.init.token().map_or(Shape::Generic, Shape::Register)
    }

    fn access<'a>(&self, op: &'a Self::Op, ret: Option<&'a KeyValueRet<V>>) -> Access<'a> {
        let token = match (op, ret) {
            // Without a token of the key several keys would be taken for one register.
            _ if op.key().token().is_none() => None,
            (KeyValueOp::Put(_, value), None | Some(KeyValueRet::Done)) => value.token().map(Access::Write),
            (KeyValueOp::Get(_), Some(KeyValueRet::Value(value))) => value.token().map(Access::Read),
            _ => None,
        };
        token.unwrap_or(Access::Other)
    }
}
