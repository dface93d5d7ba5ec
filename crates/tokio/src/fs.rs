//! `tokio::fs`: not under control yet. In an exploration every call fails with an error that names it; outside, functions do
//! what they do in `std::fs`, and there are no open files.

use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};

use drawloom::future::facade;

use crate::task::spawn_blocking;
use crate::uncontrolled::{blocking, stream};

stream! {
    /// A file that cannot be made under control.
    File
}

impl File {
    /// Fails.
    pub async fn open(_path: impl AsRef<Path>) -> io::Result<File> {
        Err(blocking("fs::File::open"))
    }

    /// Fails.
    pub async fn create(_path: impl AsRef<Path>) -> io::Result<File> {
        Err(blocking("fs::File::create"))
    }

    /// Never called.
    pub async fn sync_all(&self) -> io::Result<()> {
        match *self {}
    }

    /// Never called.
    pub async fn metadata(&self) -> io::Result<Metadata> {
        match *self {}
    }
}

/// Does `f` on a thread that may block.
async fn on_a_thread<T: Send + 'static>(
    call: &str,
    f: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    if facade::running().is_some() {
        return Err(blocking(call));
    }
    // It is not begun where the runtime has ended.
    spawn_blocking(f).await.map_err(|_| io::Error::other("background task failed"))?
}

macro_rules! on_a_thread {
    ($($name:ident($($argument:ident),*) -> $output:ty = $call:expr;)*) => {
        $(
            /// As the function of that name in `std::fs`.
            ///
            /// # Errors
            ///
            /// In an exploration, and as there.
            pub async fn $name($($argument: impl AsRef<Path>),*) -> io::Result<$output> {
                $(let $argument = $argument.as_ref().to_owned();)*
                on_a_thread(concat!("fs::", stringify!($name)), move || $call($($argument),*)).await
            }
        )*
    };
}

on_a_thread! {
    read(path) -> Vec<u8> = std::fs::read;
    read_to_string(path) -> String = std::fs::read_to_string;
    create_dir(path) -> () = std::fs::create_dir;
    create_dir_all(path) -> () = std::fs::create_dir_all;
    remove_file(path) -> () = std::fs::remove_file;
    remove_dir(path) -> () = std::fs::remove_dir;
    remove_dir_all(path) -> () = std::fs::remove_dir_all;
    rename(from, to) -> () = std::fs::rename;
    copy(from, to) -> u64 = std::fs::copy;
    metadata(path) -> Metadata = std::fs::metadata;
    canonicalize(path) -> PathBuf = std::fs::canonicalize;
    try_exists(path) -> bool = |path: PathBuf| path.try_exists();
}

/// As `std::fs::write`.
///
/// # Errors
///
/// In an exploration, and as there.
pub async fn write(path: impl AsRef<Path>, contents: impl AsRef<[u8]>) -> io::Result<()> {
    let (path, contents) = (path.as_ref().to_owned(), contents.as_ref().to_owned());
    on_a_thread("fs::write", move || std::fs::write(path, contents)).await
}
