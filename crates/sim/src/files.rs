//! Files of a node: what is written is pending until the file is synced, and what the directory names until the directory is.
//!
//! What is pending may survive a crash in part, and in any order that a file system may choose: a name without the data behind it, data without
//! the name, the second write without the first, half of one. Which of them is the schedule's choice ([`Loss::AnyImage`](crate::Loss::AnyImage)).

use std::collections::BTreeMap;
use std::fmt;

use crate::ctx::Ctx;

/// Why a disk does not do what it is asked.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum DiskError {
    /// There is no file of that name.
    NoSuchFile,
    /// The disk is full.
    NoSpace,
    /// It could not be read or written. After a failed sync, the data that it should have synced is lost at the next crash.
    Io,
}

impl fmt::Display for DiskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            DiskError::NoSuchFile => "no such file",
            DiskError::NoSpace => "no space left on the disk",
            DiskError::Io => "an input or output error",
        })
    }
}

impl std::error::Error for DiskError {}

/// What the next use of a disk meets.
#[doc(hidden)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DiskFault {
    Fails(DiskError),
    ShortRead,
}

impl DiskFault {
    pub(crate) const ALL: [DiskFault; 3] =
        [DiskFault::Fails(DiskError::Io), DiskFault::Fails(DiskError::NoSpace), DiskFault::ShortRead];

    pub(crate) fn tell(self) -> String {
        match self {
            DiskFault::Fails(error) => format!("its disk will fail: {error}"),
            DiskFault::ShortRead => "its disk will return a short read".to_owned(),
        }
    }
}

/// The images of [`Loss::AnyImage`](crate::Loss::AnyImage) beside "nothing", "all", and the first one or two operations.
pub(crate) mod image {
    /// All, but of the last write only one half.
    pub(crate) const TORN: usize = 3;
    /// Names, and no data.
    pub(crate) const NAMES: usize = 4;
    /// Data, and no names.
    pub(crate) const DATA: usize = 5;
    /// Only the last one.
    pub(crate) const LAST: usize = 6;
}

/// What is not durable yet.
enum Pending {
    Write {
        file: usize,
        at: usize,
        bytes: Vec<u8>,
    },
    Truncate {
        file: usize,
        length: usize,
    },
    /// Names that change together: a rename.
    Names(Vec<(String, Option<usize>)>),
}

#[derive(Default)]
struct File {
    now: Vec<u8>,
    durable: Vec<u8>,
}

/// The disk of a node.
#[derive(Default)]
pub(crate) struct Disk {
    files: Vec<File>,
    names: BTreeMap<String, usize>,
    durable_names: BTreeMap<String, usize>,
    pending: Vec<Pending>,
    /// What its next uses meet, first to last.
    pub(crate) faults: Vec<DiskFault>,
}

fn write(bytes: &mut Vec<u8>, at: usize, new: &[u8]) {
    bytes.resize(bytes.len().max(at + new.len()), 0);
    bytes[at..at + new.len()].copy_from_slice(new);
}

impl Disk {
    fn file(&self, name: &str) -> Result<usize, DiskError> {
        self.names.get(name).copied().ok_or(DiskError::NoSuchFile)
    }

    /// Fails if the next use is to; a short read is kept for a read.
    fn may_fail(&mut self) -> Result<(), DiskError> {
        match self.faults.first() {
            Some(DiskFault::Fails(error)) => {
                let error = *error;
                self.faults.remove(0);
                Err(error)
            }
            _ => Ok(()),
        }
    }

    fn name(&mut self, changes: Vec<(String, Option<usize>)>) {
        apply_names(&mut self.names, &changes);
        self.pending.push(Pending::Names(changes));
    }

    fn write(&mut self, name: &str, at: Option<usize>, bytes: &[u8]) -> Result<(), DiskError> {
        self.may_fail()?;
        let file = match self.names.get(name) {
            Some(file) => *file,
            None => {
                self.files.push(File::default());
                let file = self.files.len() - 1;
                self.name(vec![(name.to_owned(), Some(file))]);
                file
            }
        };
        let at = at.unwrap_or(self.files[file].now.len());
        write(&mut self.files[file].now, at, bytes);
        self.pending.push(Pending::Write { file, at, bytes: bytes.to_vec() });
        Ok(())
    }

    fn make_durable(&mut self, pending: Pending) {
        match pending {
            Pending::Write { file, at, bytes } => write(&mut self.files[file].durable, at, &bytes),
            Pending::Truncate { file, length } => self.files[file].durable.truncate(length),
            Pending::Names(changes) => apply_names(&mut self.durable_names, &changes),
        }
    }

    fn sync(&mut self, is_meant: impl Fn(&Pending) -> bool) -> Result<(), DiskError> {
        let failed = self.may_fail();
        let (meant, others) = std::mem::take(&mut self.pending).into_iter().partition(is_meant);
        self.pending = others;
        if failed.is_ok() {
            let meant: Vec<Pending> = meant;
            meant.into_iter().for_each(|pending| self.make_durable(pending));
        }
        failed
    }

    /// A crash: of what is pending this image survives.
    pub(crate) fn crash(&mut self, kept: usize) {
        let mut pending = std::mem::take(&mut self.pending);
        match kept {
            image::TORN => {
                if let Some(Pending::Write { bytes, .. }) = pending.last_mut() {
                    bytes.truncate(bytes.len() / 2);
                }
            }
            image::NAMES => pending.retain(|pending| matches!(pending, Pending::Names(_))),
            image::DATA => pending.retain(|pending| !matches!(pending, Pending::Names(_))),
            image::LAST => drop(pending.drain(..pending.len().saturating_sub(1))),
            first => pending.truncate(first),
        }
        pending.into_iter().for_each(|pending| self.make_durable(pending));
        self.names.clone_from(&self.durable_names);
        self.files.iter_mut().for_each(|file| file.now.clone_from(&file.durable));
        self.faults.clear();
    }

    pub(crate) fn wipe(&mut self) {
        *self = Disk::default();
    }
}

fn apply_names(names: &mut BTreeMap<String, usize>, changes: &[(String, Option<usize>)]) {
    for (name, file) in changes {
        match file {
            Some(file) => _ = names.insert(name.clone(), *file),
            None => _ = names.remove(name),
        }
    }
}

/// Files. Nothing of it survives a crash for certain before it is synced: data by [`sync_file`](Ctx::sync_file), names by
/// [`sync_directory`](Ctx::sync_directory). There is one directory.
impl<M> Ctx<'_, M> {
    fn disk(&mut self) -> &mut Disk {
        &mut self.world.nodes[self.me.index()].disk
    }

    /// The disk, to change it; none if the node is gone.
    fn disk_to_change(&mut self) -> Result<&mut Disk, DiskError> {
        if self.does() { Ok(self.disk()) } else { Err(DiskError::Io) }
    }

    /// Writes at a place of a file, which is made if it is not there.
    ///
    /// # Errors
    ///
    /// If a fault of the disk strikes; so do the other functions.
    pub fn write_file(&mut self, name: &str, at: usize, bytes: &[u8]) -> Result<(), DiskError> {
        self.disk_to_change()?.write(name, Some(at), bytes)
    }

    /// Writes at the end of a file, which is made if it is not there.
    pub fn append_file(&mut self, name: &str, bytes: &[u8]) -> Result<(), DiskError> {
        self.disk_to_change()?.write(name, None, bytes)
    }

    /// Cuts a file off.
    pub fn truncate_file(&mut self, name: &str, length: usize) -> Result<(), DiskError> {
        let disk = self.disk_to_change()?;
        disk.may_fail()?;
        let file = disk.file(name)?;
        disk.files[file].now.truncate(length);
        disk.pending.push(Pending::Truncate { file, length });
        Ok(())
    }

    /// The content of a file; only a part of it if a fault makes the read a short one.
    pub fn read_file(&mut self, name: &str) -> Result<Vec<u8>, DiskError> {
        let disk = self.disk();
        disk.may_fail()?;
        let file = disk.file(name)?;
        let mut bytes = disk.files[file].now.clone();
        if disk.faults.first() == Some(&DiskFault::ShortRead) {
            disk.faults.remove(0);
            bytes.truncate(bytes.len() / 2);
        }
        Ok(bytes)
    }

    /// Gives a file another name, in place of what had that name.
    pub fn rename_file(&mut self, from: &str, to: &str) -> Result<(), DiskError> {
        let disk = self.disk_to_change()?;
        disk.may_fail()?;
        let file = disk.file(from)?;
        disk.name(vec![(from.to_owned(), None), (to.to_owned(), Some(file))]);
        Ok(())
    }

    /// Removes a file.
    pub fn remove_file(&mut self, name: &str) -> Result<(), DiskError> {
        let disk = self.disk_to_change()?;
        disk.may_fail()?;
        disk.file(name)?;
        disk.name(vec![(name.to_owned(), None)]);
        Ok(())
    }

    /// The names of all files, in order.
    pub fn files(&mut self) -> Vec<String> {
        self.disk().names.keys().cloned().collect()
    }

    /// The data written to a file survives any crash; whether the file is found by its name is for the directory.
    pub fn sync_file(&mut self, name: &str) -> Result<(), DiskError> {
        let disk = self.disk_to_change()?;
        let synced = disk.file(name)?;
        disk.sync(|pending| match pending {
            Pending::Write { file, .. } | Pending::Truncate { file, .. } => *file == synced,
            Pending::Names(_) => false,
        })
    }

    /// Files that were made, renamed or removed are so after any crash.
    pub fn sync_directory(&mut self) -> Result<(), DiskError> {
        self.disk_to_change()?.sync(|pending| matches!(pending, Pending::Names(_)))
    }
}
