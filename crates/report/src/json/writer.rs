//! How values become text, as compact as it can be.

use std::fmt::Write as _;

use super::Written;

/// A value as JSON, on one line.
pub(crate) fn text(value: &impl Written) -> String {
    let mut out = String::new();
    value.write(&mut out);
    out
}

/// An object that is being written.
pub(crate) struct Fields<'a> {
    out: &'a mut String,
    is_first: bool,
}

impl<'a> Fields<'a> {
    pub(crate) fn begin(out: &'a mut String) -> Fields<'a> {
        out.push('{');
        Fields { out, is_first: true }
    }

    /// The name of a field; its value is to be written to what is returned.
    pub(crate) fn name(&mut self, name: &str) -> &mut String {
        if !std::mem::take(&mut self.is_first) {
            self.out.push(',');
        }
        name.write(self.out);
        self.out.push(':');
        self.out
    }

    pub(crate) fn end(self) {
        self.out.push('}');
    }
}

impl Written for str {
    fn write(&self, out: &mut String) {
        out.push('"');
        let mut rest = self;
        while let Some(at) = rest.find(|c: char| c == '"' || c == '\\' || c < ' ') {
            out.push_str(&rest[..at]);
            match rest.as_bytes()[at] {
                b'"' => out.push_str("\\\""),
                b'\\' => out.push_str("\\\\"),
                b'\n' => out.push_str("\\n"),
                b'\r' => out.push_str("\\r"),
                b'\t' => out.push_str("\\t"),
                8 => out.push_str("\\b"),
                12 => out.push_str("\\f"),
                other => drop(write!(out, "\\u{other:04x}")),
            }
            rest = &rest[at + 1..];
        }
        out.push_str(rest);
        out.push('"');
    }
}

impl Written for String {
    fn write(&self, out: &mut String) {
        self.as_str().write(out);
    }
}

impl Written for bool {
    fn write(&self, out: &mut String) {
        out.push_str(if *self { "true" } else { "false" });
    }
}

impl Written for u64 {
    fn write(&self, out: &mut String) {
        // There may be millions of them, so no formatter.
        let mut digits = [0; 20];
        let (mut rest, mut at) = (*self, digits.len());
        loop {
            at -= 1;
            digits[at] = b'0' + (rest % 10) as u8;
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        out.extend(digits[at..].iter().map(|digit| char::from(*digit)));
    }
}

impl Written for i64 {
    fn write(&self, out: &mut String) {
        if *self < 0 {
            out.push('-');
        }
        self.unsigned_abs().write(out);
    }
}

macro_rules! as_wide {
    ($($narrow:ty => $wide:ty),*) => { $(
        impl Written for $narrow {
            fn write(&self, out: &mut String) {
                (*self as $wide).write(out);
            }
        }
    )* };
}
as_wide!(u8 => u64, u32 => u64, usize => u64, i32 => i64);

impl<T: Written + ?Sized> Written for &T {
    fn write(&self, out: &mut String) {
        (**self).write(out);
    }
}

impl<T: Written + ?Sized> Written for Box<T> {
    fn write(&self, out: &mut String) {
        (**self).write(out);
    }
}

impl<T: Written> Written for Option<T> {
    fn write(&self, out: &mut String) {
        match self {
            Some(value) => value.write(out),
            None => out.push_str("null"),
        }
    }
}

impl<T: Written> Written for Vec<T> {
    fn write(&self, out: &mut String) {
        out.push('[');
        for (i, value) in self.iter().enumerate() {
            if i > 0 {
                out.push(',');
            }
            value.write(out);
        }
        out.push(']');
    }
}

impl<A: Written, B: Written> Written for (A, B) {
    fn write(&self, out: &mut String) {
        out.push('[');
        self.0.write(out);
        out.push(',');
        self.1.write(out);
        out.push(']');
    }
}

impl<A: Written, B: Written, C: Written> Written for (A, B, C) {
    fn write(&self, out: &mut String) {
        out.push('[');
        self.0.write(out);
        out.push(',');
        self.1.write(out);
        out.push(',');
        self.2.write(out);
        out.push(']');
    }
}

/// What is JSON on one line, with a line for each value.
pub(crate) fn pretty(compact: &str) -> String {
    let mut out = String::new();
    let (mut depth, mut in_text, mut escaped) = (0, false, false);
    let line = |out: &mut String, depth: usize| {
        out.push('\n');
        (0..depth).for_each(|_| out.push_str("  "));
    };
    let mut all = compact.chars().peekable();
    while let Some(c) = all.next() {
        if in_text {
            out.push(c);
            in_text = escaped || c != '"';
            escaped = c == '\\' && !escaped;
            continue;
        }
        match c {
            '{' | '[' => {
                out.push(c);
                if let Some(end) = all.next_if(|next| ['}', ']'].contains(next)) {
                    out.push(end);
                } else {
                    depth += 1;
                    line(&mut out, depth);
                }
            }
            '}' | ']' => {
                depth -= 1;
                line(&mut out, depth);
                out.push(c);
            }
            ',' => {
                out.push(c);
                line(&mut out, depth);
            }
            ':' => out.push_str(": "),
            c => {
                in_text = c == '"';
                out.push(c);
            }
        }
    }
    out
}
