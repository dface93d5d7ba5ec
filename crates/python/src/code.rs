//! Codes: what each instruction of a function does that others could notice.

use std::collections::HashMap;

use drawloom_engine::Site;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString, PyTuple};

use crate::world::{aside, world};

/// What an instruction does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum Kind {
    /// Nothing that others could notice.
    None,
    AttrLoad,
    AttrStore,
    GlobalLoad,
    GlobalStore,
    CellLoad,
    CellStore,
    ItemLoad,
    ItemStore,
    ItemDelete,
    /// Looks through all of an operand; if `b` is 1, only to begin with it.
    WholeRead,
    WholeWrite,
    /// Looks through operands and what they contain.
    DeepRead,
    Contains,
    /// Asks how many items there are, or whether there are any.
    Size,
    /// A comparison of two operands.
    Compare,
    /// An operator on two operands; in place, if `b` is 1.
    Operator,
    /// The next item of an iterator. If `c` is 1, it is yielded as well.
    Next,
    /// Calls operand `a` with the `b` operands above it; `c` says what else lies there.
    Call,
    /// Calls operand `a` with the tuple `b`.
    CallEx,
    /// Enters the context of operand `a`.
    Enter,
    /// Returns to who has called, or yields to him.
    Return,
    /// It is not known what it does.
    Unknown,
}

impl Kind {
    /// Whether it may call Python code in the midst of what it does, where it calls none in place of it.
    pub(crate) fn calls(self) -> bool {
        use Kind::*;
        matches!(
            self,
            ItemLoad
                | ItemStore
                | ItemDelete
                | WholeRead
                | WholeWrite
                | DeepRead
                | Contains
                | Compare
                | Operator
                | Next
                | Call
                | CallEx
        )
    }
}

pub(crate) const KINDS: [(&str, Kind); 23] = [
    ("NONE", Kind::None),
    ("ATTR_LOAD", Kind::AttrLoad),
    ("ATTR_STORE", Kind::AttrStore),
    ("GLOBAL_LOAD", Kind::GlobalLoad),
    ("GLOBAL_STORE", Kind::GlobalStore),
    ("CELL_LOAD", Kind::CellLoad),
    ("CELL_STORE", Kind::CellStore),
    ("ITEM_LOAD", Kind::ItemLoad),
    ("ITEM_STORE", Kind::ItemStore),
    ("ITEM_DELETE", Kind::ItemDelete),
    ("WHOLE_READ", Kind::WholeRead),
    ("WHOLE_WRITE", Kind::WholeWrite),
    ("DEEP_READ", Kind::DeepRead),
    ("CONTAINS", Kind::Contains),
    ("SIZE", Kind::Size),
    ("COMPARE", Kind::Compare),
    ("OPERATOR", Kind::Operator),
    ("NEXT", Kind::Next),
    ("CALL", Kind::Call),
    ("CALL_EX", Kind::CallEx),
    ("ENTER", Kind::Enter),
    ("RETURN", Kind::Return),
    ("UNKNOWN", Kind::Unknown),
];

/// An instruction, as callbacks see it.
#[derive(Clone, Copy)]
pub(crate) struct Op {
    pub(crate) kind: Kind,
    /// Operands, counted from the top of the stack; or a local.
    pub(crate) a: u16,
    pub(crate) b: u16,
    pub(crate) c: u16,
    /// Operands on the stack, where the frame does not say; 0 if that is not known.
    #[cfg_attr(any(all(Py_3_11, not(Py_3_12)), Py_3_14), allow(dead_code))]
    pub(crate) depth: u16,
    /// The name, an interned string, if it has one.
    pub(crate) name: usize,
    pub(crate) site: Site,
    /// Which one it is, of those of its line.
    pub(crate) nth: u16,
}

const NOTHING: Op = Op { kind: Kind::None, a: 0, b: 0, c: 0, depth: 0, name: 0, site: Site::UNKNOWN, nth: 0 };

/// Whose code it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Whose {
    Program,
    Library,
    /// Of a module whose objects belong to who uses them: an event, a queue.
    PassedOn,
    /// Of a package that programs are written on top of ([`frameworks`](crate::frameworks)).
    Framework,
    /// Of what imports modules, which is done once in a process.
    Importing,
    /// Of a library by which tasks of event loops wait for each other: asyncio.
    Awaiting,
    /// Of such a library that is a framework to threads: anyio.
    Bridge,
    /// What a weak dict or set of the standard library does when an object of its is gone: in the midst of whoever let it go.
    Forgetting,
}

const WHOSE: [Whose; 8] = [
    Whose::Program,
    Whose::Library,
    Whose::PassedOn,
    Whose::Framework,
    Whose::Importing,
    Whose::Awaiting,
    Whose::Bridge,
    Whose::Forgetting,
];

/// A code object that was analysed.
pub(crate) struct Code {
    ops: Vec<Op>,
    #[cfg_attr(any(not(Py_3_12), Py_3_14), allow(dead_code))]
    pub(crate) locals: usize,
    /// It is not under test.
    pub(crate) foreign: bool,
    pub(crate) whose: Whose,
    /// Keep the code, and the names of its instructions, where they are.
    _kept: Vec<Py<PyAny>>,
}

impl Code {
    #[inline]
    pub(crate) fn op(&self, index: usize) -> Op {
        self.ops.get(index).copied().unwrap_or(NOTHING)
    }
}

/// What is known of the code at this address; it is analysed when it is met first.
#[inline]
pub(crate) fn code_at(address: *mut pyo3::ffi::PyObject) -> &'static Code {
    if let Some(code) = world().codes.get(&(address as usize)) {
        return code;
    }
    analyse(address)
}

#[cold]
fn analyse(address: *mut pyo3::ffi::PyObject) -> &'static Code {
    // SAFETY: callbacks run with the interpreter's lock, and are given live codes.
    let py = unsafe { Python::assume_gil_acquired() };
    // SAFETY: as above.
    let object = unsafe { Bound::from_borrowed_ptr(py, address) };
    let code = read(py, &object).unwrap_or_else(|error| {
        // Nothing of it would be seen, and nothing could be said.
        world().unsupported.get_or_insert_with(|| format!("code that cannot be analysed: {error}"));
        Code { ops: vec![], locals: 0, foreign: false, whose: Whose::Program, _kept: vec![object.clone().unbind()] }
    });
    let code = Box::new(code);
    world().codes.entry(address as usize).or_insert(code)
}

fn number_within(lines: &mut HashMap<usize, u16>, line: usize) -> u16 {
    let next = lines.entry(line).or_default();
    *next += 1;
    *next - 1
}

/// Asks the Python side, which knows the instructions of this version.
fn read(py: Python<'_>, object: &Bound<'_, PyAny>) -> PyResult<Code> {
    let Some(analyse) = world().analyse.as_ref().map(|analyse| analyse.clone_ref(py)) else {
        let kept = vec![object.clone().unbind()];
        return Ok(Code { ops: vec![], locals: 0, foreign: true, whose: Whose::Library, _kept: kept });
    };
    let answer = aside(|| analyse.call1(py, (object,)))?;
    let mut kept = vec![object.clone().unbind()];
    let (foreign, whose, locals, file, rows) =
        answer.extract::<(bool, u8, usize, Bound<'_, PyString>, Bound<'_, PyList>)>(py)?;
    let whose = WHOSE.get(usize::from(whose)).copied().unwrap_or(Whose::Program);
    world().met_framework |= matches!(whose, Whose::Framework | Whose::Importing | Whose::Bridge);
    let (mut ops, mut lines) = (Vec::new(), HashMap::new());
    let path = file.to_string();
    for row in rows.iter() {
        let row = row.downcast_into::<PyTuple>()?;
        let (index, kind, a, b, c, depth, name, line) =
            row.extract::<(usize, u8, u16, u16, u16, u16, Option<Bound<'_, PyString>>, usize)>()?;
        let name = match name {
            Some(name) => {
                let interned = PyString::intern(py, &name.to_string());
                let address = interned.as_ptr() as usize;
                kept.push(interned.into_any().unbind());
                address
            }
            None => 0,
        };
        if ops.len() <= index {
            ops.resize(index + 1, NOTHING);
        }
        let site = world().site(&path, line);
        if whose == Whose::PassedOn {
            world().passed_on.insert(site.0);
        }
        let kind = KINDS.get(usize::from(kind)).map_or(Kind::Unknown, |(_, kind)| *kind);
        // Only what may touch containers is to be told apart.
        let nth = if name == 0 { number_within(&mut lines, line) } else { 0 };
        ops[index] = Op { kind, a, b, c, depth, name, site, nth };
    }
    Ok(Code { ops, locals, foreign, whose, _kept: kept })
}
