//! What is to be looked at: `path`, `path:LINE`, `path:A-B`, `path::name`, `path::Class.method`, `::name`.
//!
//! A target limits what is said. The whole file is read all the same: who else writes a thing is a part of every finding.

use std::path::{Path, PathBuf};

use drawloom_syntax::parser_of;

use crate::analysis::covers;
use crate::finding::Analysis;

/// A target as it is written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Target {
    /// A file or folder.
    Path(PathBuf),
    /// Lines of a file, from and to.
    Lines(PathBuf, u32, u32),
    /// A function of a file.
    Function(PathBuf, String),
    /// A function, wherever it is.
    Named(String),
}

impl Target {
    /// Reads a target. A path that exists is one, whatever is in its name.
    pub fn parse(text: &str) -> Result<Target, String> {
        if Path::new(text).exists() {
            return Ok(Target::Path(PathBuf::from(text)));
        }
        if let Some((path, name)) =
            text.rsplit_once("::").filter(|(path, _)| path.is_empty() || Path::new(path).exists())
        {
            if name.is_empty() {
                return Err(format!("`{text}` does not name a function"));
            }
            return Ok(match path {
                "" => Target::Named(name.to_owned()),
                path => Target::Function(PathBuf::from(path), name.to_owned()),
            });
        }
        // `::a::b` of Rust.
        if let Some(name) = text.strip_prefix("::") {
            return Ok(Target::Named(name.rsplit("::").next().unwrap_or(name).to_owned()));
        }
        if let Some((path, lines)) = text.rsplit_once(':').filter(|(path, _)| Path::new(path).exists()) {
            let number = |text: &str| text.parse::<u32>().ok().filter(|line| *line > 0);
            let range = match lines.split_once('-') {
                Some((from, to)) => number(from).zip(number(to)),
                None => number(lines).map(|line| (line, line)),
            };
            return match range {
                Some((from, to)) if from <= to => Ok(Target::Lines(PathBuf::from(path), from, to)),
                _ => Err(format!("`{lines}` is neither a line nor lines such as 10-20")),
            };
        }
        Err(format!("`{text}` is no file or folder, and no `path:10-20`, `path::function` or `::function`"))
    }

    /// The file or folder in which it is.
    pub fn path(&self) -> &Path {
        match self {
            Target::Path(path) | Target::Lines(path, ..) | Target::Function(path, _) => path,
            Target::Named(_) => Path::new("."),
        }
    }
}

/// A function that a name can mean.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Candidate {
    /// Its file.
    pub file: PathBuf,
    /// With the names of what it is in.
    pub qualified: String,
    /// Its first and last line.
    pub lines: (u32, u32),
}

/// The functions of a file that a name can mean: `method`, `Class.method`, `Class::method`.
pub fn candidates(file: &Path, source: &str, name: &str) -> Vec<Candidate> {
    let Some(parser) = parser_of(file) else { return Vec::new() };
    let module = parser.parse(source);
    let wanted = name.replace("::", ".");
    let fits = |qualified: &str| qualified == wanted || qualified.ends_with(&format!(".{wanted}"));
    let functions = module.functions.iter().filter(|function| !function.is_closure && fits(&function.qualified));
    let classes = module.classes.iter().filter(|class| class.name == wanted && class.span.end_line > class.span.line);
    functions
        .map(|function| (function.qualified.clone(), function.span))
        .chain(classes.map(|class| (class.name.clone(), class.span)))
        .map(|(qualified, span)| Candidate { file: file.to_owned(), qualified, lines: (span.line, span.end_line) })
        .collect()
}

/// Leaves of an analysis what has to do with these lines.
pub fn limit(analysis: &mut Analysis, ranges: &[(u32, u32)]) {
    let inside = |line: u32| ranges.iter().any(|(from, to)| line >= *from && line <= *to);
    analysis.findings.retain(|finding| ranges.iter().any(|range| covers(finding, *range)));
    analysis.checkpoints.retain(|point| point.place.as_ref().is_some_and(|place| inside(place.line)));
    analysis.notes.retain(|note| inside(note.place.line));
    let named: Vec<&str> = analysis.findings.iter().map(|finding| finding.state.as_str()).collect();
    analysis.shared_state.retain(|state| {
        let mut places = state.writers.iter().chain(&state.readers).flat_map(|accessor| &accessor.places);
        places.any(|place| inside(place.line)) || named.contains(&state.state.as_str())
    });
    for (at, state) in (0..).zip(&mut analysis.shared_state) {
        state.resource = at;
    }
    if let [range] = ranges {
        analysis.target.lines = Some(*range);
    }
}

/// The changed lines of each file, of the text of `git diff --unified=0`.
pub fn changed(diff: &str) -> Vec<(PathBuf, Vec<(u32, u32)>)> {
    let mut all: Vec<(PathBuf, Vec<(u32, u32)>)> = Vec::new();
    for line in diff.lines() {
        if let Some(path) = line.strip_prefix("+++ ") {
            let path = path.strip_prefix("b/").unwrap_or(path);
            if path != "/dev/null" {
                all.push((PathBuf::from(path), Vec::new()));
            }
        } else if let Some(rest) = line.strip_prefix("@@ ")
            && let Some(part) = rest.split(' ').find(|part| part.starts_with('+'))
            && let Some((_, ranges)) = all.last_mut()
        {
            let (from, count) = part[1..].split_once(',').unwrap_or((&part[1..], "1"));
            if let (Ok(from), Ok(count)) = (from.parse::<u32>(), count.parse::<u32>()) {
                ranges.push((from.max(1), (from + count.max(1) - 1).max(1)));
            }
        }
    }
    all.retain(|(path, ranges)| parser_of(path).is_some() && !ranges.is_empty());
    all
}

/// The functions that these lines are in, as lines; lines outside of all functions stay as they are.
pub fn functions_around(file: &Path, source: &str, ranges: &[(u32, u32)]) -> Vec<(u32, u32)> {
    let Some(parser) = parser_of(file) else { return ranges.to_vec() };
    let module = parser.parse(source);
    let mut all: Vec<(u32, u32)> = Vec::new();
    for (from, to) in ranges {
        let around = module
            .functions
            .iter()
            .filter(|function| !function.is_closure && function.span.line <= *to && function.span.end_line >= *from);
        let around: Vec<(u32, u32)> = around.map(|function| (function.span.line, function.span.end_line)).collect();
        if around.is_empty() {
            all.push((*from, *to));
        }
        all.extend(around);
    }
    all.sort_unstable();
    all.dedup();
    all
}

/// Whether a file is one that can be read, by its name.
pub fn is_source(file: &Path) -> bool {
    parser_of(file).is_some()
}

/// Analyses a text that may not be saved yet; none if no language is known for a file of that name.
pub fn analyse_text(file: &Path, source: &str, options: crate::Options) -> Option<Analysis> {
    let parser = parser_of(file)?;
    let path = crate::project::shown(file);
    // The walk needs a deep stack, and a mistake in it must not end an editor's session.
    std::thread::scope(|scope| {
        let work = || crate::analyse(parser, source, &path, options);
        std::thread::Builder::new().stack_size(crate::project::STACK).spawn_scoped(scope, work).ok()?.join().ok()
    })
}
