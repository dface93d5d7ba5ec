//! Events as files hold them, before a model gives them types.

use std::cmp::Ordering;
use std::fmt;

use super::Process;

/// What an event of a history file says of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventKind {
    /// It is called.
    Invoke,
    /// It took effect.
    Ok,
    /// It did not take effect. What that means is up to the model: a failed comparison is a result, too.
    Fail,
    /// Nobody knows.
    Info,
}

impl EventKind {
    /// The word in files.
    pub fn word(self) -> &'static str {
        match self {
            EventKind::Invoke => "invoke",
            EventKind::Ok => "ok",
            EventKind::Fail => "fail",
            EventKind::Info => "info",
        }
    }

    /// The kind that a word of a file names.
    pub fn from_word(word: &str) -> Option<EventKind> {
        [EventKind::Invoke, EventKind::Ok, EventKind::Fail, EventKind::Info]
            .into_iter()
            .find(|kind| kind.word() == word)
    }
}

/// One event of a history file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Whose event it is.
    pub process: Process,
    /// What it says.
    pub kind: EventKind,
    /// The name of the operation: `read`, `write`, `txn` …
    pub f: String,
    /// Which key, where the format keeps it apart from the value.
    pub key: Option<Value>,
    /// The argument of a call, the result of a return.
    pub value: Value,
    /// When, in the file's own unit. The order of events is that of the file; times are for people.
    pub time: Option<i64>,
    /// The line that the event begins on, 1 and up.
    pub line: u64,
}

/// A value of a history file, whatever its format. Shown as JSON, on one line.
#[derive(Default)]
pub enum Value {
    /// `null`, `nil`.
    #[default]
    Nil,
    /// `true`, `false`.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// Any other number. Equal if its bits are.
    Float(f64),
    /// A string; a keyword or symbol without its colon.
    Text(String),
    /// An array, a vector, a list or a set.
    List(Vec<Value>),
    /// An object or a map, in the order of the file.
    Map(Vec<(Value, Value)>),
}

impl Value {
    /// The number, if it is a whole one.
    pub fn as_int(&self) -> Option<i64> {
        match self {
            Value::Int(number) => Some(*number),
            _ => None,
        }
    }

    /// The string, if it is one.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The elements, if it is a list.
    pub fn as_list(&self) -> Option<&[Value]> {
        match self {
            Value::List(list) => Some(list),
            _ => None,
        }
    }

    /// What a map holds under a name.
    pub fn get(&self, name: &str) -> Option<&Value> {
        match self {
            Value::Map(pairs) => pairs.iter().find(|(key, _)| key.as_text() == Some(name)).map(|(_, value)| value),
            _ => None,
        }
    }

    /// Whether it is `null`.
    pub fn is_nil(&self) -> bool {
        matches!(self, Value::Nil)
    }
}

impl Clone for Value {
    fn clone(&self) -> Value {
        match self {
            Value::Nil => Value::Nil,
            Value::Bool(value) => Value::Bool(*value),
            Value::Int(value) => Value::Int(*value),
            Value::Float(value) => Value::Float(*value),
            Value::Text(value) => Value::Text(value.clone()),
            Value::List(value) => Value::List(value.clone()),
            Value::Map(value) => Value::Map(value.clone()),
        }
    }

    /// Uses the memory that is there, since states are copied all the time.
    fn clone_from(&mut self, source: &Value) {
        match (self, source) {
            (Value::Text(text), Value::Text(source)) => text.clone_from(source),
            (Value::List(list), Value::List(source)) => list.clone_from(source),
            (this, source) => *this = source.clone(),
        }
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Nil, Value::Nil) => true,
            (Value::Bool(a), Value::Bool(b)) => a == b,
            (Value::Int(a), Value::Int(b)) => a == b,
            (Value::Float(a), Value::Float(b)) => a.to_bits() == b.to_bits(),
            (Value::Text(a), Value::Text(b)) => a == b,
            (Value::List(a), Value::List(b)) => a == b,
            (Value::Map(a), Value::Map(b)) => a == b,
            _ => false,
        }
    }
}

impl Eq for Value {}

impl PartialOrd for Value {
    fn partial_cmp(&self, other: &Value) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// By kind, in the order of the variants, then by content.
impl Ord for Value {
    fn cmp(&self, other: &Value) -> Ordering {
        let rank = |value: &Value| match value {
            Value::Nil => 0,
            Value::Bool(_) => 1,
            Value::Int(_) => 2,
            Value::Float(_) => 3,
            Value::Text(_) => 4,
            Value::List(_) => 5,
            Value::Map(_) => 6,
        };
        match (self, other) {
            (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
            (Value::Int(a), Value::Int(b)) => a.cmp(b),
            (Value::Float(a), Value::Float(b)) => a.total_cmp(b),
            (Value::Text(a), Value::Text(b)) => a.cmp(b),
            (Value::List(a), Value::List(b)) => a.cmp(b),
            (Value::Map(a), Value::Map(b)) => a.cmp(b),
            _ => rank(self).cmp(&rank(other)),
        }
    }
}

impl std::hash::Hash for Value {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        std::mem::discriminant(self).hash(state);
        match self {
            Value::Nil => {}
            Value::Bool(value) => value.hash(state),
            Value::Int(value) => value.hash(state),
            Value::Float(value) => value.to_bits().hash(state),
            Value::Text(value) => value.hash(state),
            Value::List(value) => value.hash(state),
            Value::Map(value) => value.hash(state),
        }
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Nil => f.write_str("null"),
            Value::Bool(value) => write!(f, "{value}"),
            Value::Int(value) => write!(f, "{value}"),
            Value::Float(value) if value.is_finite() => write!(f, "{value:?}"),
            Value::Float(_) => f.write_str("null"),
            Value::Text(text) => f.write_str(&quoted(text)),
            Value::List(list) => {
                f.write_str("[")?;
                for (index, value) in list.iter().enumerate() {
                    write!(f, "{}{value}", if index == 0 { "" } else { "," })?;
                }
                f.write_str("]")
            }
            Value::Map(pairs) => {
                f.write_str("{")?;
                for (index, (key, value)) in pairs.iter().enumerate() {
                    let name = key.as_text().map_or_else(|| quoted(&key.to_string()), quoted);
                    write!(f, "{}{name}:{value}", if index == 0 { "" } else { "," })?;
                }
                f.write_str("}")
            }
        }
    }
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
