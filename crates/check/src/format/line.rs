//! The fields of an event, whatever the format, and values as serde brings them.

use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

use super::{Entry, Note, ReadError};
use crate::history::{Event, EventKind, Process, Value};

/// The fields of an event, whatever the format. Those that must be of a certain kind in an event of a client can be
/// anything in a line that is nobody's.
#[derive(serde::Deserialize)]
#[serde(expecting = "an event, which is a map,")]
pub(super) struct Line {
    meta: Option<Value>,
    #[serde(default, deserialize_with = "present")]
    process: Option<Value>,
    #[serde(rename = "type")]
    kind: Option<Value>,
    f: Option<Value>,
    key: Option<Value>,
    #[serde(default)]
    value: Value,
    time: Option<Value>,
}

/// A field that is there, even if it is null.
fn present<'de, D: Deserializer<'de>>(source: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(source).map(Some)
}

impl Line {
    /// What the fields say together.
    pub(super) fn entry(self, line: u64) -> Result<Entry, ReadError> {
        if let Some(meta) = self.meta {
            return Ok(Entry::Meta(meta));
        }
        let missing = |field: &str| ReadError::new(line, format!("an event needs `{field}`"));
        let kind = self.kind.as_ref().map(kind_of);
        let process = match self.process.ok_or_else(|| missing("process"))? {
            Value::Int(number) if number >= 0 => Process(number as u64),
            // An operation without a process might be the one that is wrong; only what is none can be passed over.
            Value::Nil if self.f.is_none() || kind == Some(Some(EventKind::Info)) => {
                return Ok(note("nobody".to_owned(), self.f, &self.value, line));
            }
            Value::Text(who) => return Ok(note(who, self.f, &self.value, line)),
            other => return Err(ReadError::new(line, not_a_process(&other))),
        };
        let kind = kind.ok_or_else(|| missing("type"))?.ok_or_else(|| ReadError::new(line, NO_KIND))?;
        let f = match self.f.ok_or_else(|| missing("f"))? {
            Value::Text(f) => f,
            other => return Err(ReadError::new(line, format!("`f` is {}, not a word", other.kind()))),
        };
        Ok(Entry::Event(Event { process, kind, f, key: self.key, value: self.value, time: self.time, line }))
    }
}

/// Why a `type` is none.
pub(crate) const NO_KIND: &str = "`type` is not invoke, ok, fail or info";

/// Why a `process` is none.
pub(crate) fn not_a_process(value: &Value) -> String {
    format!("`process` is {}, not a number from 0 up", value.kind())
}

/// The kind of event that a `type` names.
pub(crate) fn kind_of(word: &Value) -> Option<EventKind> {
    word.as_text().and_then(EventKind::from_word)
}

fn note(who: String, f: Option<Value>, value: &Value, line: u64) -> Entry {
    let f = match f {
        Some(Value::Text(f)) => f,
        other => other.unwrap_or_default().to_string(),
    };
    Entry::Note(Note { who, text: format!("{f} {value}"), after: 0, line })
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Nil)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Int(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::whole(&value.to_string()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Value::Float(value))
    }

    /// A number that is neither.
    fn visit_bytes<E: de::Error>(self, text: &[u8]) -> Result<Value, E> {
        String::from_utf8(text.to_vec()).map(Value::Number).map_err(|_| E::custom("a number is not UTF-8"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::Text(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::Text(value))
    }

    /// A set.
    fn visit_newtype_struct<D: Deserializer<'de>>(self, elements: D) -> Result<Value, D::Error> {
        Vec::deserialize(elements).map(Value::set)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(value) = access.next_element()? {
            list.push(value);
        }
        Ok(Value::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut pairs = Vec::new();
        while let Some(pair) = access.next_entry::<Value, Value>()? {
            pairs.push(pair);
        }
        Ok(Value::map(pairs))
    }
}
