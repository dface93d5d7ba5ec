//! What the Python side knows of waits: for locks of event loops, for sockets and pipes, for the thread of a loop.
//!
//! None of them is the engine's own. The Python side keeps who has what, and is asked once nobody can go on.

use drawloom_engine::finding::Blocked;
use drawloom_engine::{OpKind, ResourceId, ResourceKind, Site, State, TaskId};
use drawloom_gates::{Baton, Wait};
use pyo3::prelude::*;

use crate::world::{aside, world};

/// A line of a file.
type Line = (String, usize);

/// Tasks, each with a line that says why it is one of them.
type Others = Vec<(u32, Line)>;

/// A wait, as the Python side tells it: who waits, how, for which of the objects or for whose end, and where; who has what is
/// waited for, and who is likely to end the wait.
type Told = (u32, String, Option<usize>, Option<u32>, Line, Others, Others);

/// What is waited for: its kind, its name if it has one, and whether it is known by that name to the engine, too.
type Object = (String, Option<String>, bool);

/// What is known of those who wait. The caller holds the interpreter's lock.
pub(crate) fn known(baton: Baton) -> Vec<Wait> {
    // SAFETY: who runs a task holds it.
    let py = unsafe { Python::assume_gil_acquired() };
    let Some(waits) = world().waits.as_ref().map(|waits| waits.clone_ref(py)) else { return Vec::new() };
    let told = aside(|| waits.call0(py)).and_then(|told| told.extract::<(Vec<Object>, Vec<Told>, Option<String>)>(py));
    let (objects, told, besides) = match told {
        Ok(told) => told,
        Err(error) => {
            // Nothing more is known then, and what the engine knows is true all the same.
            error.write_unraisable(py, None);
            return Vec::new();
        }
    };
    if let Some(besides) = besides {
        baton.with_engine(|engine| engine.mention(&besides));
    }
    let mut resources: Vec<Option<ResourceId>> = vec![None; objects.len()];
    let mut waits = Vec::new();
    for (task, word, object, target, line, holders, likely) in told {
        let Some(kind) = kind_of(&word) else { continue };
        let site = match site(&line) {
            Site::UNKNOWN => baton.with_engine(|engine| engine.task(TaskId(task)).pending.site),
            site => site,
        };
        let resource = match object {
            Some(at) => *resources[at].get_or_insert_with(|| resource(baton, &objects[at], TaskId(task), site)),
            None => ResourceId::NONE,
        };
        let arg = match kind {
            OpKind::Park | OpKind::Acquire => 1,
            _ => target.map_or(0, u64::from),
        };
        let (blockers, likely) = (others(&holders), others(&likely));
        let blocked = Blocked { task: TaskId(task), kind, resource, arg, awaited: None, site, blockers, queued: 0 };
        waits.push(Wait { blocked, likely });
    }
    waits
}

/// The operation of the engine that such a wait is like.
fn kind_of(word: &str) -> Option<OpKind> {
    Some(match word {
        "lock" => OpKind::Lock,
        "acquire" => OpKind::Acquire,
        "wait" => OpKind::CondWait,
        "recv" => OpKind::Recv,
        "send" => OpKind::Send,
        "join" => OpKind::Join,
        "park" => OpKind::Park,
        _ => return None,
    })
}

/// The resource that an object of Python's is in reports. Nothing is done to it: the execution is over.
fn resource(baton: Baton, (kind, name, is_outside): &Object, waits: TaskId, waited_at: Site) -> ResourceId {
    let outside = name.as_ref().filter(|_| *is_outside).and_then(|name| world().outside.get(name).copied());
    if let Some(id) = outside {
        return id;
    }
    if kind == PENDING {
        // What it is made of inside gets the name of the whole.
        return baton.with_engine(|engine| {
            let id = engine.task(waits).pending.resource;
            name.iter().for_each(|name| engine.name_resource(id, name));
            id
        });
    }
    let kind = match kind.as_str() {
        "lock" => ResourceKind::Mutex,
        "semaphore" => ResourceKind::Semaphore,
        "condition" => ResourceKind::Condvar,
        _ => ResourceKind::Channel,
    };
    baton.with_engine(|engine| {
        let id = engine.create_resource(TaskId::MAIN, kind, State::Plain, waited_at);
        if let Some(name) = name {
            engine.name_resource(id, name);
        }
        id
    })
}

/// The kind of what the engine has the task wait for already.
const PENDING: &str = "pending";

fn others(told: &Others) -> Vec<(TaskId, Site)> {
    told.iter().map(|(task, line)| (TaskId(*task), site(line))).collect()
}

fn site((file, line): &Line) -> Site {
    if file.is_empty() { Site::UNKNOWN } else { world().site(file, *line) }
}
