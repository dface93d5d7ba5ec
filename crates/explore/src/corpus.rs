//! The corpus of a test: recipes of executions that have shown something new, for the next run to begin with.
//!
//! A file of text beside the traces: a line that says what it is and of which test, then a recipe on each line. It
//! is replaced as a whole when an exploration is over. A file that cannot be understood is left as it is.

use std::io::ErrorKind;
use std::path::PathBuf;

use drawloom_engine::strategy::{Kept, Recipe};

use super::output;

/// Recipes that are stored, at most: the latest ones.
const MOST: usize = 256;

const HEADING: &str = "drawloom corpus 1 of ";

/// The corpus of a test, as a file.
pub(super) struct Corpus {
    file: PathBuf,
    test: String,
    /// The file is none that we could replace.
    foreign: bool,
}

impl Corpus {
    pub(super) fn of(test: &str) -> Corpus {
        Corpus { file: output::file_of(test, "corpus.txt"), test: test.to_owned(), foreign: false }
    }

    /// What earlier runs have kept.
    pub(super) fn load(&mut self, remarks: &mut Vec<String>) -> Vec<Recipe> {
        let read = match std::fs::read_to_string(&self.file) {
            Ok(text) => self.read(&text),
            Err(error) if error.kind() == ErrorKind::NotFound => return Vec::new(),
            Err(error) => Err(error.to_string()),
        };
        let file = output::shown(&self.file);
        match read {
            Ok(recipes) => {
                remarks.push(format!("began with {} executions saved by earlier runs ({file})", recipes.len()));
                recipes
            }
            Err(reason) => {
                self.foreign = true;
                remarks.push(format!(
                    "the corpus {file} cannot be used: {reason}; the file is left unchanged and nothing is saved: \
             remove it to start a new one"
                ));
                Vec::new()
            }
        }
    }

    fn read(&self, text: &str) -> Result<Vec<Recipe>, String> {
        let mut lines = text.lines();
        let Some(test) = lines.next().and_then(|line| line.strip_prefix(HEADING)) else {
            return Err("it does not start like a corpus".to_owned());
        };
        if test != self.test {
            return Err(format!("it belongs to the test `{test}`"));
        }
        let number = |(number, line): (usize, &str)| {
            line.parse::<Recipe>().map_err(|error| format!("line {}: {error}", number + 2))
        };
        let mut recipes = lines.enumerate().map(number).collect::<Result<Vec<_>, _>>()?;
        recipes.drain(..recipes.len().saturating_sub(MOST));
        Ok(recipes)
    }

    /// Stores what was kept, after so many executions.
    pub(super) fn store(&self, kept: &Kept, executions: u64, remarks: &mut Vec<String>) {
        let recipes: Vec<&Recipe> = kept.to_store(executions).collect();
        if self.foreign || recipes.is_empty() {
            return;
        }
        let mut text = format!("{HEADING}{}\n", self.test);
        for recipe in &recipes[recipes.len().saturating_sub(MOST)..] {
            text.push_str(&format!("{recipe}\n"));
        }
        if let Err(error) = output::replace(&self.file, text.as_bytes()) {
            remarks.push(format!("the corpus {} cannot be written: {error}", output::shown(&self.file)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_ours_is_refused_with_a_reason() {
        let corpus = Corpus::of("bank::transfer");
        let refused = |text: &str| corpus.read(text).expect_err("it is refused");
        assert_eq!(refused(""), "it does not start like a corpus");
        assert_eq!(refused("PNG"), "it does not start like a corpus");
        assert_eq!(refused("drawloom corpus 1 of other\n5eed\n"), "it belongs to the test `other`");
        let third = "drawloom corpus 1 of bank::transfer\n5eed\n7 4:1 3:1\n";
        assert_eq!(refused(third), "line 3: this is not a recipe of an execution");
    }

    #[test]
    fn no_more_is_read_than_is_written() {
        let corpus = Corpus::of("t");
        let lines: String = (0..300).map(|seed| format!("{seed:x}\n")).collect();
        let recipes = corpus.read(&format!("{HEADING}t\n{lines}")).expect("a corpus");
        assert_eq!((recipes.len(), recipes[0].to_string()), (MOST, format!("{:x}", 300 - MOST)));
    }
}
