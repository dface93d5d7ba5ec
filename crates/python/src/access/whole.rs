//! Whole containers: what is looked through, and what iterators stand for.

use pyo3::ffi::{self, PyObject};

use super::aliases::memory;
use super::attributes::{all_attributes, attribute};
use super::items::is_globals;
use super::objects::{
    base_of, inherits, is_container, is_dict, is_generator, is_private, is_python_type, is_view, type_of,
};
use super::{Access, DEEP, Part, Touched};
use crate::effects::{Effect, effect_of};
use crate::layout::Operands;
use crate::world::world;

/// All of `object`, if it is something that can change; with `levels` of more than one, of what lies within it, too.
pub(super) fn whole(object: *mut PyObject, write: bool, levels: u32, touched: &mut Touched) {
    if object.is_null() {
        return;
    }
    if is_container(object) {
        if let Some(owner) = world().attributes_of.get(&(object as usize)) {
            let owner = *owner as *mut PyObject;
            touched.add(Access::new(owner, Part::Names, write));
            // From 3.13 on the values may lie in the object.
            within(owner, levels, touched);
            return within(object, levels, touched);
        }
        if is_dict(object) && is_globals(object) {
            return touched.add(Access::new(object, Part::Names, write));
        }
        touched.all(object, write || moves(object));
        return within(object, levels, touched);
    }
    if memory(object, write, touched) {
        return;
    }
    if is_view(object) || is_generator(object) {
        return gone_through(object, 1, levels, touched);
    }
    let mut kind = type_of(object);
    let types = &world().types;
    // What a class in Python does by its own methods is seen itself; it may have others of what it inherits from.
    let in_python = is_python_type(kind);
    if in_python {
        kind = base_of(kind);
    }
    // SAFETY: a live object.
    let holds = types.holders.contains(&(kind as usize)) || unsafe { ffi::PyTuple_Check(object) != 0 };
    if holds {
        within(object, levels, touched);
    } else if kind as usize == types.namespace {
        all_attributes(object, touched);
        within(object, levels, touched);
    } else if types.resumed.contains(&(kind as usize)) || (touched.compares && is_itself(kind)) {
        return;
    } else if !in_python && !types.pure.contains(&(kind as usize)) && !is_opaque(kind) {
        return touched.not_known_of("an operation on an object of type", object);
    }
    if levels > 1 || write {
        shown(object, kind, write, touched);
    }
    // SAFETY: as above; what every exception has comes first.
    unsafe {
        if levels > 1 && ffi::PyExceptionInstance_Check(object) != 0 {
            whole((*object.cast::<ffi::PyBaseExceptionObject>()).args, false, levels - 1, touched);
        }
    }
}

/// Whether an object of a class is equal to itself alone.
fn is_itself(kind: *mut ffi::PyTypeObject) -> bool {
    // SAFETY: live types; slots are null or valid.
    unsafe {
        let compare = |kind: *mut ffi::PyTypeObject| (*kind).tp_richcompare.map(|f| f as usize);
        compare(kind) == compare(&raw mut ffi::PyBaseObject_Type)
    }
}

/// Whether all that can be asked of objects of a class without calling a method is who they are: they are compared,
/// shown and tested for truth as any object is.
fn is_opaque(kind: *mut ffi::PyTypeObject) -> bool {
    // SAFETY: as above.
    unsafe {
        let shown = |kind: *mut ffi::PyTypeObject| [(*kind).tp_repr, (*kind).tp_str].map(|f| f.map(|f| f as usize));
        is_itself(kind)
            && shown(kind) == shown(&raw mut ffi::PyBaseObject_Type)
            && (*kind).tp_iter.is_none()
            && (*kind).tp_as_sequence.is_null()
            && (*kind).tp_as_mapping.is_null()
            && (*kind).tp_as_number.is_null()
            && (*kind).tp_as_buffer.is_null()
    }
}

/// The attributes by which an object that is not written in Python shows itself: those of an exception, say.
fn shown(object: *mut PyObject, mut kind: *mut ffi::PyTypeObject, write: bool, touched: &mut Touched) {
    while !kind.is_null() {
        if let Some(names) = world().types.shown.get(&(kind as usize)) {
            names.iter().for_each(|name| attribute(object, *name, write, touched));
        }
        // SAFETY: bases of a live type are live.
        kind = unsafe { (*kind).tp_base };
    }
}

/// What lies within `object`, if it is to be looked through so deep.
fn within(object: *mut PyObject, levels: u32, touched: &mut Touched) {
    if levels <= 1 || !touched.enters(object) {
        return;
    }
    if levels == 2 {
        return touched.not_known_of("what lies too deep within an object of type", object);
    }
    // SAFETY: a live object.
    unsafe {
        let own_type = type_of(object).cast::<PyObject>();
        referents(object, |inner| {
            if inner != own_type && !is_leaf(inner) {
                whole(inner, false, levels - 1, touched);
            }
        });
    }
}

/// Whether there is nothing to look at, as with most of what large containers hold: this is quick.
fn is_leaf(object: *mut PyObject) -> bool {
    let kind = type_of(object);
    kind == &raw mut ffi::PyLong_Type
        || kind == &raw mut ffi::PyUnicode_Type
        || kind == &raw mut ffi::PyFloat_Type
        || kind == &raw mut ffi::PyBytes_Type
        || kind == &raw mut ffi::PyBool_Type
}

/// A view, an iterator or a generator is gone through, to which `own` references are the caller's own. Whoever has an
/// iterator as well finds it further on.
fn gone_through(object: *mut PyObject, own: usize, levels: u32, touched: &mut Touched) {
    // SAFETY: a live object.
    if moves(object) && unsafe { ffi::Py_REFCNT(object) } as usize > own {
        touched.all(object, true);
    }
    if !is_generator(object) {
        stood_for(object, levels, touched);
    }
}

/// Whether who looks through `object` goes on with it, so that others find it further on: an iterator, or a file.
fn moves(object: *mut PyObject) -> bool {
    // SAFETY: a live object.
    unsafe { (*type_of(object)).tp_iternext.is_some() && !is_python_type(type_of(object)) }
}

/// What an iterator or a view goes on with.
fn stood_for(view: *mut PyObject, levels: u32, touched: &mut Touched) {
    let found = stands_for(view);
    // It calls functions with items that it has from others, or looks at these: they are looked through, as far as can be.
    let calls = found.iter().copied().filter(|inner| called_back(*inner, touched)).count() > 0;
    let looks = world().types.deep_views.contains(&(type_of(view) as usize));
    let levels = if calls || looks { DEEP } else { levels };
    found.iter().for_each(|inner| whole(*inner, false, levels, touched));
}

/// What an iterator or a view refers to; and the iterators that it keeps in a tuple, as `zip` and `map` do.
fn stands_for(view: *mut PyObject) -> Vec<*mut PyObject> {
    let (mut found, mut kept) = (Vec::new(), Vec::new());
    // SAFETY: live objects.
    unsafe {
        let own_type = type_of(view).cast::<PyObject>();
        referents(view, |inner| {
            if inner == own_type {
                return;
            }
            found.push(inner);
            if ffi::PyTuple_CheckExact(inner) != 0 {
                referents(inner, |item| kept.push(item));
            }
        });
    }
    found.extend(kept.into_iter().filter(|item| moves(*item)));
    found
}

/// How many items `object` has, or whether it has any.
pub(super) fn size(object: *mut PyObject, touched: &mut Touched) {
    let is_plain = is_container(object)
        && !world().attributes_of.contains_key(&(object as usize))
        && !(is_dict(object) && is_globals(object));
    if is_plain {
        touched.add(Access::new(object, Part::Size, false));
    } else {
        whole(object, false, 1, touched);
    }
}

/// What a function touches that is called by another one, which is not written in Python: nobody sees it do so. Whether
/// it reads what it is called with.
pub(super) fn called_back(function: *mut PyObject, touched: &mut Touched) -> bool {
    // SAFETY: a live object, or none: that cannot be called.
    if unsafe { ffi::PyCallable_Check(function) } == 0 {
        return false;
    }
    match effect_of(function) {
        (Effect::Pure, _) => false,
        (Effect::ReadArguments | Effect::Begin | Effect::DeepRead | Effect::Size, object) => {
            whole(object, false, DEEP, touched);
            true
        }
        (Effect::ReadSelf | Effect::Seek | Effect::ItemGet | Effect::ItemLoad, object) if !object.is_null() => {
            whole(object, false, DEEP, touched);
            true
        }
        (Effect::WriteSelf | Effect::StoreSelf | Effect::WriteDeep | Effect::ItemSet | Effect::ItemRemove, object)
            if !object.is_null() =>
        {
            whole(object, true, DEEP, touched);
            true
        }
        _ => {
            touched.not_known_of("a call, by a function that is not written in Python, of an object of type", function);
            true
        }
    }
}

/// A dict that has its own way to make an item that it is asked for: it may be changed by who asks.
pub(super) fn looked_up(object: *mut PyObject, touched: &mut Touched) {
    if !object.is_null() && is_dict(object) && inherits(object, c"__missing__") {
        whole(object, true, 1, touched);
    }
}

/// Who begins to go through `object` looks at how many items there are; but an iterator is its own.
pub(super) fn begin(object: *mut PyObject, frame: Option<&Operands>, touched: &mut Touched) {
    // It may be none.
    let is_iterator = object.is_null() || (moves(object) && (is_view(object) || is_generator(object)));
    if !is_iterator {
        look_through(object, 1, frame, touched);
    }
}

/// All of `object`, unless nobody but `frame` has it; what lies within it others may have all the same.
pub(super) fn look_through(object: *mut PyObject, levels: u32, frame: Option<&Operands>, touched: &mut Touched) {
    if object.is_null() {
        return;
    }
    if is_container(object) && is_private(object, frame) {
        within(object, levels, touched);
    } else if is_view(object) || is_generator(object) {
        gone_through(object, frame.map_or(1, |frame| frame.count(object)), levels, touched);
    } else {
        whole(object, false, levels, touched);
    }
}

/// Calls `visit` with everything that `object` refers to, as the garbage collector would.
pub(super) unsafe fn referents(object: *mut PyObject, mut visit: impl FnMut(*mut PyObject)) {
    extern "C" fn note(object: *mut PyObject, found: *mut std::ffi::c_void) -> i32 {
        // SAFETY: it is the vector below.
        unsafe { (*found.cast::<Vec<*mut PyObject>>()).push(object) };
        0
    }
    let mut found: Vec<*mut PyObject> = Vec::new();
    // SAFETY: the caller has a live object.
    unsafe {
        if let Some(traverse) = (*ffi::Py_TYPE(object)).tp_traverse {
            traverse(object, note, (&raw mut found).cast());
        }
    }
    found.into_iter().for_each(&mut visit);
}

/// The next item of an iterator, to which so many references are the frame's that asks for it.
pub(super) fn next(iterator: *mut PyObject, own: usize, touched: &mut Touched) {
    let kind = type_of(iterator);
    if is_python_type(kind) || world().types.resumed.contains(&(kind as usize)) {
        return;
    }
    if !is_generator(iterator) && !is_view(iterator) {
        return touched.not_known_of("an iterator of type", iterator);
    }
    // SAFETY: a live object.
    if unsafe { ffi::Py_REFCNT(iterator) } as usize > own {
        // Others may have it, too, and find it further on; of a generator, that it runs.
        touched.all(iterator, true);
    }
    if is_generator(iterator) {
        return;
    }
    // One that is made of others, as `zip` is, goes on with them.
    stood_for(iterator, 1, touched);
}
