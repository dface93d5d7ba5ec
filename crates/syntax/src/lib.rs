//! Reads source files into one [tree](Module), whatever their language: for Python with ruff's parser, which goes on
//! after a mistake, for Rust with syn, which stops at the first one.
//!
//! This crate is internal to Drawloom. Use the command `drawloom analyze` instead: this interface may change in every release.
//!
//! - `tree`: the tree; `python` and `rust`: how each language becomes one; `lines`: from offsets to lines.
//!
//! A new language is a [`Parser`] and a row in [`parser_of`].
#![forbid(unsafe_code)]

mod lines;
mod python;
mod rust;
mod tree;

use std::path::Path;

pub use tree::{
    Argument, Arm, Change, Class, ClassId, Collection, Comment, Expr, Field, Function, FunctionId, Generator, Handler,
    Kind, Language, Module, Parameter, Problem, Span,
};

/// Reads the source files of a language.
pub trait Parser: Sync {
    /// Which language.
    fn language(&self) -> Language;

    /// How names of its files end.
    fn extensions(&self) -> &'static [&'static str];

    /// Reads a file; what cannot be parsed is among its problems.
    fn parse(&self, source: &str) -> Module;
}

/// The parsers that there are.
pub const PARSERS: [&dyn Parser; 2] = [&python::Python, &rust::Rust];

/// The parser for a file; none if its name is of no language that is known.
pub fn parser_of(file: &Path) -> Option<&'static dyn Parser> {
    let ending = file.extension()?.to_str()?;
    PARSERS.into_iter().find(|parser| parser.extensions().contains(&ending))
}

/// A module in which nothing could be read.
fn broken(language: Language, span: Span, message: String) -> Module {
    Module {
        language,
        functions: Vec::new(),
        classes: Vec::new(),
        body: Vec::new(),
        imports: Vec::new(),
        aliases: Vec::new(),
        comments: Vec::new(),
        problems: vec![Problem { span, message }],
    }
}

/// What nests deeper than this would overflow the stack of a parser that works by recursion.
const DEEPEST: usize = 150;
/// What is said of it.
const TOO_DEEP: &str = "nested too deeply to be parsed";

/// Whether brackets nest deeper than parsers can stand. Those in texts count as well: nobody writes so many there.
fn too_deep(source: &str) -> bool {
    let mut depth = 0_usize;
    for byte in source.bytes() {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > DEEPEST {
            return true;
        }
    }
    false
}
