//! What a file descriptor or a path stands for.

use std::cell::Cell;
use std::ffi::{CStr, c_char, c_int};
use std::mem::MaybeUninit;
use std::sync::Mutex;

use crate::hooked::Asked;
use crate::peers::{self, Address, Peer};

/// What is touched by using a file descriptor.
#[derive(Debug)]
pub(crate) struct What {
    pub(crate) name: String,
    pub(crate) kind: Kind,
}

/// How it behaves.
#[derive(Debug)]
pub(crate) enum Kind {
    /// It never waits.
    File,
    /// It may wait for the other end.
    Pipe,
    /// The same; of the other end it is known whether it is in this process.
    Socket(Peer),
}

impl Kind {
    /// Whether nobody but a task can end a wait at `fd`.
    pub(crate) fn is_inside(&self, fd: c_int) -> bool {
        let here = match self {
            Kind::File => true,
            Kind::Pipe => has_other_end(fd),
            Kind::Socket(peer) => peer.inside,
        };
        here && !has_children()
    }

    /// Whether what is sent may take a while to be there.
    pub(crate) fn is_delayed(&self) -> bool {
        matches!(self, Kind::Socket(Peer { delayed: true, .. }))
    }
}

thread_local! {
    static EXECUTION: Cell<u64> = const { Cell::new(0) };
}

/// The execution that the calling thread was last asked for in.
pub(crate) fn execution() -> u64 {
    EXECUTION.get()
}

/// Who reads what others print is not the program's concern.
const STANDARD: std::ops::RangeInclusive<c_int> = 0..=2;

/// Whether this is where standard output goes, by another descriptor: test runners catch it in a file.
fn is_standard(file: &libc::stat) -> bool {
    let same = |fd| status(fd).is_some_and(|other| (other.st_dev, other.st_ino) == (file.st_dev, file.st_ino));
    file.st_mode & libc::S_IFMT == libc::S_IFREG && (same(1) || same(2))
}

/// What `fd` stands for; none, if nobody is interested.
pub(crate) fn of_fd(hooks: &Asked, fd: c_int) -> Option<What> {
    of_fd_to(hooks, fd, None)
}

/// The same, for what is sent to an address.
pub(crate) fn of_fd_to(hooks: &Asked, fd: c_int, to: Option<Address>) -> Option<What> {
    EXECUTION.set(hooks.task() >> 32);
    if STANDARD.contains(&fd) {
        return None;
    }
    let status = status(fd)?;
    if is_standard(&status) {
        return None;
    }
    match status.st_mode & libc::S_IFMT {
        libc::S_IFREG | libc::S_IFDIR => path_of(fd).map(|path| What { name: file(&path), kind: Kind::File }),
        libc::S_IFIFO => Some(What { name: peers::numbered("pipe", status.st_ino), kind: Kind::Pipe }),
        libc::S_IFSOCK => peers::of(fd, to).map(|(name, peer)| What { name, kind: Kind::Socket(peer) }),
        // Devices, and what the kernel has no kind for: of these, only events are shared and waited for.
        _ => path_of(fd).filter(|path| path == "anon_inode:[eventfd]").map(|_| {
            let kind = Kind::Socket(Peer { inside: true, delayed: false });
            What { name: format!("eventfd {fd}"), kind }
        }),
    }
}

/// All files at once.
pub(crate) const FILES: &str = "files";

/// The name of a file.
pub(crate) fn file(path: &str) -> String {
    format!("file {path}")
}

pub(crate) fn status(fd: c_int) -> Option<libc::stat> {
    let mut status = MaybeUninit::<libc::stat>::uninit();
    // SAFETY: there is room for it, and it is read only if it was written.
    unsafe { (libc::fstat(fd, status.as_mut_ptr()) == 0).then(|| status.assume_init()) }
}

/// Where the kernel says that an open file is. One that was removed goes by the name that it had.
fn path_of(fd: c_int) -> Option<String> {
    let link = std::fs::read_link(format!("/proc/self/fd/{fd}")).ok()?;
    let link = link.to_string_lossy();
    let path = link.strip_suffix(" (deleted)").unwrap_or(&link);
    is_of_interest(path).then(|| path.to_owned())
}

fn is_of_interest(path: &str) -> bool {
    let of_the_system = ["/dev/", "/proc/", "/sys/"].iter().any(|system| path.starts_with(system));
    !of_the_system || path.starts_with("/dev/shm/")
}

/// The file at a path, with `follow` where it leads to if it is a link; what does not exist is named by where it would be.
///
/// # Safety
/// `path` is null, or ends with a zero.
pub(crate) unsafe fn of_path(directory: c_int, path: *const c_char, follow: bool) -> Option<String> {
    if path.is_null() {
        return None;
    }
    // SAFETY: as the caller says.
    let path = unsafe { CStr::from_ptr(path) }.to_string_lossy();
    let path = match path.starts_with('/') || directory == libc::AT_FDCWD {
        true => std::path::PathBuf::from(&*path),
        false => std::path::PathBuf::from(path_of(directory)?).join(&*path),
    };
    let real = path.canonicalize().ok().filter(|_| follow || path.file_name().is_none()).or_else(|| {
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let parent = parent.map_or_else(std::env::current_dir, |parent| parent.canonicalize());
        Some(parent.ok()?.join(path.file_name()?))
    });
    let real = real.unwrap_or_else(|| std::path::absolute(&path).unwrap_or(path));
    let real = real.to_string_lossy();
    is_of_interest(&real).then(|| file(&real))
}

/// Whether a path is that of a plain file, or of nothing: no directory, and no link.
///
/// # Safety
/// `path` is null, or ends with a zero.
pub(crate) unsafe fn is_plain(at: c_int, path: *const c_char) -> bool {
    let mut status = MaybeUninit::<libc::stat>::uninit();
    // SAFETY: as the caller says; it is read only if it was written.
    unsafe {
        path.is_null()
            || libc::fstatat(at, path, status.as_mut_ptr(), libc::AT_SYMLINK_NOFOLLOW) != 0
            || !matches!(status.assume_init().st_mode & libc::S_IFMT, libc::S_IFDIR | libc::S_IFLNK)
    }
}

/// Whether this process has an end of the other kind of a pipe.
fn has_other_end(fd: c_int) -> bool {
    let Some(inode) = peers::inode(fd) else { return false };
    let writes = |fd: c_int| {
        // SAFETY: asks for a number.
        let flags = unsafe { libc::fcntl(fd, libc::F_GETFL) };
        (flags & libc::O_ACCMODE) != libc::O_RDONLY
    };
    let own = writes(fd);
    let Ok(entries) = std::fs::read_dir("/proc/self/fd") else { return false };
    let mut numbers = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<c_int>().ok());
    numbers.any(|other| peers::inode(other) == Some(inode) && writes(other) != own)
}

/// Whether processes are there that may have inherited what this one has opened.
pub(crate) fn has_children() -> bool {
    let mut status = MaybeUninit::<libc::siginfo_t>::zeroed();
    // SAFETY: asks, without waiting, and takes nothing from whoever waits for real.
    let asked =
        unsafe { libc::waitid(libc::P_ALL, 0, status.as_mut_ptr(), libc::WEXITED | libc::WNOHANG | libc::WNOWAIT) };
    asked == 0
}

/// Files that were locked by this process, by device and inode: closing them is noticed by others.
static LOCKED: Mutex<Vec<(u64, u64)>> = Mutex::new(Vec::new());

/// Somebody locks that file.
pub(crate) fn locked(fd: c_int) {
    if let Some(status) = status(fd) {
        let mut locked = LOCKED.lock().unwrap_or_else(|e| e.into_inner());
        let file = (status.st_dev, status.st_ino);
        if !locked.contains(&file) {
            locked.push(file);
        }
    }
}

/// Whether that file has ever been locked.
pub(crate) fn was_locked(fd: c_int) -> bool {
    let locked = LOCKED.lock().unwrap_or_else(|e| e.into_inner());
    !locked.is_empty() && status(fd).is_some_and(|status| locked.contains(&(status.st_dev, status.st_ino)))
}

/// Whether this process holds a lock of that kind (`FLOCK`, `OFDLCK`) on the file.
pub(crate) fn holds_lock(fd: c_int, kind: &str) -> bool {
    let (Some(status), Ok(locks)) = (status(fd), std::fs::read_to_string("/proc/locks")) else { return false };
    let (own, inode) = (std::process::id().to_string(), status.st_ino.to_string());
    locks.lines().any(|line| {
        let words: Vec<&str> = line.split_whitespace().filter(|word| *word != "->").collect();
        let [_, found, _, _, process, place, ..] = words[..] else { return false };
        let here = process == own || (kind == "OFDLCK" && !has_children());
        found == kind && here && place.rsplit(':').next() == Some(&inode)
    })
}
