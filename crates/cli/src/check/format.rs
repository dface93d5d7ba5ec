//! How a history file is written: told by its first bytes, or else by its name.

use std::io::{self, Read};
use std::path::Path;

/// How a history file is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// JSON lines.
    Jsonl,
    /// Jepsen's EDN.
    Edn,
}

/// So many bytes tell how a file is written, if anything does.
const ENOUGH: u64 = 4096;

impl Format {
    /// The names of all formats.
    pub const NAMES: [&'static str; 2] = ["jsonl", "edn"];

    /// The format of that name.
    pub fn from_name(name: &str) -> Option<Format> {
        match name {
            "jsonl" => Some(Format::Jsonl),
            "edn" => Some(Format::Edn),
            _ => None,
        }
    }

    /// What the name of a file tells: EDN by its ending, and JSON lines otherwise.
    pub fn of(path: &Path) -> Format {
        match path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("edn")) {
            true => Format::Edn,
            false => Format::Jsonl,
        }
    }

    /// What the beginning of a file tells, whatever its name; `None` if it tells nothing.
    pub(super) fn of_content(source: impl Read) -> io::Result<Option<Format>> {
        let mut bytes = Vec::new();
        source.take(ENOUGH).read_to_end(&mut bytes)?;
        Ok(Format::of_bytes(&bytes))
    }

    fn of_bytes(bytes: &[u8]) -> Option<Format> {
        let blank = |byte: &&u8| byte.is_ascii_whitespace() || **byte == b',';
        let mut rest = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
        loop {
            rest = &rest[rest.iter().take_while(blank).count()..];
            match rest.first()? {
                b';' | b'#' | b'(' => return Some(Format::Edn),
                b'[' => rest = &rest[1..],
                b'{' => break,
                _ => return None,
            }
        }
        // The first key of a map.
        rest = &rest[1..];
        rest = &rest[rest.iter().take_while(blank).count()..];
        if *rest.first()? != b'"' {
            return (rest[0] != b'}').then_some(Format::Edn);
        }
        let mut at = 1;
        while *rest.get(at)? != b'"' {
            at += if rest[at] == b'\\' { 2 } else { 1 };
        }
        // A colon of JSON stands by itself; one of EDN begins a keyword, and not right behind a string.
        let behind = &rest[at + 1..];
        let blanks = behind.iter().take_while(blank).count();
        let keyword = |byte: &u8| byte.is_ascii_alphabetic() && blanks > 0;
        match (behind.get(blanks)?, behind.get(blanks + 1)) {
            (b':', next) if !next.is_some_and(keyword) => Some(Format::Jsonl),
            _ => Some(Format::Edn),
        }
    }

    /// The name for people.
    pub(super) fn title(self) -> &'static str {
        match self {
            Format::Jsonl => "JSON lines",
            Format::Edn => "EDN",
        }
    }
}
