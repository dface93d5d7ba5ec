//! The file of results, read as it grows.

use std::io::{Read, Seek, SeekFrom};
use std::path::PathBuf;

use drawloom_report::TestResult;

use crate::error::Error;

/// A file that tests append their results to.
pub(crate) struct Tail {
    pub(crate) file: PathBuf,
    read: u64,
}

impl Tail {
    /// A new file; what is left of an older one is removed.
    pub(crate) fn new(file: PathBuf) -> Result<Tail, Error> {
        match std::fs::remove_file(&file) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(Error::Unwritable { file, error }),
            _ => Ok(Tail { file, read: 0 }),
        }
    }

    /// Hands over the results that were added since.
    pub(crate) fn read(&mut self, each: impl FnMut(TestResult)) {
        let mut text = String::new();
        let Ok(mut file) = std::fs::File::open(&self.file) else { return };
        if file.seek(SeekFrom::Start(self.read)).and_then(|_| file.read_to_string(&mut text)).is_err() {
            return;
        }
        // A line that is still being written has no end yet.
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        self.read += whole as u64;
        TestResult::read_all(&text[..whole]).into_iter().for_each(each);
    }
}
