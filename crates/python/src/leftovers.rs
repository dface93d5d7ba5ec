//! What an execution leaves behind for the next one: globals, attributes of classes, caches, that `setup` does not make
//! anew.
//!
//! Executions have to begin alike. So it is noted of what is written while tasks run side by side what it was before,
//! as far as it outlasts an execution, and held against what later ones find. What is written and never read does not
//! matter to anybody.

use std::hash::Hasher;

use drawloom_engine::{Mix, ResourceId, Site};
use pyo3::ffi::{self, PyObject};
use pyo3::prelude::*;

use crate::access::{Access, Fills, Part, Touched, method_of};
use crate::names;
use crate::raise::{codes_on_stack, is_by_program};
use crate::world::{Addressed, Known, place, world};

/// Stands for all of a container.
const ALL: usize = usize::MAX;
/// Things left behind that are told of.
const MOST_TOLD: usize = 8;
/// Items of a container that are looked at.
const MOST_ITEMS: usize = 64;

/// What was written, by whom it belongs to.
#[derive(Default)]
pub(crate) struct Leftovers {
    owners: Addressed<usize, Owner>,
    /// What is read, and not what it was at first: its name, the file and line where it is written, and whether it is
    /// the program that does so.
    pub(crate) found: Vec<(String, String, u32, bool)>,
}

/// Kept, so that its address stands for nothing else.
struct Owner {
    parts: Vec<Written>,
    /// In which execution it was touched last.
    epoch: u64,
    /// It was found to outlast explorations.
    lasts: bool,
}

#[derive(Clone, Copy)]
struct Written {
    part: usize,
    /// What it was before anybody wrote it, and where that was.
    first: u64,
    site: Site,
    by_program: bool,
    /// In which execution it was touched last, and whether it was something else then.
    epoch: u64,
    differs: bool,
    told: bool,
}

/// An instruction is about to touch something while tasks run side by side.
#[inline]
pub(crate) fn look(touched: &Touched, site: Site) {
    let Ok(all) = touched.all_of_them() else { return };
    for access in all {
        let part = match access.part {
            Part::Name(name) => name,
            Part::Names => continue,
            Part::Item(_) | Part::Size | Part::Content | Part::All => ALL,
        };
        let write = access.write || access.fills != Fills::No;
        match world().leftovers.written(access, part) {
            Some(written) => seen_again(access, part, write, written),
            None if write && outlasts(access) => begin(access, part, site),
            None => {}
        }
    }
}

/// Something that was written before is touched.
fn seen_again(access: &Access, part: usize, write: bool, mut written: Written) {
    let epoch = world().epoch;
    if written.epoch != epoch {
        written.epoch = epoch;
        // A name that is written before it is read is as good as new.
        written.differs = !(write && part != ALL) && now(access, part) != written.first;
    }
    let tells = written.differs && !write && !written.told;
    written.told |= tells;
    world().leftovers.note(access, written);
    if tells {
        tell(access.owner, &written);
    }
}

impl Leftovers {
    fn written(&self, access: &Access, part: usize) -> Option<Written> {
        self.owners.get(&(access.owner as usize))?.parts.iter().find(|written| written.part == part).copied()
    }

    fn note(&mut self, access: &Access, written: Written) {
        if let Some(owner) = self.owners.get_mut(&(access.owner as usize)) {
            owner.epoch = written.epoch;
            owner.parts.iter_mut().filter(|known| known.part == written.part).for_each(|known| *known = written);
        }
    }
}

/// Whether something may be there in the next execution: names of modules and classes are. All else is found out by
/// rehearsals, which keep it: in other executions objects die when they do.
fn outlasts(access: &Access) -> bool {
    // SAFETY: a live object.
    let is_lasting = unsafe {
        matches!(access.part, Part::Name(_))
            && (ffi::PyDict_Check(access.owner) != 0 || ffi::PyType_Check(access.owner) != 0)
    };
    (is_lasting || world().rehearsing) && !is_imported()
}

#[cold]
fn begin(access: &Access, part: usize, site: Site) {
    let (first, by_program) = (now(access, part), is_by_program());
    let known = world();
    let epoch = known.epoch;
    let owner = known.leftovers.owners.entry(access.owner as usize).or_insert_with(|| {
        // SAFETY: a live object, and the interpreter's lock; given back when it is forgotten.
        unsafe { ffi::Py_INCREF(access.owner) };
        Owner { parts: Vec::new(), epoch, lasts: false }
    });
    owner.epoch = epoch;
    owner.parts.push(Written { part, first, site, by_program, epoch, differs: false, told: false });
}

#[cold]
fn tell(owner: *mut PyObject, written: &Written) {
    let found = &mut world().leftovers.found;
    if found.len() >= MOST_TOLD {
        return;
    }
    // SAFETY: callbacks run with the interpreter's lock.
    let py = unsafe { Python::assume_gil_acquired() };
    let part = written.part;
    let name = names::name(py, &Known { id: ResourceId::NONE, owner: owner as usize, part, is_named: part != ALL });
    let place = place(written.site);
    let file = place.as_ref().map(|place| place.file.clone()).unwrap_or_default();
    found.push((name, file, place.map_or(0, |place| place.line), written.by_program));
}

/// A module is being imported: what it does is done once in a process.
fn is_imported() -> bool {
    // SAFETY: callbacks run with the interpreter's lock.
    let py = unsafe { Python::assume_gil_acquired() };
    let imports = |code: *mut PyObject| {
        // SAFETY: a live code.
        let file = unsafe { Bound::from_borrowed_ptr(py, code) }.getattr("co_filename");
        file.is_ok_and(|file| file.to_string().starts_with("<frozen importlib")).then_some(())
    };
    codes_on_stack(imports).is_some()
}

unsafe extern "C" {
    fn PyCell_Get(cell: *mut PyObject) -> *mut PyObject;
}

/// The execution with this number is over: forgets what nobody else has, or nobody has touched in it.
pub(crate) fn settle(ended: u64) {
    // What is let go may have been all that kept something else.
    for _ in 0..4 {
        let (known, mut gone) = (world(), Vec::new());
        known.leftovers.owners.retain(|address, owner| {
            // SAFETY: it is kept.
            let others = unsafe { ffi::Py_REFCNT(*address as *mut PyObject) } > 1;
            let stays =
                others && (owner.epoch >= ended || owner.lasts || owner.parts.iter().any(|written| written.told));
            if !stays {
                gone.push(*address);
            }
            stays
        });
        if !release(gone) {
            return;
        }
    }
}

/// The exploration is over. What was left behind is so for the next one, too.
pub(crate) fn end() {
    let (leftovers, mut gone) = (&mut world().leftovers, Vec::new());
    leftovers.owners.retain(|address, owner| {
        owner.parts.retain_mut(|written| std::mem::replace(&mut written.told, false) || owner.lasts);
        owner.lasts = true;
        if owner.parts.is_empty() {
            gone.push(*address);
        }
        !owner.parts.is_empty()
    });
    leftovers.found.clear();
    release(gone);
}

fn release(owners: Vec<usize>) -> bool {
    let any = !owners.is_empty();
    for owner in owners {
        // SAFETY: the reference that was taken; destructors may run, and nothing is borrowed.
        unsafe { ffi::Py_DECREF(owner as *mut PyObject) };
    }
    any
}

/// What something is now: a number that is the same for what looks the same.
fn now(access: &Access, part: usize) -> u64 {
    let mut state = Mix::default();
    // SAFETY: callbacks run with the interpreter's lock, and are given live objects.
    unsafe {
        if part == ALL {
            add(access.owner, 2, &mut state);
        } else {
            let value = value_of(access.owner, part as *mut PyObject);
            add(value, 2, &mut state);
            ffi::Py_XDECREF(value);
        }
    }
    state.finish()
}

/// What a name stands for, as a new reference, without running any code in Python; null if there is none.
unsafe fn value_of(owner: *mut PyObject, name: *mut PyObject) -> *mut PyObject {
    // SAFETY: the caller has live objects.
    unsafe {
        let found = if ffi::PyDict_Check(owner) != 0 {
            borrowed(ffi::PyDict_GetItemWithError(owner, name))
        } else if ffi::Py_TYPE(owner) as usize == world().types.cell {
            PyCell_Get(owner)
        } else if ffi::PyType_Check(owner) != 0 {
            borrowed(lookup(owner.cast(), name))
        } else {
            let of_class = lookup(ffi::Py_TYPE(owner), name);
            let slot = !of_class.is_null() && ffi::Py_TYPE(of_class) == &raw mut ffi::PyMemberDescr_Type;
            let computed = !of_class.is_null() && !slot && (*ffi::Py_TYPE(of_class)).tp_descr_get.is_some();
            if computed { std::ptr::null_mut() } else { ffi::PyObject_GenericGetAttr(owner, name) }
        };
        if found.is_null() {
            ffi::PyErr_Clear();
        }
        found
    }
}

unsafe fn borrowed(object: *mut PyObject) -> *mut PyObject {
    // SAFETY: a live object or none.
    unsafe { ffi::Py_XINCREF(object) };
    object
}

unsafe fn lookup(kind: *mut ffi::PyTypeObject, name: *mut PyObject) -> *mut PyObject {
    // SAFETY: names are strings, which end with a zero.
    unsafe {
        let text = ffi::PyUnicode_AsUTF8(name);
        if text.is_null() { std::ptr::null_mut() } else { method_of(kind, std::ffi::CStr::from_ptr(text)) }
    }
}

/// Adds what `object` looks like; of what it contains, `levels` deep. Of most objects that is their type alone: one that
/// is made anew each time is the same.
unsafe fn add(object: *mut PyObject, levels: u32, state: &mut Mix) {
    if object.is_null() {
        return state.write_usize(1);
    }
    // SAFETY: the caller has a live object; whatever is called of it is the interpreter's own.
    unsafe {
        let kind = ffi::Py_TYPE(object);
        state.write_usize(kind as usize);
        let plain = ffi::PyUnicode_CheckExact(object) != 0
            || ffi::PyLong_CheckExact(object) != 0
            || ffi::PyBytes_CheckExact(object) != 0
            || ffi::PyFloat_CheckExact(object) != 0
            || ffi::PyBool_Check(object) != 0;
        if plain {
            return state.write_usize(ffi::PyObject_Hash(object) as usize);
        }
        if levels == 0 {
            return;
        }
        if ffi::PyList_Check(object) != 0 {
            let size = ffi::PyList_GET_SIZE(object);
            state.write_usize(size as usize);
            (0..size.min(MOST_ITEMS as isize)).for_each(|i| add(ffi::PyList_GET_ITEM(object, i), levels - 1, state));
        } else if ffi::PyTuple_Check(object) != 0 {
            let size = ffi::PyTuple_GET_SIZE(object);
            state.write_usize(size as usize);
            (0..size.min(MOST_ITEMS as isize)).for_each(|i| add(ffi::PyTuple_GET_ITEM(object, i), levels - 1, state));
        } else if ffi::PyDict_Check(object) != 0 {
            state.write_usize(ffi::PyDict_Size(object) as usize);
            let (mut at, mut key, mut value) = (0, std::ptr::null_mut(), std::ptr::null_mut());
            for _ in 0..MOST_ITEMS {
                if ffi::PyDict_Next(object, &raw mut at, &raw mut key, &raw mut value) == 0 {
                    break;
                }
                add(key, levels - 1, state);
                add(value, levels - 1, state);
            }
        } else if ffi::PyByteArray_CheckExact(object) != 0
            || kind == &raw mut ffi::PySet_Type
            || world().types.containers.contains(&(kind as usize))
        {
            let size = ffi::PyObject_Size(object);
            if size < 0 {
                ffi::PyErr_Clear();
            }
            state.write_usize(size as usize);
        }
    }
}
