//! How finely containers are told apart: what this exploration knows of the places in the code that touch them.
//!
//! Places that have touched one container are of one *family*, and what is known is known of families. So it does not
//! matter which of its places comes to a container first, and it is the same for all of a container's life. An item is
//! a resource of its own as long as nobody looks at what it has in common with the others: how many there are, their
//! order, all of them. From then on the container is one resource.

use std::collections::HashMap;

use drawloom_engine::Site;
use pyo3::ffi::{self, PyObject};

use crate::world::{Addressed, place};

/// What is known of a family, as bits: it only ever grows. Nothing is known of containers that do not change.
pub(crate) type Facts = u8;
/// Items are written.
pub(crate) const CHANGED: Facts = 1;
/// Items are added, by their keys.
pub(crate) const ADDED: Facts = 2;
/// Items are removed, by their keys.
pub(crate) const REMOVED: Facts = 4;
/// Items are added by who looks for them.
pub(crate) const FILLED: Facts = 8;
/// Each container is one resource.
pub(crate) const WHOLE: Facts = 16;
/// How many items there are changes, and their order.
pub(crate) const STRUCTURE: Facts = ADDED | REMOVED | FILLED;

/// Where a container is touched: a line, which use of a container it is there, and whether it is what the instruction
/// is about or something that it looks at besides.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Use {
    pub(crate) site: Site,
    pub(crate) nth: u16,
    pub(crate) besides: bool,
}

const FAMILIES: &str = "!";
const FILES: &str = "@";
const LINES: &str = ":";

/// The families of an exploration.
#[derive(Default)]
pub(crate) struct Containers {
    families: Vec<Family>,
    /// Of each place and kind of container: its family.
    of_places: Addressed<(usize, usize), Place>,
    /// Of each container that was touched in this execution: a family.
    of_objects: Addressed<usize, usize>,
    /// Families that are known from an earlier exploration, by what their places are called.
    foretold: HashMap<String, usize>,
}

/// Where containers of one kind are touched, and their family.
#[derive(Clone, Copy)]
struct Place {
    at: Use,
    kind: Kind,
    family: usize,
}

#[derive(Clone, Copy)]
struct Family {
    /// The one that it has been joined to; itself, if it has not.
    parent: usize,
    facts: Facts,
}

/// What came of looking a container up.
pub(crate) struct Found {
    pub(crate) family: usize,
    /// It is touched for the first time in this execution.
    pub(crate) is_new: bool,
    /// Families that were told apart by what is known of them turned out to be one.
    pub(crate) grown: bool,
}

impl Containers {
    /// Forgets the containers of the last execution.
    pub(crate) fn begin_execution(&mut self) {
        self.of_objects.clear();
    }

    /// The family of a container that is touched there.
    pub(crate) fn family_of(&mut self, container: *mut PyObject, at: Use) -> Found {
        let kind = kind_of(container);
        let key = (at.site.0, usize::from(at.nth) << 9 | usize::from(at.besides) << 8 | kind as usize);
        let of_place = self.of_places.get(&key).map(|place| place.family);
        let of_object = self.of_objects.get(&(container as usize)).copied();
        let (family, grown) = match (of_place, of_object) {
            (Some(one), Some(other)) => self.join(one, other),
            (Some(known), None) => (self.root(known), false),
            // What has not been met has decided nothing so far.
            (None, known) => (self.meet(key, at, kind, known), false),
        };
        let is_new = of_object.is_none();
        if is_new {
            self.of_objects.insert(container as usize, family);
        }
        Found { family, is_new, grown }
    }

    /// The family of a container, if it was touched while tasks ran side by side.
    pub(crate) fn family_if_touched(&self, container: *mut PyObject) -> Option<usize> {
        self.of_objects.get(&(container as usize)).map(|family| self.root(*family))
    }

    #[inline]
    pub(crate) fn facts(&self, family: usize) -> Facts {
        self.families[family].facts
    }

    /// More is known of a family; whether it is.
    pub(crate) fn learn(&mut self, family: usize, facts: Facts) -> bool {
        let known = &mut self.families[family].facts;
        let grown = *known | facts != *known;
        *known |= facts;
        grown
    }

    /// Somebody has seen the order of items of he does not say which containers; whether that is new.
    pub(crate) fn all_in_order(&mut self) -> bool {
        let mut grown = false;
        for family in &mut self.families {
            if family.facts & STRUCTURE != 0 && family.facts & WHOLE == 0 {
                family.facts |= WHOLE;
                grown = true;
            }
        }
        grown
    }

    fn root(&self, mut family: usize) -> usize {
        while self.families[family].parent != family {
            family = self.families[family].parent;
        }
        family
    }

    fn join(&mut self, one: usize, other: usize) -> (usize, bool) {
        let (one, other) = (self.root(one), self.root(other));
        if one == other {
            return (one, false);
        }
        let (first, second) = (one.min(other), one.max(other));
        let (a, b) = (self.families[first].facts, self.families[second].facts);
        self.families[second].parent = first;
        self.families[first].facts = a | b;
        (first, a != b)
    }

    #[cold]
    fn meet(&mut self, key: (usize, usize), at: Use, kind: Kind, known: Option<usize>) -> usize {
        let foretold = (!self.foretold.is_empty()).then(|| self.foretold.get(&written(at, kind)).copied()).flatten();
        let family = match (known, foretold) {
            (Some(one), Some(other)) => self.join(one, other).0,
            (Some(family), None) | (None, Some(family)) => self.root(family),
            (None, None) => self.found(0),
        };
        self.of_places.insert(key, Place { at, kind, family });
        family
    }

    fn found(&mut self, facts: Facts) -> usize {
        self.families.push(Family { parent: self.families.len(), facts });
        self.families.len() - 1
    }

    /// What is known, in words, as it belongs to a token.
    pub(crate) fn write(&self) -> String {
        let mut lines: Vec<(usize, String)> = Vec::new();
        for place in self.of_places.values() {
            let family = self.root(place.family);
            if self.families[family].facts != 0 {
                lines.push((family, written(place.at, place.kind)));
            }
        }
        lines.sort();
        lines.dedup();
        let mut text = String::new();
        let (mut of, mut of_file) = (None, "");
        for (family, line) in &lines {
            let (file, line) = line.rsplit_once(LINES).unwrap_or(("", line));
            if of != Some(*family) {
                text += &format!("{}{}", if of.is_some() { FAMILIES } else { "" }, self.families[*family].facts);
            }
            if of != Some(*family) || of_file != file {
                text += &format!("{FILES}{file}");
            }
            (of, of_file) = (Some(*family), file);
            text += &format!("{LINES}{line}");
        }
        text
    }

    pub(crate) fn read(&mut self, text: &str) {
        for family in text.split(FAMILIES).filter(|family| !family.is_empty()) {
            let mut parts = family.split(FILES);
            let facts = parts.next().and_then(|facts| facts.parse().ok()).unwrap_or(WHOLE);
            let number = self.found(facts);
            for lines in parts {
                let mut lines = lines.split(LINES);
                let file = lines.next().unwrap_or_default();
                for line in lines {
                    self.foretold.insert(format!("{file}{LINES}{line}"), number);
                }
            }
        }
    }
}

/// What a place is called: its file, with the folder that it is in, its line, a letter for the kind of container, a
/// large one for what is looked at besides, and which use it is there.
fn written(at: Use, kind: Kind) -> String {
    let letter = if at.besides { kind.to_ascii_uppercase() } else { kind };
    let nth = if at.nth == 0 { String::new() } else { at.nth.to_string() };
    let Some(place) = place(at.site) else { return format!("?{LINES}0{letter}{nth}") };
    let mut path: Vec<&str> = place.file.rsplit(['/', '\\']).take(2).collect();
    path.reverse();
    let plain = |c: char| c.is_alphanumeric() || "_-./<> ".contains(c);
    let file: String = path.join("/").chars().filter(|c| plain(*c)).collect();
    format!("{file}{LINES}{}{letter}{nth}", place.line)
}

/// A dict, a list or another one: what one place does to containers of different kinds are different things.
type Kind = char;

fn kind_of(container: *mut PyObject) -> Kind {
    // SAFETY: containers are live objects.
    unsafe {
        if ffi::PyDict_Check(container) != 0 {
            'd'
        } else if ffi::PyList_Check(container) != 0 {
            'l'
        } else {
            'o'
        }
    }
}
