//! Accesses to plain memory: what nothing orders is found as a data race.
//!
//! A cell is what was accessed at once. An access of more than a word is one of its words, up to eight of them; a larger one is
//! one cell. Who accesses a part of what is a cell already accesses that cell, so memory should be accessed in the same pieces.

use std::collections::BTreeMap;
use std::ffi::c_void;

use drawloom_engine::{OpKind, Operation, ResourceId, ResourceKind, Site, State, outcome};
use drawloom_fiber::Seen;

use crate::execution::{Here, here};
use crate::place::{self, drawloom_loc, site};
use crate::status::*;

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

impl Here {
    fn access_memory(&self, kind: OpKind, start: usize, size: usize, site: Site) {
        let end = start.saturating_add(size);
        let mut at = start;
        while at < end {
            let (next, id) = match self.state().cells.first_in(at, end) {
                Some((begins, ends, id)) if begins <= at => (ends, id),
                found => {
                    // Up to the next cell there is none.
                    let room = found.map_or(end, |(begins, ..)| begins) - at;
                    let length = if room > WORD * MOST_WORDS { room } else { room.min(WORD - at % WORD) };
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

    /// A variable that outlives functions is known by its name.
    pub(crate) fn name_by_symbol(&self, id: ResourceId, address: usize) {
        if let Some(name) = place::name_of_data(address) {
            self.control().engine(|engine| engine.name_resource(id, &name));
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
    let (start, end) = (address as usize, (address as usize).saturating_add(size));
    let execution = here.state();
    while let Some((begins, ..)) = execution.cells.first_in(start, end) {
        execution.cells.0.remove(&begins);
    }
    execution.memory.retain(|address, _| !(start..end).contains(address));
    DRAWLOOM_OK
}
