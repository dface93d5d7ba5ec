//! Beside `serde_json`: the same bytes, the same values, the same refusals.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::*;

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
struct Sample {
    text: String,
    number: i64,
    #[serde(default)]
    large: Option<u64>,
    list: Vec<Sample>,
    pair: (u8, bool),
    kind: Kind,
    nothing: (),
    wrapped: Wrapped,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
struct Wrapped(char);

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Plain,
    Inside(Vec<String>),
    Named { message: String, other: Option<Box<Kind>> },
}

/// Numbers that look random and are the same every time.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 ^ (self.0 >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 16
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    fn char(&mut self) -> char {
        const ODD: [char; 16] = [
            '"',
            '\\',
            '/',
            '\n',
            '\r',
            '\t',
            '\u{8}',
            '\u{c}',
            '\0',
            '\u{1f}',
            '\u{7f}',
            '\u{2028}',
            'ä',
            '日',
            '😀',
            '\u{10ffff}',
        ];
        if self.below(2) == 0 { ODD[self.below(16) as usize] } else { (b'a' + self.below(26) as u8) as char }
    }

    fn text(&mut self) -> String {
        (0..self.below(6)).map(|_| self.char()).collect()
    }

    fn kind(&mut self) -> Kind {
        match self.below(4) {
            0 => Kind::Plain,
            1 => Kind::Inside((0..self.below(3)).map(|_| self.text()).collect()),
            _ => {
                let other = (self.below(2) == 0).then(|| Box::new(self.kind()));
                Kind::Named { message: self.text(), other }
            }
        }
    }

    fn sample(&mut self, depth: u64) -> Sample {
        Sample {
            text: self.text(),
            number: [0, -1, i64::MIN, i64::MAX, self.next() as i64][self.below(5) as usize],
            large: [None, Some(u64::MAX), Some(self.below(9))][self.below(3) as usize],
            list: (0..self.below(depth + 1)).map(|_| self.sample(depth - 1)).collect(),
            pair: (self.below(256) as u8, self.below(2) == 0),
            kind: self.kind(),
            nothing: (),
            wrapped: Wrapped(self.char()),
        }
    }
}

#[test]
fn the_same_is_written_and_read() {
    let mut numbers = Numbers(1);
    for _ in 0..2_000 {
        let sample = numbers.sample(3);
        let (line, lines) = (to_string(&sample).unwrap(), to_string_pretty(&sample).unwrap());
        assert_eq!(line, serde_json::to_string(&sample).unwrap());
        assert_eq!(lines, serde_json::to_string_pretty(&sample).unwrap());
        for text in [line, lines] {
            assert_eq!(from_str::<Sample>(&text).as_ref(), Ok(&sample), "{text}");
            assert_eq!(from_str::<Value>(&text).unwrap(), serde_json::from_str::<Value>(&text).unwrap());
        }
    }
}

#[test]
fn the_same_is_refused() {
    const PIECES: [&str; 24] = [
        "{", "}", "[", "]", ",", ":", "\"", "\\", "\\u", "d83d", "null", "tru", "true", "0", "-", "1", ".", "e", "+",
        " ", "\n", "\u{1}", "\"a\"", "ä",
    ];
    let mut numbers = Numbers(2);
    let (mut refused, mut read) = (0, 0);
    let mut compare = |text: &str| {
        let (ours, theirs) = (from_str::<Value>(text), serde_json::from_str::<Value>(text));
        // What is too large for a number is an infinite one here, and passed over; who asks for a number refuses both.
        if theirs.as_ref().is_err_and(|error| error.to_string().contains("out of range")) {
            return;
        }
        assert_eq!(ours.is_err(), theirs.is_err(), "{text:?}: {ours:?}, {theirs:?}");
        match theirs {
            Ok(_) => read += 1,
            Err(_) => refused += 1,
        }
    };
    for _ in 0..20_000 {
        let text: String = (0..numbers.below(8)).map(|_| PIECES[numbers.below(24) as usize]).collect();
        compare(&text);
    }
    for _ in 0..1_000 {
        let mut text: Vec<char> = to_string(&numbers.sample(1)).unwrap().chars().collect();
        let at = numbers.below(text.len() as u64) as usize;
        match numbers.below(3) {
            0 => drop(text.remove(at)),
            1 => text.insert(at, numbers.char()),
            _ => text.truncate(at),
        }
        let text: String = text.into_iter().collect();
        compare(&text);
        compare(&format!("[[{text}"));
    }
    assert!(refused > 10_000 && read > 500, "{refused} {read}");
}

#[test]
fn what_is_cut_is_told_from_what_is_wrong() {
    let text = to_string(&Numbers(3).sample(2)).unwrap();
    for end in (0..text.len()).filter(|end| text.is_char_boundary(*end)) {
        let error = from_str::<Value>(&text[..end]).unwrap_err();
        assert!(error.is_eof(), "{}: {error}", &text[..end]);
    }
    assert!(!from_str::<Value>("[}").unwrap_err().is_eof());
    assert_eq!(from_str::<Value>("[1,\n  x]").unwrap_err().to_string(), "expected a value at line 2 column 2");
    let deep = "[".repeat(100_000);
    assert_eq!(from_str::<Value>(&deep).unwrap_err().to_string(), "it is nested too deeply at line 1 column 129");
}

#[test]
fn texts_are_cleaned_by_their_key() {
    let mut sample = Numbers(4).sample(0);
    sample.text = "a".into();
    sample.kind = Kind::Named { message: "a".into(), other: Some(Box::new(Kind::Inside(vec!["a".into()]))) };
    sample.wrapped = Wrapped('a');
    let clean = |key: Option<&str>, text: &str| match (key, text) {
        (Some("message"), "a") => Some("message".to_owned()),
        (None, "a") => Some("in a list".to_owned()),
        _ => None,
    };
    let read: Sample = from_str_with(&to_string(&sample).unwrap(), clean).unwrap();
    let inside = Some(Box::new(Kind::Inside(vec!["in a list".into()])));
    assert_eq!(read, Sample { kind: Kind::Named { message: "message".into(), other: inside }, ..sample });
}
