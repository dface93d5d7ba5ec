//! From the engine's state to a record.

use drawloom_engine::sorted::{Map, Set};

use drawloom_engine::finding::{
    About, Backtrace, Blocked, CellAccess, Deadlock, Finding, FindingKind, Frame, Standing, Stuck,
};
use drawloom_engine::{
    Engine, IN_TRANSACTION, OpKind, ResourceId, ResourceKind, Site, State, Step, TaskId, UNBOUNDED, is_known_as,
    outcome,
};

use super::waits::{Wait, may_wait, waits};
use super::{
    AccessRecord, BLOCKED, BlockedRecord, Blocker, Details, FindingRecord, FrameRecord, HeldRecord, LeakRecord, Meta,
    PASSED, Place, ProcessesRecord, Record, ResourceRecord, StandingRecord, StepRecord, StuckRecord, TaskRecord,
    VERSION,
};

/// The words of outcomes, by their number in the engine, and one of our own.
const OUTCOMES: [&str; 12] = [
    "ok",
    "timed out",
    "disconnected",
    "refused",
    "runs it",
    "runs it after a panic",
    "leader",
    "torn down",
    BLOCKED,
    "killed",
    "fatal",
    "too late",
];
/// The place of [`BLOCKED`] among them.
const NEVER_ENDED: u32 = 8;

impl Record {
    /// The record of `finding`, which the execution that is still in `engine` has shown.
    ///
    /// Steps that destructors made when the execution was torn down are left out. `resolve` says
    /// which place a site stands for.
    pub fn of(engine: &Engine, finding: &Finding, meta: Meta, resolve: &dyn Fn(Site) -> Option<Place>) -> Record {
        Record::build(engine, Some(finding), meta, resolve)
    }

    /// The record of the execution that is still in `engine`, in which nothing was found: to be compared
    /// with one that failed. Its `finding` is of the kind [`PASSED`].
    pub fn passed(engine: &Engine, meta: Meta, resolve: &dyn Fn(Site) -> Option<Place>) -> Record {
        Record::build(engine, None, meta, resolve)
    }

    fn build(
        engine: &Engine,
        finding: Option<&Finding>,
        meta: Meta,
        resolve: &dyn Fn(Site) -> Option<Place>,
    ) -> Record {
        let mut builder = Builder { resolve, places: Vec::new(), by_site: Map::default() };
        let ends = [engine.finding(), finding].into_iter().flatten().map(|f| f.step as usize);
        let made = &engine.steps()[..ends.min().unwrap_or(usize::MAX).min(engine.steps().len())];
        let mut record = Record {
            version: VERSION,
            meta,
            tasks: builder.tasks(engine, finding, made),
            resources: builder.resources(engine),
            operations: Vec::new(),
            outcomes: vec![OUTCOMES[0].to_owned()],
            steps: Vec::with_capacity(made.len()),
            finding: FindingRecord {
                kind: finding.map_or(PASSED, |f| f.kind.word()).to_owned(),
                message: "nothing was found".to_owned(),
                task: finding.map_or(TaskId::MAIN, |f| f.task).0,
                place: None,
                aside: engine.aside().map(str::to_owned),
                details: Details::Nothing,
            },
            places: Vec::new(),
            processes: ProcessesRecord::of(engine, made),
            window: None,
            explanation: None,
        };
        let mut operations = [[None; 2]; OpKind::ALL.len()];
        for step in made {
            let of_object =
                engine.resources().get(step.resource.index()).is_some_and(|r| r.kind == ResourceKind::Object);
            let operation = *operations[step.kind as usize][usize::from(of_object)].get_or_insert_with(|| {
                record.operations.push(word(step.kind, of_object).to_owned());
                (record.operations.len() - 1) as u16
            });
            // What is more than it looks like at first is none the less done.
            let came_to = if step.kind.is_of_queue() { outcome::OK } else { u32::from(step.outcome) };
            let outcome = record.outcome_index(came_to);
            record.steps.push(StepRecord {
                // A node does what happens to it, and not the message that arrives there.
                task: engine.notes().node_of(step).unwrap_or(step.task).0,
                operation,
                outcome,
                resource: resource(is_known_as(step.kind, step.arg).unwrap_or(step.resource)),
                place: builder.place(step.site),
                choice: step.was_choice,
                after: step.after.checked_sub(1),
                argument: argument(step.kind, step.arg).filter(|_| !of_object),
                // Of an object it is not what is in there, but what was done (`Act`); mostly nothing that has a name.
                value: value(step).filter(|value| !of_object || *value != 0),
            });
        }
        if let Some(finding) = finding {
            record.describe(engine, finding, &mut builder);
        }
        record.tell_outcomes_of_waits(made);
        record.places = builder.places;
        record
    }

    fn outcome_index(&mut self, outcome: u32) -> u16 {
        let word = OUTCOMES.get(outcome as usize).copied().unwrap_or("?");
        let known = self.outcomes.iter().position(|w| w == word);
        known.unwrap_or_else(|| {
            self.outcomes.push(word.to_owned());
            self.outcomes.len() - 1
        }) as u16
    }

    /// A step that waits is recorded before it is known what it comes to; the step that ended the
    /// wait tells.
    fn tell_outcomes_of_waits(&mut self, made: &[Step]) {
        let mut blocked = Set::default();
        if let Details::Deadlock { blocked: all, .. } = &self.finding.details {
            blocked.extend(all.iter().map(|b| (b.task, b.resource, b.operation.clone())));
        }
        for (i, Wait { ended_by, next, .. }) in waits(self).into_iter().enumerate() {
            let step = &self.steps[i];
            let is_blocked = || blocked.contains(&(step.task, step.resource, self.operation(step).to_owned()));
            let outcome = match ended_by {
                Some(by) => came_to(&made[by as usize]),
                None if next.is_none() && may_wait(self.operation(step)) && is_blocked() => NEVER_ENDED,
                None => continue,
            };
            self.steps[i].outcome = self.outcome_index(outcome);
        }
    }

    fn describe(&mut self, engine: &Engine, finding: &Finding, builder: &mut Builder<'_>) {
        let (message, place, details) = match &finding.kind {
            FindingKind::Panic(panic) => (
                panic.message.clone(),
                parse_place(&panic.location).map(|place| builder.intern(place)),
                Details::Panic {
                    backtrace: panic.backtrace.clone().map(without_addresses),
                    is_assertion: panic.about == About::Assertion,
                    waiting: panic
                        .waiting
                        .iter()
                        .flat_map(|waiting| &waiting.blocked)
                        .map(|b| builder.blocked(b))
                        .collect(),
                },
            ),
            FindingKind::Deadlock(deadlock) => {
                let details = self.deadlock(engine, deadlock, builder);
                let sentence = if deadlock.is_passed_over() {
                    "a lock lets others in first, again and again"
                } else if deadlock.is_starvation() {
                    "no running task can end the wait"
                } else {
                    "tasks wait for each other"
                };
                (sentence.into(), None, details)
            }
            FindingKind::DataRace(race) => {
                let (earlier, later) = (builder.access(&race.earlier), builder.access(&race.later));
                let details = Details::DataRace { resource: race.cell.0, earlier, later };
                ("nothing orders two accesses to a cell".into(), later.place, details)
            }
            FindingKind::Livelock => {
                let bound = engine.limits().progress_bound;
                (format!("no progress in {bound} yields"), None, Details::Livelock { bound })
            }
            FindingKind::StepLimit => {
                let limit = engine.limits().max_steps;
                (format!("more than {limit} steps"), None, Details::StepLimit { limit })
            }
            FindingKind::TaskLimit => {
                let limit = u64::from(engine.limits().max_tasks);
                let place = self.steps.iter().rev().find(|s| s.task == finding.task.0).and_then(|s| s.place);
                (format!("more than {limit} tasks"), place, Details::TaskLimit { limit })
            }
            FindingKind::OutOfStacks(limit) => {
                let place = self.steps.iter().rev().find(|s| s.task == finding.task.0).and_then(|s| s.place);
                let details = Details::OutOfStacks { stacks: limit.stacks, reason: limit.reason.clone() };
                (format!("no stack for another task: {}", limit.reason), place, details)
            }
            FindingKind::Stuck(stuck) => {
                let stuck = builder.stuck(engine, stuck);
                let place = stuck.stack.iter().find_map(|frame| frame.place);
                ("a task blocks or spins in code that is not under control".into(), place, Details::Stuck(stuck))
            }
            FindingKind::OutOfTime => ("the time was over before any execution was".into(), None, Details::OutOfTime),
            FindingKind::Leak(leaks) => {
                let leaks: Vec<_> = leaks
                    .iter()
                    .map(|l| LeakRecord { created_at: builder.place(l.created_at), references: l.references })
                    .collect();
                let place = leaks.first().and_then(|l| l.created_at);
                ("shared references outlived the execution".into(), place, Details::Leak { leaks })
            }
            FindingKind::Unjoined(tasks) => {
                let tasks = tasks.iter().map(|t| t.0).collect();
                ("tasks were not joined".into(), None, Details::Unjoined { tasks })
            }
            FindingKind::Divergence(divergence) => (
                "the program behaved differently when its schedule was repeated".into(),
                None,
                Details::Divergence {
                    step: divergence.step,
                    expected: divergence.expected.clone(),
                    found: divergence.found.clone(),
                    task: divergence.task.as_ref().map(ToString::to_string),
                },
            ),
            FindingKind::NothingExplored => ("no execution had a choice".into(), None, Details::Nothing),
        };
        self.finding.message = message;
        self.finding.place = place;
        self.finding.details = details;
    }

    fn deadlock(&self, engine: &Engine, deadlock: &Deadlock, builder: &mut Builder<'_>) -> Details {
        let ids = |tasks: &[TaskId]| tasks.iter().map(|t| t.0).collect();
        let blocked: Vec<_> = deadlock.blocked.iter().map(|b| builder.blocked(b)).collect();
        let are_blocked: Set<u32> = blocked.iter().map(|b| b.task).collect();
        let is_environment = |i: u32| engine.task(TaskId(i)).environment;
        let stuck = |(i, t): (u32, &TaskRecord)| t.finished || is_environment(i) || are_blocked.contains(&i);
        let everybody = deadlock.stands_still || (0..).zip(&self.tasks).all(stuck);
        Details::Deadlock { blocked, cycle: ids(&deadlock.cycle), chain: ids(&deadlock.chain()), everybody }
    }
}

/// What the wait that this step ended came to.
fn came_to(granted_by: &Step) -> u32 {
    match granted_by.kind {
        OpKind::TimerFire => outcome::TIMED_OUT,
        OpKind::CloseSend | OpKind::CloseRecv | OpKind::Close => outcome::DISCONNECTED,
        OpKind::OnceFinish if granted_by.arg == 0 => outcome::RUN_AFTER_PANIC,
        _ => outcome::OK,
    }
}

fn resource(id: ResourceId) -> Option<u32> {
    (id != ResourceId::NONE).then_some(id.0)
}

/// What a step does. An object is used, or looked at; with which values nobody knows.
fn word(kind: OpKind, of_object: bool) -> &'static str {
    match kind {
        OpKind::Rmw if of_object => "use",
        OpKind::Load if of_object => "look",
        OpKind::Peek => "look",
        kind if kind.is_of_queue() => "use",
        kind => kind.word(),
    }
}

/// The second operand, of the kinds that have one.
fn argument(kind: OpKind, arg: u64) -> Option<u64> {
    use OpKind::*;
    match kind {
        // A task that has not been created yet; main is never spawned.
        Spawn if arg == 0 => None,
        // The park of a future says so.
        Park if arg != 0 => Some(arg),
        // A lock that prefers one side says so.
        Read | Write if arg != 0 => Some(arg),
        // What a read-modify-write left, what a comparison expected, what a store found.
        Rmw | Cas | Store => Some(arg),
        kind if kind.is_of_queue() => Some(0),
        ReadParts | WriteParts | ReadSeveral | WriteSeveral => Some(arg),
        // In a transaction that was begun before.
        CellRead | CellWrite if arg == IN_TRANSACTION => Some(1),
        Spawn | Join | IsFinished | Unpark | Kill | TimerFire | CondWait | Acquire | TryAcquire | Release | Choose
        | Sleep | OnceFinish => Some(arg),
        _ => None,
    }
}

/// The value, of the kinds that have one.
fn value(step: &Step) -> Option<u64> {
    use OpKind::*;
    let ticket = u32::from(step.outcome) != outcome::REFUSED && u32::from(step.outcome) != outcome::DISCONNECTED;
    match step.kind {
        Load | Await | Store | Rmw | Cas | Choose | TimerFire | Acquire | TryAcquire | Length => Some(step.value),
        Send | TrySend | Recv | TryRecv if ticket => Some(step.value),
        Deliver | Receive | Signal | Down if u32::from(step.outcome) == outcome::OK => Some(step.value),
        kind if kind.is_of_queue() => Some(step.value),
        _ => None,
    }
}

/// Takes `file:line:column` apart; a file name may itself contain colons.
fn parse_place(text: &str) -> Option<Place> {
    let (rest, column) = text.rsplit_once(':')?;
    let (file, line) = rest.rsplit_once(':')?;
    Some(Place { file: file.to_owned(), line: line.parse().ok()?, column: column.parse().ok()? })
}

/// Replaces what differs from one run to the next.
fn without_addresses(backtrace: Backtrace) -> Backtrace {
    let is_address = |word: &str| word.strip_prefix("0x").is_some_and(|hex| hex.chars().all(|c| c.is_ascii_hexdigit()));
    let line =
        move |line: &str| line.split(' ').map(|w| if is_address(w) { "0x…" } else { w }).collect::<Vec<_>>().join(" ");
    Backtrace::new(move || backtrace.text().lines().map(line).collect::<Vec<_>>().join("\n"))
}

struct Builder<'a> {
    resolve: &'a dyn Fn(Site) -> Option<Place>,
    places: Vec<Place>,
    by_site: Map<usize, Option<u32>>,
}

impl Builder<'_> {
    fn place(&mut self, site: Site) -> Option<u32> {
        if let Some(known) = self.by_site.get(&site.0) {
            return *known;
        }
        let place = if site == Site::UNKNOWN { None } else { (self.resolve)(site).filter(|place| !place.is_ours()) };
        let index = place.map(|place| self.intern(place));
        self.by_site.insert(site.0, index);
        index
    }

    fn stuck(&mut self, engine: &Engine, stuck: &Stuck) -> StuckRecord {
        let is_object = |resource: ResourceId| {
            engine.resources().get(resource.index()).is_some_and(|r| r.kind == ResourceKind::Object)
        };
        let frame = |frame: &Frame| FrameRecord {
            function: frame.function.clone(),
            place: parse_place(&frame.location).map(|place| self.intern(place)),
        };
        let stack = stuck.stack.iter().map(frame).collect();
        let held =
            |(resource, site): &(ResourceId, Site)| HeldRecord { resource: resource.0, place: self.place(*site) };
        let holds = stuck.holds.iter().map(held).collect();
        let standing = |other: &Standing| StandingRecord {
            task: other.task.0,
            operation: word(other.kind, is_object(other.resource)).to_owned(),
            resource: resource(other.resource),
            place: self.place(other.site),
        };
        let others = stuck.others.iter().map(standing).collect();
        let Stuck { seconds, sleeps, in_teardown, .. } = *stuck;
        StuckRecord { seconds, sleeps, in_teardown, stack, holds, others }
    }

    /// Two sites may be the same place, and how many there are is up to the compiler.
    fn intern(&mut self, place: Place) -> u32 {
        let same = |p: &Place| (p.line, p.column) == (place.line, place.column) && p.file == place.file;
        let known = self.places.iter().position(same);
        known.unwrap_or_else(|| {
            self.places.push(place);
            self.places.len() - 1
        }) as u32
    }

    /// The tasks as they stood at the finding; teardown has buried them since.
    fn tasks(&mut self, engine: &Engine, finding: Option<&Finding>, made: &[Step]) -> Vec<TaskRecord> {
        let paniced = |task| finding.is_some_and(|f| matches!(f.kind, FindingKind::Panic(_)) && f.task == task);
        let mut tasks: Vec<_> = engine
            .tasks()
            .iter()
            .zip((0..).map(TaskId))
            .map(|(task, id)| TaskRecord {
                path: engine.path(id).to_string(),
                name: task.name.as_deref().map(str::to_owned),
                spawned_at: self.place(task.spawned_at),
                steps: 0,
                yields: 0,
                finished: false,
                panicked: task.panic.is_some() || paniced(id),
                panic: task.panic.as_deref().map(|message| message.to_string()),
            })
            .collect();
        for step in made {
            let task = &mut tasks[step.task.index()];
            task.steps += 1;
            task.yields += u64::from(step.kind == OpKind::Yield);
            task.finished |= step.kind == OpKind::Exit;
        }
        tasks
    }

    fn resources(&mut self, engine: &Engine) -> Vec<ResourceRecord> {
        let describe = |r: &drawloom_engine::Resource| ResourceRecord {
            kind: r.kind.word().to_owned(),
            name: engine.name_of(r),
            created_at: self.place(r.created_at),
            id: format!("{} #{} of task {}", r.kind.word(), r.ordinal, engine.path(r.creator)),
            size: match r.state {
                State::Channel(channel) => Some(channel.capacity).filter(|c| *c != UNBOUNDED),
                State::Barrier { size, .. } => Some(size),
                State::Plain | State::Turn | State::Count(_) | State::Once(_) | State::Served(_) => None,
            },
            from_outside: r.from_outside,
        };
        engine.resources().iter().map(describe).collect()
    }

    fn access(&mut self, access: &CellAccess) -> AccessRecord {
        AccessRecord {
            task: access.task.0,
            step: access.step as u32,
            place: self.place(access.site),
            sync: access.sync.map(|step| step as u32),
        }
    }

    fn blocked(&mut self, blocked: &Blocked) -> BlockedRecord {
        BlockedRecord {
            task: blocked.task.0,
            operation: blocked.kind.word().to_owned(),
            awaited: blocked.awaited.map(|awaited| awaited.word().to_owned()),
            resource: resource(blocked.resource),
            argument: argument(blocked.kind, blocked.arg),
            place: self.place(blocked.site),
            blockers: blocked
                .blockers
                .iter()
                .map(|(task, site)| Blocker { task: task.0, place: self.place(*site) })
                .collect(),
            queued: blocked.queued,
        }
    }
}
