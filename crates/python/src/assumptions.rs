//! What is taken for granted where it cannot be told: it belongs to a result that says that something holds.

use drawloom_engine::Site;

use crate::access::Touched;
use crate::raise::here;
use crate::world::{Phase, place, world};

/// Somebody waits for a limited time, or reads a clock, while others run.
const TIME: &str = "time";
/// Somebody looks whether an object is still there.
const WEAK: &str = "weak references";
/// Something goes through a framework.
const FRAMEWORKS: &str = "frameworks";

/// Time plays a part in what the running task does.
pub(crate) fn time() {
    if world().phase == Phase::Parallel && !world().assumptions.contains_key(TIME) {
        note(TIME, here());
    }
}

/// The running task has called a framework, while others run.
#[inline]
pub(crate) fn framework() {
    if !world().assumptions.contains_key(FRAMEWORKS) {
        note(FRAMEWORKS, here());
    }
}

/// Nothing is assumed of time: timers fire early as well.
pub(crate) fn none_of_time() {
    world().assumptions.remove(TIME);
}

/// What an instruction touches may be gone, or not.
pub(crate) fn life(touched: &Touched, site: Site) {
    if touched.of_life && !world().assumptions.contains_key(WEAK) {
        note(WEAK, site);
    }
}

fn note(kind: &'static str, site: Site) {
    let place = place(site).map(|place| format!("{}:{}", place.file, place.line)).unwrap_or_default();
    world().assumptions.insert(kind, place);
}

/// Time plays a part, as the Python side sees it.
#[pyo3::pyfunction]
pub(crate) fn assume_time() {
    time();
}
