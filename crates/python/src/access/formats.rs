//! Formats, which read attributes and items of what they are given: `"{0.name}"`.

use pyo3::ffi::{self, PyObject};

use super::Touched;
use super::attributes::shown_by;

/// What the fields of a format read of its arguments, or of the items of a mapping, beside what these show of themselves.
pub(super) fn format(text: *mut PyObject, arguments: &[*mut PyObject], in_mapping: bool, touched: &mut Touched) {
    // SAFETY: a live object, or none; the text of a string lasts as long as it does.
    let text = unsafe {
        let mut length = 0;
        if text.is_null() || ffi::PyUnicode_Check(text) == 0 {
            return touched.not_known("a format that is no string");
        }
        let text = ffi::PyUnicode_AsUTF8AndSize(text, &raw mut length);
        if text.is_null() {
            ffi::PyErr_Clear();
            return touched.not_known("a format that is no text");
        }
        std::str::from_utf8(std::slice::from_raw_parts(text.cast::<u8>(), length as usize)).unwrap_or_default()
    };
    for field in fields(text) {
        match field.split_once('.') {
            None if field.contains('[') => touched.not_known("an item that a format looks up"),
            None => {}
            Some((base, name)) if !in_mapping && !field.contains('[') && !name.contains('.') => {
                let of = base.parse::<usize>().ok().and_then(|n| arguments.get(n..=n)).unwrap_or(arguments);
                of.iter().for_each(|argument| shown_by(*argument, name, touched));
            }
            Some(_) => touched.not_known("an attribute of an attribute or an item, which a format looks up"),
        }
    }
}

/// What the fields of a format name: all that follows an opening brace, up to what says how it is shown.
fn fields(text: &str) -> impl Iterator<Item = &str> {
    text.split('{').skip(1).map(|rest| rest.split(['}', '!', ':']).next().unwrap_or_default())
}
