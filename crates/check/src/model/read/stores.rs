//! Registers, stores, counters, sets and lists.

use super::{Readable, begins_empty, number, pair, unknown};
use crate::history::{Event, Outcome, Value};
use crate::model::{
    AppendList, Counter, CounterOp, CounterRet, KeyValue, KeyValueOp, KeyValueRet, ListOp, ListRet, Register,
    RegisterOp, RegisterRet, Set, SetOp, SetRet,
};

fn init(meta: &Value) -> Value {
    meta.get("init").cloned().unwrap_or_default()
}

impl Readable for Register<Value> {
    const NAME: &'static str = "register";

    fn from_meta(meta: &Value) -> Result<Self, String> {
        Ok(Register::new(init(meta)))
    }

    fn op(event: &Event) -> Result<RegisterOp<Value>, String> {
        match event.f.as_str() {
            "read" => Ok(RegisterOp::Read),
            "write" => Ok(RegisterOp::Write(event.value.clone())),
            "cas" => pair(&event.value).map(|(from, to)| RegisterOp::Cas(from, to)),
            _ => unknown("register", "read, write and cas"),
        }
    }

    fn ret(op: &RegisterOp<Value>, event: &Event) -> Result<RegisterRet<Value>, String> {
        Ok(match op {
            RegisterOp::Read => RegisterRet::Value(event.value.clone()),
            RegisterOp::Write(_) => RegisterRet::Written,
            RegisterOp::Cas(..) => RegisterRet::Swapped(true),
        })
    }

    fn failed(op: &RegisterOp<Value>) -> Outcome<RegisterRet<Value>> {
        match op {
            RegisterOp::Cas(..) => Outcome::Ok(RegisterRet::Swapped(false)),
            RegisterOp::Read | RegisterOp::Write(_) => Outcome::Fail,
        }
    }
}

/// The key of an event, and what is left of its value: `key` stands on its own or first in a list of two.
fn keyed(event: &Event) -> Result<(Value, Value), String> {
    match &event.key {
        Some(key) => Ok((key.clone(), event.value.clone())),
        None => {
            pair(&event.value).map_err(|_| "an event of a store needs `key`, or a `value` of key and value".to_owned())
        }
    }
}

impl Readable for KeyValue<Value, Value> {
    const NAME: &'static str = "key-value";

    fn from_meta(meta: &Value) -> Result<Self, String> {
        Ok(KeyValue::new(init(meta)))
    }

    fn op(event: &Event) -> Result<Self::Op, String> {
        let (key, value) = keyed(event)?;
        match event.f.as_str() {
            "get" | "read" => Ok(KeyValueOp::Get(key)),
            "put" | "write" => Ok(KeyValueOp::Put(key, value)),
            "append" => Ok(KeyValueOp::Append(key, value)),
            "cas" => pair(&value).map(|(from, to)| KeyValueOp::Cas(key, from, to)),
            _ => unknown("store", "get, put, append and cas"),
        }
    }

    fn ret(op: &Self::Op, event: &Event) -> Result<Self::Ret, String> {
        Ok(match op {
            KeyValueOp::Get(_) => KeyValueRet::Value(keyed(event)?.1),
            KeyValueOp::Put(..) | KeyValueOp::Append(..) => KeyValueRet::Done,
            KeyValueOp::Cas(..) => KeyValueRet::Swapped(true),
        })
    }

    fn failed(op: &Self::Op) -> Outcome<Self::Ret> {
        match op {
            KeyValueOp::Cas(..) => Outcome::Ok(KeyValueRet::Swapped(false)),
            KeyValueOp::Get(_) | KeyValueOp::Put(..) | KeyValueOp::Append(..) => Outcome::Fail,
        }
    }
}

impl Readable for Counter {
    const NAME: &'static str = "counter";

    fn from_meta(meta: &Value) -> Result<Self, String> {
        match init(meta) {
            Value::Nil => Ok(Counter { init: 0 }),
            other => number(&other)
                .map(|init| Counter { init })
                .map_err(|_| format!("`init` is {}, not a whole number of 64 bits", other.kind())),
        }
    }

    fn op(event: &Event) -> Result<CounterOp, String> {
        let amount = || if event.value.is_nil() { Ok(1) } else { number(&event.value) };
        match event.f.as_str() {
            "read" => Ok(CounterOp::Read),
            "inc" | "add" => amount().map(CounterOp::Add),
            "dec" => amount().map(|amount| CounterOp::Add(amount.wrapping_neg())),
            "add-and-get" => amount().map(CounterOp::AddAndGet),
            _ => unknown("counter", "read, inc, dec, add and add-and-get"),
        }
    }

    fn ret(op: &CounterOp, event: &Event) -> Result<CounterRet, String> {
        match op {
            CounterOp::Add(_) => Ok(CounterRet::Added),
            CounterOp::AddAndGet(_) | CounterOp::Read => number(&event.value).map(CounterRet::Sum),
        }
    }
}

impl Readable for Set<Value> {
    const NAME: &'static str = "set";

    fn from_meta(meta: &Value) -> Result<Self, String> {
        begins_empty(meta, "set", "empty")?;
        Ok(Set::new())
    }

    fn op(event: &Event) -> Result<SetOp<Value>, String> {
        let element = || event.key.clone().unwrap_or_else(|| event.value.clone());
        match event.f.as_str() {
            "add" => Ok(SetOp::Add(element())),
            "remove" => Ok(SetOp::Remove(element())),
            "contains" => Ok(SetOp::Contains(element())),
            "read" => Ok(SetOp::Elements),
            _ => unknown("set", "add, remove, contains and read"),
        }
    }

    fn ret(op: &SetOp<Value>, event: &Event) -> Result<SetRet<Value>, String> {
        match (op, &event.value) {
            (SetOp::Elements, Value::List(elements) | Value::Set(elements)) => Ok(SetRet::Elements(elements.clone())),
            (SetOp::Elements, other) => Err(format!("a read of a set returned {}, not a list or a set", other.kind())),
            (SetOp::Contains(_), Value::Bool(answer)) => Ok(SetRet::Answer(*answer)),
            (SetOp::Contains(_), other) => Err(format!("`contains` returned {}, not true or false", other.kind())),
            // Without a key of its own the element is the value, and an answer cannot be told from it.
            (SetOp::Add(_) | SetOp::Remove(_), Value::Bool(answer)) if event.key.is_some() => {
                Ok(SetRet::Answer(*answer))
            }
            (SetOp::Add(_) | SetOp::Remove(_), _) => Ok(SetRet::Done),
        }
    }
}

impl Readable for AppendList<Value> {
    const NAME: &'static str = "append-list";

    fn from_meta(meta: &Value) -> Result<Self, String> {
        begins_empty(meta, "list", "empty")?;
        Ok(AppendList::new())
    }

    fn op(event: &Event) -> Result<ListOp<Value>, String> {
        match event.f.as_str() {
            "append" => Ok(ListOp::Append(event.value.clone())),
            "read" => Ok(ListOp::Read),
            _ => unknown("list", "append and read"),
        }
    }

    fn ret(op: &ListOp<Value>, event: &Event) -> Result<ListRet<Value>, String> {
        match (op, &event.value) {
            (ListOp::Append(_), _) => Ok(ListRet::Appended),
            (ListOp::Read, Value::List(elements)) => Ok(ListRet::Elements(elements.clone())),
            (ListOp::Read, Value::Nil) => Ok(ListRet::Elements(Vec::new())),
            (ListOp::Read, other) => Err(format!("a read of a list returned {}, not a list", other.kind())),
        }
    }
}
