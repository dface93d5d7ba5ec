//! From an instruction and its operands to what it reads or writes.
//!
//! An instruction is one step, on as many resources as it touches: what touches two at once could be cut in two by others
//! only in the model, never in reality. Where they are more than a step can name, everything is one resource
//! ([`Knowledge::opaque`]).
//!
//! Others may run between the announcement and the access, so what is announced is never a matter of what the state is
//! just then: whether a key is there makes something known ([`Access::facts`]), but not a write of a read.
//!
//! [`Knowledge::opaque`]: crate::world::Knowledge::opaque

mod aliases;
mod attributes;
mod calls;
mod filling;
mod formats;
mod items;
mod objects;
mod whole;

use pyo3::ffi::PyObject;

use self::attributes::{attribute, local_of};
use self::calls::{call, call_ex, enter};
pub(crate) use self::filling::fill;
use self::items::{Use, contains, item};
pub(crate) use self::objects::{base_of, is_python_type, method_of};
use self::objects::{is_container, is_slice, is_text, type_of};
use self::whole::{begin, look_through, looked_up, next, size, whole};
use crate::code::{Kind, Op};
use crate::containers::Facts;
use crate::layout::Operands;
use crate::native::LockOp;
use crate::world::Addresses;

/// What is touched.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Part {
    /// An attribute, a global or the content of a cell, by the address of its name.
    Name(usize),
    /// All attributes of an object.
    Names,
    /// An item of a dict, by the number of its key, or of a list.
    Item(usize),
    /// How many items a container has.
    Size,
    /// All of a container, but not the order of its items.
    Content,
    /// All of a container.
    All,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Access {
    pub(crate) owner: *mut PyObject,
    pub(crate) part: Part,
    pub(crate) write: bool,
    /// What it makes known of a container, besides.
    pub(crate) facts: Facts,
    pub(crate) fills: Fills,
}

/// Whether a look adds an item if there is none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fills {
    No,
    AtOnce,
    /// By code in Python, during which others may run: the look and the store are two steps.
    ByPython,
}

impl Access {
    pub(crate) fn new(owner: *mut PyObject, part: Part, write: bool) -> Access {
        Access { owner, part, write, facts: 0, fills: Fills::No }
    }
}

/// What one instruction touches.
#[derive(Default)]
pub(crate) struct Touched {
    first: Option<Access>,
    more: Vec<Access>,
    /// What it is that is not known.
    unknown: Option<String>,
    /// The order of items makes no difference to it.
    unordered: bool,
    /// What it does to a lock of the interpreter.
    pub(crate) lock: Option<(*mut PyObject, LockOp)>,
    /// A dict whose items are made by code in Python, and the key that it is asked for.
    pub(crate) asked: Option<(*mut PyObject, *mut PyObject)>,
    /// All that it touches it touches before it calls anything.
    pub(crate) at_first: bool,
    /// Something else is to be called.
    substituted: bool,
    /// It is a matter of whether an object is still there.
    pub(crate) of_life: bool,
    /// What it was looked within.
    entered: Addresses,
    /// What else it touches is not looked at.
    only_locks: bool,
    /// It asks of objects whether they are equal, and nothing else.
    compares: bool,
}

impl Touched {
    fn add(&mut self, access: Access) {
        match self.first {
            None => self.first = Some(access),
            Some(known) if known == access => {}
            Some(known) if known.owner == access.owner && known.part == Part::All && known.write => {}
            Some(_) => self.more.push(access),
        }
    }

    fn name(&mut self, owner: *mut PyObject, name: usize, write: bool) {
        let known = crate::world::world();
        if write && owner as usize == known.builtins_names() {
            // All modules have it, as objects have what is their class's.
            known.class_is_written(name);
        }
        self.add(Access::new(owner, Part::Name(name), write));
    }

    fn all(&mut self, owner: *mut PyObject, write: bool) {
        // SAFETY: a live object.
        let unordered = self.unordered && unsafe { pyo3::ffi::PyDict_CheckExact(owner) != 0 };
        self.add(Access::new(owner, if unordered { Part::Content } else { Part::All }, write));
    }

    /// Whether `object` has not been looked within: what contains itself is, once.
    fn enters(&mut self, object: *mut PyObject) -> bool {
        self.entered.insert(object as usize)
    }

    fn not_known(&mut self, what: &str) {
        self.unknown.get_or_insert_with(|| what.to_owned());
    }

    /// `what` is done to `object`, of which it is not known what that touches.
    fn not_known_of(&mut self, what: &str, object: *mut PyObject) {
        // SAFETY: a live object; names of types are valid as long as they are.
        let kind =
            unsafe { std::ffi::CStr::from_ptr((*pyo3::ffi::Py_TYPE(object)).tp_name).to_string_lossy().into_owned() };
        self.unknown.get_or_insert_with(|| format!("{what} `{kind}`"));
    }

    /// All accesses; `Err` says what is not known.
    pub(crate) fn all_of_them(&self) -> Result<impl Iterator<Item = &Access>, &str> {
        match &self.unknown {
            Some(what) => Err(what),
            None => Ok(self.first.iter().chain(&self.more)),
        }
    }
}

/// What the instruction `op` touches.
pub(crate) fn touched(op: &Op, operands: &Operands) -> Touched {
    let mut touched = Touched::default();
    let (a, b) = (usize::from(op.a), usize::from(op.b));
    match op.kind {
        Kind::None | Kind::Return => {}
        Kind::AttrLoad => attribute(operands.peek(a), op.name, false, &mut touched),
        Kind::AttrStore => attribute(operands.peek(a), op.name, true, &mut touched),
        Kind::GlobalLoad => touched.name(operands.globals, op.name, false),
        Kind::GlobalStore => touched.name(operands.globals, op.name, true),
        Kind::CellLoad => touched.name(operands.local(a), op.name, false),
        Kind::CellStore => touched.name(operands.local(a), op.name, true),
        Kind::ItemLoad => item(operands.peek(a), operands.peek(b), Use::Load, &mut touched),
        Kind::ItemStore => {
            item(operands.peek(a), operands.peek(b), Use::Set, &mut touched);
            // What a slice becomes is looked through.
            if is_slice(operands.peek(b)) {
                look_through(operands.peek(a + 1), 1, Some(operands), &mut touched);
            }
        }
        Kind::ItemDelete => item(operands.peek(a), operands.peek(b), Use::Remove, &mut touched),
        // Who begins with an iterator has it, and no more.
        Kind::WholeRead if b == 1 => begin(operands.peek(a), Some(operands), &mut touched),
        Kind::WholeRead => look_through(operands.peek(a), 1, Some(operands), &mut touched),
        Kind::WholeWrite => {
            whole(operands.peek(a), true, 1, &mut touched);
            look_through(operands.peek(a + 1), 1, Some(operands), &mut touched);
        }
        Kind::DeepRead => look_through(operands.peek(a), DEEP, Some(operands), &mut touched),
        Kind::Contains => contains(operands.peek(a), operands.peek(b), operands, &mut touched),
        Kind::Size => size(operands.peek(a), &mut touched),
        Kind::Compare | Kind::Operator => {
            touched.unordered = op.kind == Kind::Compare;
            touched.compares = op.kind == Kind::Compare;
            if op.c == 1 && is_container(operands.peek(a)) {
                whole(operands.peek(a), true, DEEP, &mut touched);
            } else {
                look_through(operands.peek(a), DEEP, Some(operands), &mut touched);
            }
            // Of a text with fields, `%` looks up items.
            if op.kind == Kind::Operator && is_text(operands.peek(a)) {
                looked_up(operands.peek(b), &mut touched);
            }
            look_through(operands.peek(b), DEEP, Some(operands), &mut touched);
        }
        Kind::Next => {
            let iterator = operands.peek(a);
            next(iterator, operands.count(iterator), &mut touched);
            // It has the item when it calls its function.
            touched.at_first = type_of(iterator) == &raw mut pyo3::ffi::PyMap_Type;
        }
        Kind::Call => call(op, operands, &mut touched),
        Kind::CallEx => call_ex(op, operands, &mut touched),
        Kind::Enter => enter(operands.peek(a), operands, &mut touched),
        Kind::Unknown => touched.not_known("an instruction that is not modelled"),
    }
    touched
}

/// What the instruction `op` does to a lock, or to what each thread has its own of, and nothing else.
pub(crate) fn locks_of(op: &Op, operands: &Operands) -> Touched {
    let mut touched = Touched { only_locks: true, ..Touched::default() };
    match op.kind {
        Kind::AttrLoad | Kind::AttrStore => drop(local_of(operands.peek(usize::from(op.a)), &mut touched)),
        Kind::Call => call(op, operands, &mut touched),
        Kind::CallEx => call_ex(op, operands, &mut touched),
        Kind::Enter => enter(operands.peek(usize::from(op.a)), operands, &mut touched),
        _ => {}
    }
    touched
}

/// Levels of containers within containers that are looked through. What lies deeper is not known.
const DEEP: u32 = 100;
