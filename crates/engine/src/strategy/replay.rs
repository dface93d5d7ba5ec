//! Replay: makes the choices of a recorded schedule again.
//!
//! The first step that is not the recorded one ends the execution with a divergence that names both; line
//! numbers are named but not compared, so that a comment more or less does no harm. [`super::Lenient`] goes
//! on instead.

use super::{Strategy, View};
use crate::finding::Divergence;
use crate::id::TaskId;
use crate::schedule::{LineOf, Schedule, Segment};

/// Follows a schedule.
#[derive(Clone, Debug)]
pub struct Replay {
    schedule: Schedule,
    line_of: LineOf,
    /// The segment that the next step belongs to, and the step at which it began.
    segment: usize,
    segment_began: u64,
    verified: u64,
    chosen: usize,
}

impl Replay {
    /// A replay of `schedule`.
    pub fn new(schedule: Schedule, line_of: LineOf) -> Self {
        Replay { schedule, line_of, segment: 0, segment_began: 0, verified: 0, chosen: 0 }
    }

    /// The segment that step number `step` belongs to, and whether it begins with that.
    fn segment_at(&mut self, step: u64) -> Option<(&Segment, bool)> {
        while let Some(segment) = self.schedule.segments.get(self.segment) {
            if step < self.segment_began + segment.count {
                break;
            }
            self.segment_began += segment.count;
            self.segment += 1;
        }
        Some((self.schedule.segments.get(self.segment)?, step == self.segment_began))
    }

    /// Compares the steps made since the last choice: those had no alternative, so nobody asked.
    fn verify(&mut self, view: &View<'_>) -> Result<(), Box<Divergence>> {
        while let Some(step) = view.steps().get(self.verified as usize) {
            let at = self.verified;
            self.verified += 1;
            let line = (self.line_of)(step.site);
            let found = || format!("`{}` by task {} on line {line}", step.kind.word(), view.path(step.task));
            let Some((segment, begins)) = self.segment_at(at) else {
                return Err(divergence(at, "the end of the recording".into(), found(), None));
            };
            let first = segment.first.filter(|_| begins);
            let same = view.is_path_of(step.task, &segment.task) && first.is_none_or(|first| first.kind == step.kind);
            if !same {
                return Err(divergence(at, describe(segment, begins), found(), Some(segment)));
            }
        }
        Ok(())
    }
}

fn describe(segment: &Segment, first: bool) -> String {
    match segment.first {
        Some(expected) if first => {
            format!("`{}` by task {} on line {}", expected.kind.word(), segment.task, expected.line)
        }
        _ => format!("a step of task {}", segment.task),
    }
}

fn divergence(step: u64, expected: String, found: String, segment: Option<&Segment>) -> Box<Divergence> {
    Box::new(Divergence { step, expected, found, task: segment.map(|s| s.task.clone()) })
}

impl Strategy for Replay {
    fn is_exhaustive(&self) -> bool {
        self.schedule.exhaustive
    }

    fn begin(&mut self, _seed: u64) {
        self.segment = 0;
        self.segment_began = 0;
        self.verified = 0;
        self.chosen = 0;
    }

    fn pick(&mut self, view: &View<'_>) -> Result<TaskId, Box<Divergence>> {
        self.verify(view)?;
        let step = view.steps().len() as u64;
        let line_of = self.line_of;
        let Some((segment, first)) = self.segment_at(step) else {
            let found = format!("{} tasks that can still run", view.ready().len());
            return Err(divergence(step, "the end of the recording".into(), found, None));
        };
        let wanted = view.ready().iter().copied().find(|t| view.is_path_of(*t, &segment.task));
        match wanted {
            Some(task) => {
                let pending = view.pending(task);
                let line = line_of(pending.site);
                match segment.first.filter(|_| first) {
                    Some(expected) if expected.kind != pending.kind => {
                        let found = format!("`{}` by task {} on line {line}", pending.kind.word(), segment.task);
                        Err(divergence(step, describe(segment, true), found, Some(segment)))
                    }
                    _ => Ok(task),
                }
            }
            None => {
                let ready: Vec<String> = view
                    .ready()
                    .iter()
                    .map(|t| {
                        let pending = view.pending(*t);
                        format!("`{}` by task {} on line {}", pending.kind.word(), view.path(*t), line_of(pending.site))
                    })
                    .collect();
                let found = format!("that this task is not ready; ready are {}", ready.join(", "));
                Err(divergence(step, describe(segment, first), found, Some(segment)))
            }
        }
    }

    /// The schedule says who goes on.
    fn passes_over(&mut self, _task: TaskId, _view: &View<'_>) -> bool {
        false
    }

    fn choose(&mut self, outcomes: u64, view: &View<'_>) -> Result<u64, Box<Divergence>> {
        let recorded = self.schedule.outcomes.get(self.chosen).copied();
        self.chosen += 1;
        match recorded {
            Some(chosen) if chosen < outcomes => Ok(chosen),
            Some(chosen) => Err(divergence(
                view.steps().len() as u64,
                format!("a choice with the outcome {chosen}"),
                format!("a choice of {outcomes} outcomes"),
                None,
            )),
            None => Err(divergence(
                view.steps().len() as u64,
                "no further choice".into(),
                format!("a choice of {outcomes} outcomes"),
                None,
            )),
        }
    }

    fn finish(&mut self, view: &View<'_>) -> Result<(), Box<Divergence>> {
        self.verify(view)?;
        let made = view.steps().len() as u64;
        match self.segment_at(made) {
            None => Ok(()),
            Some((segment, first)) => {
                let expected = describe(segment, first);
                Err(divergence(made, expected, "that every task has finished".into(), Some(segment)))
            }
        }
    }
}
