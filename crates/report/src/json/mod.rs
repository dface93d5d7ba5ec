//! JSON for our own types, and nothing more: what files and pages are written in.
//!
//! A test that uses the library compiles all of this crate, cold, without optimisation. Derived code and its crates were a third
//! of what that took, so the few forms that are needed are here: a type is [`Written`] straight into a text, and [`Readable`]
//! from one without a tree in between. The macros below say the form of a type in one line; fields have their own names,
//! and appear in the order of the list.

mod reader;
#[cfg(feature = "serde")]
mod serde;
mod texts;
mod writer;

pub(crate) use reader::{Fault, Reader, read};
#[cfg(feature = "serde")]
pub(crate) use serde::hand_on;
pub(crate) use texts::with_texts;
pub(crate) use writer::{Fields, pretty, text};

/// What can be written.
pub(crate) trait Written {
    /// Appends it to a text.
    fn write(&self, out: &mut String);
}

/// What can be read.
pub(crate) trait Readable: Sized {
    /// Reads one from where the reader stands.
    fn read(from: &mut Reader<'_>) -> Result<Self, Fault>;

    /// What it is where its field is missing, if that may be.
    fn absent() -> Option<Self> {
        None
    }
}

/// Where a field goes while its object is read. All objects are read by one function that knows no types: what is compiled for
/// each field of each type is next to nothing.
pub(crate) trait Slot {
    /// Reads the value of the field.
    fn fill(&mut self, from: &mut Reader<'_>) -> Result<(), Fault>;

    /// Whether the field is there when its object is over, or may be missing.
    fn settle(&mut self) -> bool;
}

impl<T: Readable> Slot for Option<T> {
    fn fill(&mut self, from: &mut Reader<'_>) -> Result<(), Fault> {
        *self = Some(T::read(from)?);
        Ok(())
    }

    fn settle(&mut self) -> bool {
        if self.is_none() {
            *self = T::absent();
        }
        self.is_some()
    }
}

/// A field with a form of its own: where it goes, how it is read, and what it is where it is missing.
pub(crate) struct Formed<'a, T>(
    pub &'a mut Option<T>,
    pub fn(&mut Reader<'_>) -> Result<T, Fault>,
    pub fn() -> Option<T>,
);

impl<T> Slot for Formed<'_, T> {
    fn fill(&mut self, from: &mut Reader<'_>) -> Result<(), Fault> {
        *self.0 = Some((self.1)(from)?);
        Ok(())
    }

    fn settle(&mut self) -> bool {
        if self.0.is_none() {
            *self.0 = (self.2)();
        }
        self.0.is_some()
    }
}

/// Forms of structs. A field is written and has to be there, `null` or missing being none for an option; `#[optional]`: it
/// may be missing, and is the default then; `#[left_out]`: it is not written where it is the default, either. After `as` comes a
/// module with functions `write` and `read` for a form of its own. After `;` come fields that no file has.
///
/// `written!` makes the half of it that writes.
macro_rules! object {
    ($($type:ident { $($(#[$how:ident])? $field:ident $(as $form:ident)?),* $(,)? $(; $($own:ident),*)? })*) => { $(
        $crate::json::written! { $type { $($(#[$how])? $field $(as $form)?),* } }

        impl $crate::json::Readable for $type {
            fn read(from: &mut $crate::json::Reader<'_>) -> Result<Self, $crate::json::Fault> {
                $(let mut $field = None;)*
                from.object(&mut [$($crate::json::slot!($field $(, $form)? $(; $how)?)),*])?;
                Ok($type {
                    $($field: $crate::json::settled!($field $(, $how)?),)*
                    $($($own: Default::default(),)*)?
                })
            }
        }
    )* };
}

/// Forms of structs that are only written.
macro_rules! written {
    ($($type:ident $(<$life:lifetime>)? { $($(#[$how:ident])? $field:ident $(as $form:ident)?),* $(,)? })*) => { $(
        impl $(<$life>)? $crate::json::Written for $type $(<$life>)? {
            fn write(&self, out: &mut String) {
                let mut fields = $crate::json::Fields::begin(out);
                $($crate::json::write_field!(fields, self.$field, $field $(, as $form)? $(, $how)?);)*
                fields.end();
            }
        }
        $crate::json::handed_on!($type $(<$life>)?);
    )* };
}

/// Forms of enums without fields: a text for each.
macro_rules! words {
    ($($type:ident { $($variant:ident = $word:literal),* $(,)? })*) => { $(
        impl $crate::json::Written for $type {
            fn write(&self, out: &mut String) {
                $crate::json::Written::write(match self { $($type::$variant => $word,)* }, out);
            }
        }
        impl $crate::json::Readable for $type {
            fn read(from: &mut $crate::json::Reader<'_>) -> Result<Self, $crate::json::Fault> {
                let word: String = $crate::json::Readable::read(from)?;
                match word.as_str() {
                    $($word => Ok($type::$variant),)*
                    _ => Err(from.fault(format!("unknown variant `{word}`"))),
                }
            }
        }
        $crate::json::handed_on!($type);
    )* };
}

/// The form of another enum: variants without fields are a text (`texts`), the others an object with one field, named after the
/// variant. Its value is what the variant holds (`values`), or an object with the fields that the variant has (`objects`).
macro_rules! variants {
    ($type:ident {
        $(texts { $($unit:ident = $unit_word:literal),* $(,)? })?
        $(values { $($new:ident = $new_word:literal),* $(,)? })?
        $(objects { $($variant:ident = $word:literal { $($(#[$how:ident])? $field:ident $(as $form:ident)?),* }),* $(,)? })?
    }) => {
        impl $crate::json::Written for $type {
            #[allow(unused_mut, unused_variables)]
            fn write(&self, out: &mut String) {
                match self {
                    $($($type::$unit => $crate::json::Written::write($unit_word, out),)*)?
                    $($($type::$new(inner) => {
                        let mut outer = $crate::json::Fields::begin(out);
                        $crate::json::Written::write(inner, outer.name($new_word));
                        outer.end();
                    })*)?
                    $($($type::$variant { $($field),* } => {
                        let mut outer = $crate::json::Fields::begin(out);
                        let mut fields = $crate::json::Fields::begin(outer.name($word));
                        $($crate::json::write_field!(fields, *$field, $field $(, as $form)? $(, $how)?);)*
                        fields.end();
                        outer.end();
                    })*)?
                }
            }
        }
        impl $crate::json::Readable for $type {
            fn read(from: &mut $crate::json::Reader<'_>) -> Result<Self, $crate::json::Fault> {
                if from.is_text() {
                    let word: String = $crate::json::Readable::read(from)?;
                    return match word.as_str() {
                        $($($unit_word => Ok($type::$unit),)*)?
                        _ => Err(from.fault(format!("unknown variant `{word}`"))),
                    };
                }
                from.open('{', "an object")?;
                let word = from.field()?.unwrap_or_default();
                let value = match &*word {
                    $($($new_word => $type::$new($crate::json::Readable::read(from)?),)*)?
                    $($($word => {
                        $(let mut $field = None;)*
                        from.object(&mut [$($crate::json::slot!($field $(, $form)? $(; $how)?)),*])?;
                        $type::$variant { $($field: $crate::json::settled!($field $(, $how)?),)* }
                    })*)?
                    _ => return Err(from.fault(format!("unknown variant `{word}`"))),
                };
                match from.field()? {
                    None => Ok(value),
                    Some(_) => Err(from.fault("only one variant was expected".to_owned())),
                }
            }
        }
        $crate::json::handed_on!($type);
    };
}

macro_rules! write_field {
    ($fields:ident, $value:expr, $field:ident $(, as $form:ident)?, left_out) => {
        if !$crate::json::is_default(&$value) {
            $crate::json::write_field!($fields, $value, $field $(, as $form)?);
        }
    };
    ($fields:ident, $value:expr, $field:ident $(, as $form:ident)?, optional) => {
        $crate::json::write_field!($fields, $value, $field $(, as $form)?)
    };
    ($fields:ident, $value:expr, $field:ident, as $form:ident) => {
        $form::write(&$value, $fields.name(stringify!($field)))
    };
    ($fields:ident, $value:expr, $field:ident) => {
        $crate::json::Written::write(&$value, $fields.name(stringify!($field)))
    };
}

/// The name of a field, whether it has to be there, and where it goes.
macro_rules! slot {
    ($field:ident) => {
        (stringify!($field), true, &mut $field)
    };
    ($field:ident; $how:ident) => {
        (stringify!($field), false, &mut $field)
    };
    ($field:ident, $form:ident) => {
        (stringify!($field), true, &mut $crate::json::Formed(&mut $field, $form::read, $crate::json::Readable::absent))
    };
    ($field:ident, $form:ident; $how:ident) => {
        (stringify!($field), false, &mut $crate::json::Formed(&mut $field, $form::read, || None))
    };
}

macro_rules! settled {
    ($field:ident) => {
        $field.expect("a field that has to be there is there")
    };
    ($field:ident, $how:ident) => {
        $field.unwrap_or_default()
    };
}

/// With the feature `serde`, what is written is a value for serde, too.
#[cfg(feature = "serde")]
macro_rules! handed_on {
    ($type:ident $(<$life:lifetime>)?) => {
        impl $(<$life>)? ::serde::Serialize for $type $(<$life>)? {
            fn serialize<S: ::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                $crate::json::hand_on(self, serializer)
            }
        }
    };
}
#[cfg(not(feature = "serde"))]
macro_rules! handed_on {
    ($type:ident $(<$life:lifetime>)?) => {};
}

pub(crate) use {handed_on, object, settled, slot, variants, words, write_field, written};

/// Whether a value need not be written.
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
