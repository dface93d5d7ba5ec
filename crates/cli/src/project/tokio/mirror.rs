//! A mirror of a project: the same files at other places, so that cargo finds everything as it is, except for a
//! lock file that may be written.
//!
//! The mirror of `/home/me/bank` is `BASE/home/me/bank`: a directory with links to all that is in the project. What is
//! used by path from elsewhere keeps its position to it, since cargo joins paths without looking where links lead.

use std::io;
use std::path::{Path, PathBuf};

/// Where mirrored directories lie.
pub(super) struct Mirror {
    pub(super) base: PathBuf,
}

impl Mirror {
    /// Where `real` is in the mirror.
    pub(super) fn of(&self, real: &Path) -> PathBuf {
        self.base.join(real.strip_prefix("/").unwrap_or(real))
    }

    /// Mirrors the workspace at `root`, without its lock file and `target`, and the directories `others`.
    pub(super) fn refresh(&self, root: &Path, others: &[PathBuf], target: &Path) -> io::Result<()> {
        for other in others {
            // A workspace around the project has it inside, and is taken apart down to it.
            match root.starts_with(other) {
                true => self.reflect(other, root, target)?,
                false => self.link(other)?,
            }
        }
        self.reflect(root, root, target)
    }

    /// A directory with links to all that is in `real`; of what lies on the way to `root`, with directories.
    fn reflect(&self, real: &Path, root: &Path, target: &Path) -> io::Result<()> {
        let image = self.of(real);
        if image.is_symlink() {
            std::fs::remove_file(&image)?;
        }
        std::fs::create_dir_all(&image)?;
        for there in std::fs::read_dir(&image)? {
            let there = there?;
            if there.path().is_symlink() && !real.join(there.file_name()).exists() {
                std::fs::remove_file(there.path())?;
            }
        }
        for entry in std::fs::read_dir(real)? {
            let entry = entry?.path();
            if entry == root.join("Cargo.lock") || entry == target || entry.file_name() == Some("target".as_ref()) {
                continue;
            }
            match entry != root && root.starts_with(&entry) {
                true => self.reflect(&entry, root, target)?,
                false if entry == root => {}
                false => self.link(&entry)?,
            }
        }
        Ok(())
    }

    /// A link to `real`, unless something is in its place.
    fn link(&self, real: &Path) -> io::Result<()> {
        let image = self.of(real);
        if std::fs::read_link(&image).is_ok_and(|there| there == real) {
            return Ok(());
        }
        if image.is_symlink() {
            std::fs::remove_file(&image)?;
        }
        if image.exists() {
            return Ok(());
        }
        image.parent().map_or(Ok(()), std::fs::create_dir_all)?;
        symlink(real, &image)
    }
}

#[cfg(unix)]
fn symlink(real: &Path, image: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(real, image)
}

#[cfg(windows)]
fn symlink(real: &Path, image: &Path) -> io::Result<()> {
    match real.is_dir() {
        true => std::os::windows::fs::symlink_dir(real, image),
        false => std::os::windows::fs::symlink_file(real, image),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    /// A folder of its own, with these files.
    fn files(name: &str, files: &[&str]) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("drawloom-mirror-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        for file in files {
            let file = folder.join(file);
            std::fs::create_dir_all(file.parent().expect("it lies in the folder")).expect("a directory");
            std::fs::write(&file, file.display().to_string()).expect("a file");
        }
        folder
    }

    #[test]
    fn everything_is_there_but_the_lock_file_and_what_is_gone_is_gone() {
        let folder = files("whole", &["Cargo.toml", "Cargo.lock", "src/lib.rs", "old.txt", "target/x"]);
        let mirror = Mirror { base: folder.join("target/mirror") };
        let refresh = || mirror.refresh(&folder, &[], &folder.join("target")).expect("it can be mirrored");
        refresh();
        let image = mirror.of(&folder);
        assert!(image.join("src/lib.rs").is_file() && image.join("old.txt").is_file());
        assert!(!image.join("Cargo.lock").exists() && !image.join("target").exists());
        std::fs::write(image.join("Cargo.lock"), "its own").expect("it can be written");
        std::fs::remove_file(folder.join("old.txt")).expect("it was there");
        refresh();
        assert!(!image.join("old.txt").is_symlink());
        let lock = std::fs::read_to_string(folder.join("Cargo.lock")).expect("the project's own");
        assert!(lock.ends_with("Cargo.lock"), "{lock}");
        std::fs::remove_dir_all(&folder).expect("it can be removed");
    }

    #[test]
    fn what_is_used_from_outside_keeps_its_position() {
        let folder =
            files("around", &["Cargo.toml", "library/lib.rs", "inner/bank/Cargo.toml", "inner/bank/Cargo.lock"]);
        let (root, mirror) = (folder.join("inner/bank"), Mirror { base: folder.join("mirror") });
        // A workspace around the project, and a package beside it.
        for others in [vec![folder.clone()], vec![folder.join("library")]] {
            mirror.refresh(&root, &others, &root.join("target")).expect("it can be mirrored");
            let image = mirror.of(&root);
            assert!(image.join("Cargo.toml").is_file() && !image.join("Cargo.lock").exists());
            let beside = image.parent().and_then(Path::parent).expect("two above").join("library/lib.rs");
            assert!(beside.is_file(), "{}", beside.display());
            std::fs::remove_dir_all(&mirror.base).expect("it can be removed");
        }
        std::fs::remove_dir_all(&folder).expect("it can be removed");
    }
}
