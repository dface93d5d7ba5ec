//! The failing schedules that users commit: read here, written by tests.

use std::path::{Path, PathBuf};

use drawloom_engine::config::ENV_REGRESSIONS;
use drawloom_engine::schedule::Schedule;
use serde::Serialize;

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
}

/// The schedules of the packages in these directories.
pub(crate) fn committed(packages: &[PathBuf]) -> Vec<Committed> {
    let directories: Vec<PathBuf> = match std::env::var_os(ENV_REGRESSIONS).filter(|text| !text.is_empty()) {
        Some(off) if off == "off" => Vec::new(),
        Some(directory) => vec![directory.into()],
        None => packages.iter().map(|package| package.join(DIRECTORY)).collect(),
    };
    let mut files: Vec<PathBuf> = directories.iter().flat_map(|directory| files_of(directory)).collect();
    files.sort();
    files.iter().flat_map(|file| of_file(file, &std::fs::read_to_string(file).unwrap_or_default())).collect()
}

fn files_of(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.filter(|path| path.extension().is_some_and(|extension| extension == "txt")).collect()
}

fn of_file(file: &Path, text: &str) -> Vec<Committed> {
    let lines = (1..).zip(text.lines()).filter_map(|(line, text)| {
        let (token, comment) = text.split_once('#').unwrap_or((text, ""));
        let (token, comment) = (token.trim().to_owned(), comment.trim().to_owned());
        // What is damaged is for the test to complain of.
        Schedule::decode(&token).ok().map(|_| Committed { file: file.to_owned(), line, token, comment })
    });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_with_a_token_are_schedules_and_others_are_not() {
        let token = "dl1V373XAIBAAIAAQEDAAMBFwEFEwkABRMKACLbmnA";
        let text = format!("# Failing schedules.\n\n{token} # bank::lost: panic\n{token}\ndl1damaged # bank::lost\n");
        let file = PathBuf::from("bank.txt");
        let entry = |line, comment: &str| Committed {
            file: file.clone(),
            line,
            token: token.to_owned(),
            comment: comment.to_owned(),
        };
        assert_eq!(of_file(&file, &text), [entry(3, "bank::lost: panic"), entry(4, "")]);
    }
}
