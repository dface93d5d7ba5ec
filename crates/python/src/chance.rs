//! The state of the interpreter's generators of random numbers, which is large, and is set for each execution.

use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::prelude::*;

/// How many words a generator has: where it is in the others, and these.
const WORDS: usize = 625;
type Words = [u32; WORDS];

/// The words of a generator: in all versions they come first in it.
fn words(generator: &Bound<'_, PyAny>) -> PyResult<*mut Words> {
    let least = (size_of::<ffi::PyObject>() + size_of::<Words>()) as isize;
    let object = generator.as_ptr();
    // SAFETY: a live object of a live type; what is behind its head is within it, if it is as large as that.
    unsafe {
        match (*ffi::Py_TYPE(object)).tp_basicsize >= least {
            true => Ok(object.add(1).cast()),
            false => Err(PyTypeError::new_err("not a generator of random numbers")),
        }
    }
}

/// A state.
#[pyclass(module = "drawloom", frozen)]
pub(crate) struct GeneratorState(Words);

#[pymethods]
impl GeneratorState {
    #[new]
    fn new(generator: &Bound<'_, PyAny>) -> PyResult<GeneratorState> {
        // SAFETY: they are within the generator, which nobody changes while the interpreter's lock is held.
        Ok(GeneratorState(unsafe { words(generator)?.read() }))
    }

    /// Has a generator go on from here.
    fn set(&self, generator: &Bound<'_, PyAny>) -> PyResult<()> {
        // SAFETY: as above.
        unsafe { words(generator)?.write(self.0) };
        Ok(())
    }

    /// Whether it is what `getstate` tells of a generator: where it is comes last there.
    fn is_as_told(&self, told: Vec<u32>) -> bool {
        told.len() == WORDS && told[WORDS - 1] == self.0[0] && told[..WORDS - 1] == self.0[1..]
    }
}
