//! Near-linear algorithms for objects of a known shape.
//!
//! Each applies to histories in which no value is written or inserted twice, and says nothing about others: then the
//! general search decides, unless counting refutes them. All of them are compared with it on random histories (`tests/fuzz`), since published
//! algorithms of this kind have been wrong.

mod counter;
mod counting;
mod mutex;
mod queue;
mod register;
mod stack;

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use crate::hash::Fold;
use crate::history::{History, Outcome};
use crate::model::{Access, Model, Shape, Token};

/// An event that never comes.
const NEVER: u32 = u32::MAX;

/// Values by token, in the order in which they are met.
type Numbers<'a> = HashMap<Token<'a>, u32, BuildHasherDefault<Fold>>;

/// An operation in the words of its shape: when it was called, by when it has taken effect, what it does.
#[derive(Clone, Copy, Debug)]
struct Seen<'a> {
    call: u32,
    /// `NEVER` if its outcome is unknown.
    ret: u32,
    access: Access<'a>,
}

/// Whether the given operations can be explained; `None` if there is no algorithm that knows.
pub(crate) fn decide<M: Model>(
    model: &M,
    history: &History<M::Op, M::Ret>,
    members: impl Iterator<Item = u32>,
) -> Option<bool> {
    let shape = model.shape();
    if shape == Shape::Generic {
        return None;
    }
    let mut seen: Vec<Seen<'_>> = Vec::with_capacity(members.size_hint().0);
    for id in members {
        let operation = &history.operations()[id as usize];
        let ret = match &operation.outcome {
            Outcome::Ok(ret) => Some(ret),
            Outcome::Fail => continue,
            // Nobody can notice an observer of unknown outcome.
            Outcome::Info | Outcome::Pending if model.observer(&operation.op, None) => continue,
            Outcome::Info | Outcome::Pending => None,
        };
        let access = model.access(&operation.op, ret);
        if access == Access::Other {
            return None;
        }
        seen.push(Seen { call: operation.call, ret: operation.deadline(), access });
    }
    match shape {
        Shape::Generic => None,
        Shape::Register(init) => register::decide(init, &seen),
        Shape::Queue => queue::decide(&seen).or_else(|| counting::refutes(&seen, true).then_some(false)),
        Shape::Stack => stack::decide(&seen).or_else(|| counting::refutes(&seen, false).then_some(false)),
        Shape::Container => counting::refutes(&seen, false).then_some(false),
        Shape::Counter(init) => counter::decide(init, &seen),
        Shape::Mutex => mutex::decide(&seen),
    }
}

/// A value of a queue or stack: its insert and its remove.
#[derive(Clone, Copy, Debug)]
struct Life {
    insert: (u32, u32),
    /// `NEVER` twice if it stays.
    remove: (u32, u32),
}

/// Values, and the intervals of removes that found nothing.
struct Lives {
    lives: Vec<Life>,
    empties: Vec<(u32, u32)>,
}

/// Why values could not be gathered.
enum Gathered {
    /// The algorithm does not apply.
    Unclear,
    /// A value was removed that nobody inserted, or twice, or before its insert was called.
    Impossible,
    Lives(Lives),
}

/// Brings inserts and removes of the same value together.
fn gather(seen: &[Seen<'_>]) -> Gathered {
    let mut numbers = Numbers::with_capacity_and_hasher(seen.len(), BuildHasherDefault::default());
    let mut lives: Vec<Life> = Vec::with_capacity(seen.len());
    let mut empties = Vec::new();
    for Seen { call, ret, access } in seen {
        if let Access::Insert(value) = access {
            if numbers.insert(*value, lives.len() as u32).is_some() {
                return Gathered::Unclear;
            }
            lives.push(Life { insert: (*call, *ret), remove: (NEVER, NEVER) });
        }
    }
    for Seen { call, ret, access } in seen {
        match access {
            Access::Insert(_) => {}
            Access::Remove(None) => empties.push((*call, *ret)),
            Access::Remove(Some(value)) => {
                let Some(number) = numbers.get(value) else { return Gathered::Impossible };
                let life = &mut lives[*number as usize];
                if life.remove.0 != NEVER || *ret < life.insert.0 {
                    return Gathered::Impossible;
                }
                life.remove = (*call, *ret);
            }
            _ => return Gathered::Unclear,
        }
    }
    // An insert of unknown outcome whose value nobody saw might as well not have happened.
    lives.retain(|life| life.insert.1 != NEVER || life.remove.0 != NEVER);
    Gathered::Lives(Lives { lives, empties })
}

impl Lives {
    /// The times during which something is certainly there, as separate stretches in order.
    fn occupied(&self) -> Vec<(u32, u32)> {
        let mut sure: Vec<(u32, u32)> =
            self.lives.iter().map(|life| (life.insert.1, life.remove.0)).filter(|(from, to)| from < to).collect();
        sure.sort_unstable();
        let mut merged: Vec<(u32, u32)> = Vec::new();
        for (from, to) in sure {
            match merged.last_mut() {
                Some(last) if from < last.1 => last.1 = last.1.max(to),
                _ => merged.push((from, to)),
            }
        }
        merged
    }

    /// Whether every remove that found nothing has a moment at which nothing need be there.
    fn empties_fit(&self, occupied: &[(u32, u32)]) -> bool {
        self.empties.iter().all(|(call, ret)| {
            let after = occupied.partition_point(|(from, _)| from < call);
            after == 0 || occupied[after - 1].1 < *ret
        })
    }
}
