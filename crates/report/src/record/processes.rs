//! The processes of an execution, as they are kept: what they said to each other, who was tied to whom, what was left in mailboxes.

use super::{Record, StepRecord};
use drawloom_engine::notes::Happening;
use drawloom_engine::sorted::sort_by_key;
use drawloom_engine::{Engine, OpKind, ResourceId, ResourceKind, Step, outcome};

/// The processes of an execution. None where there were no actors.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ProcessesRecord {
    /// Each of them, in the order of their tasks.
    pub all: Vec<ProcessRecord>,
    /// What steps say that deliver something, or end a process: the message's own `Debug`.
    pub said: Vec<SaidRecord>,
    /// Links and monitors that were made or have gone, in their order.
    pub ties: Vec<TieRecord>,
    /// The tasks that stand for nodes of a cluster, in the order of their creation.
    pub nodes: Vec<u32>,
    /// What has happened at nodes, in its order.
    pub happened: Vec<HappenedRecord>,
}

/// What has happened at a node.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HappenedRecord {
    /// The step by which it has.
    pub step: u32,
    /// `arrives`, `is lost`, `own`, `fault` or `nothing`.
    pub what: String,
    /// The task that stands for the node that has sent it, or that a fault hits.
    pub from: Option<u32>,
    /// What it says.
    pub text: String,
}

/// A process.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProcessRecord {
    /// The task that it is.
    pub task: u32,
    /// Its mailbox, a resource.
    pub mailbox: u32,
    /// Why it has ended, if it has.
    pub reason: Option<String>,
    /// The steps that have put something into its mailbox that was never received.
    pub left: Vec<u32>,
}

/// What a step says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SaidRecord {
    /// The step.
    pub step: u32,
    /// What it says.
    pub text: String,
}

/// A link or a monitor that was made, or has gone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TieRecord {
    /// The step by which it was.
    pub step: u32,
    /// The task that links or monitors.
    pub by: u32,
    /// With whom.
    pub with: u32,
    /// A link, and not a monitor.
    pub link: bool,
    /// Made, and not taken away.
    pub made: bool,
}

/// The most that is kept of what a step says.
const LONGEST: usize = 400;
/// The name of a task that only delivers something later: it is no process.
const TIMER: &str = "timer";

impl Record {
    /// Whether a step is on a process or its mailbox.
    pub(crate) fn is_of_process(&self, step: &StepRecord) -> bool {
        step.resource.is_some_and(|i| self.resources.get(i as usize).is_some_and(|r| r.kind == "process"))
    }
}

impl ProcessesRecord {
    /// As the execution that is still in `engine` has left them, after the steps that were `made` up to the finding.
    pub(super) fn of(engine: &Engine, made: &[Step]) -> ProcessesRecord {
        if cfg!(feature = "processes") { ProcessesRecord::all_of(engine, made) } else { ProcessesRecord::default() }
    }

    fn all_of(engine: &Engine, made: &[Step]) -> ProcessesRecord {
        let owner = |id: ResourceId| {
            let task = engine.mailbox_owner(id)?;
            (engine.task(task).name.as_deref() != Some(TIMER)).then_some(task)
        };
        let ids = engine.resources().iter().zip((0..).map(ResourceId));
        let mailboxes = ids.filter(|(resource, _)| resource.kind == ResourceKind::Process).map(|(_, id)| id);
        let mut all: Vec<ProcessRecord> = mailboxes
            .filter_map(|id| {
                let task = owner(id)?;
                Some(ProcessRecord { task: task.0, mailbox: id.0, reason: None, left: left(made, id) })
            })
            .collect();
        sort_by_key(&mut all, |process| process.task);
        let notes = engine.notes();
        let mut said = Vec::new();
        for (step, i) in made.iter().zip(0..) {
            let text = match step.kind {
                _ if delivers(step) => notes.arrival(step.resource, step.value),
                OpKind::Signal => notes.said(i),
                OpKind::End => notes.reason(step.task),
                _ => None,
            };
            if let (OpKind::End, Some(process)) = (step.kind, all.iter_mut().find(|p| p.task == step.task.0)) {
                process.reason = text.map(cut);
            }
            said.extend(text.map(|text| SaidRecord { step: i, text: cut(text) }));
        }
        let shown = notes.ties().iter().filter(|tie| (tie.step as usize) < made.len());
        let ties = shown.map(|tie| TieRecord {
            step: tie.step,
            by: tie.by.0,
            with: tie.with.0,
            link: tie.link,
            made: tie.made,
        });
        let nodes: Vec<u32> = notes.nodes().iter().map(|task| task.0).collect();
        let happened = notes.happened().iter().filter(|happened| (happened.step as usize) < made.len());
        let happened = happened.map(|happened| HappenedRecord {
            step: happened.step,
            what: word(happened.what).to_owned(),
            from: happened.from.and_then(|from| nodes.get(from as usize).copied()),
            text: cut(&happened.text),
        });
        ProcessesRecord { said, ties: ties.collect(), all, happened: happened.collect(), nodes }
    }

    /// Whether everything that it refers to is there.
    pub(super) fn fits(&self, tasks: usize, resources: usize, steps: usize) -> bool {
        let (task, step) = (|i: u32| (i as usize) < tasks, |i: u32| (i as usize) < steps);
        self.all.iter().all(|process| {
            task(process.task) && (process.mailbox as usize) < resources && process.left.iter().all(|i| step(*i))
        }) && self.said.iter().all(|said| step(said.step))
            && self.ties.iter().all(|tie| step(tie.step) && task(tie.by) && task(tie.with))
            && self.nodes.iter().all(|node| task(*node))
            && self.happened.iter().all(|happened| step(happened.step) && happened.from.is_none_or(task))
    }
}

fn word(what: Happening) -> &'static str {
    match what {
        Happening::Arrives => "arrives",
        Happening::IsLost => "is lost",
        Happening::Own => "own",
        Happening::Fault => "fault",
        Happening::Nothing => "nothing",
    }
}

/// Whether it has put something into a mailbox.
fn delivers(step: &Step) -> bool {
    step.is_ok() && matches!(step.kind, OpKind::Deliver | OpKind::Signal | OpKind::Down)
}

/// What was put into a mailbox and neither received nor taken back.
fn left(made: &[Step], mailbox: ResourceId) -> Vec<u32> {
    let mut left: Vec<(u32, &Step)> = Vec::new();
    for (step, i) in made.iter().zip(0..).filter(|(step, _)| step.resource == mailbox || step.kind == OpKind::Demonitor)
    {
        match step.kind {
            _ if delivers(step) && step.resource == mailbox => left.push((i, step)),
            OpKind::Receive if u32::from(step.outcome) == outcome::OK => left.retain(|(_, at)| at.value != step.value),
            OpKind::Demonitor => left.retain(|(_, at)| (at.kind, at.arg) != (OpKind::Down, step.arg)),
            _ => {}
        }
    }
    left.into_iter().map(|(i, _)| i).collect()
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

crate::json::object! {
    ProcessesRecord { all, said, ties, #[left_out] nodes, #[left_out] happened }
    HappenedRecord { step, what, from, text }
    ProcessRecord { task, mailbox, reason, left }
    SaidRecord { step, text }
    TieRecord { step, by, with, link, made }
}
