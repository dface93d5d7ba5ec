//! Whole containers: what is looked through, and what iterators stand for.

use pyo3::ffi::{self, PyObject};

use super::aliases::memory;
use super::items::is_globals;
use super::objects::{is_container, is_dict, is_generator, is_private, is_python_type, is_view, type_of};
use super::{Access, DEEP, Part, Touched};
use crate::effects::{Effect, effect_of};
use crate::layout::Operands;
use crate::world::world;

/// All of `object`, if it is something that can change.
pub(super) fn whole(object: *mut PyObject, write: bool, levels: u32, touched: &mut Touched) {
    if object.is_null() || levels == 0 {
        return;
    }
    if is_container(object) {
        if let Some(owner) = world().attributes_of.get(&(object as usize)) {
            let owner = *owner as *mut PyObject;
            return touched.add(Access::new(owner, Part::Names, write));
        }
        if is_dict(object) && is_globals(object) {
            return touched.add(Access::new(object, Part::Names, write));
        }
        touched.all(object, write);
        if levels > 1 {
            // SAFETY: a live object.
            unsafe { referents(object, |inner| whole_within(inner, levels - 1, touched)) };
        }
        return;
    }
    if memory(object, write, touched) {
        return;
    }
    let kind = type_of(object);
    if is_view(object) {
        let found = stands_for(object);
        // It calls functions with items that it has from others: these are looked through, as far as can be.
        let calls = found.iter().copied().filter(|inner| called_back(*inner, touched)).count() > 0;
        let levels = if calls { DEEP } else { levels };
        return found.iter().for_each(|inner| whole(*inner, false, levels, touched));
    }
    if is_generator(object) {
        // Who looks through it goes to its end.
        if !is_private(object, None) {
            touched.all(object, true);
        }
        return;
    }
    if world().types.pure.contains(&(kind as usize)) {
        // SAFETY: a live object.
        if levels > 1 && unsafe { ffi::PyTuple_Check(object) != 0 } {
            // SAFETY: as above.
            unsafe { referents(object, |inner| whole(inner, write, levels - 1, touched)) };
        }
        return;
    }
    if !is_python_type(kind) {
        touched.not_known_of("an operation on an object of type", object);
    }
}

/// What an iterator or a view refers to; and the iterators that it keeps in a tuple, as `zip` and `map` do.
fn stands_for(view: *mut PyObject) -> Vec<*mut PyObject> {
    let (mut found, mut kept) = (Vec::new(), Vec::new());
    // SAFETY: live objects.
    unsafe {
        referents(view, |inner| {
            found.push(inner);
            if ffi::PyTuple_CheckExact(inner) != 0 {
                referents(inner, |item| kept.push(item));
            }
        });
    }
    found.extend(kept.into_iter().filter(|item| is_view(*item)));
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
        (Effect::ReadArguments | Effect::DeepRead | Effect::Size, _) => true,
        (Effect::ReadSelf | Effect::ItemGet | Effect::ItemLoad, object) if !object.is_null() => {
            whole(object, false, DEEP, touched);
            true
        }
        (Effect::WriteSelf, object) if !object.is_null() => {
            whole(object, true, 1, touched);
            true
        }
        _ => {
            touched.not_known_of("a call, by a function that is not written in Python, of an object of type", function);
            true
        }
    }
}

/// What lies within a container: only other containers matter.
pub(super) fn whole_within(object: *mut PyObject, levels: u32, touched: &mut Touched) {
    if is_container(object) {
        whole(object, false, levels, touched);
    }
}

/// A second operand: what was made for this operation alone is nobody else's.
pub(super) fn private_or_whole(object: *mut PyObject, frame: &Operands, touched: &mut Touched) {
    look_through(object, DEEP, Some(frame), touched);
}

/// All of `object`, unless nobody but `frame` has it; what lies within it others may have all the same.
pub(super) fn look_through(object: *mut PyObject, levels: u32, frame: Option<&Operands>, touched: &mut Touched) {
    if !is_private(object, frame) || !is_container(object) {
        whole(object, false, levels, touched);
    } else if levels > 1 {
        // SAFETY: a live object.
        unsafe { referents(object, |inner| whole_within(inner, levels - 1, touched)) };
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
    for inner in stands_for(iterator) {
        // SAFETY: as above.
        let goes_on = unsafe { (*type_of(inner)).tp_iternext.is_some() } && !is_private(inner, None);
        if goes_on && (is_view(inner) || is_generator(inner)) {
            touched.all(inner, true);
        }
    }
    whole(iterator, false, 1, touched);
}
