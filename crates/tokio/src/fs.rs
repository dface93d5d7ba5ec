//! `tokio::fs`: not under control yet; every call fails with an error that names it.

use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};

use crate::uncontrolled::{error, stream};

stream! {
    /// A file that cannot be made under control.
    File
}

impl File {
    /// Fails.
    pub async fn open(_path: impl AsRef<Path>) -> io::Result<File> {
        Err(error("fs::File::open"))
    }

    /// Fails.
    pub async fn create(_path: impl AsRef<Path>) -> io::Result<File> {
        Err(error("fs::File::create"))
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

macro_rules! fails {
    ($($name:ident($($argument:ident),*) -> $output:ty;)*) => {
        $(
            /// Fails.
            pub async fn $name($($argument: impl AsRef<Path>),*) -> io::Result<$output> {
                $(let _ = $argument;)*
                Err(error(concat!("fs::", stringify!($name))))
            }
        )*
    };
}

fails! {
    read(path) -> Vec<u8>;
    read_to_string(path) -> String;
    create_dir(path) -> ();
    create_dir_all(path) -> ();
    remove_file(path) -> ();
    remove_dir(path) -> ();
    remove_dir_all(path) -> ();
    rename(from, to) -> ();
    copy(from, to) -> u64;
    metadata(path) -> Metadata;
    canonicalize(path) -> PathBuf;
    try_exists(path) -> bool;
}

/// Fails.
pub async fn write(_path: impl AsRef<Path>, _contents: impl AsRef<[u8]>) -> io::Result<()> {
    Err(error("fs::write"))
}
