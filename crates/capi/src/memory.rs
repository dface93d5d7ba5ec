//! Accesses to plain memory: what nothing orders is found as a data race.
//!
//! A cell is what was accessed at once. An access of more than a word is one of its words, up to eight of them; a larger one is
//! one cell. Who accesses a part of what is a cell already accesses that cell, so memory should be accessed in the same pieces.

use std::collections::BTreeMap;
use std::ffi::c_void;

use drawloom_engine::finding::About;
use drawloom_engine::{OpKind, Operation, ResourceId, ResourceKind, Site, State, outcome};
use drawloom_fiber::Seen;

use crate::execution::{Here, here};
use crate::place::{self, drawloom_loc, site};
use crate::status::*;
use crate::thread_local;

const WORD: usize = 8;
/// More than this is one cell.
const MOST_WORDS: usize = 8;

/// Cells by their first address: the end of each, and its resource.
#[derive(Default)]
pub(crate) struct Cells(BTreeMap<usize, (usize, ResourceId)>);

impl Cells {
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// The cell that begins lowest of those that lie in a range, in part at least.
    fn first_in(&self, start: usize, end: usize) -> Option<(usize, usize, ResourceId)> {
        let before = self.0.range(..=start).next_back().filter(|(_, (ends, _))| *ends > start);
        let found = before.or_else(|| self.0.range(start..end).next());
        found.map(|(begins, (ends, id))| (*begins, *ends, *id))
    }
}

/// To free a large block is a write to this many cells of it at most.
const MOST_WRITTEN: usize = 64;

/// Memory that was freed and not used anew, by its first address: its end, and where it was freed.
#[derive(Default)]
pub(crate) struct Freed(BTreeMap<usize, (usize, Site)>);

impl Freed {
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    fn insert(&mut self, start: usize, end: usize, site: Site) {
        self.0.insert(start, (end, site));
    }

    /// Where the memory at `address` was freed.
    fn at(&self, address: usize) -> Option<Site> {
        if self.0.is_empty() {
            return None;
        }
        self.0.range(..=address).next_back().filter(|(_, (end, _))| *end > address).map(|(_, (_, site))| *site)
    }

    /// Blocks that begin between these addresses are in use again.
    fn forget(&mut self, start: usize, end: usize) {
        if !self.0.is_empty() {
            self.0.retain(|begins, _| !(start..end).contains(begins));
        }
    }
}

fn freed_at(site: Site) -> String {
    let place = place::text(site);
    if place.is_empty() { place } else { format!(" at {place}") }
}

impl Here {
    fn access_memory(&self, kind: OpKind, start: usize, size: usize, site: Site) {
        let end = start.saturating_add(size);
        let mut at = start;
        if self.is_own(start, end) {
            return;
        }
        while at < end {
            let (next, id) = match self.state().cells.first_in(at, end) {
                Some((begins, ends, id)) if begins <= at => (ends, id),
                found => {
                    // Up to the next cell there is none.
                    let room = found.map_or(end, |(begins, ..)| begins) - at;
                    let length = if room > WORD * MOST_WORDS { room } else { room.min(WORD - at % WORD) };
                    self.check_freed(at, site);
                    let id = self.control().create(ResourceKind::Cell, State::Plain, site);
                    self.name_by_symbol(id, at);
                    self.state().cells.0.insert(at, (at + length, id));
                    (at + length, id)
                }
            };
            let seen = Seen { value: 0, other: 0, outcome: outcome::OK };
            self.control().access(Operation::new(kind, id, site), || ((), seen));
            at = next;
        }
    }

    /// Whether this is memory of the thread itself, such as `errno`. Fibers share their thread, and none of them can mean to.
    #[inline]
    fn is_own(&self, start: usize, end: usize) -> bool {
        let (low, high) = thread_local::range();
        low <= start && end <= high
    }

    /// A variable that outlives functions is known by its name.
    pub(crate) fn name_by_symbol(&self, id: ResourceId, address: usize) {
        if let Some(name) = place::name_of_data(address) {
            self.control().engine(|engine| engine.name_resource(id, &name));
        }
    }

    /// What was between these addresses is no more.
    pub(crate) fn forget_memory(&self, start: usize, end: usize) {
        let execution = self.state();
        while let Some((begins, ..)) = execution.cells.first_in(start, end) {
            execution.cells.0.remove(&begins);
        }
        execution.memory.retain(|address, _| !(start..end).contains(address));
        execution.freed.forget(start, end);
    }

    /// Nobody may use the memory between these addresses any more: to free it is a write to all that is known there.
    fn free_memory(&self, start: usize, end: usize, site: Site) {
        if let Some(before) = self.state().freed.at(start) {
            self.misuse(format!("double free: this memory was freed before{}", freed_at(before)), site);
        }
        let mut at = start;
        let mut written = 0;
        while let Some((_, ends, id)) = self.state().cells.first_in(at, end).filter(|_| written < MOST_WRITTEN) {
            let seen = Seen { value: 0, other: 0, outcome: outcome::OK };
            self.control().access(Operation::new(OpKind::CellWrite, id, site), || ((), seen));
            (at, written) = (ends, written + 1);
        }
        self.forget_memory(start, end);
        self.state().freed.insert(start, end, site);
    }

    /// Fails if the memory at `address`, of which nothing is known, was freed.
    #[inline]
    pub(crate) fn check_freed(&self, address: usize, site: Site) {
        if let Some(before) = self.state().freed.at(address) {
            self.fail(format!("use after free: this memory was freed{}", freed_at(before)), About::Anything, site);
        }
    }

    /// Names the memory that begins at `address`.
    pub(crate) fn name_memory(&self, address: usize, name: &str) {
        let execution = self.state();
        let cell = execution.cells.0.get(&address).map(|(_, id)| *id);
        let known = cell.into_iter().chain(execution.memory.get(&address).copied());
        known.for_each(|id| self.control().engine(|engine| engine.name_resource(id, name)));
    }
}

/// The task is about to read `size` bytes at `address`: what it does next. Nobody else runs in between.
#[unsafe(no_mangle)]
pub extern "C" fn drawloom_read(address: *const c_void, size: usize, at: *const drawloom_loc) -> drawloom_status {
    let here = match here() {
        Ok(here) => here,
        Err(why) => return why,
    };
    here.access_memory(OpKind::CellRead, address as usize, size, site(at));
    DRAWLOOM_OK
}

/// The task is about to write `size` bytes at `address`: what it does next. Nobody else runs in between.
#[unsafe(no_mangle)]
pub extern "C" fn drawloom_write(address: *const c_void, size: usize, at: *const drawloom_loc) -> drawloom_status {
    let here = match here() {
        Ok(here) => here,
        Err(why) => return why,
    };
    here.access_memory(OpKind::CellWrite, address as usize, size, site(at));
    DRAWLOOM_OK
}

/// What was at these addresses is no more: who uses them next uses something new. For `free`, or for what is allocated anew.
#[unsafe(no_mangle)]
pub extern "C" fn drawloom_memory_forget(address: *const c_void, size: usize) -> drawloom_status {
    let here = match here() {
        Ok(here) => here,
        Err(why) => return why,
    };
    here.forget_memory(address as usize, (address as usize).saturating_add(size));
    DRAWLOOM_OK
}

/// The program frees these addresses: a write to what is there. Who uses them afterwards fails, and so does who frees them once more, until
/// `drawloom_memory_forget` says that they are somebody else's. The memory itself stays as it is.
#[unsafe(no_mangle)]
pub extern "C" fn drawloom_memory_free(
    address: *const c_void,
    size: usize,
    at: *const drawloom_loc,
) -> drawloom_status {
    let here = match here() {
        Ok(here) => here,
        Err(why) => return why,
    };
    here.free_memory(address as usize, (address as usize).saturating_add(size), site(at));
    DRAWLOOM_OK
}
