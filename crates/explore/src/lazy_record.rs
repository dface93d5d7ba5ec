//! What there is to tell of a finding: its record, which is made when somebody asks for it.
//!
//! A bug is often found within a handful of executions, and to put all of it into words takes longer than these
//! did. So the engine's state is kept, and told of when it is read, or compared with other findings.

use std::fmt;
use std::sync::{Arc, OnceLock};

use drawloom_engine::finding::Finding;
use drawloom_engine::schedule::{LineOf, Schedule};
use drawloom_engine::{Engine, ResourceKind, Site, Step};
use drawloom_report::{Knowledge, Meta, Place, Record, explain};

use super::output::source;
use super::program::Program;

/// How who runs the tests wants a finding to be replayed, if not as usual.
pub(super) fn replay_with() -> Option<String> {
    std::env::var(drawloom_report::ENV_REPLAY_WITH).ok()
}

/// A record, made or yet to be made.
#[derive(Clone)]
pub(super) struct LazyRecord {
    seen: Arc<Seen>,
    /// Without the token and what it is replayed with; what counts once there is a record is in there.
    meta: Meta,
    /// Whether the record is to be explained when it is made, by what it says itself.
    explained: bool,
    /// Boxed: findings are handed on more often than they are told of.
    record: OnceLock<Box<Record>>,
}

/// What the execution has left.
struct Seen {
    engine: Engine,
    finding: Finding,
    /// What its sites stand for.
    place: fn(Site) -> Option<Place>,
    line_of: LineOf,
}

impl LazyRecord {
    /// Of `finding`, which the execution that is still in `engine` has shown. The token is added to `meta`.
    pub(super) fn of<P: Program>(engine: &Engine, finding: &Finding, meta: Meta) -> LazyRecord {
        let seen = Seen { engine: engine.snapshot(), finding: finding.clone(), place: P::place, line_of: P::line_of };
        LazyRecord { seen: Arc::new(seen), meta, explained: false, record: OnceLock::new() }
    }

    pub(super) fn get(&self) -> &Record {
        self.record.get_or_init(|| {
            let Seen { engine, finding, place, line_of } = &*self.seen;
            let schedule = finding.kind.has_schedule().then(|| Schedule::of(engine, &self.meta.test, *line_of));
            let token = schedule.map_or_else(String::new, |schedule| schedule.token());
            let meta = Meta { token, replay_with: replay_with(), ..self.meta.clone() };
            let mut record = Record::of(engine, finding, meta, place);
            if self.explained {
                explain_by_itself(&mut record);
            }
            Box::new(record)
        })
    }

    /// The steps of the execution.
    pub(super) fn steps(&self) -> &[Step] {
        self.seen.engine.steps()
    }

    /// Whether there were actors, or nodes of a cluster.
    pub(super) fn has_processes(&self) -> bool {
        !self.seen.engine.notes().nodes().is_empty()
            || self.seen.engine.resources().iter().any(|resource| resource.kind == ResourceKind::Process)
    }

    /// Has it explained, by what it says itself, when somebody reads it.
    pub(super) fn explain_when_read(&mut self) {
        match self.record.get_mut() {
            Some(record) => explain_by_itself(record),
            None => self.explained = true,
        }
    }

    /// The same, to be changed.
    pub(super) fn get_mut(&mut self) -> &mut Record {
        self.get();
        self.record.get_mut().expect("it was made just now")
    }

    /// As far as it is known without the record: all but the token.
    pub(super) fn meta(&self) -> &Meta {
        self.record.get().map_or(&self.meta, |record| &record.meta)
    }

    /// To be changed; but for the token.
    pub(super) fn meta_mut(&mut self) -> &mut Meta {
        match self.record.get_mut() {
            Some(record) => &mut record.meta,
            None => &mut self.meta,
        }
    }
}

impl fmt::Debug for LazyRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(f)
    }
}

/// Adds to a record why it failed, as far as it tells itself.
fn explain_by_itself(record: &mut Record) {
    if let Some(explanation) = explain(record, &Knowledge::default(), &source) {
        record.explained(explanation);
    }
}
