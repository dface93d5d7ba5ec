//! What became of failing schedules: a small file for each test, beside its traces.
//!
//! A trace says what was found once. Whether the test still fails under that schedule, or passes since somebody has fixed
//! it, only a later run knows. So a run that keeps a finding notes that its schedule fails, and a run that shows otherwise
//! notes that: one that follows the schedule and passes, or explores everything and finds nothing.

use std::path::{Path, PathBuf};

use crate::{json, kept};

/// How the files end.
pub const STANDINGS: &str = ".schedules.jsonl";
/// A larger file is not read.
const MOST_BYTES: u64 = 64 << 20;

/// What is known of a schedule.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Standing {
    /// The schedule.
    pub token: String,
    /// Why it is known that the test passes now; none while it fails.
    pub passes: Option<String>,
    /// Whether somebody was told that it is stored and no longer fits.
    pub told: bool,
}

/// What is known of the schedules of one test.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Standings {
    file: PathBuf,
    all: Vec<Standing>,
}

/// The name of a test as it stands in names of files.
pub fn plain_name(test: &str) -> String {
    let test = if test.is_empty() { "exploration" } else { test };
    test.chars().map(|c| if c.is_alphanumeric() || c == '_' { c } else { '-' }).collect()
}

impl Standings {
    /// What is known of those of `test`, whose traces are in `directory`. Lines that cannot be read are left out.
    pub fn of(directory: &Path, test: &str) -> Standings {
        let file = directory.join(format!("{}{STANDINGS}", plain_name(test)));
        let text = kept::read(&file, MOST_BYTES).unwrap_or_default();
        let all = text.lines().filter_map(|line| json::read(line).ok()).collect();
        Standings { file, all }
    }

    /// Each schedule once.
    pub fn all(&self) -> &[Standing] {
        &self.all
    }

    /// Why it is known that the test passes under this schedule now, if it is.
    pub fn passes(&self, token: &str) -> Option<&str> {
        self.all.iter().find(|known| known.token == token)?.passes.as_deref()
    }

    /// Whether somebody was told that this schedule no longer fits.
    pub fn was_told(&self, token: &str) -> bool {
        self.all.iter().any(|known| known.token == token && known.told)
    }

    /// The standing of a schedule, to be changed.
    pub fn entry(&mut self, token: &str) -> &mut Standing {
        let at = self.all.iter().position(|known| known.token == token).unwrap_or_else(|| {
            self.all.push(Standing { token: token.to_owned(), ..Standing::default() });
            self.all.len() - 1
        });
        &mut self.all[at]
    }

    /// Forgets all but some.
    pub fn retain(&mut self, wanted: impl FnMut(&Standing) -> bool) {
        self.all.retain(wanted);
    }

    /// Writes the file, by way of a draft whose name has `unique` in it; if nothing is known, there is none.
    pub fn write(&self, unique: &str) -> std::io::Result<()> {
        if self.all.is_empty() {
            return match std::fs::remove_file(&self.file) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
                _ => Ok(()),
            };
        }
        let lines = self.all.iter().map(json::text);
        let text: String = lines.map(|line| line + "\n").collect();
        kept::replace(&self.file, &self.file.with_extension(format!("{unique}.tmp")), text.as_bytes()).map(drop)
    }
}

crate::json::object! {
    Standing { token, #[optional] passes, #[optional] told }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_noted_of_a_schedule_is_read_again() {
        let directory = std::env::temp_dir().join(format!("drawloom-standing-{}", std::process::id()));
        let mut standings = Standings::of(&directory, "bank::lost");
        assert!(standings.all().is_empty());
        standings.entry("dl1a").passes = Some("exhausted".to_owned());
        standings.entry("dl1b");
        standings.entry("dl1a").told = true;
        standings.write("1").expect("it is written");
        let mut read = Standings::of(&directory, "bank::lost");
        assert_eq!(read, standings);
        assert_eq!(read.passes("dl1a"), Some("exhausted"));
        assert!(read.was_told("dl1a") && !read.was_told("dl1b") && read.passes("dl1b").is_none());
        read.retain(|_| false);
        read.write("2").expect("there is nothing to write");
        assert!(!directory.join("bank--lost.schedules.jsonl").exists());
        std::fs::remove_dir_all(directory).expect("it is ours");
    }
}
