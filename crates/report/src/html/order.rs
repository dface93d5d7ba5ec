//! Happens-before arrows: for each step, the steps of other tasks that it comes right after.

use drawloom_engine::sorted::{Map, Set, sort_by_key};

use drawloom_engine::causality::Causality;
use drawloom_engine::{OpKind, ResourceId, Several, Site, Step, TaskId, UNBOUNDED, outcome};

use crate::processes::Mail;
use crate::record::{Record, StepRecord};

/// Steps times tasks up to which clocks are computed: 64 MB of them.
const MOST_CLOCKS: usize = 16 << 20;

/// Permits that one step takes or gives back, at most.
const MOST_PERMITS: u64 = u32::MAX as u64;

/// One arrow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Arrow {
    pub(super) from: u32,
    pub(super) to: u32,
    /// Whether the two could have come the other way round.
    pub(super) race: bool,
}

/// The arrows between tasks that follow from no others, and whether they are all: where there are too many
/// steps and tasks for clocks, only what ended a wait is known.
///
/// Steps are counted from `first`, and those before it left aside: whatever leads from one step to a later
/// one lies between them.
pub(super) fn arrows(record: &Record, first: u32) -> (Vec<Arrow>, bool) {
    let tasks = record.tasks.len();
    let steps = steps(record, first);
    if steps.len().saturating_mul(tasks) > MOST_CLOCKS {
        let known = |(to, step): (u32, &Step)| {
            let from = step.after.checked_sub(1)?;
            (steps[from as usize].task != step.task).then_some(Arrow { from, to, race: false })
        };
        return ((0..).zip(&steps).filter_map(known).collect(), false);
    }
    let causality = Causality::of(&steps);
    // The later one first: so they come in order.
    let races: Set<(usize, usize)> = causality.races().iter().map(|(i, j)| (*j, *i)).collect();
    let mut arrows = Vec::new();
    // By task: its steps so far.
    let mut made: Vec<Vec<usize>> = vec![Vec::new(); tasks];
    let mut newest = Vec::new();
    for (j, step) in steps.iter().enumerate() {
        let previous = made[step.task.index()].last().copied();
        let knew = |task: usize| previous.map_or(0, |p| causality.clock(p, TaskId(task as u32)));
        let knows = |j: usize, task: usize| causality.clock(j, TaskId(task as u32));
        newest.clear();
        for (task, made) in made.iter().enumerate().filter(|(task, _)| *task != step.task.index()) {
            let now = knows(j, task);
            if now > knew(task) {
                newest.extend(made.get(now as usize - 1).map(|i| (task, *i)));
            }
        }
        // The last one knows most.
        sort_by_key(&mut newest, |(_, i)| std::cmp::Reverse(*i));
        for &(task, i) in &newest {
            let follows = newest.iter().any(|(_, k)| *k != i && knows(*k, task) >= causality.own(i));
            if !follows {
                arrows.push(Arrow { from: i as u32, to: j as u32, race: races.contains(&(j, i)) });
            }
        }
        made[step.task.index()].push(j);
    }
    if cfg!(feature = "processes") {
        arrows.extend(messages_between_processes(record, first));
    }
    (arrows, true)
}

/// From each delivery to its receipt. Which deliveries could have come the other way round is not asked: the record has no predicates.
fn messages_between_processes(record: &Record, first: u32) -> Vec<Arrow> {
    let mail = Mail::of(record);
    let received = |(to, step): (u32, &StepRecord)| {
        let from = mail.delivery_of(step).filter(|_| record.operation(step) == "receive")?;
        let own = record.steps[from as usize].task == step.task;
        Some(Arrow { from: from.checked_sub(first)?, to: to.checked_sub(first)?, race: false }).filter(|_| !own)
    };
    (0..).zip(&record.steps).filter_map(received).collect()
}

/// The steps from `first` on, as the engine knows them; their places do not matter here.
///
/// The engine takes its own steps for what they are: it finds tasks, resources and messages by the numbers that steps
/// have. A record may have been made up, so a number that no execution would have is none here: such a step orders
/// nothing.
fn steps(record: &Record, first: u32) -> Vec<Step> {
    let kinds: Vec<OpKind> = record.operations.iter().map(|word| kind(word)).collect();
    let outcomes: Vec<u32> = record.outcomes.iter().map(|word| came_to(word)).collect();
    let messages = messages(record, &kinds);
    let step = |step: &StepRecord| {
        let kind = kinds[usize::from(step.operation)];
        // Messages are drawn by themselves.
        let kind = if record.is_of_process(step) { OpKind::Yield } else { kind };
        let size = || step.resource.and_then(|r| record.resources[r as usize].size);
        let below = |length: usize| step.argument.is_none_or(|argument| argument < length as u64);
        let exists = match kind {
            OpKind::Join | OpKind::IsFinished | OpKind::Unpark | OpKind::Kill | OpKind::TimerFire => {
                below(record.tasks.len())
            }
            OpKind::ReadSeveral | OpKind::WriteSeveral => {
                let all = Several::of(step.resource.map_or(ResourceId::NONE, ResourceId), step.argument.unwrap_or(0));
                all.touched().all(|(id, _)| id.index() < record.resources.len())
            }
            OpKind::CondWait => below(record.resources.len()),
            OpKind::Await | OpKind::ReadParts | OpKind::WriteParts => step.resource.is_some(),
            _ => true,
        };
        Step {
            site: Site::UNKNOWN,
            arg: match kind {
                OpKind::Send | OpKind::TrySend | OpKind::Recv | OpKind::TryRecv => size().unwrap_or(UNBOUNDED),
                // Permits are added up.
                OpKind::Acquire | OpKind::TryAcquire | OpKind::Release => step.argument.unwrap_or(0).min(MOST_PERMITS),
                _ => step.argument.unwrap_or(0),
            },
            value: match (kind, step.resource.zip(step.value)) {
                // Where what was free is not known, no release is taken for the one that was needed.
                (OpKind::Acquire, _) => step.value.unwrap_or(u64::MAX),
                (OpKind::Send | OpKind::TrySend | OpKind::Recv | OpKind::TryRecv, Some(message)) => messages[&message],
                _ => step.value.unwrap_or(0),
            },
            resource: step.resource.map_or(ResourceId::NONE, ResourceId),
            task: TaskId(step.task),
            after: step.after.and_then(|after| after.checked_sub(first)).map_or(0, |after| after + 1),
            outcome: outcomes[usize::from(step.outcome)] as u16,
            kind: if exists { kind } else { OpKind::Yield },
            was_choice: step.choice,
        }
    };
    record.steps[first as usize..].iter().map(step).collect()
}

/// By channel and number: the numbers of messages without gaps, so that there are no more than steps. An execution has
/// none.
fn messages(record: &Record, kinds: &[OpKind]) -> Map<(u32, u64), u64> {
    let is_message = |step: &&StepRecord| {
        let kind = kinds[usize::from(step.operation)];
        matches!(kind, OpKind::Send | OpKind::TrySend | OpKind::Recv | OpKind::TryRecv)
    };
    let named = record.steps.iter().filter(is_message).filter_map(|step| step.resource.zip(step.value));
    let all: Set<(u32, u64)> = named.collect();
    let mut next: (u32, u64) = (0, 0);
    let numbered = all.into_iter().map(|(channel, number)| {
        next = if next.0 == channel { (channel, next.1 + 1) } else { (channel, 1) };
        ((channel, number), next.1 - 1)
    });
    numbered.collect()
}

/// An operation that a newer drawloom may have is taken for one that orders nothing.
fn kind(word: &str) -> OpKind {
    match word {
        // Of an object.
        "use" => OpKind::Rmw,
        "look" => OpKind::Load,
        word => OpKind::ALL.into_iter().find(|kind| kind.word() == word).unwrap_or(OpKind::Yield),
    }
}

fn came_to(word: &str) -> u32 {
    match word {
        "timed out" => outcome::TIMED_OUT,
        "disconnected" => outcome::DISCONNECTED,
        "refused" => outcome::REFUSED,
        "runs it" => outcome::RUN,
        "runs it after a panic" => outcome::RUN_AFTER_PANIC,
        "leader" => outcome::LEADER,
        "torn down" => outcome::TORN_DOWN,
        _ => outcome::OK,
    }
}
