//! An exhaustive exploration as bytes, so that it can go on in another process.
//!
//! A log begins with what identifies the program ([`Header`]) and with all that is known at some
//! moment. Then it only grows: what each execution has added to the tree and to the [`Tally`], in the
//! order in which the tree was changed. Every record has a check sum. One that ends too early is what
//! a killed process leaves behind; it is ignored, and so the executions in it are made again.
//!
//! Nothing here reads or writes files.

use std::collections::VecDeque;

use super::names::{Name, Names};
use super::sharing::Sharing;
use super::tally::Tally;
use super::tree::{NodeId, Tree};
use super::{Board, Explorer};
use crate::schedule::{Reader, put};

/// What every log begins with; its number is that of the format.
const MAGIC: &[u8] = b"drawloom exhaustive exploration 5\n";
const HEADER: u8 = b'H';
const STATE: u8 = b'S';
const ADDED: u8 = b'A';
/// Bytes of a record besides its content: length and kind before it, the check sum after.
const BEFORE: usize = 9;
const AFTER: usize = 8;

/// Whose log it is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Header {
    /// The name of the test.
    pub test: String,
    /// A hash of the configuration, as far as it matters for what there is to explore.
    pub configuration: u64,
    /// A hash of the program as it was built.
    pub program: u64,
    /// A hash of what the first execution did.
    pub first_execution: u64,
}

/// Why a log cannot be used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LogError {
    /// It is another kind of file, or one of another version.
    NotALog,
    /// It was cut off before there was anything in it.
    TooShort,
    /// It was altered.
    Damaged,
}

impl std::fmt::Display for LogError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            LogError::NotALog => "it is not a log that this version of drawloom can read",
            LogError::TooShort => "it ends before it says anything",
            LogError::Damaged => "it is damaged",
        })
    }
}

impl std::error::Error for LogError {}

/// A log that has been read.
pub struct Restored {
    /// Whose it is.
    pub header: Header,
    /// What the executions came to that it knows of.
    pub tally: Tally,
    /// The exploration, as it stood.
    pub explorer: Explorer,
}

/// Stands for an execution until it is known what came of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ticket(pub(super) u64);

/// What executions have added and no log has yet.
pub(super) struct Recorder {
    entries: VecDeque<Entry>,
    /// Names that a log has, or an entry.
    names: usize,
}

struct Entry {
    ticket: Ticket,
    bytes: Vec<u8>,
    settled: bool,
}

impl Explorer {
    /// Says what came of an execution. To be called for each, once it is over and judged, if there is
    /// to be a log.
    pub fn settle(&self, ticket: Ticket, tally: &Tally) {
        self.own.with_and_tell(|board| {
            board.settled += 1;
            let Some(recorder) = &mut board.recorder else { return };
            if let Some(entry) = recorder.entries.iter_mut().rev().find(|entry| entry.ticket == ticket) {
                tally.write(&mut entry.bytes);
                entry.settled = true;
            }
        });
    }

    /// A whole log of what is known now. [`added`](Self::added) says from now on what is to be appended.
    ///
    /// Waits until what is under way has been settled, and lets nobody claim anything meanwhile;
    /// `tally` is called after that. A thread that has an execution to settle must not call it.
    pub fn checkpoint(&self, header: &Header, tally: impl FnOnce() -> Tally) -> Vec<u8> {
        self.own.give_back();
        self.own.wait_for(|board| {
            board.paused = true;
            (board.settled >= board.claimed).then_some(())
        });
        let tally = tally();
        self.own.with_and_tell(|board| {
            let mut log = MAGIC.to_vec();
            append(&mut log, HEADER, |bytes| header.write(bytes));
            append(&mut log, STATE, |bytes| {
                put(bytes, board.executions);
                put(bytes, u64::from(board.frugal));
                put_names(bytes, board.names.given());
                board.tree.write(bytes);
                tally.write(bytes);
            });
            board.tree.keep_journal();
            board.recorder = Some(Recorder { entries: VecDeque::new(), names: board.names.given().len() });
            board.paused = false;
            log
        })
    }

    /// What is to be appended to the log: everything since the last call that has been settled, and
    /// does not come after something that has not. Empty if there is nothing.
    pub fn added(&self) -> Vec<u8> {
        let entries: Vec<Entry> = self.own.with(|board| {
            let Some(recorder) = &mut board.recorder else { return Vec::new() };
            let settled = recorder.entries.iter().take_while(|entry| entry.settled).count();
            recorder.entries.drain(..settled).collect()
        });
        let mut record = Vec::new();
        if !entries.is_empty() {
            append(&mut record, ADDED, |bytes| entries.iter().for_each(|entry| bytes.extend(&entry.bytes)));
        }
        record
    }

    /// Reads a log. The exploration may make `budget` executions besides those that have been made.
    ///
    /// # Errors
    ///
    /// If it is no log, or has been altered. A record that ends too early is no error.
    pub fn restore(sharing: Sharing, log: &[u8], budget: u64) -> Result<Restored, LogError> {
        let records = log.strip_prefix(MAGIC).ok_or(match MAGIC.starts_with(log) {
            true => LogError::TooShort,
            false => LogError::NotALog,
        })?;
        let mut records = Records { bytes: records };
        let header = records.take(HEADER)?.ok_or(LogError::TooShort)?;
        let header = Header::read(&mut Reader { bytes: header }).ok_or(LogError::Damaged)?;
        let state = records.take(STATE)?.ok_or(LogError::TooShort)?;
        let (mut board, mut tally) = read_state(&mut Reader { bytes: state }, budget).ok_or(LogError::Damaged)?;
        while let Some(added) = records.take(ADDED)? {
            let mut reader = Reader { bytes: added };
            while !reader.bytes.is_empty() {
                board.frugal |= reader.number().ok_or(LogError::Damaged)? != 0;
                read_names(&mut reader, &mut board.names).ok_or(LogError::Damaged)?;
                board.tree.add_stored(&mut reader).ok_or(LogError::Damaged)?;
                board.executions += 1;
                tally.add(Tally::read(&mut reader).ok_or(LogError::Damaged)?);
            }
        }
        (board.claimed, board.settled) = (board.executions, board.executions);
        board.budget = budget.saturating_add(board.executions);
        Ok(Restored { header, tally, explorer: Explorer::of(sharing, board) })
    }
}

impl Board {
    /// Takes down what the execution that began with `leaf` has added.
    pub(super) fn record(&mut self, leaf: NodeId, ticket: Ticket) {
        let Some(recorder) = &mut self.recorder else { return };
        let mut bytes = Vec::new();
        put(&mut bytes, u64::from(self.frugal));
        put_names(&mut bytes, &self.names.given()[recorder.names..]);
        recorder.names = self.names.given().len();
        self.tree.write_added(leaf, &mut bytes);
        recorder.entries.push_back(Entry { ticket, bytes, settled: false });
    }
}

fn read_state(reader: &mut Reader<'_>, budget: u64) -> Option<(Board, Tally)> {
    let mut board = Board::new(budget);
    board.executions = reader.number()?;
    board.frugal = reader.number()? != 0;
    read_names(reader, &mut board.names)?;
    board.tree = Tree::read(reader)?;
    let tally = Tally::read(reader)?;
    reader.bytes.is_empty().then_some((board, tally))
}

impl Header {
    fn write(&self, bytes: &mut Vec<u8>) {
        for number in [self.configuration, self.program, self.first_execution] {
            put(bytes, number);
        }
        bytes.extend(self.test.as_bytes());
    }

    fn read(reader: &mut Reader<'_>) -> Option<Header> {
        let [configuration, program, first_execution] = [reader.number()?, reader.number()?, reader.number()?];
        let test = std::str::from_utf8(reader.bytes).ok()?.to_owned();
        Some(Header { test, configuration, program, first_execution })
    }
}

fn put_names(bytes: &mut Vec<u8>, names: &[(Name, u32)]) {
    put(bytes, names.len() as u64);
    for (parent, ordinal) in names {
        put(bytes, u64::from(parent.0));
        put(bytes, u64::from(*ordinal));
    }
}

fn read_names(reader: &mut Reader<'_>, names: &mut Names) -> Option<()> {
    for _ in 0..reader.count()? {
        let parent = Name(u32::try_from(reader.number()?).ok()?);
        names.child(parent, u32::try_from(reader.number()?).ok()?);
    }
    Some(())
}

/// Appends a record.
fn append(log: &mut Vec<u8>, kind: u8, content: impl FnOnce(&mut Vec<u8>)) {
    let start = log.len();
    log.extend(0u64.to_le_bytes());
    log.push(kind);
    content(log);
    let length = (log.len() - start - BEFORE) as u64;
    log[start..start + 8].copy_from_slice(&length.to_le_bytes());
    let sum = hash(&log[start..]);
    log.extend(sum.to_le_bytes());
}

struct Records<'a> {
    bytes: &'a [u8],
}

impl<'a> Records<'a> {
    /// The content of the next record, which is of that kind; `None` if it, or its end, is missing.
    fn take(&mut self, expected: u8) -> Result<Option<&'a [u8]>, LogError> {
        let Some((length, _)) = self.bytes.split_first_chunk() else { return Ok(None) };
        let length = u64::from_le_bytes(*length) as usize;
        let whole = length.saturating_add(BEFORE + AFTER);
        let Some((record, rest)) = self.bytes.split_at_checked(whole) else { return Ok(None) };
        let (checked, sum) = record.split_at(BEFORE + length);
        if hash(checked).to_le_bytes() != *sum || checked[BEFORE - 1] != expected {
            return Err(LogError::Damaged);
        }
        self.bytes = rest;
        Ok(Some(&checked[BEFORE..]))
    }
}

/// A hash that is the same on every machine. No change of a single word goes unnoticed.
pub fn hash(bytes: &[u8]) -> u64 {
    let mut hash = bytes.len() as u64;
    let mut mix = |word: u64| hash = (hash ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29);
    let mut left = bytes;
    while let Some((word, rest)) = left.split_first_chunk() {
        mix(u64::from_le_bytes(*word));
        left = rest;
    }
    left.iter().for_each(|byte| mix(u64::from(*byte)));
    hash
}
