//! Where CPython keeps the operands of the instruction that is about to run.
//!
//! At an instruction's boundary the operand stack lies in the memory of the frame. How a frame is laid out belongs to
//! the version; each layout below is that of one, and [`crate::selftest`] holds it against the interpreter that runs
//! when the module is imported.

#[cfg(not(Py_3_11))]
mod passing;

use pyo3::ffi::PyObject;
#[cfg(Py_3_12)]
use pyo3::ffi::PyThreadState;

/// A place in a frame for a variable or an operand: what lies there is the frame's own reference.
#[cfg(not(Py_3_14))]
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Slot(*mut PyObject);

#[cfg(not(Py_3_14))]
impl Slot {
    /// Takes a new reference.
    fn holding(object: *mut PyObject) -> Slot {
        Slot(object)
    }

    /// What lies there; may be null.
    #[inline]
    fn object(self) -> *mut PyObject {
        self.0
    }

    /// Whether what lies there is counted among the references to it.
    #[inline]
    fn is_counted(self) -> bool {
        true
    }
}

/// A place in a frame for a variable or an operand: a pointer, the lowest bits of which say what kind of reference it
/// is. An operand may be borrowed from a variable, of the same frame or of the one that calls it.
#[cfg(Py_3_14)]
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Slot(usize);

#[cfg(Py_3_14)]
impl Slot {
    /// Of references that are not counted: to what is borrowed or immortal, and to nothing.
    const NOT_COUNTED: usize = 1;
    /// Of a number that is none of the program's: where an exception was raised, say.
    const NUMBER: usize = 3;

    /// Takes a new reference.
    fn holding(object: *mut PyObject) -> Slot {
        unsafe extern "C" {
            fn PyUnstable_IsImmortal(object: *mut PyObject) -> i32;
        }
        // SAFETY: who gives a reference has a live object, and the interpreter's lock.
        let tag = if unsafe { PyUnstable_IsImmortal(object) } != 0 { Slot::NOT_COUNTED } else { 0 };
        Slot(object as usize | tag)
    }

    #[inline]
    fn object(self) -> *mut PyObject {
        if self.0 & Slot::NUMBER == Slot::NUMBER {
            return std::ptr::null_mut();
        }
        (self.0 & !Slot::NOT_COUNTED) as *mut PyObject
    }

    #[inline]
    fn is_counted(self) -> bool {
        self.0 & Slot::NOT_COUNTED == 0
    }
}

/// The operands, and what names are looked up in.
#[derive(Clone, Copy)]
pub(crate) struct Operands {
    /// Locals, cells and free variables.
    locals: *const Slot,
    /// One past the top of the stack.
    top: *const Slot,
    pub(crate) globals: *mut PyObject,
}

impl Operands {
    /// The `n`th operand from the top, from 1; may be null.
    #[inline]
    pub(crate) fn peek(&self, n: usize) -> *mut PyObject {
        // SAFETY: the analysis of the code says how many operands there are, and asks for no others.
        unsafe { *self.top.sub(n) }.object()
    }

    /// Puts `object`, a new reference, in the place of the `n`th operand from the top.
    ///
    /// # Safety
    /// The instruction must be able to work on it as well.
    pub(crate) unsafe fn replace(&self, n: usize, object: *mut PyObject) {
        // SAFETY: as above; the frame that the operands lie in stands still meanwhile.
        unsafe {
            let before = std::mem::replace(&mut *self.top.sub(n).cast_mut(), Slot::holding(object));
            if before.is_counted() {
                pyo3::ffi::Py_XDECREF(before.object());
            }
        }
    }

    #[inline]
    pub(crate) fn local(&self, n: usize) -> *mut PyObject {
        // SAFETY: as above.
        unsafe { *self.locals.add(n) }.object()
    }

    /// The variables and operands of the frame that are `object`.
    fn slots_of(&self, object: *mut PyObject) -> impl Iterator<Item = &Slot> {
        // SAFETY: the operands follow the locals, in every version.
        let all = unsafe { std::slice::from_raw_parts(self.locals, self.top.offset_from(self.locals) as usize) };
        all.iter().filter(move |slot| slot.object() == object)
    }

    /// How many of the references to `object` are variables and operands of the frame; up to 3.10, or what its caller
    /// keeps of these.
    pub(crate) fn count(&self, object: *mut PyObject) -> usize {
        let own = self.slots_of(object).filter(|slot| slot.is_counted()).count();
        #[cfg(not(Py_3_11))]
        let own = own + passing::kept_by_caller(self.inner(), object);
        own
    }

    /// Whether a variable or an operand of the frame is `object` without being one of the references to it.
    pub(crate) fn borrows(&self, object: *mut PyObject) -> bool {
        self.slots_of(object).any(|slot| !slot.is_counted())
    }
}

/// What a frame is known by while it is not done: where its variables are, and the code that it runs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Frame {
    locals: *const Slot,
    pub(crate) code: *mut PyObject,
}

impl Operands {
    fn inner(&self) -> &Inner {
        // SAFETY: operands lie in a frame of this version.
        unsafe { &*self.locals.byte_sub(std::mem::offset_of!(Inner, localsplus)).cast::<Inner>() }
    }

    /// The frame that they are of.
    pub(crate) fn frame(&self) -> Frame {
        self.inner().frame()
    }

    /// The frame that waits for this one to return, if there is one.
    pub(crate) fn caller(&self) -> Option<Frame> {
        // SAFETY: frames that wait for others are live.
        unsafe {
            let mut back = self.inner().previous;
            while back.as_ref().is_some_and(Inner::is_entry) {
                back = (*back).previous;
            }
            back.as_ref().map(Inner::frame)
        }
    }
}

impl Inner {
    fn frame(&self) -> Frame {
        Frame { locals: self.localsplus.as_ptr(), code: self.code.object() }
    }
}

#[cfg(not(Py_3_11))]
mod version {
    use super::*;

    #[repr(C)]
    pub(crate) struct Inner {
        head: [usize; 3],
        pub(super) previous: *mut Inner,
        pub(super) code: Slot,
        builtins: *mut PyObject,
        globals: *mut PyObject,
        locals: *mut PyObject,
        pub(super) valuestack: *const Slot,
        trace: *mut PyObject,
        stackdepth: i32,
        pub(crate) trace_lines: i8,
        pub(crate) trace_opcodes: i8,
        pub(super) generator: *mut PyObject,
        pub(crate) lasti: i32,
        lineno: i32,
        iblock: i32,
        state: i8,
        blockstack: [[i32; 3]; 20],
        pub(super) localsplus: [Slot; 1],
    }

    impl Inner {
        /// All of them run Python code.
        pub(super) fn is_entry(&self) -> bool {
            false
        }
    }

    /// The operands of the instruction that a traced frame has come to, its code, and the number of the instruction.
    pub(crate) unsafe fn traced(frame: *mut PyObject) -> (*mut PyObject, usize, Operands) {
        // SAFETY: the caller is a trace function, which is given a frame of this version.
        unsafe {
            let frame = &*frame.cast::<Inner>();
            let top = frame.valuestack.add(frame.stackdepth as usize);
            let operands = Operands { locals: frame.localsplus.as_ptr(), top, globals: frame.globals };
            (frame.code.object(), frame.lasti as usize, operands)
        }
    }

    /// What a traced frame is known by.
    pub(crate) unsafe fn known_by(frame: *mut PyObject) -> Frame {
        // SAFETY: as above.
        unsafe { (*frame.cast::<Inner>()).frame() }
    }

    /// Has events for each instruction of a traced frame, or for none; and none for lines.
    pub(crate) unsafe fn trace_instructions(frame: *mut PyObject, all: bool, lines: bool) {
        // SAFETY: as above.
        unsafe {
            let frame = &mut *frame.cast::<Inner>();
            (frame.trace_lines, frame.trace_opcodes) = (i8::from(lines), i8::from(all));
        }
    }
}

#[cfg(all(Py_3_11, not(Py_3_12)))]
mod version {
    use super::*;

    #[repr(C)]
    pub(crate) struct Inner {
        func: *mut PyObject,
        globals: *mut PyObject,
        builtins: *mut PyObject,
        locals: *mut PyObject,
        pub(super) code: Slot,
        frame_obj: *mut PyObject,
        pub(super) previous: *mut Inner,
        prev_instr: *const u16,
        stacktop: i32,
        is_entry: bool,
        owner: i8,
        pub(super) localsplus: [Slot; 1],
    }

    impl Inner {
        /// All of them run Python code.
        pub(super) fn is_entry(&self) -> bool {
            false
        }
    }

    #[repr(C)]
    struct FrameObject {
        head: [usize; 2],
        back: *mut PyObject,
        inner: *mut Inner,
        trace: *mut PyObject,
        lineno: i32,
        trace_lines: i8,
        trace_opcodes: i8,
    }

    unsafe extern "C" {
        fn PyFrame_GetLasti(frame: *mut PyObject) -> i32;
    }

    pub(crate) unsafe fn traced(frame: *mut PyObject) -> (*mut PyObject, usize, Operands) {
        // SAFETY: the caller is a trace function, which is given a frame of this version.
        unsafe {
            let inner = &*(*frame.cast::<FrameObject>()).inner;
            let locals = inner.localsplus.as_ptr();
            let operands = Operands { locals, top: locals.add(inner.stacktop as usize), globals: inner.globals };
            (inner.code.object(), PyFrame_GetLasti(frame) as usize / 2, operands)
        }
    }

    pub(crate) unsafe fn known_by(frame: *mut PyObject) -> Frame {
        // SAFETY: as above.
        unsafe { (*(*frame.cast::<FrameObject>()).inner).frame() }
    }

    pub(crate) unsafe fn trace_instructions(frame: *mut PyObject, all: bool, lines: bool) {
        // SAFETY: as above.
        unsafe {
            let frame = &mut *frame.cast::<FrameObject>();
            (frame.trace_lines, frame.trace_opcodes) = (i8::from(lines), i8::from(all));
        }
    }
}

#[cfg(Py_3_12)]
mod version {
    use super::*;

    #[cfg(not(Py_3_14))]
    #[repr(C)]
    pub(crate) struct Inner {
        pub(super) code: Slot,
        pub(super) previous: *mut Inner,
        func: *mut PyObject,
        globals: *mut PyObject,
        builtins: *mut PyObject,
        locals: *mut PyObject,
        frame_obj: *mut PyObject,
        instr: *const u16,
        stacktop: i32,
        return_offset: u16,
        owner: i8,
        pub(super) localsplus: [Slot; 1],
    }

    #[cfg(Py_3_14)]
    #[repr(C)]
    pub(crate) struct Inner {
        pub(super) code: Slot,
        pub(super) previous: *mut Inner,
        func: Slot,
        globals: *mut PyObject,
        builtins: *mut PyObject,
        locals: *mut PyObject,
        frame_obj: *mut PyObject,
        instr: *const u16,
        stackpointer: *const Slot,
        return_offset: u16,
        owner: i8,
        visited: u8,
        pub(super) localsplus: [Slot; 1],
    }

    impl Inner {
        /// Whether it stands for code not written in Python.
        pub(super) fn is_entry(&self) -> bool {
            /// And whatever comes after it: in 3.14 there are two kinds.
            const OF_INTERPRETER: i8 = 3;
            self.owner >= OF_INTERPRETER
        }

        /// One past the top of the stack, on which there are `depth` operands, if that was worked out: from 3.14 on the
        /// interpreter tells before it calls anybody.
        fn top(&self, locals: usize, depth: usize) -> *const Slot {
            #[cfg(Py_3_14)]
            let (top, _) = (self.stackpointer, (locals, depth));
            #[cfg(not(Py_3_14))]
            // SAFETY: the operands follow the locals, and there are so many.
            let top = unsafe { self.localsplus.as_ptr().add(locals + depth) };
            top
        }
    }

    /// Bytes into the thread state at which the frame is found; in 3.12 there is one more pointer on the way.
    #[cfg(not(Py_3_13))]
    const FRAME: usize = 56;
    #[cfg(Py_3_13)]
    const FRAME: usize = 72;

    unsafe fn current(thread: *mut PyThreadState) -> *const Inner {
        // SAFETY: the offset is that of this version.
        unsafe {
            let field = *thread.cast::<u8>().add(FRAME).cast::<*const *const Inner>();
            if cfg!(Py_3_13) { field.cast() } else { *field }
        }
    }

    /// The operands of the frame that runs `code`, on whose stack there are `depth` of them.
    pub(crate) unsafe fn monitored(code: *mut PyObject, locals: usize, depth: usize) -> Option<Operands> {
        // SAFETY: a thread that runs code has a state and a frame.
        unsafe {
            let inner = &*current(pyo3::ffi::PyThreadState_Get());
            let (locals, top) = (inner.localsplus.as_ptr(), inner.top(locals, depth));
            let operands = Operands { locals, top, globals: inner.globals };
            (inner.code.object() == code).then_some(operands)
        }
    }
}

pub(crate) use version::*;
