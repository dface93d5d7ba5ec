//! What functions that are not written in Python read or write.

use pyo3::ffi::{self, PyObject};
use pyo3::prelude::*;

use crate::access::{base_of, is_python_type, method_of};
use crate::code::{Whose, code_at};
use crate::world::{aside, world};

unsafe extern "C" {
    static mut PyMethod_Type: ffi::PyTypeObject;
    static mut PyStaticMethod_Type: ffi::PyTypeObject;
    fn PyMethod_Function(method: *mut PyObject) -> *mut PyObject;
    fn PyFunction_GetCode(function: *mut PyObject) -> *mut PyObject;
    fn PyMethod_Self(method: *mut PyObject) -> *mut PyObject;
}

/// What a call touches, of the object that it is a method of and of its arguments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum Effect {
    /// Nothing that others could notice; or it makes its own steps.
    Pure,
    /// Begins to go through its arguments, or looks at how large they are.
    Begin,
    /// Looks through its arguments.
    ReadArguments,
    /// Looks through its object, its arguments and what these contain.
    DeepRead,
    /// The same, and looks up items of a dict, which may have its own way to make one.
    Lookup,
    /// The same, and at attributes that its object, a format, names.
    Format,
    /// Looks through its object and its arguments.
    ReadSelf,
    /// Looks in its object for what is equal to its arguments.
    Seek,
    /// Changes its object; looks through its arguments.
    WriteSelf,
    /// Changes its object, and does not look at its arguments.
    StoreSelf,
    /// Changes its object; looks at what that contains, at its arguments and at what these contain.
    WriteDeep,
    /// The same of its first argument.
    WriteFirst,
    /// How many items its first argument has.
    Size,
    /// One item of its object, by its first argument; which is not added if there is none.
    ItemGet,
    /// The same, but it may be.
    ItemLoad,
    ItemSet,
    ItemRemove,
    /// An attribute of its first argument, named by the second.
    AttrGet,
    AttrSet,
    /// The same of its object, named by the first.
    SelfAttrGet,
    SelfAttrSet,
    /// All attributes of its first argument.
    WholeObject,
    /// The next item of its first argument, an iterator.
    Next,
    /// The same of its object.
    NextSelf,
    /// Takes, gives back or looks at a lock of the interpreter; or does something else to it.
    LockAcquire,
    LockRelease,
    LockReleaseAll,
    LockAcquireAgain,
    LockQuery,
    LockOther,
    /// Looks up what it remembers of a function of the program, and remembers more.
    Cached,
    /// A function of a C library that tells of itself what it does to files and sockets: all else it touches is its
    /// arguments.
    Foreign,
    /// Something that obeys is called instead.
    Substituted,
    /// Not known.
    Unknown,
}

pub(crate) const EFFECTS: [(&str, Effect); 34] = [
    ("PURE", Effect::Pure),
    ("BEGIN", Effect::Begin),
    ("READ_ARGUMENTS", Effect::ReadArguments),
    ("DEEP_READ", Effect::DeepRead),
    ("LOOKUP", Effect::Lookup),
    ("FORMAT", Effect::Format),
    ("READ_SELF", Effect::ReadSelf),
    ("SEEK", Effect::Seek),
    ("WRITE_SELF", Effect::WriteSelf),
    ("STORE_SELF", Effect::StoreSelf),
    ("WRITE_DEEP", Effect::WriteDeep),
    ("WRITE_FIRST", Effect::WriteFirst),
    ("SIZE", Effect::Size),
    ("ITEM_GET", Effect::ItemGet),
    ("ITEM_LOAD", Effect::ItemLoad),
    ("ITEM_SET", Effect::ItemSet),
    ("ITEM_REMOVE", Effect::ItemRemove),
    ("ATTR_GET", Effect::AttrGet),
    ("ATTR_SET", Effect::AttrSet),
    ("SELF_ATTR_GET", Effect::SelfAttrGet),
    ("SELF_ATTR_SET", Effect::SelfAttrSet),
    ("WHOLE_OBJECT", Effect::WholeObject),
    ("NEXT", Effect::Next),
    ("NEXT_SELF", Effect::NextSelf),
    ("LOCK_ACQUIRE", Effect::LockAcquire),
    ("LOCK_RELEASE", Effect::LockRelease),
    ("LOCK_RELEASE_ALL", Effect::LockReleaseAll),
    ("LOCK_ACQUIRE_AGAIN", Effect::LockAcquireAgain),
    ("LOCK_QUERY", Effect::LockQuery),
    ("LOCK_OTHER", Effect::LockOther),
    ("CACHED", Effect::Cached),
    ("FOREIGN", Effect::Foreign),
    ("SUBSTITUTED", Effect::Substituted),
    ("UNKNOWN", Effect::Unknown),
];

/// A function that is not written in Python: what it does, and its object, if that is not among the arguments.
pub(crate) fn effect_of(callable: *mut PyObject) -> (Effect, *mut PyObject) {
    // SAFETY: the callable is a live operand, and the caller holds the interpreter's lock.
    unsafe {
        let kind = ffi::Py_TYPE(callable);
        if kind == &raw mut ffi::PyFunction_Type {
            return (Effect::Pure, std::ptr::null_mut());
        }
        if kind == &raw mut PyMethod_Type {
            let function = PyMethod_Function(callable);
            if ffi::Py_TYPE(function) == &raw mut ffi::PyFunction_Type {
                return (Effect::Pure, std::ptr::null_mut());
            }
            return (effect_of(function).0, PyMethod_Self(callable));
        }
        if ffi::PyCFunction_Check(callable) != 0 {
            let function = callable.cast::<ffi::PyCFunctionObject>();
            let own = (*function).m_self;
            let effect = known(callable, ((*function).m_ml as usize, owner_of(own) as usize));
            // A function is no method of its module.
            let is_method = !own.is_null() && ffi::PyModule_Check(own) == 0;
            return (effect, if is_method { own } else { std::ptr::null_mut() });
        }
        if kind as usize == world().types.bound_slot {
            let bound = callable.cast::<BoundSlot>();
            return (known((*bound).descriptor, ((*bound).descriptor as usize, 0)), (*bound).object);
        }
        if kind as usize == world().types.cached {
            // What a library remembers makes no difference: it is there to be forgotten.
            let effect = if remembers_for_program(callable) { Effect::Cached } else { Effect::Pure };
            return (effect, std::ptr::null_mut());
        }
        if kind as usize == world().types.partial {
            // What is written in Python is seen when it runs; what looks through its arguments has those of the partial, too.
            let function = (*callable.cast::<Partial>()).function;
            return match effect_of(function).0 {
                Effect::Pure => (Effect::Pure, std::ptr::null_mut()),
                Effect::Begin | Effect::ReadArguments | Effect::DeepRead => (Effect::DeepRead, callable),
                _ => (Effect::Unknown, std::ptr::null_mut()),
            };
        }
        if ffi::PyType_Check(callable) == 0 && !is_python_type(kind) {
            // Descriptors last as long as their types; other callables are known by their type.
            let by_itself = is_descriptor(kind);
            // Odd, so that it is not taken for the type itself, which is called to make one.
            let key = if by_itself { callable as usize } else { kind as usize | 1 };
            return (known(callable, (key, 0)), std::ptr::null_mut());
        }
        if ffi::PyType_Check(callable) == 0 && !is_called_in_python(kind) {
            // One of many, which come and go: a function of a C library, as `ctypes` has it.
            return (ask(callable), std::ptr::null_mut());
        }
        if ffi::PyType_Check(callable) != 0 {
            let class = callable.cast::<ffi::PyTypeObject>();
            let effect = match is_python_type(class) {
                false => known(callable, (callable as usize, 0)),
                // What it inherits from may be made of its arguments.
                true => made_by(base_of(class)),
            };
            return (effect, std::ptr::null_mut());
        }
        (Effect::Pure, std::ptr::null_mut())
    }
}

/// The function of a bound method.
pub(crate) unsafe fn method_function(method: *mut PyObject) -> *mut PyObject {
    // SAFETY: the caller has a live method.
    unsafe { PyMethod_Function(method) }
}

/// Whether the function behind a `functools.lru_cache` is the program's own.
unsafe fn remembers_for_program(cached: *mut PyObject) -> bool {
    // SAFETY: the caller has a live object, and the interpreter's lock; the new reference is given back.
    unsafe {
        let wrapped = ffi::PyObject_GetAttrString(cached, c"__wrapped__".as_ptr());
        if wrapped.is_null() {
            ffi::PyErr_Clear();
            return true;
        }
        let is_function = ffi::Py_TYPE(wrapped) == &raw mut ffi::PyFunction_Type;
        let of_program = is_function && code_at(PyFunction_GetCode(wrapped)).whose == Whose::Program;
        ffi::Py_DECREF(wrapped);
        of_program
    }
}

/// Whether calling it runs code in Python, so that others may run before it returns.
pub(crate) fn runs_python(callable: *mut PyObject) -> bool {
    if world().types.at_once.contains(&(callable as usize)) {
        return false;
    }
    // SAFETY: as above.
    unsafe {
        let kind = ffi::Py_TYPE(callable);
        if kind == &raw mut ffi::PyFunction_Type {
            return true;
        }
        if kind == &raw mut PyMethod_Type {
            return runs_python(PyMethod_Function(callable));
        }
        if kind as usize == world().types.partial {
            return runs_python((*callable.cast::<Partial>()).function);
        }
        if ffi::PyType_Check(callable) != 0 {
            let class = callable.cast::<ffi::PyTypeObject>();
            let is = |method, type_: *mut ffi::PyTypeObject| {
                let found = method_of(class, method);
                !found.is_null() && ffi::Py_TYPE(found) == type_
            };
            return is_python_type(class)
                && (is(c"__init__", &raw mut ffi::PyFunction_Type)
                    || is(c"__new__", &raw mut PyStaticMethod_Type)
                    || is_called_in_python(kind));
        }
        is_python_type(kind) && is_called_in_python(kind)
    }
}

/// What it takes to make an object of a class in Python that inherits from `base`, which is not.
fn made_by(base: *mut ffi::PyTypeObject) -> Effect {
    if base == &raw mut ffi::PyBaseObject_Type {
        return Effect::Pure;
    }
    match known(base.cast(), (base as usize, 0)) {
        // It has nothing but its arguments.
        Effect::Unknown => Effect::DeepRead,
        effect => effect,
    }
}

/// A special method of an object, as `super().__init__` is one.
#[repr(C)]
struct BoundSlot {
    head: [usize; 2],
    descriptor: *mut PyObject,
    object: *mut PyObject,
}

/// `functools.partial`.
#[repr(C)]
struct Partial {
    head: [usize; 2],
    function: *mut PyObject,
}

fn is_descriptor(kind: *mut ffi::PyTypeObject) -> bool {
    kind == &raw mut ffi::PyMethodDescr_Type
        || kind == &raw mut ffi::PyWrapperDescr_Type
        || kind == &raw mut ffi::PyClassMethodDescr_Type
}

/// Whether what a class does when its objects are called is written in Python, as the class itself is.
fn is_called_in_python(kind: *mut ffi::PyTypeObject) -> bool {
    let probe = world().types.probe as *mut ffi::PyTypeObject;
    // SAFETY: both are live types.
    unsafe { (*kind).tp_call.map(|f| f as usize) == (*probe).tp_call.map(|f| f as usize) }
}

/// Whose method a function is that is bound to `object`: a type that is not written in Python. One function may belong to
/// several of them, as the `__new__` of all types does.
unsafe fn owner_of(object: *mut PyObject) -> *mut ffi::PyTypeObject {
    // SAFETY: a live object, or none; bases of a live type are live.
    unsafe {
        if object.is_null() || ffi::PyModule_Check(object) != 0 {
            return std::ptr::null_mut();
        }
        let is_type = ffi::PyType_Check(object) != 0;
        let mut kind = if is_type { object.cast() } else { ffi::Py_TYPE(object) };
        while is_python_type(kind) && !(*kind).tp_base.is_null() {
            kind = (*kind).tp_base;
        }
        kind
    }
}

fn known(callable: *mut PyObject, key: (usize, usize)) -> Effect {
    if let Some(effect) = world().effects.get(&key) {
        return *effect;
    }
    classify(callable, key)
}

/// Asks the Python side, once.
#[cold]
fn classify(callable: *mut PyObject, key: (usize, usize)) -> Effect {
    let effect = ask(callable);
    // SAFETY: a live object, its type, and a type or none.
    unsafe {
        // Types and descriptors are kept, since they are known by their addresses; those of functions are static.
        let by_itself = [callable, ffi::Py_TYPE(callable).cast()].into_iter().find(|one| key.0 & !1 == *one as usize);
        ffi::Py_XINCREF(by_itself.unwrap_or(key.1 as *mut PyObject));
    }
    world().effects.insert(key, effect);
    effect
}

/// Asks the Python side.
#[cold]
fn ask(callable: *mut PyObject) -> Effect {
    // SAFETY: as above.
    let py = unsafe { Python::assume_gil_acquired() };
    let Some(classify) = world().classify.as_ref().map(|classify| classify.clone_ref(py)) else {
        return Effect::Unknown;
    };
    // SAFETY: as above.
    let object = unsafe { Bound::from_borrowed_ptr(py, callable) };
    let effect = aside(|| classify.call1(py, (object,))).and_then(|answer| answer.extract::<u8>(py));
    let effect = effect.unwrap_or_else(|error| {
        error.print(py);
        u8::MAX
    });
    EFFECTS.get(usize::from(effect)).map_or(Effect::Unknown, |(_, effect)| *effect)
}
