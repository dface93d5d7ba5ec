//! Reads transactional histories from files, straight into their packed form.
//!
//! An event is `{"process":0,"type":"ok","f":"txn","value":[["r",1,[2,3]],["append",1,4]]}` or the same in EDN. In
//! the meta line, `"order":{"x":[1,2]}` is the store's own record of the order of versions, and `"init":0` what every
//! register holds at the beginning.

mod plain;

use std::borrow::Cow;
use std::fmt;
use std::io::BufRead;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::atom::Atom;
use super::build::Builder;
use super::history::{StepKind, Transactions};
use crate::format::line::{NO_KIND, kind_of, not_a_process};
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
            if let Some(init) = meta.get("init") {
                self.record_init(init);
            }
            return Ok(());
        }
        let process = match fields.process {
            None | Some(Value::Nil) => None,
            Some(Value::Int(number)) if number >= 0 => Some(Process(number as u64)),
            // Not a client: a nemesis.
            Some(Value::Text(_)) => return Ok(()),
            Some(other) => return Err(not_a_process(&other)),
        };
        let kind = kind_of(&fields.kind.ok_or("an event needs `type`")?).ok_or(NO_KIND)?;
        if fields.f.is_some_and(|f| !matches!(f.as_text(), Some("txn" | "transaction" | "t"))) {
            // Nobody's, and no transaction: a nemesis without a name.
            let nobody = process.is_none() && kind == EventKind::Info;
            return if nobody { Ok(()) } else { Err("`f` is not txn".to_owned()) };
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
    match key.as_text() {
        Some(text) if Value::whole(text).to_string() == text && text.ends_with(|c: char| c.is_ascii_digit()) => {
            Value::whole(text)
        }
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
        f.write_str("an event, which is a map,")
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
        source.deserialize_identifier(self)
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
const NO_VALUE: &str = "a value is a number, a string or a list of them";
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
        visit_f64: f64 => Found::Odd(NO_LIST);
        visit_bytes: &[u8] => Found::Odd(NO_LIST);
        visit_str: &str => Found::Odd(NO_LIST);
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, set: D) -> Result<Found, D::Error> {
        set.deserialize_any(IgnoredAny).map(|_| Found::Odd(NO_LIST))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Found, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Found::Odd(NO_LIST))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Found, A::Error> {
        let mut found = Found::Steps;
        while let Some(step) = list.next_element_seed(OneStep(&mut *self.0))? {
            if let Found::Odd(_) = step {
                found = step;
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
        visit_f64: f64 => Found::Odd(NO_STEP);
        visit_bytes: &[u8] => Found::Odd(NO_STEP);
        visit_str: &str => Found::Odd(NO_STEP);
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, set: D) -> Result<Found, D::Error> {
        set.deserialize_any(IgnoredAny).map(|_| Found::Odd(NO_STEP))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Found, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Found::Odd(NO_STEP))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Found, A::Error> {
        let builder = self.0;
        let f = list.next_element_seed(Datum { builder, lists: false })?;
        let builder = &mut *builder;
        let key = list.next_element_seed(Datum { builder, lists: false })?;
        let builder = &mut *builder;
        let value = list.next_element_seed(Datum { builder, lists: true })?;
        let more = list.next_element::<IgnoredAny>()?.is_some();
        while list.next_element::<IgnoredAny>()?.is_some() {}
        let (Some(Read::Atom(f)), Some(key)) = (f, key) else { return Ok(Found::Odd(NO_STEP)) };
        let Read::Atom(key) = key else { return Ok(Found::Odd(NO_KEY)) };
        let value = value.unwrap_or(Read::Atom(Atom::NIL));
        let kind = match value {
            _ if more => return Ok(Found::Odd(NO_STEP)),
            Read::Odd(why) => return Ok(Found::Odd(why)),
            Read::List(from, to) if READ.contains(&f) => StepKind::ReadList(from, to),
            Read::Atom(_) if READ.contains(&f) => StepKind::Read,
            Read::Atom(value) if value.is_nil() && (WRITE.contains(&f) || APPEND.contains(&f)) => {
                return Ok(Found::Odd("null cannot be written"));
            }
            Read::Atom(_) if WRITE.contains(&f) => StepKind::Write,
            Read::Atom(_) if APPEND.contains(&f) => StepKind::Append,
            Read::Atom(_) | Read::List(..) => return Ok(Found::Odd(NO_STEP)),
        };
        let value = match value {
            Read::Atom(value) => value,
            Read::List(..) | Read::Odd(_) => Atom::NIL,
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
    /// Something else: fine if the event is none of a client.
    Odd(&'static str),
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

    fn visit_f64<E>(self, value: f64) -> Result<Read, E> {
        Ok(Read::Atom(self.builder.history.atoms.value(&Value::Float(value))))
    }

    /// A number that is neither.
    fn visit_bytes<E: serde::de::Error>(self, text: &[u8]) -> Result<Read, E> {
        let text = std::str::from_utf8(text).map_err(|_| E::custom("a number is not UTF-8"))?;
        Ok(Read::Atom(self.builder.history.atoms.value(&Value::Number(text.to_owned()))))
    }

    fn visit_str<E>(self, text: &str) -> Result<Read, E> {
        Ok(Read::Atom(self.builder.history.atoms.text(text)))
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, set: D) -> Result<Read, D::Error> {
        set.deserialize_any(IgnoredAny).map(|_| Read::Odd(self.odd()))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Read, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Read::Odd(self.odd()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Read, A::Error> {
        if !self.lists {
            while list.next_element::<IgnoredAny>()?.is_some() {}
            return Ok(Read::Odd(NO_KEY));
        }
        let from = self.builder.scratch.elements.len() as u32;
        let mut odd = false;
        while let Some(element) = list.next_element_seed(Datum { builder: &mut *self.builder, lists: false })? {
            match element {
                Read::Atom(element) if !element.is_nil() => self.builder.scratch.elements.push(element),
                Read::Atom(_) | Read::List(..) | Read::Odd(_) => odd = true,
            }
        }
        let to = self.builder.scratch.elements.len() as u32;
        Ok(if odd { Read::Odd(NO_ELEMENT) } else { Read::List(from, to) })
    }
}

impl Datum<'_> {
    /// Why a set or a map cannot stand here.
    fn odd(&self) -> &'static str {
        if self.lists { NO_VALUE } else { NO_KEY }
    }
}
