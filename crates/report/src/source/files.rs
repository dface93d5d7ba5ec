//! Which source files are shown: those below the project, and below the folders that its build takes sources from.
//!
//! A record names the files of its places, and may be somebody else's. So a name is no reason to read a file: what an
//! absolute path, a `..` or a symbolic link leads to is read only if it lies below one of the folders, is a source file by
//! its ending, and is no larger than source files are. Any other place is shown without its text.

use std::path::{Path, PathBuf};

use crate::kept;

/// Endings of source files. What else lies in a project, a file of passwords say, is nobody's business.
const ENDINGS: [&str; 4] = ["rs", "py", "pyi", "pyw"];

/// A larger file is not read.
const MOST_BYTES: u64 = 16 << 20;

/// Folders below which sources are read.
#[derive(Clone, Debug, Default)]
pub struct SourceFiles {
    /// Where relative names begin.
    bases: Vec<PathBuf>,
    /// Without symbolic links.
    roots: Vec<PathBuf>,
}

impl SourceFiles {
    /// Relative names begin in one of `bases`, the first that has the file; what is shown lies below one of them, or
    /// below one of `others`. A folder that is not there is left out, and so is the root of the file system, which has
    /// everything below it.
    ///
    /// ```
    /// use drawloom_report::SourceFiles;
    ///
    /// let here = SourceFiles::below([env!("CARGO_MANIFEST_DIR")], []);
    /// assert!(here.read("src/lib.rs").is_some());
    /// assert!(here.read("Cargo.toml").is_none() && here.read("/etc/passwd").is_none());
    /// ```
    pub fn below<P: Into<PathBuf>>(
        bases: impl IntoIterator<Item = P>,
        others: impl IntoIterator<Item = PathBuf>,
    ) -> SourceFiles {
        let bases: Vec<PathBuf> = bases.into_iter().map(Into::into).collect();
        let found = bases.iter().cloned().chain(others).filter_map(|folder| folder.canonicalize().ok());
        let roots = found.filter(|folder| folder.parent().is_some() && folder.is_dir()).collect();
        SourceFiles { bases, roots }
    }

    /// The text of the file that a place names, if it is one of those that are shown.
    pub fn read(&self, file: &str) -> Option<String> {
        let name = Path::new(file);
        if name.is_absolute() {
            return self.read_at(name);
        }
        self.bases.iter().find_map(|base| self.read_at(&base.join(name)))
    }

    fn read_at(&self, file: &Path) -> Option<String> {
        let real = file.canonicalize().ok()?;
        let is_source = |file: &Path| {
            file.extension().and_then(|ending| ending.to_str()).is_some_and(|ending| ENDINGS.contains(&ending))
        };
        // A link that is called so may lead to something that is not.
        let shown = is_source(&real) && self.roots.iter().any(|root| real.starts_with(root));
        shown.then(|| kept::read(&real, MOST_BYTES).ok())?
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn nothing_outside_is_read_by_any_way_of_naming_it() {
        let folder = std::env::temp_dir().join(format!("drawloom-sources-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        let [project, other, outside] = ["project", "other", "outside"].map(|name| folder.join(name));
        for (folder, name) in [(&project, "src/a.rs"), (&project, ".env"), (&other, "b.py"), (&outside, "c.rs")] {
            let file = folder.join(name);
            std::fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
            std::fs::write(file, name).expect("a file");
        }
        symlink(outside.join("c.rs"), project.join("link.rs")).expect("a link");
        symlink(&outside, project.join("folder")).expect("a link");
        symlink(project.join(".env"), project.join("env.rs")).expect("a link");
        symlink(project.join("src"), outside.join("in")).expect("a link");
        let files = SourceFiles::below([&project], [other.clone(), PathBuf::from("/")]);
        let text = |path: &Path| path.display().to_string();
        for (name, shown) in [
            ("src/a.rs".to_owned(), Some("src/a.rs")),
            (text(&project.join("src/a.rs")), Some("src/a.rs")),
            (text(&other.join("b.py")), Some("b.py")),
            ("src/../src/a.rs".to_owned(), Some("src/a.rs")),
            // Where a link leads is what counts.
            (text(&outside.join("in/a.rs")), Some("src/a.rs")),
            ("../outside/c.rs".to_owned(), None),
            (text(&outside.join("c.rs")), None),
            ("link.rs".to_owned(), None),
            ("folder/c.rs".to_owned(), None),
            (".env".to_owned(), None),
            ("env.rs".to_owned(), None),
            ("src".to_owned(), None),
            ("/etc/passwd".to_owned(), None),
            ("../../../../../../../../etc/passwd".to_owned(), None),
            ("/dev/zero".to_owned(), None),
            ("src/a.rs\0".to_owned(), None),
            (String::new(), None),
        ] {
            assert_eq!(files.read(&name).as_deref(), shown, "{name}");
        }
        std::fs::remove_dir_all(folder).expect("it is ours");
    }
}
