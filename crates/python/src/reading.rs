//! Records, for people: as text and as a page; and for CI.

use drawloom_report::{PageOptions, Record, RenderOptions, Shown, ci};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// A record that this process has made.
fn read(record: &str) -> PyResult<Record> {
    let mut record = Record::read(record).map_err(|error| PyValueError::new_err(error.to_string()))?;
    record.meta.own = true;
    Ok(record)
}

/// A source file; a larger one is not shown.
fn source(file: &str) -> Option<String> {
    const MOST_BYTES: u64 = 16 << 20;
    drawloom_report::kept::read(file.as_ref(), MOST_BYTES).ok()
}

/// A record as text. `page` is where it can be looked at.
#[pyfunction]
#[pyo3(signature = (record, width = 120, colour = false, page = None))]
fn render(record: &str, width: usize, colour: bool, page: Option<&str>) -> PyResult<String> {
    let options = RenderOptions { width, colour, sources: &source, page, ..RenderOptions::default() };
    Ok(drawloom_report::render(&read(record)?, &options))
}

/// A record as a page to look at.
#[pyfunction]
fn page(record: &str) -> PyResult<String> {
    let record = read(record)?;
    let label = if record.meta.minimised.is_some() { "minimised" } else { "failing" };
    let options = PageOptions { sources: &source, ..PageOptions::default() };
    Ok(drawloom_report::page(&[Shown { label, record: &record }], &options))
}

/// What CI is told of a record, as JSON; names of files are relative to `base`.
#[pyfunction]
#[pyo3(signature = (record, base, page = None))]
fn problem(record: &str, base: &str, page: Option<String>) -> PyResult<String> {
    let problem = ci::Problem::of(&read(record)?, base.as_ref(), &source);
    Ok(ci::Problem { page, ..problem }.to_json())
}

/// What CI reads: `sarif`, `annotations` or `summary` of tests, which are a list in JSON.
#[pyfunction]
fn for_ci(form: &str, cases: &str) -> PyResult<String> {
    let cases = ci::Case::read_all(cases).map_err(PyValueError::new_err)?;
    match form {
        "sarif" => Ok(ci::sarif(&cases, env!("CARGO_PKG_VERSION"))),
        "annotations" => Ok(ci::annotations(&cases)),
        "summary" => Ok(ci::step_summary(&cases)),
        _ => Err(PyValueError::new_err(format!("{form:?} is no form"))),
    }
}

pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(render, module)?)?;
    module.add_function(wrap_pyfunction!(page, module)?)?;
    module.add_function(wrap_pyfunction!(problem, module)?)?;
    module.add_function(wrap_pyfunction!(for_ci, module)?)
}
