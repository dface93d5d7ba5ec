//! What every room has to say of its primitive. Whatever a room does not say goes for operations that never wait, act on
//! nothing that others see, and come to the same anywhere.

use crate::behaviour::Trail;
use crate::causality::{Change, Grant, History, Place, Places, Words};
use crate::dependence::{Label, Relation};
use crate::engine::{Committed, Engine};
use crate::exhaustive::{Made, There};
use crate::id::{ResourceId, Site, TaskId};
use crate::operation::{OpKind, Operation, ResourceKind, outcome};
use crate::race::{Flow, Row, releases};
use crate::strategy::Strategy;
use crate::trace::Step;

/// Whom a task waits for.
pub(crate) enum Blocker {
    /// Nobody in particular.
    Anybody,
    /// This one task.
    One(TaskId),
    /// Several, or perhaps: [`Room::blockers`] knows.
    Several,
}

/// The rules of a primitive.
pub(crate) trait Room: Sync {
    /// Carries out what `task` has announced. What is done most takes a shorter way ([`Engine::carry_out`]).
    fn commit(
        &self,
        _engine: &mut Engine,
        _task: TaskId,
        _operation: &Operation,
        _strategy: &mut dyn Strategy,
    ) -> Committed {
        Committed::Done(outcome::OK)
    }

    /// The same, with what goes for every primitive. It is compiled for each room, so that what a room does not say costs
    /// nothing.
    fn carry_out(&self, engine: &mut Engine, task: TaskId, strategy: &mut dyn Strategy) -> Committed {
        let step = engine.steps.len() - 1;
        let operation = engine.tasks[task.index()].pending;
        let committed = self.commit(engine, task, &operation, strategy);
        if let Committed::Done(result) = committed {
            engine.steps[step].outcome = result as u16;
        }
        engine.leave_trail();
        if engine.tasks[task.index()].environment {
            return engine.go_on_unattended(task, committed);
        }
        committed
    }

    // Waiting.

    /// `task` has announced an operation that [needs enabling](Traits::NEEDS_ENABLING).
    fn announce(&self, engine: &mut Engine, task: TaskId) {
        if !self.is_enabled(engine, task) {
            engine.disable(task);
        }
    }

    /// Whether what `task` has announced can be carried out now.
    fn is_enabled(&self, _engine: &Engine, _task: TaskId) -> bool {
        true
    }

    /// `task` begins to wait until it is enabled.
    fn begin_wait(&self, _engine: &mut Engine, _task: TaskId) {}

    /// Whether a request made now would have to wait.
    fn must_wait(&self, _engine: &Engine, _request: &Operation) -> bool {
        false
    }

    /// `task` is out of the queue, and was granted nothing.
    fn withdraw(&self, _engine: &mut Engine, _request: &Operation) {}

    /// Undoes a grant of which `task` never learned.
    fn give_back(&self, _engine: &mut Engine, _task: TaskId, _request: &Operation, _granted: u32) {}

    /// The one task that must act before a request can go on.
    fn blocker(&self, _engine: &Engine, _request: &Operation) -> Blocker {
        Blocker::Anybody
    }

    /// The tasks one of which must act before `task` can go on, where that is certain: holders of locks, those queued
    /// before it, tasks to be joined or that run an initialiser. Each with the place that explains it.
    fn blockers(&self, _engine: &Engine, _task: TaskId) -> Vec<(TaskId, Site)> {
        Vec::new()
    }

    /// The tasks that might end the wait of `task`: whoever acted on the other side before is the best guess.
    fn guesses(&self, engine: &Engine, task: TaskId, request: &Operation) -> Vec<(TaskId, Site)> {
        engine.who_did(self.other_side(request.kind), task, request.resource)
    }

    /// Operations that end waits of this kind.
    fn other_side(&self, _kind: OpKind) -> &'static [OpKind] {
        &[]
    }

    // Which steps commute.

    /// The other resource that an operation acts on, besides its own.
    fn also(&self, _kind: OpKind, _arg: u64) -> ResourceId {
        ResourceId::NONE
    }

    /// How two steps of the primitive on one resource relate.
    fn relation(&self, _a: &Label, _b: &Label) -> Relation {
        Relation::Independent
    }

    /// How a step that [reaches beyond](Traits::AIMS) its own resource relates to another one, if that decides it.
    fn aims(&self, _a: &Label, _b: &Label) -> Option<Relation> {
        None
    }

    /// Whether the order of a step and of what another task is about to do may matter, where they have no resource in common.
    fn may_conflict(&self, _step: &Step, _pending: &Operation) -> bool {
        false
    }

    /// Where the step can meet others; the time counts only where the clock has any part in the execution.
    fn footprint(&self, step: &Step, _timed: bool, at: &mut Places) {
        at.push_resource(step.resource);
        at.push_resource(step.also());
    }

    /// What a step would come to after others, `None` if it could not be made there.
    fn moved(&self, label: Label, _there: &There<'_>) -> Option<Label> {
        Some(label)
    }

    /// What the behaviour hash of a task becomes by a step that has left its trail at its resource.
    fn fold(&self, _trail: &mut Trail, hash: u64, _step: &Step) -> u64 {
        hash
    }

    /// The same for what a step does besides: at the places that it aims at.
    fn fold_aim(&self, _engine: &mut Engine, hash: u64, _step: &Step) -> u64 {
        hash
    }

    /// Both of these.
    fn fold_all(&self, engine: &mut Engine, hash: u64, step: &Step) -> u64 {
        let hash = self.fold_aim(engine, hash, step);
        if step.resource == ResourceId::NONE {
            return hash;
        }
        self.fold(&mut engine.resources[step.resource.index()].trail, hash, step)
    }

    // What happens before what.

    /// Takes note of a step that lets requests go on; says what that changed.
    fn note_grant(
        &self,
        _place: &mut Place,
        _j: usize,
        _step: &Step,
        _clock: &[Words],
        _history: &mut History,
    ) -> Option<Change> {
        None
    }

    /// What lets the request that is step `p` go on; `waited` says what has ended its wait, if it had to wait.
    fn granted_by(&self, _place: &Place, _p: usize, _request: &Step, _waited: Option<OpKind>) -> Grant {
        Grant::NONE
    }

    /// The step with which `step` meets by the number of its [ticket](Traits::MEETS_BY_TICKET).
    fn met_by_ticket(&self, _place: &Place, _step: &Step) -> Option<usize> {
        None
    }

    /// What a request learns when it need not wait, or when its wait has ended well: of all that was released.
    fn acquire(&self, flow: &mut Flow, request: &Step, mine: Row) {
        if request.kind.family().is_some() && request.kind.is(Traits::LEARNS.with(Traits::LEARNS_IF_OK)) {
            flow.learn_of_releases(request.resource, mine);
        }
    }

    /// What others can learn of a step: it releases something.
    fn release(&self, flow: &mut Flow, step: &Step, mine: Row) {
        if releases(step) && step.kind.family().is_some() {
            flow.release(step.resource, mine);
        }
    }

    /// Step `by` has ended the wait of `request`.
    fn end_wait(&self, flow: &mut Flow, _by: &Step, request: &Step, mine: Row) {
        self.acquire(flow, request, mine);
    }

    /// What is to be done after the waits that the step has ended; `waits` says that it had to wait itself.
    fn settle(&self, _flow: &mut Flow, _step: &Step, _waits: bool, _mine: Row) {}

    // Counting preemptions.

    /// Whether a step is made when it need not wait, rather than when its task gets there. The others
    /// that wait do something before: they give a mutex back, arrive, or meet somebody.
    fn waits_for_its_turn(&self, label: &Label) -> bool {
        label.kind.is(Traits::REQUESTS)
    }

    /// Whether the request need not wait when these events have been made.
    fn could_complete(&self, _request: &Label, _made: &Made<'_>) -> bool {
        true
    }

    /// The other side of a rendezvous.
    fn partners(&self, _request: &Label) -> &'static [OpKind] {
        &[]
    }
}

/// What is true of a kind of operation, however an execution stands.
#[derive(Clone, Copy)]
pub(crate) struct Facts {
    pub(crate) word: &'static str,
    pub(crate) family: Option<ResourceKind>,
    pub(crate) traits: Traits,
}

impl Facts {
    /// Of an operation on a resource.
    pub(super) const fn on(family: ResourceKind, word: &'static str, traits: &[Traits]) -> Facts {
        Facts { word, family: Some(family), traits: Traits::all(traits) }
    }

    /// Of an operation on no resource.
    pub(super) const fn of(word: &'static str, traits: &[Traits]) -> Facts {
        Facts { word, family: None, traits: Traits::all(traits) }
    }
}

/// A room was asked for a kind that is not its own: an error when this crate is compiled, since facts are constants.
pub(super) const fn not_here(_: OpKind) -> Facts {
    panic!("the list of kinds names the wrong room")
}

/// What can be true of a kind of operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Traits(u32);

impl Traits {
    pub(crate) const NONE: Traits = Traits(0);
    /// It changes nothing.
    pub(crate) const LOOKS: Traits = Traits(1 << 0);
    /// It sees what was written or sent.
    pub(crate) const SEES: Traits = Traits(1 << 1);
    /// Two of these on one resource commute, whatever they come to.
    pub(crate) const SHARES: Traits = Traits(1 << 2);
    /// It competes with others for its resource. Who gives something back does not: the order that matters is that of
    /// the requests.
    pub(crate) const COMPETES: Traits = Traits(1 << 3);
    /// It can make another task able to go on.
    pub(crate) const GIVES: Traits = Traits(1 << 4);
    /// It only gives something up: it never waits.
    pub(crate) const ONLY_RELEASES: Traits = Traits(1 << 5);
    /// It takes a lock, so that its statement is over when that is given back.
    pub(crate) const LOCKS: Traits = Traits(1 << 6);
    /// It gives a lock back: its place is that of the operation that took it.
    pub(crate) const UNLOCKS: Traits = Traits(1 << 7);
    /// Who has made it holds the resource, or may.
    pub(crate) const HOLDS: Traits = Traits(1 << 8);
    /// What follows it happens after what has granted it.
    pub(crate) const REQUESTS: Traits = Traits(1 << 9);
    /// What it comes to is not merely another way to say who came first.
    pub(crate) const TELLS_OUTCOME: Traits = Traits(1 << 10);
    /// It can be dependent on steps of another resource than its own.
    pub(crate) const REACHES: Traits = Traits(1 << 11);
    /// It is ordered with steps of another resource than its own: aims at a task, or at the time.
    pub(crate) const AIMS: Traits = Traits(1 << 12);
    /// It comes to the same anywhere.
    pub(crate) const SAME_ANYWHERE: Traits = Traits(1 << 13);
    /// It commutes with everything, the end of a task at least where nobody looks at it.
    pub(crate) const SILENT: Traits = Traits(1 << 14);
    /// If it has to wait, it begins to do so unnoticed by others.
    pub(crate) const QUEUES_UNNOTICED: Traits = Traits(1 << 15);
    /// It can learn of the past of others.
    pub(crate) const LEARNS: Traits = Traits(1 << 16);
    /// The same if it succeeds.
    pub(crate) const LEARNS_IF_OK: Traits = Traits(1 << 17);
    /// Others can learn of the past from it. (From an exit, too; but that goes without saying.)
    pub(crate) const TELLS: Traits = Traits(1 << 18);
    /// The same if it succeeds.
    pub(crate) const TELLS_IF_OK: Traits = Traits(1 << 19);
    /// It is carried out only when it is enabled.
    pub(crate) const NEEDS_ENABLING: Traits = Traits(1 << 20);
    /// It has to do with the time.
    pub(crate) const TIMED: Traits = Traits(1 << 21);
    /// It ends one side of a channel.
    pub(crate) const CLOSES: Traits = Traits(1 << 22);
    /// It sees whether tasks have ended.
    pub(crate) const OBSERVES_EXITS: Traits = Traits(1 << 23);
    /// It looks at what others can change, and is no resource.
    pub(crate) const LOOKS_ABOUT: Traits = Traits(1 << 24);
    /// With which steps it meets is told by the number of its ticket.
    pub(crate) const MEETS_BY_TICKET: Traits = Traits(1 << 25);
    /// It waits in the queue of senders.
    pub(crate) const SENDS: Traits = Traits(1 << 26);
    /// It lets others go first.
    pub(crate) const GIVES_WAY: Traits = Traits(1 << 27);
    /// Its outcome is a choice, or choices can be made in the midst of it.
    pub(crate) const CHOOSES: Traits = Traits(1 << 28);

    /// It waits for what others do, rather than for its turn.
    pub(crate) const WAITS_FOR_OTHERS: Traits = Traits(1 << 29);

    /// It never waits, and no code of the program carries it out: a task of the environment can make it.
    pub(crate) const UNATTENDED: Traits = Traits(1 << 30);

    const fn all(traits: &[Traits]) -> Traits {
        let (mut set, mut at) = (0, 0);
        while at < traits.len() {
            set |= traits[at].0;
            at += 1;
        }
        Traits(set)
    }

    /// Those of both.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) const fn with(self, other: Traits) -> Traits {
        Traits(self.0 | other.0)
    }

    /// Whether any of `these` is among them.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) const fn has(self, these: Traits) -> bool {
        self.0 & these.0 != 0
    }
}

/// What steps come to, as a condition tells it.
pub(super) fn refused_if(refused: bool) -> u32 {
    if refused { outcome::REFUSED } else { outcome::OK }
}

/// The resource that an operand names.
pub(super) fn named(arg: u64) -> ResourceId {
    ResourceId(arg as u32)
}
