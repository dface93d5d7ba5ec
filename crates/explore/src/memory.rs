//! Memory that explorations leave to those that come after them on the same OS thread.
//!
//! Most bugs are found within a handful of short executions. To allocate and to free what these need takes longer than
//! the executions themselves, so it is kept. Nothing but room is handed on: what is taken is as new.

use std::cell::Cell;
use std::sync::Arc;

use drawloom_engine::exhaustive::Explorer;
use drawloom_engine::finding::Divergence;
use drawloom_engine::strategy::{Auto, Drawn, Guide, Profile, Strategy, Tape, View};
use drawloom_engine::{Ending, TaskId};

use super::plan::GUIDED;
use super::sharing::SHARING;

thread_local! {
    static AUTO: Cell<Option<Box<Auto>>> = const { Cell::new(None) };
    static GUIDE: Cell<Option<Guide>> = const { Cell::new(None) };
    static EXPLORER: Cell<Option<Explorer>> = const { Cell::new(None) };
    static PROFILE: Cell<Option<Arc<Profile>>> = const { Cell::new(None) };
}

/// A guide of the first executions of an exploration.
pub(super) fn guide() -> Guide {
    // A thread that ends has kept nothing any more.
    match GUIDE.try_with(Cell::take).ok().flatten() {
        Some(mut guide) => {
            guide.renew();
            guide
        }
        None => Guide::new(SHARING, GUIDED),
    }
}

/// The exploration of `guide` is over.
pub(super) fn keep_guide(guide: Option<Guide>) {
    let _ = GUIDE.try_with(|kept| kept.set(guide));
}

/// An explorer that has everything before it, and may make `budget` executions.
pub(super) fn explorer(budget: u64) -> Explorer {
    match EXPLORER.try_with(Cell::take).ok().flatten() {
        Some(mut explorer) => {
            explorer.renew(budget);
            explorer
        }
        None => Explorer::new(SHARING, budget),
    }
}

/// The exploration of `explorer` is over, and nobody else has it.
pub(super) fn keep_explorer(explorer: Explorer) {
    let _ = EXPLORER.try_with(|kept| kept.set(explorer.is_small().then_some(explorer)));
}

/// A profile of nothing.
pub(super) fn profile() -> Arc<Profile> {
    PROFILE.try_with(Cell::take).ok().flatten().unwrap_or_default()
}

/// Nobody needs `profile` any more.
pub(super) fn keep_profile(mut profile: Arc<Profile>) {
    if let Some(known) = Arc::get_mut(&mut profile).filter(|known| known.is_small()) {
        known.forget();
        let _ = PROFILE.try_with(|kept| kept.set(Some(profile)));
    }
}

/// `auto`, which is kept when an executor lets go of it.
pub(super) struct Lent(Option<Box<Auto>>);

impl Lent {
    /// With this guide, or none.
    pub(super) fn auto(guide: Option<Guide>) -> Lent {
        let mut auto = AUTO.try_with(Cell::take).ok().flatten().unwrap_or_default();
        auto.renew(guide);
        Lent(Some(auto))
    }

    fn get(&self) -> &Auto {
        self.0.as_deref().expect("it is lent until it is dropped")
    }

    fn get_mut(&mut self) -> &mut Auto {
        self.0.as_deref_mut().expect("it is lent until it is dropped")
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        if let Some(mut auto) = self.0.take() {
            auto.renew(None);
            let _ = AUTO.try_with(|kept| kept.set(Some(auto)));
        }
    }
}

impl Strategy for Lent {
    fn prepare(&mut self, number: u64, profile: &Arc<Profile>) {
        self.get_mut().prepare(number, profile);
    }

    fn learns(&self) -> bool {
        self.get().learns()
    }

    fn contested(&self) -> Option<u64> {
        self.get().contested()
    }

    fn drawn(&self) -> Option<Drawn> {
        self.get().drawn()
    }

    fn begin(&mut self, seed: u64) {
        self.get_mut().begin(seed);
    }

    fn uniform_tape(&mut self) -> Option<Tape> {
        self.get_mut().uniform_tape()
    }

    fn is_exhaustive(&self) -> bool {
        self.get().is_exhaustive()
    }

    fn numbered(&mut self, parent: TaskId, ordinal: u32) {
        self.get_mut().numbered(parent, ordinal);
    }

    fn spawned(&mut self, parent: TaskId, child: TaskId) {
        self.get_mut().spawned(parent, child);
    }

    fn pick(&mut self, view: &View<'_>) -> Result<TaskId, Box<Divergence>> {
        self.get_mut().pick(view)
    }

    fn goes_on_until(&self) -> usize {
        self.get().goes_on_until()
    }

    fn passes_over(&mut self, task: TaskId, view: &View<'_>) -> bool {
        self.get_mut().passes_over(task, view)
    }

    fn choose(&mut self, outcomes: u64, view: &View<'_>) -> Result<u64, Box<Divergence>> {
        self.get_mut().choose(outcomes, view)
    }

    fn finish(&mut self, view: &View<'_>) -> Result<(), Box<Divergence>> {
        self.get_mut().finish(view)
    }

    fn end(&mut self, view: &View<'_>, ending: &Ending) {
        self.get_mut().end(view, ending);
    }
}
