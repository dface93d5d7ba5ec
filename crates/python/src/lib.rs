//! The Python front end: threads of CPython under the same engine. The package around it is in `python/drawloom`.
//!
//! - `layout` is where CPython keeps operands;
//! - `code` is what the instructions of a function do;
//! - `instrument` has the interpreter's callbacks;
//! - `access` says what an instruction touches, and `effects` what functions do that are not written in Python;
//! - `announced` tells tests what that comes to;
//! - `steps` makes steps of it, as far as anybody could notice, and `containers` says how finely;
//! - `world` is what the process knows;
//! - `frameworks` are packages of which only locks, and what reaches the outside, are looked at;
//! - `assumptions` are what a result takes for granted, and `leftovers` is what executions leave behind for the next ones;
//! - `native` has locks of the interpreter obey, too, and `locals` is what each thread has its own of;
//! - `sync`, `condvar` and `tasks` are locks, condition variables, threads and time;
//! - `handing` is about locks that one thread takes and another one releases;
//! - `workers` is what main does;
//! - `markers` are places at which threads take turns, where nothing else is looked at;
//! - `chance` is what is random, the same each time;
//! - `outside` is what files, peers and databases are to it;
//! - `preload` is the same for C code, if the library is there that looks at it;
//! - `watch` sees to what happens in real time, and `unending` ends what does not end by itself;
//! - `guests` are tasks of an event loop, and what their pieces touch;
//! - `core` keeps threads where they are woken quickly;
//! - `program` runs executions, `result` is what comes of an exploration, `reading` is how people read that.

mod access;
mod announced;
mod assumptions;
mod calling;
mod chance;
mod code;
mod condvar;
mod containers;
mod core;
mod effects;
mod frameworks;
mod guests;
mod handing;
mod instrument;
mod layout;
mod leftovers;
mod locals;
mod markers;
mod names;
mod native;
mod outside;
mod preload;
mod program;
mod raise;
mod reading;
mod result;
mod steps;
mod sync;
mod tasks;
mod unending;
mod waits;
mod watch;
mod workers;
mod world;

use pyo3::prelude::*;
use pyo3::types::PyDict;

#[cfg(Py_GIL_DISABLED)]
compile_error!("drawloom needs the interpreter's lock, and this CPython is free-threaded: use a build with the lock");

use code::KINDS;
use effects::EFFECTS;
use world::world;

/// Hands over what the Python side knows of this interpreter.
#[pyfunction]
fn install(py: Python<'_>, given: &Bound<'_, PyDict>) -> PyResult<()> {
    let one = |name: &str| -> PyResult<Py<PyAny>> {
        let value = given.get_item(name)?;
        Ok(value.map_or_else(|| py.None(), |value| value.unbind()))
    };
    let all = |name: &str| -> PyResult<Vec<usize>> {
        let mut addresses = Vec::new();
        if let Some(types) = given.get_item(name)? {
            for kind in types.try_iter()? {
                let kind = kind?;
                addresses.push(kind.as_ptr() as usize);
                // Types of the interpreter last; those that do not are kept.
                std::mem::forget(kind.unbind());
            }
        }
        Ok(addresses)
    };
    let world = world();
    world.analyse = Some(one("analyse")?);
    world.classify = Some(one("classify")?);
    world.substitute = Some(one("substitute")?);
    world.locate = Some(one("locate")?);
    world.stack = Some(one("stack")?);
    world.waits = Some(one("waits")?);
    world.nothing = Some(one("nothing")?);
    world.describe = Some(one("describe")?);
    world.torn_down = Some(one("torn_down")?);
    world.disable = Some(one("disable")?);
    world.of_framework = Some(one("of_framework")?);
    world.probe = Some(one("idle")?);
    world.types.pure.extend(all("pure")?);
    world.types.containers.extend(all("containers")?);
    world.types.views.extend(all("views")?);
    world.types.deep_views.extend(all("deep_views")?);
    world.types.holders.extend(all("holders")?);
    for (kind, names) in given
        .get_item("shown")?
        .map(|shown| shown.extract::<Vec<(Py<PyAny>, Vec<String>)>>())
        .transpose()?
        .unwrap_or_default()
    {
        let names = names.iter().map(|name| kept_name(py, name)).collect();
        world.types.shown.insert(kind.as_ptr() as usize, names);
        std::mem::forget(kind);
    }
    world.types.resumed.extend(all("resumed")?);
    world.types.locals.extend(all("locals")?);
    world.types.at_once.extend(all("at_once")?);
    world.types.proxies.extend(all("proxies")?);
    for (name, place) in [
        ("probe", &mut world.types.probe),
        ("bound_slot", &mut world.types.bound_slot),
        ("partial", &mut world.types.partial),
        ("cached", &mut world.types.cached),
        ("sorted", &mut world.types.sorted),
        ("reentrant", &mut world.types.reentrant),
        ("cell", &mut world.types.cell),
        ("mapping_proxy", &mut world.types.mapping_proxy),
        ("namespace", &mut world.types.namespace),
    ] {
        let kind = one(name)?;
        *place = kind.as_ptr() as usize;
        std::mem::forget(kind);
    }
    Ok(())
}

/// The address of a name, which is kept for good.
fn kept_name(py: Python<'_>, name: &str) -> usize {
    pyo3::types::PyString::intern(py, name).unbind().into_ptr() as usize
}

/// Objects of these types never change, either: they belong to modules that need not be there.
#[pyfunction]
fn install_pure(types: Vec<Py<PyAny>>) {
    for kind in types {
        world().types.pure.insert(kind.as_ptr() as usize);
        std::mem::forget(kind);
    }
}

/// The base of all types of C, and of those that are functions: of a module that need not be there.
#[pyfunction]
fn install_c(data: Py<PyAny>, function: Py<PyAny>) {
    let types = &mut world().types;
    (types.c_data, types.c_function) = (data.into_ptr() as usize, function.into_ptr() as usize);
}

#[pymodule]
fn _drawloom(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    let numbers = |names: &mut dyn Iterator<Item = &'static str>| -> PyResult<Bound<'_, PyDict>> {
        let numbers = PyDict::new(py);
        names.enumerate().try_for_each(|(number, name)| numbers.set_item(name, number))?;
        Ok(numbers)
    };
    module.add("KINDS", numbers(&mut KINDS.iter().map(|(name, _)| *name))?)?;
    module.add("EFFECTS", numbers(&mut EFFECTS.iter().map(|(name, _)| *name))?)?;
    module.add_function(wrap_pyfunction!(install, module)?)?;
    module.add_function(wrap_pyfunction!(install_pure, module)?)?;
    module.add_function(wrap_pyfunction!(install_c, module)?)?;
    announced::add_to(module)?;
    #[cfg(Py_3_12)]
    module.add_function(wrap_pyfunction!(instrument::on_instruction, module)?)?;
    #[cfg(Py_3_12)]
    module.add_function(wrap_pyfunction!(instrument::on_unwind, module)?)?;
    #[cfg(Py_3_12)]
    module.add_function(wrap_pyfunction!(instrument::on_line, module)?)?;
    module.add_class::<sync::Lock>()?;
    module.add_class::<condvar::CondVar>()?;
    module.add_class::<chance::GeneratorState>()?;
    module.add_class::<workers::Workers>()?;
    module.add_function(wrap_pyfunction!(workers::is_broken, module)?)?;
    module.add_function(wrap_pyfunction!(workers::workers, module)?)?;
    module.add_function(wrap_pyfunction!(assumptions::assume_time, module)?)?;
    tasks::add_to(module)?;
    markers::add_to(module)?;
    guests::add_to(module)?;
    outside::add_to(module)?;
    preload::add_to(module)?;
    reading::add_to(module)?;
    result::add_to(module)
}
