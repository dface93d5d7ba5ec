//! A finding in the words of fibers: who waits for what, who was chosen when.

use drawloom_report::{BlockedRecord, Details, Record, StepRecord};

use crate::ending::LIVELOCK;
use crate::source::{Source, is_test};

/// What a report says of one finding.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Story {
    /// `deadlock`, `failure`, `livelock`, or the engine's word.
    pub(crate) kind: String,
    /// One line for each fiber that has to do with it.
    pub(crate) fibers: Vec<Fiber>,
    /// What else there is to say.
    pub(crate) more: Vec<String>,
    /// The fibers in the order in which they made steps.
    pub(crate) schedule: Vec<usize>,
    pub(crate) token: String,
    /// Which execution it was, from 0, and the seed that they were drawn with.
    pub(crate) iteration: u64,
    pub(crate) seed: u64,
    /// Steps that it took.
    pub(crate) depth: usize,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Fiber {
    pub(crate) number: usize,
    /// `main`, or where it was spawned.
    pub(crate) who: String,
    pub(crate) what: String,
}

/// Tasks of the program, by their index in the record: their position is the fiber's number.
struct Fibers<'a> {
    record: &'a Record,
    tasks: Vec<usize>,
    source: Option<&'a Source>,
}

impl<'a> Fibers<'a> {
    fn of(record: &'a Record, source: Option<&'a Source>) -> Fibers<'a> {
        let is_ours = |(_, path): &(usize, &str)| path.split('.').next() == Some("0");
        let tasks = record.tasks.iter().enumerate().map(|(at, task)| (at, task.path.as_str())).filter(is_ours);
        Fibers { record, tasks: tasks.map(|(at, _)| at).collect(), source }
    }

    fn number(&self, task: u32) -> usize {
        self.tasks.iter().position(|known| *known == task as usize).unwrap_or(0)
    }

    fn fiber(&self, task: u32, what: String) -> Fiber {
        Fiber { number: self.number(task), who: self.who(task), what }
    }

    fn spawned_at(&self, task: usize) -> Option<&str> {
        let place = self.record.place(self.record.tasks.get(task)?.spawned_at)?;
        Some(place.file.as_str())
    }

    fn who(&self, task: u32) -> String {
        let Some(place) = self.spawned_at(task as usize) else { return "main".to_owned() };
        let all = self.tasks.iter().filter_map(|task| self.spawned_at(*task));
        match self.source.and_then(|source| source.lines_of(all).remove(place)) {
            Some(line) => format!("spawn at line {line}"),
            None => format!("spawn in {}", function(place)),
        }
    }

    /// What a task waits for.
    fn wait(&self, blocked: &BlockedRecord, nobody_runs: bool) -> String {
        let channel = blocked.resource.map_or(String::new(), |id| format!("{} ", self.channel(id)));
        let active = |who: &str| if nobody_runs { format!(", no active {who}") } else { String::new() };
        match blocked.operation.as_str() {
            "join" => {
                let joined = blocked.blockers.first().map(|blocker| self.number(blocker.task));
                joined.map_or("task.get()".to_owned(), |fiber| format!("task.get() for Fiber {fiber}"))
            }
            "send" => format!("chan.send() — {channel}full{}", active("receivers")),
            "recv" | "receive" => format!("chan.recv() — {channel}empty{}", active("senders")),
            "acquire" => "select".to_owned(),
            "read" => "the read lock of a singleton".to_owned(),
            "write" => "the write lock of a singleton".to_owned(),
            other => other.to_owned(),
        }
    }

    /// Of a wait for a message, whoever has received the last one.
    fn last_to_receive(&self, blocked: &BlockedRecord) -> Option<u32> {
        let received = |step: &&StepRecord| {
            step.resource == blocked.resource
                && step.task != blocked.task
                && self.record.operation(step) == blocked.operation
        };
        let last = blocked.resource.and(self.record.steps.iter().rfind(received))?;
        matches!(blocked.operation.as_str(), "recv" | "receive").then_some(last.task)
    }

    fn channel(&self, resource: u32) -> String {
        let is_channel = |at: &usize| self.record.resources[*at].kind == "channel";
        let number = (0..=resource as usize).filter(is_channel).count();
        let place = self.record.place(self.record.resources[resource as usize].created_at);
        let made = place.map_or(String::new(), |place| format!(" of {}", function(&place.file)));
        format!("channel {number}{made}")
    }
}

/// `worker+0x1c` → `worker`.
fn function(place: &str) -> &str {
    match place.rsplit_once("+0x").map_or(place, |(symbol, _)| symbol) {
        symbol if is_test(symbol) => "the test",
        symbol => symbol,
    }
}

impl Story {
    pub(crate) fn of(record: &Record, source: Option<&Source>) -> Story {
        let fibers = Fibers::of(record, source);
        let mut story = Story {
            kind: record.finding.kind.clone(),
            schedule: record.steps.iter().map(|step| fibers.number(step.task)).collect(),
            token: record.meta.token.clone(),
            iteration: record.meta.iteration.saturating_sub(1),
            seed: record.meta.seed.unwrap_or_default(),
            depth: record.steps.len(),
            ..Story::default()
        };
        match &record.finding.details {
            Details::Deadlock { blocked, cycle, chain, everybody } => {
                story.deadlock(&fibers, blocked, (cycle, chain), *everybody)
            }
            Details::Panic { .. } if record.finding.message.starts_with(LIVELOCK) => {
                let what = record.finding.message.trim_start_matches(LIVELOCK).trim_start_matches(": after ");
                story.livelock(&fibers, format!("After {what}."));
            }
            Details::Panic { .. } => {
                story.kind = "failure".to_owned();
                let what = said_of(&record.finding.message, source);
                story.fibers.push(fibers.fiber(record.finding.task, what));
            }
            Details::Livelock { bound: most } | Details::StepLimit { limit: most } => {
                story.livelock(&fibers, format!("After {most} yield points, no fiber has completed."));
            }
            _ => story.fibers.push(fibers.fiber(record.finding.task, record.finding.message.clone())),
        }
        story
    }

    fn deadlock(&mut self, fibers: &Fibers<'_>, blocked: &[BlockedRecord], ways: (&[u32], &[u32]), everybody: bool) {
        self.kind = "deadlock".to_owned();
        let mut waiting: Vec<&BlockedRecord> = blocked.iter().collect();
        waiting.sort_by_key(|blocked| blocked.task);
        let line = |blocked: &&BlockedRecord| {
            fibers.fiber(blocked.task, format!("blocked on {}", fibers.wait(blocked, everybody)))
        };
        self.fibers.extend(waiting.iter().map(line));
        let way = |tasks: &[u32], back: bool| {
            let numbers = tasks.iter().chain(tasks.first().filter(|_| back));
            numbers.map(|task| format!("Fiber {} → ", fibers.number(*task))).collect::<String>()
        };
        // Main waits for whoever it has spawned, and could often end their waits: a cycle without it says more.
        let among_spawned = cycle_of(&waiting, fibers);
        let ways = (among_spawned.as_deref().unwrap_or(ways.0), ways.1);
        match ways {
            ([], []) => {}
            ([], chain) => self.more.push(format!("Dependency chain: {}(no progress possible)", way(chain, false))),
            (cycle, _) => self.more.push(format!("Dependency cycle: {}(no progress possible)", way(cycle, true))),
        }
    }

    fn livelock(&mut self, fibers: &Fibers<'_>, how: String) {
        self.kind = "livelock".to_owned();
        self.more.push(how);
        for task in fibers.tasks.iter().filter(|task| !fibers.record.tasks[**task].finished) {
            let steps = fibers.record.tasks[*task].steps;
            self.fibers.push(fibers.fiber(*task as u32, format!("yielded {steps} times")));
        }
    }
}

/// A cycle of fibers without main, each of which waits for the next, if there is one: the one that begins with the first fiber that is in
/// any.
fn cycle_of(waiting: &[&BlockedRecord], fibers: &Fibers<'_>) -> Option<Vec<u32>> {
    let spawned = |task: u32| fibers.number(task) > 0;
    let next = |task: u32| {
        let blocked = waiting.iter().find(|blocked| blocked.task == task);
        // Whoever has taken the last message of an empty channel may owe it one.
        let debtor = blocked.and_then(|blocked| fibers.last_to_receive(blocked));
        let blockers = blocked.into_iter().flat_map(|blocked| blocked.blockers.iter().map(|blocker| blocker.task));
        debtor
            .into_iter()
            .chain(blockers)
            .filter(|blocker| spawned(*blocker) && waiting.iter().any(|blocked| blocked.task == *blocker))
    };
    waiting.iter().map(|blocked| blocked.task).filter(|task| spawned(*task)).find_map(|first| {
        // The shortest way back, by breadth.
        let mut ways = std::collections::VecDeque::from([vec![first]]);
        let mut seen = vec![first];
        while let Some(way) = ways.pop_front() {
            for blocker in next(*way.last().unwrap_or(&first)) {
                if blocker == first {
                    return Some(way);
                }
                if !seen.contains(&blocker) {
                    seen.push(blocker);
                    ways.push_back(way.iter().copied().chain([blocker]).collect());
                }
            }
        }
        None
    })
}

/// `FAIL (line 14): expected 0 to equal 42` → `expect(result).to_equal(42) — got 0`, where the line can be read.
fn said_of(message: &str, source: Option<&Source>) -> String {
    let parts = message.strip_prefix("FAIL (line ").and_then(|rest| rest.split_once("): expected "));
    let Some((line, rest)) = parts else { return message.to_owned() };
    let got =
        rest.split_once(" to equal ").map(|(got, _)| got).or_else(|| rest.rsplit_once(" but got ").map(|(_, got)| got));
    let code = line.parse().ok().and_then(|line| source?.line(line)).filter(|code| code.contains("expect("));
    match (code, got) {
        (Some(code), Some(got)) => format!("{code} — got {got} (line {line})"),
        _ => format!("expected {rest} (line {line})"),
    }
}
