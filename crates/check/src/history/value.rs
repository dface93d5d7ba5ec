//! Values as files hold them, whatever the format.

use std::cmp::Ordering;
use std::fmt;

use crate::escape::escaped;

/// A value of a history file, whatever its format. Shown as JSON, on one line.
///
/// Two values are equal if and only if they are the same value: nothing is rounded to fit, and what has no order is
/// kept sorted. [`Value::map`] and [`Value::set`] sort.
#[derive(Default)]
pub enum Value {
    /// `null`, `nil`.
    #[default]
    Nil,
    /// `true`, `false`.
    Bool(bool),
    /// A whole number of 64 bits.
    Int(i64),
    /// A decimal number. Equal if its bits are.
    Float(f64),
    /// Any other number, exactly, as its text: a whole one beyond 64 bits, without a plus sign and leading zeros; a ratio;
    /// a decimal with `M`, or one that no float holds.
    Number(String),
    /// A string; a keyword or symbol without its colon.
    Text(String),
    /// An array, a vector or a list.
    List(Vec<Value>),
    /// A set: sorted, each element once.
    Set(Vec<Value>),
    /// An object or a map: sorted by key, each key once.
    Map(Vec<(Value, Value)>),
}

impl Value {
    /// A set of these elements.
    pub fn set(mut elements: Vec<Value>) -> Value {
        elements.sort_unstable();
        elements.dedup();
        Value::Set(elements)
    }

    /// A map of these pairs. Of a key that is there twice, the last one counts.
    pub fn map(mut pairs: Vec<(Value, Value)>) -> Value {
        // The sort keeps the order of equal keys; what is left of them is the one that was the last.
        pairs.sort_by(|(one, _), (other, _)| one.cmp(other));
        pairs.dedup_by(|later, earlier| {
            let same = later.0 == earlier.0;
            if same {
                std::mem::swap(later, earlier);
            }
            same
        });
        Value::Map(pairs)
    }

    /// A whole number, from its digits with or without a sign.
    pub(crate) fn whole(text: &str) -> Value {
        if let Ok(number) = text.parse() {
            return Value::Int(number);
        }
        let (sign, digits) = match text.strip_prefix('-') {
            Some(digits) => ("-", digits),
            None => ("", text.strip_prefix('+').unwrap_or(text)),
        };
        Value::Number(format!("{sign}{}", digits.trim_start_matches('0')))
    }

    /// The number, if it is a whole one of 64 bits.
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

    /// What kind of value it is, for errors: these do not repeat what a file says.
    pub fn kind(&self) -> &'static str {
        match self {
            Value::Nil => "null",
            Value::Bool(_) => "true or false",
            Value::Int(number) if *number < 0 => "a number below 0",
            Value::Int(_) => "a number",
            Value::Float(_) => "a decimal number",
            Value::Number(text) if is_whole(text) => "a number beyond 64 bits",
            Value::Number(_) => "a ratio or decimal number",
            Value::Text(_) => "a word",
            Value::List(_) => "a list",
            Value::Set(_) => "a set",
            Value::Map(_) => "a map",
        }
    }

    /// Where a value stands among those of other kinds. All numbers stand together.
    fn rank(&self) -> u8 {
        match self {
            Value::Nil => 0,
            Value::Bool(_) => 1,
            Value::Int(_) | Value::Float(_) => 2,
            Value::Number(text) if is_whole(text) => 2,
            Value::Number(_) => 3,
            Value::Text(_) => 4,
            Value::List(_) => 5,
            Value::Set(_) => 6,
            Value::Map(_) => 7,
        }
    }
}

impl Clone for Value {
    fn clone(&self) -> Value {
        match self {
            Value::Nil => Value::Nil,
            Value::Bool(value) => Value::Bool(*value),
            Value::Int(value) => Value::Int(*value),
            Value::Float(value) => Value::Float(*value),
            Value::Number(value) => Value::Number(value.clone()),
            Value::Text(value) => Value::Text(value.clone()),
            Value::List(value) => Value::List(value.clone()),
            Value::Set(value) => Value::Set(value.clone()),
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
            (Value::Number(a), Value::Number(b)) | (Value::Text(a), Value::Text(b)) => a == b,
            (Value::List(a), Value::List(b)) | (Value::Set(a), Value::Set(b)) => a == b,
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

/// By kind, then by content. Numbers of all kinds are in the order of numbers; 1 is just before 1.0.
impl Ord for Value {
    fn cmp(&self, other: &Value) -> Ordering {
        match (self, other) {
            (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
            (Value::Int(a), Value::Int(b)) => a.cmp(b),
            (Value::Float(a), Value::Float(b)) => a.total_cmp(b),
            (Value::Int(a), Value::Float(b)) => against_float(&a.to_string(), *b),
            (Value::Float(a), Value::Int(b)) => against_float(&b.to_string(), *a).reverse(),
            (Value::Number(a), Value::Number(b)) if is_whole(a) && is_whole(b) => whole_order(a, b),
            (Value::Number(a), Value::Int(b)) if is_whole(a) => whole_order(a, &b.to_string()),
            (Value::Int(a), Value::Number(b)) if is_whole(b) => whole_order(&a.to_string(), b),
            (Value::Number(a), Value::Float(b)) if is_whole(a) => against_float(a, *b),
            (Value::Float(a), Value::Number(b)) if is_whole(b) => against_float(b, *a).reverse(),
            (Value::Number(a), Value::Number(b)) if !is_whole(a) && !is_whole(b) => a.cmp(b),
            (Value::Text(a), Value::Text(b)) => a.cmp(b),
            (Value::List(a), Value::List(b)) | (Value::Set(a), Value::Set(b)) => a.cmp(b),
            (Value::Map(a), Value::Map(b)) => a.cmp(b),
            _ => self.rank().cmp(&other.rank()),
        }
    }
}

/// Whether it is a whole number: digits, and maybe a minus sign.
fn is_whole(text: &str) -> bool {
    text.strip_prefix('-').unwrap_or(text).bytes().all(|byte| byte.is_ascii_digit())
}

/// The order of two whole numbers without leading zeros.
fn whole_order(a: &str, b: &str) -> Ordering {
    match (a.strip_prefix('-'), b.strip_prefix('-')) {
        (None, None) => a.len().cmp(&b.len()).then_with(|| a.cmp(b)),
        (Some(a), Some(b)) => b.len().cmp(&a.len()).then_with(|| b.cmp(a)),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
    }
}

/// The order of a whole number and a float, exactly; the float comes second if they are the same number.
fn against_float(whole: &str, float: f64) -> Ordering {
    if !float.is_finite() {
        // As `total_cmp` has it: the sign says on which side of all numbers it is.
        return if float.is_sign_positive() { Ordering::Less } else { Ordering::Greater };
    }
    // The text of a float without its fraction is exact.
    let text = format!("{:.0}", float.trunc());
    let below = if text == "-0" { "0" } else { &text };
    whole_order(whole, below).then(if float.fract() < 0.0 { Ordering::Greater } else { Ordering::Less })
}

impl std::hash::Hash for Value {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        std::mem::discriminant(self).hash(state);
        match self {
            Value::Nil => {}
            Value::Bool(value) => value.hash(state),
            Value::Int(value) => value.hash(state),
            Value::Float(value) => value.to_bits().hash(state),
            Value::Number(value) | Value::Text(value) => value.hash(state),
            Value::List(value) | Value::Set(value) => value.hash(state),
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
            Value::Float(value) => write!(f, "\"{value}\""),
            Value::Number(text) if is_whole(text) => f.write_str(text),
            Value::Number(text) => write!(f, "\"{text}\""),
            Value::Text(text) => f.write_str(&quoted(text)),
            Value::List(list) | Value::Set(list) => {
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
    escaped(&serde_json::Value::from(text).to_string()).into_owned()
}
