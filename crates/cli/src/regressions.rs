//! The failing schedules that users commit: read here, written by tests.

use std::path::{Path, PathBuf};

use drawloom_engine::config::ENV_REGRESSIONS;
use drawloom_engine::schedule::Schedule;
use drawloom_report::kept;
use serde::Serialize;

use crate::store::relative;

/// A larger file is not read.
pub(crate) const MOST_BYTES: u64 = 16 << 20;

const DIRECTORY: &str = "drawloom-regressions";

/// A schedule that is replayed first.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Committed {
    pub(crate) file: PathBuf,
    /// In the file, from 1.
    pub(crate) line: usize,
    pub(crate) token: String,
    /// Which test it is of and what was found, for people.
    pub(crate) comment: String,
    /// Why it is known that the test passes under it now, if it is.
    pub(crate) passes_now: Option<String>,
}

impl Committed {
    /// The test, if the comment is as it was written.
    pub(crate) fn test(&self) -> &str {
        self.comment.split(": ").next().unwrap_or_default()
    }

    /// As `file:line`.
    pub(crate) fn place(&self) -> String {
        format!("{}:{}", relative(&self.file).display(), self.line)
    }
}

/// The schedules of the packages in these directories, and what in their files cannot be read.
pub(crate) fn committed(packages: &[PathBuf]) -> (Vec<Committed>, Vec<String>) {
    let directories: Vec<PathBuf> = match std::env::var_os(ENV_REGRESSIONS).filter(|text| !text.is_empty()) {
        Some(off) if off == "off" => Vec::new(),
        Some(directory) => vec![directory.into()],
        None => packages.iter().map(|package| package.join(DIRECTORY)).collect(),
    };
    let mut files: Vec<PathBuf> = directories.iter().flat_map(|directory| files_of(directory)).collect();
    files.sort();
    let (mut schedules, mut damage) = (Vec::new(), Vec::new());
    for file in &files {
        match kept::read(file, MOST_BYTES) {
            Ok(text) if text.is_empty() => damage.push(format!("{}: it is empty", file.display())),
            Ok(text) => of_file(file, &text, &mut schedules, &mut damage),
            Err(error) => damage.push(format!("{}: {error}", file.display())),
        }
    }
    (schedules, damage)
}

fn files_of(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.filter(|path| path.extension().is_some_and(|extension| extension == "txt")).collect()
}

fn of_file(file: &Path, text: &str, schedules: &mut Vec<Committed>, damage: &mut Vec<String>) {
    for (line, text) in (1..).zip(text.lines()) {
        let (token, comment) = text.split_once('#').unwrap_or((text, ""));
        let (token, comment) = (token.trim().to_owned(), comment.trim().to_owned());
        match Schedule::decode(&token) {
            _ if token.is_empty() => {}
            Ok(_) => schedules.push(Committed { file: file.to_owned(), line, token, comment, passes_now: None }),
            Err(error) => damage.push(format!("{}:{line}: {error}", file.display())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_with_a_token_are_schedules_and_damaged_ones_are_named() {
        let token = "dl1V373XAIBAAIAAQEDAAMBFwEFEwkABRMKACLbmnA";
        let text = format!("# Failing schedules.\n\n{token} # bank::lost: panic\n{token}\ndl1damaged # bank::lost\n");
        let file = PathBuf::from("bank.txt");
        let entry = |line, comment: &str| Committed {
            file: file.clone(),
            line,
            token: token.to_owned(),
            comment: comment.to_owned(),
            passes_now: None,
        };
        let (mut schedules, mut damage) = (Vec::new(), Vec::new());
        of_file(&file, &text, &mut schedules, &mut damage);
        assert_eq!(schedules, [entry(3, "bank::lost: panic"), entry(4, "")]);
        assert_eq!(damage.len(), 1);
        assert!(damage[0].starts_with("bank.txt:5: this replay token is damaged"), "{damage:?}");
    }
}
