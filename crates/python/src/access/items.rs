//! Items of containers.

use pyo3::ffi::{self, PyObject, PyTypeObject};

use super::aliases::{memory, shown_by};
use super::attributes::named;
use super::filling::fills;
use super::objects::{inherits, is_container, is_dict, is_list, is_other_container, is_python_type, is_view, type_of};
use super::whole::{look_through, whole};
use super::{Access, DEEP, Fills, Part, Touched};
use crate::containers::{ADDED, CHANGED, FILLED, REMOVED};
use crate::layout::Operands;
use crate::world::{World, world};

/// What is done to an item.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Use {
    /// It is looked at, if there is one.
    Get,
    /// The same; where there is none the container may have its own way to make one.
    Load,
    Set,
    Remove,
}

/// One item of `container`.
pub(super) fn item(container: *mut PyObject, key: *mut PyObject, use_: Use, touched: &mut Touched) {
    let write = use_.writes();
    if memory(container, write, touched) {
        return;
    }
    if let Some(mapping) = shown_by(container) {
        return item(mapping, key, use_, touched);
    }
    let kind = type_of(container);
    let probe = world().types.probe as *mut PyTypeObject;
    // SAFETY: live types; slots are null or valid.
    let (own, pythons) = unsafe {
        let slot = |kind: *mut PyTypeObject| {
            let mapping = (*kind).tp_as_mapping;
            let read = |m: *mut ffi::PyMappingMethods| (*m).mp_subscript.map_or(0, |f| f as usize);
            let changed = |m: *mut ffi::PyMappingMethods| (*m).mp_ass_subscript.map_or(0, |f| f as usize);
            if mapping.is_null() {
                0
            } else if write {
                changed(mapping)
            } else {
                read(mapping)
            }
        };
        (slot(kind), slot(probe))
    };
    // No code runs, or that of the container, which is seen itself.
    touched.at_first = true;
    let method = match use_ {
        Use::Get | Use::Load => c"__getitem__",
        Use::Set => c"__setitem__",
        Use::Remove => c"__delitem__",
    };
    if own == pythons && !inherits(container, method) {
        return; // Python code, which is seen itself
    }
    if is_dict(container) {
        return dict_item(container, key, use_, touched);
    }
    if is_list(container) {
        return list_item(container, key, use_, touched);
    }
    if is_other_container(container) {
        return touched.all(container, write);
    }
    if is_view(container) && !write {
        return whole(container, false, 1, touched);
    }
    // An alias of a class with its parameters, which it shows.
    if world().types.holders.contains(&(kind as usize)) {
        return whole(container, false, DEEP, touched);
    }
    if world().types.pure.contains(&(kind as usize)) {
        return;
    }
    // SAFETY: a live object. `list[int]` and the like.
    if unsafe { ffi::PyType_Check(container) } != 0 || (is_python_type(kind) && own == 0) {
        return;
    }
    // A tuple with names, say.
    if is_python_type(kind) && !write {
        return;
    }
    touched.not_known_of("an item of an object of type", container);
}

impl Use {
    fn writes(self) -> bool {
        matches!(self, Use::Set | Use::Remove)
    }
}

pub(super) fn dict_item(dict: *mut PyObject, key: *mut PyObject, use_: Use, touched: &mut Touched) {
    let (known, write) = (world(), use_.writes());
    if let Some(object) = known.attributes_of.get(&(dict as usize)) {
        return named(*object as *mut PyObject, key, write, touched);
    }
    if is_globals(dict) {
        return named(dict, key, write, touched);
    }
    // Who asks a `defaultdict` for what is missing adds it.
    let fills = if use_ == Use::Load { fills(dict, touched) } else { Fills::No };
    if fills == Fills::ByPython {
        touched.asked = Some((dict, key));
    }
    if !is_plain(key) {
        // Its hash and comparison may be anything.
        touched.at_first = false;
        return touched.all(dict, write || fills != Fills::No);
    }
    let facts = match use_ {
        Use::Get => 0,
        Use::Load if fills == Fills::No || has(dict, key) => 0,
        Use::Load => CHANGED | FILLED,
        Use::Set if has(dict, key) => CHANGED,
        Use::Set => CHANGED | ADDED,
        Use::Remove => CHANGED | REMOVED,
    };
    touched.add(Access { owner: dict, part: Part::Item(known.number_of(key)), write, facts, fills });
}

fn has(dict: *mut PyObject, key: *mut PyObject) -> bool {
    // SAFETY: a live dict and a key that is hashed without running any code.
    unsafe {
        let found = ffi::PyDict_GetItemWithError(dict, key);
        if found.is_null() && !ffi::PyErr_Occurred().is_null() {
            ffi::PyErr_Clear();
        }
        !found.is_null()
    }
}

pub(super) fn list_item(list: *mut PyObject, key: *mut PyObject, use_: Use, touched: &mut Touched) {
    let write = use_.writes();
    // SAFETY: a live list and a live key.
    unsafe {
        if use_ == Use::Remove || ffi::PyLong_CheckExact(key) == 0 {
            return touched.all(list, write);
        }
        let (mut index, size) = (ffi::PyLong_AsSsize_t(key), ffi::PyList_GET_SIZE(list));
        let is_number = ffi::PyErr_Occurred().is_null();
        if !is_number {
            ffi::PyErr_Clear();
        }
        if index < 0 {
            index += size;
        }
        if !is_number || index < 0 || index >= size {
            // An error, which is a matter of how many there are.
            return touched.add(Access::new(list, Part::Size, write));
        }
        let facts = if write { CHANGED } else { 0 };
        touched.add(Access { facts, ..Access::new(list, Part::Item(index as usize), write) });
    }
}

/// Whether a dict holds the names of a module: those that functions look up as globals.
pub(super) fn is_globals(dict: *mut PyObject) -> bool {
    let known = world();
    // SAFETY: a live dict, and a string that is kept for good.
    unsafe {
        if known.builtins == 0 {
            known.builtins = ffi::PyUnicode_InternFromString(c"__builtins__".as_ptr()) as usize;
        }
        ffi::PyDict_Contains(dict, known.builtins as *mut PyObject) == 1 || dict as usize == known.builtins_names()
    }
}

/// Whether a key is hashed and compared without running any code.
pub(super) fn is_plain(key: *mut PyObject) -> bool {
    // SAFETY: a live object.
    unsafe {
        ffi::PyUnicode_CheckExact(key) != 0
            || ffi::PyLong_CheckExact(key) != 0
            || ffi::PyBytes_CheckExact(key) != 0
            || ffi::PyFloat_CheckExact(key) != 0
            || ffi::PyBool_Check(key) != 0
            || key == ffi::Py_None()
            || (ffi::PyTuple_CheckExact(key) != 0
                && (0..ffi::PyTuple_GET_SIZE(key)).all(|i| is_plain(ffi::PyTuple_GET_ITEM(key, i))))
    }
}

pub(super) fn contains(container: *mut PyObject, key: *mut PyObject, frame: &Operands, touched: &mut Touched) {
    let kind = type_of(container);
    let probe = world().types.probe as *mut PyTypeObject;
    // SAFETY: live types; slots are null or valid.
    let pythons = unsafe {
        let slot = |kind: *mut PyTypeObject| {
            let sequence = (*kind).tp_as_sequence;
            if sequence.is_null() { 0 } else { (*sequence).sq_contains.map_or(0, |f| f as usize) }
        };
        slot(kind) == slot(probe)
    };
    if pythons && !inherits(container, c"__contains__") {
        return;
    }
    if is_dict(container) && is_plain(key) {
        return dict_item(container, key, Use::Get, touched);
    }
    if let Some(mapping) = shown_by(container) {
        return contains(mapping, key, frame, touched);
    }
    seek(container, key, false, Some(frame), touched);
}

/// Something that is equal to `key` is looked for in `container`; where there is none, an error may show the key.
pub(super) fn seek(
    container: *mut PyObject,
    key: *mut PyObject,
    shows: bool,
    frame: Option<&Operands>,
    touched: &mut Touched,
) {
    let levels = if is_compared_alone(key) { 1 } else { DEEP };
    // SAFETY: a live object.
    touched.compares = is_container(container) || unsafe { ffi::PyTuple_Check(container) != 0 };
    look_through(container, levels, frame, touched);
    touched.compares = !shows;
    look_through(key, levels, frame, touched);
    touched.compares = false;
}

/// Whether no container has to be looked at to know that it is not equal to `key`.
fn is_compared_alone(key: *mut PyObject) -> bool {
    // SAFETY: a live object, or none.
    unsafe {
        key.is_null()
            || ffi::PyUnicode_CheckExact(key) != 0
            || ffi::PyLong_CheckExact(key) != 0
            || ffi::PyFloat_CheckExact(key) != 0
            || ffi::PyBool_Check(key) != 0
            || key == ffi::Py_None()
    }
}

impl World {
    /// The dict that has the names of `builtins`.
    pub(super) fn builtins_names(&mut self) -> usize {
        if self.builtins_names == 0 {
            // SAFETY: with the interpreter's lock; the module lasts, and what is given is borrowed from it.
            unsafe {
                let module = ffi::PyImport_AddModule(c"builtins".as_ptr());
                self.builtins_names = ffi::PyModule_GetDict(module) as usize;
            }
        }
        self.builtins_names
    }

    /// The number of a plain key: equal keys have equal numbers.
    pub(super) fn number_of(&mut self, key: *mut PyObject) -> usize {
        // SAFETY: the interpreter's lock is held; a plain key runs no code.
        unsafe {
            let py = pyo3::Python::assume_gil_acquired();
            let keys = self.keys.get_or_insert_with(|| pyo3::types::PyDict::new(py).into_any().unbind());
            let found = ffi::PyDict_GetItemWithError(keys.as_ptr(), key);
            if !found.is_null() {
                return ffi::PyLong_AsSize_t(found);
            }
            let number = ffi::PyDict_Size(keys.as_ptr()) as usize;
            let value = ffi::PyLong_FromSize_t(number);
            ffi::PyDict_SetItem(keys.as_ptr(), key, value);
            ffi::Py_DECREF(value);
            number
        }
    }

    /// A name is written that all objects, or all modules, find.
    pub(super) fn class_is_written(&mut self, name: usize) {
        if self.phase == crate::world::Phase::Parallel && self.knowledge.of_classes.insert(name) {
            self.grown = true;
        }
    }
}
