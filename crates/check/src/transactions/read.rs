//! Reads transactional histories from files, straight into their packed form.
//!
//! An event is `{"process":0,"type":"ok","f":"txn","value":[["r",1,[2,3]],["append",1,4]]}` or the same in EDN. In
//! the meta line, `"order":{"x":[1,2]}` is the store's own record of the order of versions.

mod plain;

use std::borrow::Cow;
use std::fmt;
use std::io::BufRead;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::atom::Atom;
use super::build::Builder;
use super::history::{StepKind, Transactions};
use crate::format::{Edn, JsonLines, LogErrors, ReadError, Records};
use crate::history::{EventKind, Process, Value};

impl Transactions {
    /// Reads JSON lines.
    pub fn from_jsonl(source: impl BufRead) -> Result<Transactions, LogErrors> {
        read(JsonLines::new(source))
    }

    /// Reads Jepsen's EDN.
    pub fn from_edn(source: impl BufRead) -> Result<Transactions, LogErrors> {
        read(Edn::new(source))
    }
}

fn read(records: impl Records) -> Result<Transactions, LogErrors> {
    read_by(records, true)
}

/// Reads all records, plain ones by hand if asked to. All of them are looked at, so that all errors are said.
fn read_by(mut records: impl Records, by_hand: bool) -> Result<Transactions, LogErrors> {
    let mut builder = Builder::new();
    let mut errors = LogErrors { first: Vec::new(), count: 0 };
    loop {
        let result = match records.advance() {
            Ok(false) => break,
            Ok(true) => {
                builder.scratch.clear();
                let line = records.line();
                let (text, syntax) = records.text();
                let plain = if by_hand { plain::record(text, syntax, &mut builder) } else { None };
                let taken = match plain {
                    Some((process, kind)) => Ok(builder.take(Some(process), kind, line)),
                    None => {
                        builder.scratch.clear();
                        let fields = records.form(Record { builder: &mut builder });
                        fields.map(|fields| fields.map_or(Ok(()), |fields| builder.record(fields, line)))
                    }
                };
                taken.and_then(|taken| taken.map_err(|reason| ReadError::new(line, reason)))
            }
            Err(error) => Err(error),
        };
        if let Err(error) = result {
            errors.add(error);
        }
    }
    if errors.count == 0 { Ok(builder.finish()) } else { Err(errors) }
}

/// What a record says, apart from the micro-operations.
#[derive(Default)]
struct Fields {
    meta: Option<Value>,
    process: Option<Value>,
    kind: Option<Value>,
    f: Option<Value>,
    /// Why the value is no list of micro-operations.
    odd: Option<&'static str>,
    has_value: bool,
}

impl Builder {
    fn record(&mut self, fields: Fields, line: u64) -> Result<(), String> {
        if let Some(meta) = fields.meta {
            if let Some(Value::Map(orders)) = meta.get("order") {
                for (key, order) in orders {
                    let order = order.as_list().ok_or("`order` maps keys to lists of values")?;
                    self.record_order(&bare(key), order);
                }
            }
            return Ok(());
        }
        let process = match fields.process {
            None | Some(Value::Nil) => None,
            Some(Value::Int(number)) if number >= 0 => Some(Process(number as u64)),
            // Not a client: a nemesis.
            Some(Value::Text(_)) => return Ok(()),
            Some(other) => return Err(format!("`process` is {other}, not a number from 0 up")),
        };
        let word = fields.kind.ok_or("an event needs `type`")?;
        let kind = word
            .as_text()
            .and_then(EventKind::from_word)
            .ok_or_else(|| format!("`type` is {word}, not invoke, ok, fail or info"))?;
        if let Some(f) = fields.f.filter(|f| !matches!(f.as_text(), Some("txn" | "transaction" | "t"))) {
            return Err(format!("`f` is {f}, not txn"));
        }
        if let Some(odd) = fields.odd {
            return Err(odd.to_owned());
        }
        if !fields.has_value && matches!(kind, EventKind::Invoke | EventKind::Ok) {
            return Err("a transaction needs `value`, a list of micro-operations".to_owned());
        }
        self.take(process, kind, line)
    }
}

/// A key of JSON is always a string: `"1"` is the key 1.
fn bare(key: &Value) -> Value {
    match key.as_text().map(str::parse::<i64>) {
        Some(Ok(number)) => Value::Int(number),
        _ => key.clone(),
    }
}

struct Record<'b> {
    builder: &'b mut Builder,
}

impl<'de> DeserializeSeed<'de> for Record<'_> {
    type Value = Fields;

    fn deserialize<D: Deserializer<'de>>(self, source: D) -> Result<Fields, D::Error> {
        source.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Record<'_> {
    type Value = Fields;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an event, which is a map")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
        let mut fields = Fields::default();
        while let Some(name) = map.next_key_seed(Word)? {
            match &*name {
                "meta" => fields.meta = map.next_value()?,
                "process" => fields.process = map.next_value()?,
                "type" => fields.kind = map.next_value()?,
                "f" => fields.f = map.next_value()?,
                "value" => {
                    self.builder.scratch.clear();
                    let found = map.next_value_seed(Steps(self.builder))?;
                    fields.has_value = found != Found::Nil;
                    fields.odd = match found {
                        Found::Odd(why) => Some(why),
                        Found::Nil | Found::Steps => None,
                    };
                }
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(fields)
    }
}

/// A string that is not copied if it need not be.
struct Word;

impl<'de> DeserializeSeed<'de> for Word {
    type Value = Cow<'de, str>;

    fn deserialize<D: Deserializer<'de>>(self, source: D) -> Result<Cow<'de, str>, D::Error> {
        source.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Word {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Cow<'de, str>, E> {
        Ok(Cow::Borrowed(text))
    }

    fn visit_str<E>(self, text: &str) -> Result<Cow<'de, str>, E> {
        Ok(Cow::Owned(text.to_owned()))
    }
}

/// What stands where micro-operations are expected.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Found {
    Nil,
    Steps,
    /// Something else: fine if the event is none of a client.
    Odd(&'static str),
}

const NO_LIST: &str = "`value` is not a list of micro-operations";
const NO_STEP: &str = "a micro-operation is [\"r\", key, value], [\"w\", key, value] or [\"append\", key, value]";
const NO_KEY: &str = "a key is a number or a string";
const NO_ELEMENT: &str = "an element of a list is a number or a string";

const READ: [Atom; 2] = [Atom::word(0), Atom::word(1)];
const WRITE: [Atom; 2] = [Atom::word(2), Atom::word(3)];
const APPEND: [Atom; 2] = [Atom::word(4), Atom::word(5)];

/// What a visitor answers to all values of these types.
macro_rules! other_values {
    ($value:ty; $($method:ident: $given:ty => $result:expr;)*) => {
        $(fn $method<E>(self, _: $given) -> Result<$value, E> {
            Ok($result)
        })*
    };
}

/// The list of micro-operations.
struct Steps<'b>(&'b mut Builder);

impl<'de> DeserializeSeed<'de> for Steps<'_> {
    type Value = Found;

    fn deserialize<D: Deserializer<'de>>(self, source: D) -> Result<Found, D::Error> {
        source.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Steps<'_> {
    type Value = Found;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of micro-operations")
    }

    fn visit_unit<E>(self) -> Result<Found, E> {
        Ok(Found::Nil)
    }

    other_values! { Found;
        visit_bool: bool => Found::Odd(NO_LIST);
        visit_i64: i64 => Found::Odd(NO_LIST);
        visit_u64: u64 => Found::Odd(NO_LIST);
        visit_f64: f64 => Found::Odd(NO_LIST);
        visit_str: &str => Found::Odd(NO_LIST);
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Found, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Found::Odd(NO_LIST))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Found, A::Error> {
        let mut found = Found::Steps;
        while let Some(step) = list.next_element_seed(OneStep(&mut *self.0))? {
            if step != Found::Steps {
                found = Found::Odd(NO_STEP);
            }
        }
        Ok(found)
    }
}

/// One micro-operation.
struct OneStep<'b>(&'b mut Builder);

impl<'de> DeserializeSeed<'de> for OneStep<'_> {
    type Value = Found;

    fn deserialize<D: Deserializer<'de>>(self, source: D) -> Result<Found, D::Error> {
        source.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for OneStep<'_> {
    type Value = Found;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a micro-operation")
    }

    fn visit_unit<E>(self) -> Result<Found, E> {
        Ok(Found::Odd(NO_STEP))
    }

    other_values! { Found;
        visit_bool: bool => Found::Odd(NO_STEP);
        visit_i64: i64 => Found::Odd(NO_STEP);
        visit_u64: u64 => Found::Odd(NO_STEP);
        visit_f64: f64 => Found::Odd(NO_STEP);
        visit_str: &str => Found::Odd(NO_STEP);
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Found, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Found::Odd(NO_STEP))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Found, A::Error> {
        use serde::de::Error;
        let builder = self.0;
        let f = list.next_element_seed(Datum { builder, lists: false })?;
        let builder = &mut *builder;
        let key = list.next_element_seed(Datum { builder, lists: false })?;
        let builder = &mut *builder;
        let value = list.next_element_seed(Datum { builder, lists: true })?;
        let more = list.next_element::<IgnoredAny>()?.is_some();
        while list.next_element::<IgnoredAny>()?.is_some() {}
        let (Some(Read::Atom(f)), Some(key)) = (f, key) else { return Ok(Found::Odd(NO_STEP)) };
        let Read::Atom(key) = key else { return Err(A::Error::custom(NO_KEY)) };
        let value = value.unwrap_or(Read::Atom(Atom::NIL));
        let kind = match value {
            _ if more => return Ok(Found::Odd(NO_STEP)),
            Read::List(from, to) if READ.contains(&f) => StepKind::ReadList(from, to),
            Read::Atom(_) if READ.contains(&f) => StepKind::Read,
            Read::Atom(value) if value.is_nil() => return Err(A::Error::custom("null cannot be written")),
            Read::Atom(_) if WRITE.contains(&f) => StepKind::Write,
            Read::Atom(_) if APPEND.contains(&f) => StepKind::Append,
            Read::Atom(_) | Read::List(..) => return Ok(Found::Odd(NO_STEP)),
        };
        let value = match value {
            Read::Atom(value) => value,
            Read::List(..) => Atom::NIL,
        };
        builder.push(key, kind, value);
        Ok(Found::Steps)
    }
}

/// A value, or where the elements of a list are.
#[derive(Clone, Copy)]
enum Read {
    Atom(Atom),
    List(u32, u32),
}

struct Datum<'b> {
    builder: &'b mut Builder,
    lists: bool,
}

impl<'de> DeserializeSeed<'de> for Datum<'_> {
    type Value = Read;

    fn deserialize<D: Deserializer<'de>>(self, source: D) -> Result<Read, D::Error> {
        source.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Datum<'_> {
    type Value = Read;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number, a string or a list of them")
    }

    fn visit_unit<E>(self) -> Result<Read, E> {
        Ok(Read::Atom(Atom::NIL))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Read, E> {
        Ok(Read::Atom(self.builder.history.atoms.value(&Value::Bool(value))))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Read, E> {
        Ok(Read::Atom(self.builder.history.atoms.int(value)))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Read, E> {
        let atoms = &mut self.builder.history.atoms;
        Ok(Read::Atom(match i64::try_from(value) {
            Ok(number) => atoms.int(number),
            Err(_) => atoms.text(&value.to_string()),
        }))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Read, E> {
        Ok(Read::Atom(self.builder.history.atoms.value(&Value::Float(value))))
    }

    fn visit_str<E>(self, text: &str) -> Result<Read, E> {
        Ok(Read::Atom(self.builder.history.atoms.text(text)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Read, A::Error> {
        use serde::de::Error;
        if !self.lists {
            return Err(A::Error::custom(NO_KEY));
        }
        let from = self.builder.scratch.elements.len() as u32;
        while let Some(element) = list.next_element_seed(Datum { builder: &mut *self.builder, lists: false })? {
            match element {
                Read::Atom(element) if !element.is_nil() => self.builder.scratch.elements.push(element),
                Read::Atom(_) | Read::List(..) => return Err(A::Error::custom(NO_ELEMENT)),
            }
        }
        Ok(Read::List(from, self.builder.scratch.elements.len() as u32))
    }
}
