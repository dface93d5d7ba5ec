//! Records as programs write them, read by hand: whole numbers, plain words, everything where it is expected.
//!
//! Almost all of a file is like that, and reading is most of what a check of it costs. Of everything else this says
//! nothing, and the reader that knows the whole format has its turn: errors are its, and nothing is accepted here that
//! it would not read in the same way.

use crate::format::Syntax;
use crate::history::{EventKind, Process};
use crate::transactions::atom::Atom;
use crate::transactions::build::Builder;
use crate::transactions::history::StepKind;

/// Who did what, if the record is plain: its steps are in the builder's scratch then. Else that may hold anything.
pub(super) fn record(text: &[u8], syntax: Syntax, builder: &mut Builder) -> Option<(Process, EventKind)> {
    Plain { text, at: 0, syntax }.record(builder)
}

/// More digits might not fit.
const MOST_DIGITS: usize = 18;

struct Plain<'t> {
    text: &'t [u8],
    at: usize,
    syntax: Syntax,
}

/// A number, a word or nothing.
enum Scalar<'t> {
    Number(i64),
    Word(&'t str),
    Nil,
}

impl<'t> Plain<'t> {
    fn record(&mut self, builder: &mut Builder) -> Option<(Process, EventKind)> {
        let (mut process, mut kind, mut has_value) = (None, None, false);
        self.space();
        self.expect(b'{')?;
        let mut more = self.begins(b'}')?;
        while more {
            let name = self.word()?;
            self.space();
            if self.syntax == Syntax::Json {
                self.expect(b':')?;
                self.space();
            }
            match name {
                "value" if has_value => return None,
                "value" => {
                    self.steps(builder)?;
                    has_value = true;
                }
                "meta" => return None,
                _ => match (name, self.scalar()?) {
                    ("process", Scalar::Number(number)) => process = Some(Process(number as u64)),
                    ("type", Scalar::Word(word)) => kind = Some(EventKind::from_word(word)?),
                    ("f", Scalar::Word("txn")) => {}
                    ("process" | "type" | "f", _) => return None,
                    _ => {}
                },
            }
            more = self.goes_on(b'}')?;
        }
        self.space();
        (has_value && self.at == self.text.len()).then_some((process?, kind?))
    }

    fn steps(&mut self, builder: &mut Builder) -> Option<()> {
        self.expect(b'[')?;
        let mut more = self.begins(b']')?;
        while more {
            self.expect(b'[')?;
            self.begins(b']')?.then_some(())?;
            let f = self.word()?;
            self.goes_on(b']')?.then_some(())?;
            let key = match self.scalar()? {
                Scalar::Number(number) => builder.history.atoms.int(number),
                Scalar::Word(word) => builder.history.atoms.text(word),
                Scalar::Nil => return None,
            };
            self.goes_on(b']')?.then_some(())?;
            let (kind, value) = match f {
                "r" | "read" if self.text.get(self.at) == Some(&b'[') => self.list(builder)?,
                "r" | "read" => (StepKind::Read, self.atom(builder)?),
                "append" | "a" => (StepKind::Append, self.atom(builder)?),
                "w" | "write" => (StepKind::Write, self.atom(builder)?),
                _ => return None,
            };
            let written = matches!(kind, StepKind::Append | StepKind::Write);
            if (written && value.is_nil()) || self.goes_on(b']')? {
                return None;
            }
            builder.push(key, kind, value);
            more = self.goes_on(b']')?;
        }
        Some(())
    }

    fn list(&mut self, builder: &mut Builder) -> Option<(StepKind, Atom)> {
        let from = builder.scratch.elements.len() as u32;
        self.expect(b'[')?;
        let mut more = self.begins(b']')?;
        while more {
            let element = self.atom(builder)?;
            if element.is_nil() {
                return None;
            }
            builder.scratch.elements.push(element);
            more = self.goes_on(b']')?;
        }
        Some((StepKind::ReadList(from, builder.scratch.elements.len() as u32), Atom::NIL))
    }

    #[inline]
    fn atom(&mut self, builder: &mut Builder) -> Option<Atom> {
        Some(match self.scalar()? {
            Scalar::Number(number) => builder.history.atoms.int(number),
            Scalar::Word(word) => builder.history.atoms.text(word),
            Scalar::Nil => Atom::NIL,
        })
    }

    #[inline]
    fn scalar(&mut self) -> Option<Scalar<'t>> {
        match self.text.get(self.at)? {
            b'0'..=b'9' => self.number().map(Scalar::Number),
            b'n' => {
                let nil: &[u8] = if self.syntax == Syntax::Json { b"null" } else { b"nil" };
                self.text[self.at..].starts_with(nil).then_some(())?;
                self.at += nil.len();
                self.is_over().then_some(Scalar::Nil)
            }
            _ => self.word().map(Scalar::Word),
        }
    }

    #[inline]
    fn number(&mut self) -> Option<i64> {
        let start = self.at;
        let mut number = 0;
        while let Some(digit) = self.text.get(self.at).map(|byte| byte.wrapping_sub(b'0')).filter(|digit| *digit < 10) {
            if self.at - start == MOST_DIGITS {
                return None;
            }
            number = number * 10 + i64::from(digit);
            self.at += 1;
        }
        let padded = self.text[start] == b'0' && self.at > start + 1;
        (!padded && self.is_over()).then_some(number)
    }

    /// A string without escapes, or a keyword.
    #[inline]
    fn word(&mut self) -> Option<&'t str> {
        let quoted = match self.text.get(self.at)? {
            b'"' => true,
            b':' if self.syntax == Syntax::Edn => false,
            _ => return None,
        };
        let start = self.at + 1;
        let rest = &self.text[start..];
        let len = rest.iter().position(|byte| !(byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')))?;
        self.at = start + len;
        match quoted {
            true => self.expect(b'"')?,
            false => (len > 0 && self.is_over()).then_some(())?,
        }
        std::str::from_utf8(&rest[..len]).ok()
    }

    /// Whether a number or a word ends here.
    #[inline]
    fn is_over(&self) -> bool {
        matches!(self.text.get(self.at), Some(b',' | b']' | b'}' | b' ' | b'\n' | b'\r' | b'\t'))
    }

    #[inline]
    fn expect(&mut self, byte: u8) -> Option<()> {
        (self.text.get(self.at) == Some(&byte)).then(|| self.at += 1)
    }

    #[inline]
    fn space(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.text.get(self.at) {
            self.at += 1;
        }
    }

    /// Whether there is anything in the brackets that were just opened; passes over what closes them.
    #[inline]
    fn begins(&mut self, closer: u8) -> Option<bool> {
        self.space();
        Some(self.expect(closer).is_none())
    }

    /// Whether there is another element after one; passes over what is between them, or over what closes the brackets.
    #[inline]
    fn goes_on(&mut self, closer: u8) -> Option<bool> {
        self.space();
        if self.expect(closer).is_some() {
            return Some(false);
        }
        let comma = self.expect(b',');
        if self.syntax == Syntax::Json {
            comma?;
        }
        self.space();
        Some(true)
    }
}

#[cfg(test)]
mod tests {
    use super::super::read_by;
    use crate::format::{Edn, JsonLines};
    use crate::transactions::{Key, Transactions};

    const JSON: &str = r#"{"process":0,"type":"invoke","f":"txn","value":[["r",1,null],["append","k-2",7]]}
{"index":3, "process":0, "type":"ok", "f":"txn", "value":[["r",1,[]],["append","k-2",7]], "time":12}
{"process":1,"type":"ok","f":"txn","value":[["r","k-2",[7]],["w",0,10],["r",0,10],["r",5,null],["r",3,[1,22,333]]]}
"#;
    const EDN: &str = "{:index 0, :type :invoke, :process 0, :f :txn, :value [[:r 1 nil] [:append \"k-2\" 7]]}
{:type :ok, :process 0 :f :txn, :value [[:r 1 []] [:append :k-2 7]]}
{:process 1, :type :info, :f :txn, :value [[:r 3 [1 22 333]] [:w 0 10] [:r 0 nil]]}
";

    /// Everything that can be seen of a history, or of why it cannot be read.
    fn shown(read: Result<Transactions, crate::format::LogErrors>) -> String {
        read.map_or_else(
            |errors| errors.to_string(),
            |history| {
                let keys: Vec<String> =
                    (0..history.keys() as u32).map(|k| history.key_name(Key(k)).to_string()).collect();
                let Transactions { txns, ops, longest, pool, has_calls, .. } = &history;
                format!("{keys:?} {txns:?} {ops:?} {longest:?} {pool:?} {has_calls}")
            },
        )
    }

    fn agree(text: &str) {
        let both = [true, false];
        let json = both.map(|by_hand| shown(read_by(JsonLines::new(text.as_bytes()), by_hand)));
        assert_eq!(json[0], json[1], "{text}");
        let edn = both.map(|by_hand| shown(read_by(Edn::new(text.as_bytes()), by_hand)));
        assert_eq!(edn[0], edn[1], "{text}");
    }

    #[test]
    fn reads_what_the_other_reader_reads() {
        // One byte left out, or another in its place, everywhere.
        for whole in [JSON, EDN] {
            agree(whole);
            for at in 0..whole.len() {
                agree(&format!("{}{}", &whole[..at], &whole[at + 1..]));
                for other in ["0", ",", " ", "[", "]", "\"", ":", "-", "n", "é", "}"] {
                    agree(&format!("{}{other}{}", &whole[..at], &whole[at + 1..]));
                }
            }
        }
    }
}
