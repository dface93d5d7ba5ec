//! Callbacks of the interpreter, before each instruction of code under test.

#[cfg(not(Py_3_12))]
mod tracing {
    use std::sync::atomic::{AtomicBool, Ordering};

    use pyo3::ffi::{self, PyObject};
    use pyo3::prelude::*;

    use crate::announced::observed;
    use crate::calling;
    use crate::code::{Kind, code_at};
    use crate::frameworks;
    use crate::layout::{known_by, trace_instructions, traced};
    use crate::markers;
    use crate::steps::{NotDone, instruction, returned};
    use crate::world::is_aside;

    const CALL: i32 = 0;
    const LINE: i32 = 2;
    /// Or by an exception: whoever returns is heard of before, at the instruction.
    const RETURN: i32 = 3;
    const OPCODE: i32 = 7;

    unsafe extern "C" {
        fn PyFrame_GetCode(frame: *mut PyObject) -> *mut PyObject;
        fn PyFrame_GetLineNumber(frame: *mut PyObject) -> i32;
    }

    /// The trace function was called.
    static HEARD: AtomicBool = AtomicBool::new(false);

    /// Whether the calling thread is still traced: code under test, or a library, may have put another trace function
    /// in the place of this one. `probe` is any function in Python.
    pub(crate) fn is_tracing_thread(probe: &Bound<'_, PyAny>) -> bool {
        HEARD.store(false, Ordering::Relaxed);
        let called = probe.call0();
        HEARD.load(Ordering::Relaxed) || called.is_err()
    }

    /// What a callback has come to, as the interpreter wants it.
    fn answer(done: Result<(), NotDone>) -> i32 {
        let Err(stop) = done else { return 0 };
        // SAFETY: callbacks run with the interpreter's lock.
        let py = unsafe { Python::assume_gil_acquired() };
        stop.into_error(py).restore(py);
        -1
    }

    extern "C" fn trace(_: *mut PyObject, frame: *mut ffi::PyFrameObject, what: i32, _: *mut PyObject) -> i32 {
        let frame = frame.cast::<PyObject>();
        HEARD.store(true, Ordering::Relaxed);
        if is_aside() {
            return 0;
        }
        // SAFETY: the interpreter calls trace functions with a live frame, and with its lock.
        unsafe {
            match what {
                CALL => {
                    let code = PyFrame_GetCode(frame);
                    let seen = !code_at(code).foreign;
                    trace_instructions(frame, seen, seen && markers::gates_lines_of(code));
                    ffi::Py_DECREF(code);
                }
                LINE => {
                    let code = PyFrame_GetCode(frame);
                    let done = markers::line(code, PyFrame_GetLineNumber(frame).max(0) as usize);
                    ffi::Py_DECREF(code);
                    return answer(done.map(|_| ()));
                }
                OPCODE => {
                    let (code, index, operands) = traced(frame);
                    if markers::are_on() && answer(markers::before_instruction(code)) < 0 {
                        return -1;
                    }
                    let known = code_at(code);
                    let op = known.op(index);
                    if op.kind != Kind::None {
                        observed(&op, &operands);
                        let done: Result<(), NotDone> = match op.kind {
                            _ if frameworks::runs(known) => frameworks::instruction(known.whose, &op, &operands),
                            Kind::Return => returned(&operands).map_err(Into::into),
                            Kind::Next if op.c == 1 => {
                                returned(&operands).map_err(Into::into).and_then(|()| instruction(&op, &operands))
                            }
                            _ => instruction(&op, &operands),
                        };
                        return answer(done);
                    }
                }
                RETURN => calling::left(known_by(frame)),
                _ => {}
            }
        }
        0
    }

    /// From now on the calling thread is traced.
    pub(crate) fn start_tracing_thread() {
        // SAFETY: the caller has the interpreter's lock.
        unsafe { ffi::PyEval_SetTrace(Some(trace), std::ptr::null_mut()) };
    }

    /// It is not any more.
    pub(crate) fn stop_tracing_thread() {
        // SAFETY: as above.
        unsafe { ffi::PyEval_SetTrace(None, std::ptr::null_mut()) };
    }
}

#[cfg(not(Py_3_12))]
pub(crate) use tracing::{is_tracing_thread, start_tracing_thread, stop_tracing_thread};

#[cfg(Py_3_12)]
mod monitoring {
    use pyo3::prelude::*;

    use crate::announced::observed;
    use crate::calling;
    use crate::code::{Kind, code_at};
    use crate::frameworks;
    use crate::layout::monitored;
    use crate::markers;
    use crate::steps::{NotDone, instruction, returned};
    use crate::world::{is_aside, world};

    /// What `sys.monitoring` calls before each instruction.
    #[pyfunction]
    pub(crate) fn on_instruction(py: Python<'_>, code: &Bound<'_, PyAny>, offset: usize) -> PyResult<Py<PyAny>> {
        if is_aside() {
            return Ok(py.None());
        }
        let known = code_at(code.as_ptr());
        let op = known.op(offset / 2);
        if markers::are_on() && !known.foreign {
            markers::before_instruction(code.as_ptr()).map_err(|stop| stop.into_error(py))?;
            if op.kind == Kind::None {
                return Ok(py.None());
            }
        }
        if known.foreign || op.kind == Kind::None {
            return Ok(world().disable.as_ref().map_or_else(|| py.None(), |disable| disable.clone_ref(py)));
        }
        // SAFETY: the callback is called by the frame that runs `code`.
        let operands = unsafe { monitored(code.as_ptr(), known.locals, usize::from(op.depth)) };
        if let Some(operands) = operands {
            observed(&op, &operands);
            let done: Result<(), NotDone> = match op.kind {
                _ if frameworks::runs(known) => frameworks::instruction(known.whose, &op, &operands),
                Kind::Return => returned(&operands).map_err(Into::into),
                _ => instruction(&op, &operands),
            };
            done.map_err(|stop| stop.into_error(py))?;
        }
        Ok(py.None())
    }

    /// What it calls before each line, where threads stop at markers.
    #[pyfunction]
    pub(crate) fn on_line(py: Python<'_>, code: &Bound<'_, PyAny>, line: usize) -> PyResult<Py<PyAny>> {
        if is_aside() {
            return Ok(py.None());
        }
        match !code_at(code.as_ptr()).foreign
            && markers::line(code.as_ptr(), line).map_err(|stop| stop.into_error(py))?
        {
            true => Ok(py.None()),
            false => Ok(world().disable.as_ref().map_or_else(|| py.None(), |disable| disable.clone_ref(py))),
        }
    }

    /// What it calls when a frame is left by an exception.
    #[pyfunction]
    pub(crate) fn on_unwind(code: &Bound<'_, PyAny>, _offset: usize, _exception: &Bound<'_, PyAny>) {
        if !is_aside() {
            // SAFETY: as above.
            if let Some(operands) = unsafe { monitored(code.as_ptr(), 0, 0) } {
                calling::left(operands.frame());
            }
        }
    }

    /// All threads are monitored alike.
    pub(crate) fn start_tracing_thread() {}

    /// The same.
    pub(crate) fn stop_tracing_thread() {}

    /// Trace functions are another matter.
    pub(crate) fn is_tracing_thread(_probe: &Bound<'_, PyAny>) -> bool {
        true
    }
}

#[cfg(Py_3_12)]
pub(crate) use monitoring::{
    is_tracing_thread, on_instruction, on_line, on_unwind, start_tracing_thread, stop_tracing_thread,
};
