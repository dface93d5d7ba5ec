//! Text of files, for terminals: nothing in it is obeyed.

use std::borrow::Cow;
use std::fmt::Write;

/// The text with everything escaped that a terminal would obey, or that is not what it looks like: controls of both
/// kinds but line breaks, marks that turn the direction of text, characters without width. The escapes are those of
/// JSON, in which such characters stand in strings only: JSON stays the same JSON.
pub fn escaped(text: &str) -> Cow<'_, str> {
    if !text.contains(is_obeyed) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match is_obeyed(c) {
            true => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
            false => out.push(c),
        }
    }
    Cow::Owned(out)
}

fn is_obeyed(c: char) -> bool {
    match c {
        '\n' => false,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' => true,
        '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}' => true,
        _ => c.is_control(),
    }
}
