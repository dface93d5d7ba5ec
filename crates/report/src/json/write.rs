//! Values become text: compact, or indented by two blanks.

use std::fmt::Write as _;

use serde::ser::{
    Impossible, Serialize, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple, Serializer,
};

use super::Error;

/// `value` in one line.
pub(crate) fn to_string<T: Serialize + ?Sized>(value: &T) -> Result<String, Error> {
    written(value, false)
}

/// `value`, each element and field in a line of its own.
pub(crate) fn to_string_pretty<T: Serialize + ?Sized>(value: &T) -> Result<String, Error> {
    written(value, true)
}

fn written<T: Serialize + ?Sized>(value: &T, pretty: bool) -> Result<String, Error> {
    let mut writer = Writer { text: String::new(), pretty, depth: 0 };
    value.serialize(&mut writer)?;
    Ok(writer.text)
}

struct Writer {
    text: String,
    pretty: bool,
    depth: usize,
}

// Writing to a string cannot fail, here and below.
impl Writer {
    fn quoted(&mut self, text: &str) {
        self.text.push('"');
        let mut plain = 0;
        for (at, byte) in text.bytes().enumerate() {
            // All that is special is ASCII, so both ends are where letters begin.
            let special = match byte {
                b'"' => "\\\"",
                b'\\' => "\\\\",
                b'\n' => "\\n",
                b'\r' => "\\r",
                b'\t' => "\\t",
                0x08 => "\\b",
                0x0c => "\\f",
                0..0x20 => "",
                _ => continue,
            };
            self.text.push_str(&text[plain..at]);
            self.text.push_str(special);
            if special.is_empty() {
                let _ = write!(self.text, "\\u{byte:04x}");
            }
            plain = at + 1;
        }
        self.text.push_str(&text[plain..]);
        self.text.push('"');
    }

    fn line(&mut self) {
        if self.pretty {
            self.text.push('\n');
            self.text.extend(std::iter::repeat_n("  ", self.depth));
        }
    }

    /// `{"name":`, which [`Writer::close`] ends.
    fn variant(&mut self, name: &str) {
        self.text.push('{');
        self.depth += 1;
        self.line();
        self.quoted(name);
        self.colon();
    }

    fn colon(&mut self) {
        self.text.push_str(if self.pretty { ": " } else { ":" });
    }

    fn close(&mut self, bracket: char) {
        self.depth -= 1;
        self.line();
        self.text.push(bracket);
    }

    fn several(&mut self, open: char, in_variant: bool) -> Several<'_> {
        self.text.push(open);
        self.depth += 1;
        Several { writer: self, any: false, in_variant }
    }
}

/// A list or an object that is being written.
struct Several<'a> {
    writer: &'a mut Writer,
    any: bool,
    in_variant: bool,
}

impl Several<'_> {
    fn next(&mut self) {
        if std::mem::replace(&mut self.any, true) {
            self.writer.text.push(',');
        }
        self.writer.line();
    }

    fn ended(self, bracket: char) -> Result<(), Error> {
        match self.any {
            true => self.writer.close(bracket),
            // `[]` and `{}` stay together.
            false => {
                self.writer.depth -= 1;
                self.writer.text.push(bracket);
            }
        }
        if self.in_variant {
            self.writer.close('}');
        }
        Ok(())
    }
}

/// What no file has.
fn not_here<T>(what: &str) -> Result<T, Error> {
    Err(format!("files have no {what}").into())
}

macro_rules! numbers {
    ($($method:ident: $type:ty),+) => {
        $(fn $method(self, value: $type) -> Result<(), Error> {
            let _ = write!(self.text, "{value}");
            Ok(())
        })+
    };
}

impl<'a> Serializer for &'a mut Writer {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = Several<'a>;
    type SerializeTuple = Several<'a>;
    type SerializeTupleStruct = Impossible<(), Error>;
    type SerializeTupleVariant = Impossible<(), Error>;
    type SerializeMap = Impossible<(), Error>;
    type SerializeStruct = Several<'a>;
    type SerializeStructVariant = Several<'a>;

    numbers! {
        serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64,
        serialize_u8: u8, serialize_u16: u16, serialize_u32: u32, serialize_u64: u64,
        // As JSON writes them.
        serialize_bool: bool
    }

    fn serialize_f32(self, _: f32) -> Result<(), Error> {
        not_here("floating point numbers")
    }

    fn serialize_f64(self, _: f64) -> Result<(), Error> {
        not_here("floating point numbers")
    }

    fn serialize_char(self, value: char) -> Result<(), Error> {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, value: &str) -> Result<(), Error> {
        self.quoted(value);
        Ok(())
    }

    fn serialize_bytes(self, _: &[u8]) -> Result<(), Error> {
        not_here("bytes")
    }

    fn serialize_none(self) -> Result<(), Error> {
        self.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), Error> {
        self.text.push_str("null");
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), Error> {
        self.serialize_unit()
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<(), Error> {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        self.variant(variant);
        value.serialize(&mut *self)?;
        self.close('}');
        Ok(())
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Several<'a>, Error> {
        Ok(self.several('[', false))
    }

    fn serialize_tuple(self, _: usize) -> Result<Several<'a>, Error> {
        Ok(self.several('[', false))
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Impossible<(), Error>, Error> {
        not_here("structs without names")
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Impossible<(), Error>, Error> {
        not_here("variants of several values without names")
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Impossible<(), Error>, Error> {
        not_here("maps")
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Several<'a>, Error> {
        Ok(self.several('{', false))
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Several<'a>, Error> {
        self.variant(variant);
        Ok(self.several('{', true))
    }
}

macro_rules! lists {
    ($($of:ident),+) => {
        $(impl $of for Several<'_> {
            type Ok = ();
            type Error = Error;

            fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
                self.next();
                value.serialize(&mut *self.writer)
            }

            fn end(self) -> Result<(), Error> {
                self.ended(']')
            }
        })+
    };
}

lists!(SerializeSeq, SerializeTuple);

macro_rules! objects {
    ($($of:ident),+) => {
        $(impl $of for Several<'_> {
            type Ok = ();
            type Error = Error;

            fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<(), Error> {
                self.next();
                self.writer.quoted(key);
                self.writer.colon();
                value.serialize(&mut *self.writer)
            }

            fn end(self) -> Result<(), Error> {
                self.ended('}')
            }
        })+
    };
}

objects!(SerializeStruct, SerializeStructVariant);
