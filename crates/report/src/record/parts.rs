//! Steps that touch several things, parts of one resource or several resources: what each is about.

use drawloom_engine::{Parts, ResourceId, Several};

use super::{Record, StepRecord};
use crate::names::Names;

impl Record {
    /// Whether it touches parts of its resource, which are what it is about in its place.
    pub(crate) fn is_of_parts(&self, step: &StepRecord) -> bool {
        matches!(self.operation(step), "read parts" | "write parts")
    }

    /// What a step touches where that is several things, each with whether it writes it: those parts of its resource that have
    /// names, or several resources.
    pub(crate) fn parts(&self, step: &StepRecord) -> Vec<(u32, bool)> {
        if matches!(self.operation(step), "read several" | "write several") {
            return self.several(step);
        }
        if !self.is_of_parts(step) {
            return Vec::new();
        }
        let parts = Parts::of(step.argument.unwrap_or(0));
        let first = step.resource.map_or(0, |whole| whole as usize + 1);
        let all = self.resources.iter().enumerate().skip(first).zip(0..Parts::MOST);
        let has = |bits: u32, part: u32| bits >> part & 1 == 1;
        all.filter(|((_, resource), part)| resource.name.is_some() && has(parts.reads | parts.writes, *part))
            .map(|((at, _), part)| (at as u32, has(parts.writes, part)))
            .collect()
    }

    fn several(&self, step: &StepRecord) -> Vec<(u32, bool)> {
        let first = step.resource.map_or(ResourceId::NONE, ResourceId);
        let touched = Several::of(first, step.argument.unwrap_or(0)).touched().map(|(id, writes)| (id.0, writes));
        touched.filter(|(id, _)| (*id as usize) < self.resources.len()).collect()
    }

    /// The parts that a step is told by: those that it writes, or else all.
    pub(crate) fn parts_told(&self, step: &StepRecord) -> Vec<u32> {
        let parts = self.parts(step);
        let writes = parts.iter().any(|(_, writes)| *writes);
        parts.into_iter().filter(|(_, written)| *written || !writes).map(|(part, _)| part).collect()
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
