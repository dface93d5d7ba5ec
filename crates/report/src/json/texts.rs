//! Every text of a JSON value replaced by another one, whatever the value is.

use std::borrow::Cow;

use super::Written;
use super::reader::Reader;

/// `json` with what `new` makes of each text in it; `new` is also given the name of the field that the text is the value of,
/// if it is. Names of fields stay.
pub(crate) fn with_texts(json: &str, new: &dyn for<'a> Fn(Option<&str>, &'a str) -> Cow<'a, str>) -> String {
    let mut out = String::with_capacity(json.len());
    let mut name = None;
    let mut rest = json;
    while let Some(at) = rest.find('"') {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let mut reader = Reader::of(from);
        let Ok(text) = reader.string() else { break };
        let (whole, after) = from.split_at(reader.at());
        if after.starts_with(':') {
            out.push_str(whole);
            name = Some(text);
        } else {
            new(name.as_deref().filter(|_| before == ":"), &text).write(&mut out);
        }
        rest = after;
    }
    out + rest
}
