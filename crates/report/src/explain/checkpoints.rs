//! Checkpoints: where the task of the window could be left.
//!
//! A task of threads can be left before each of its operations. So a checkpoint stands between two of them: it
//! is told of the operation after which others could run.

use super::case::{Blame, Case};
use super::explanation::Checkpoint;
use crate::record::Place;

/// Checkpoints that are shown.
const MOST: usize = 12;

/// The operations of the window's task inside the window, each with what it is to the scheduler.
pub(super) fn checkpoints(case: &Case<'_>, blame: &Blame) -> Vec<Checkpoint> {
    let Some(window) = &blame.window else { return Vec::new() };
    let end = case.end();
    let to = window.to.unwrap_or(end);
    let own: Vec<u32> = (window.from..to.min(end))
        .filter(|i| case.record.steps[*i as usize].task == window.task && case.place_of(*i).is_some())
        .collect();
    let mut points: Vec<Checkpoint> = Vec::new();
    for (at, i) in own.iter().enumerate() {
        let next = own.get(at + 1).copied().or(window.to).unwrap_or(end);
        let taken = next > i + 1;
        let step = &case.record.steps[*i as usize];
        let suspended = suspended_at(case, *i);
        let place = suspended.clone().or_else(|| case.shown_at(*i));
        // Several steps of one line are one place to be left at; the last of them says most.
        if let Some(last) = points.last().filter(|last| last.place == place) {
            if !last.taken {
                points.pop();
            }
        }
        points.push(Checkpoint {
            source: place.as_ref().and_then(|place| case.sources.line(place)),
            place,
            mark: match suspended {
                Some(_) => "SUSPEND (awaits)".to_owned(),
                None => mark(case, *i, case.record.operation(step)),
            },
            step: *i,
            taken,
        });
    }
    // Many alike say no more than a few: those that were taken stay.
    if points.len() > MOST {
        let mut room = MOST;
        points.retain(|p| {
            let keep = p.taken || room > 0;
            room = room.saturating_sub(1);
            keep
        });
    }
    points
}

/// Of a piece of a coroutine: the `await` at which it ends, where the next piece of the task begins.
fn suspended_at(case: &Case<'_>, i: u32) -> Option<Place> {
    let begins_piece = |place: &&Place| case.sources.begins_piece(place);
    case.place_of(i).filter(begins_piece)?;
    let task = case.whole.steps[i as usize].task;
    let next = (i + 1..case.whole.steps.len() as u32).find(|k| case.whole.steps[*k as usize].task == task)?;
    case.place_of(next).filter(begins_piece).cloned()
}

fn mark(case: &Case<'_>, i: u32, operation: &str) -> String {
    match operation {
        "unlock" | "unlock read" | "unlock write" | "release" => "CHECKPOINT (changes lock state)".to_owned(),
        "wait" | "recv" | "join" | "park" | "sleep" | "barrier wait" => "SUSPEND (waits)".to_owned(),
        "notify_one" | "notify_all" | "send" | "unpark" => {
            let woken = (i + 1..case.end()).find(|k| case.record.steps[*k as usize].after == Some(i));
            match woken.map(|k| case.record.steps[k as usize].task) {
                Some(task) => format!("CHECKPOINT (wakes {}, no switch yet)", case.names.path(task)),
                None => "CHECKPOINT".to_owned(),
            }
        }
        _ => "CHECKPOINT".to_owned(),
    }
}
