//! What is written here, for those who build larger JSON by serde.

use std::borrow::Cow;

use serde::ser::{Error, SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};

use super::reader::Reader;
use super::{Written, text};

/// Hands a value on, field by field and in its order.
pub(crate) fn hand_on<S: Serializer>(value: &impl Written, serializer: S) -> Result<S::Ok, S::Error> {
    let text = text(value);
    Value::of(&mut Reader::of(&text)).map_err(S::Error::custom)?.serialize(serializer)
}

/// A value of JSON as we write it: without fractions.
enum Value<'a> {
    Null,
    Flag(bool),
    Count(u64),
    Negative(i64),
    Text(Cow<'a, str>),
    List(Vec<Value<'a>>),
    Object(Vec<(Cow<'a, str>, Value<'a>)>),
}

impl<'a> Value<'a> {
    fn of(from: &mut Reader<'a>) -> Result<Value<'a>, super::Fault> {
        Ok(match from.peek() {
            Some(b'{') => {
                from.open('{', "an object")?;
                let mut fields = Vec::new();
                while let Some(name) = from.field()? {
                    fields.push((name, Value::of(from)?));
                }
                Value::Object(fields)
            }
            Some(b'[') => {
                from.open('[', "a list")?;
                let mut all = Vec::new();
                while from.element()? {
                    all.push(Value::of(from)?);
                }
                Value::List(all)
            }
            Some(b'"') => Value::Text(from.string()?),
            Some(b't' | b'f') => Value::Flag(super::Readable::read(from)?),
            Some(b'n') if from.is_null() => Value::Null,
            Some(b'-') => Value::Negative(super::Readable::read(from)?),
            _ => Value::Count(super::Readable::read(from)?),
        })
    }
}

impl Serialize for Value<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Value::Null => serializer.serialize_unit(),
            Value::Flag(flag) => serializer.serialize_bool(*flag),
            Value::Count(count) => serializer.serialize_u64(*count),
            Value::Negative(number) => serializer.serialize_i64(*number),
            Value::Text(text) => serializer.serialize_str(text),
            Value::List(all) => {
                let mut list = serializer.serialize_seq(Some(all.len()))?;
                all.iter().try_for_each(|value| list.serialize_element(value))?;
                list.end()
            }
            Value::Object(fields) => {
                let mut map = serializer.serialize_map(Some(fields.len()))?;
                fields.iter().try_for_each(|(name, value)| map.serialize_entry(name, value))?;
                map.end()
            }
        }
    }
}
