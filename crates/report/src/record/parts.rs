//! Steps that touch several parts of one resource, as pieces of coroutines do: what each is about.

use drawloom_engine::Parts;

use super::{Record, StepRecord};
use crate::names::Names;

impl Record {
    /// The parts of its resource that a step touches and that have names, each with whether it writes it.
    pub(crate) fn parts(&self, step: &StepRecord) -> impl Iterator<Item = (u32, bool)> {
        let of_parts = matches!(self.operation(step), "read parts" | "write parts");
        let parts = Parts::of(step.argument.filter(|_| of_parts).unwrap_or(0));
        let first = step.resource.map_or(0, |whole| whole as usize + 1);
        let all = self.resources.iter().enumerate().skip(first).zip(0..Parts::MOST);
        let has = |bits: u32, part: u32| bits >> part & 1 == 1;
        all.filter(move |((_, resource), part)| resource.name.is_some() && has(parts.reads | parts.writes, *part))
            .map(move |((at, _), part)| (at as u32, has(parts.writes, part)))
    }

    /// The parts that a step is told by: those that it writes, or else all.
    pub(crate) fn parts_told(&self, step: &StepRecord) -> Vec<u32> {
        let writes = self.parts(step).any(|(_, writes)| writes);
        self.parts(step).filter(|(_, written)| *written || !writes).map(|(part, _)| part).collect()
    }

    /// What a step is about, in short.
    pub(crate) fn subject(&self, names: &Names<'_>, step: &StepRecord) -> String {
        let parts = self.parts_told(step);
        match parts.is_empty() {
            true => step.resource.map(|whole| names.short(whole)).unwrap_or_default().to_owned(),
            false => parts.iter().map(|part| names.short(*part)).collect::<Vec<_>>().join(", "),
        }
    }
}
