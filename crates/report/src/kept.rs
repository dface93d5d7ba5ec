//! Files that are kept: read up to a size that is said, and written without following links that somebody else has made.
//!
//! The folder of traces may be one that others can write to. Whoever may guess the name of a file there could put a
//! symbolic link in its place, and have us write to, or append to, any file that we may write to.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{Error, ErrorKind, Read, Write};
use std::path::Path;

/// The text of a file of at most `limit` bytes. What is no regular file, a pipe or a device say, is not waited for.
pub fn read(file: &Path, limit: u64) -> std::io::Result<String> {
    let metadata = std::fs::metadata(file)?;
    if !metadata.is_file() {
        return Err(Error::new(ErrorKind::InvalidInput, "it is not a regular file"));
    }
    let too_large = || {
        let message = format!("it has more than {}, the most that is read", bytes(limit));
        Err(Error::new(ErrorKind::FileTooLarge, message))
    };
    if metadata.len() > limit {
        return too_large();
    }
    let mut text = Vec::new();
    // It may have grown since.
    File::open(file)?.take(limit + 1).read_to_end(&mut text)?;
    if text.len() as u64 > limit {
        return too_large();
    }
    String::from_utf8(text).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Error::new(ErrorKind::InvalidData, format!("it is not text: byte {at} is not UTF-8"))
    })
}

/// `256 MiB`.
fn bytes(limit: u64) -> String {
    match limit {
        limit if limit >= 1 << 20 => format!("{} MiB", limit >> 20),
        limit if limit >= 1 << 10 => format!("{} KiB", limit >> 10),
        limit => format!("{limit} bytes"),
    }
}

/// Writes `file` anew and returns it, so that more can be appended. It is written as `draft` beside it and renamed, so that
/// a full disk or a kill leaves no half a file; a link that stands in the place of either is replaced, not followed.
pub fn replace(file: &Path, draft: &Path, content: &[u8]) -> std::io::Result<File> {
    if let Some(directory) = file.parent().filter(|directory| !directory.as_os_str().is_empty()) {
        std::fs::create_dir_all(directory)?;
    }
    let write = || {
        let mut written = new(draft)?;
        written.write_all(content)?;
        std::fs::rename(draft, file)?;
        Ok(written)
    };
    write().inspect_err(|_| drop(std::fs::remove_file(draft)))
}

/// A file that was not there before: what stands in its place is removed, and if somebody puts it back, it is an error.
fn new(file: &Path) -> std::io::Result<File> {
    let create = || OpenOptions::new().write(true).create_new(true).open(file);
    match create() {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            std::fs::remove_file(file)?;
            create()
        }
        created => created,
    }
}

/// Opens a file to append to it, and makes it if it is not there. A symbolic link in its place is an error.
pub fn append(file: &Path) -> std::io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).append(true);
    // What is made anew is never made through a link.
    match options.clone().create_new(true).open(file) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
        created => return created,
    }
    refuse_link(file)?;
    let opened = options.open(file)?;
    // Somebody may have put a link there meanwhile: then what was opened is not what stands there.
    if !is_at(&opened.metadata()?, &std::fs::symlink_metadata(file)?) {
        return Err(link());
    }
    Ok(opened)
}

fn refuse_link(file: &Path) -> std::io::Result<()> {
    match std::fs::symlink_metadata(file)?.is_symlink() {
        true => Err(link()),
        false => Ok(()),
    }
}

fn link() -> Error {
    Error::new(ErrorKind::InvalidInput, "it is a symbolic link, which is not followed: put the file itself there")
}

#[cfg(unix)]
fn is_at(opened: &Metadata, there: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (opened.dev(), opened.ino()) == (there.dev(), there.ino())
}

#[cfg(not(unix))]
fn is_at(_: &Metadata, there: &Metadata) -> bool {
    !there.is_symlink()
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;
    use std::path::PathBuf;

    use super::*;

    /// A folder of its own with a file that nobody may touch.
    fn folder(name: &str) -> (PathBuf, PathBuf) {
        let folder = std::env::temp_dir().join(format!("drawloom-kept-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).expect("a folder");
        let precious = folder.join("precious");
        std::fs::write(&precious, "mine").expect("a file");
        (folder, precious)
    }

    #[test]
    fn nothing_is_written_through_a_planted_link() {
        let (folder, precious) = folder("links");
        let [file, draft, dangling] = ["trace.json", "trace.1.tmp", "dangling"].map(|name| folder.join(name));
        for planted in [&file, &draft] {
            symlink(&precious, planted).expect("a link");
        }
        replace(&file, &draft, b"a trace").expect("it is written beside the link");
        assert_eq!(std::fs::read_to_string(&file).expect("a file"), "a trace");
        assert!(!file.is_symlink() && !draft.exists());

        symlink(&precious, &draft).expect("a link");
        let said = append(&draft).expect_err("a link is not followed").to_string();
        assert_eq!(said, "it is a symbolic link, which is not followed: put the file itself there");
        symlink(folder.join("nothing"), &dangling).expect("a link");
        append(&dangling).expect_err("nor is one that leads nowhere");
        assert!(!folder.join("nothing").exists());
        append(&file).and_then(|mut file| file.write_all(b", and more")).expect("a file is appended to");
        append(&folder.join("new")).and_then(|mut file| file.write_all(b"new")).expect("a new one is made");
        assert_eq!(std::fs::read_to_string(&file).expect("a file"), "a trace, and more");
        assert_eq!(std::fs::read_to_string(&precious).expect("a file"), "mine");
        std::fs::remove_dir_all(folder).expect("it is ours");
    }

    #[test]
    fn what_is_too_large_or_no_text_or_no_file_is_said() {
        let (folder, _) = folder("limits");
        let file = folder.join("file");
        std::fs::write(&file, "four").expect("a file");
        assert_eq!(read(&file, 4).expect("it fits"), "four");
        assert_eq!(
            read(&file, 3).expect_err("one too many").to_string(),
            "it has more than 3 bytes, the most that is read"
        );
        std::fs::write(&file, b"ab\xff").expect("a file");
        assert_eq!(read(&file, 9).expect_err("no text").to_string(), "it is not text: byte 2 is not UTF-8");
        assert_eq!(read(&folder, 9).expect_err("a folder").to_string(), "it is not a regular file");
        assert!(read(Path::new("/dev/zero"), 9).is_err());
        std::fs::remove_dir_all(folder).expect("it is ours");
    }
}
