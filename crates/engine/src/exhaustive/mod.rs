//! Exhaustive exploration: every class of equivalent executions, exactly once.
//!
//! Optimal dynamic partial order reduction (Abdulla, Aronis, Jonsson, Sagonas: POPL 2014) in a form in
//! which executions may be made in any order, by any number of workers. What is to be done is a
//! *tree* of steps. A leaf is a prefix that some execution has to begin with; a worker claims it,
//! replays it, and runs on freely to the end. Then every race of the execution is reversed: the steps
//! that did not come after the first of the two are followed by the second, and that sequence is put
//! into the tree beside the branch that was taken, unless an execution that begins with it has been,
//! or will be, made anyway.
//!
//! We deviate from the paper in two ways, both of them checked against brute force: a sequence is cut
//! down to what is needed to make it differ from its left neighbours, and leaves are claimed leftmost
//! first, so that the part of the tree that is done with can be forgotten.
//!
//! - `tree`: the steps to be made, and who makes them;
//! - `execution`: an execution as the explorer sees it, in names that hold for all of them;
//! - `context`: what an operation would come to in another place;
//! - `asleep`: which steps new leaves must not begin with;
//! - `route`: the way to a leaf, with all that an execution has to know of the tree;
//! - `reverse`, `sequence` and `plant`: races, to the sequences that they lead to, to new leaves;
//! - `preemptions`: which of these need too many preemptions;
//! - `frugal`: the same with little memory, at the price of executions that bring nothing;
//! - `checkpoint` and `tally`: what is known, as bytes, for another process to go on from;
//! - `common`: what workers have in common, and how they wait for it;
//! - `strategy`: [`Exhaustive`], what a worker makes one execution with;
//! - [`Explorer`]: what workers share.

mod asleep;
mod checkpoint;
mod common;
mod context;
mod execution;
mod frugal;
mod names;
mod plant;
mod preemptions;
mod reverse;
mod route;
mod sequence;
mod strategy;
mod tally;
mod tree;

pub(crate) use self::context::There;
pub(crate) use self::preemptions::Made;
pub use checkpoint::{Header, LogError, Restored, Ticket, hash};
pub use strategy::Exhaustive;
pub use tally::{Tally, Witness};

use std::sync::{Arc, RwLockWriteGuard};

use self::checkpoint::Recorder;
use self::common::{Common, Own};
use self::execution::Analysis;
use self::names::{Cast, Name, Names};
use self::preemptions::{Needs, Preemptions};
use self::route::Route;
use self::strategy::Scratch;
use self::tree::{NodeId, Place, Tree};
use crate::engine::Engine;
use crate::finding::Divergence;
use crate::strategy::Tape;

/// The fewest preemptions with which an execution equivalent to the last one of `engine` can be made; `None`
/// if that is more than `most`, or cannot be told. See [`Explorer::with_preemptions`].
pub fn least_preemptions(engine: &Engine, most: u32) -> Option<u32> {
    let view = engine.view();
    let mut cast = Cast::default();
    engine.tasks().iter().for_each(|_| cast.push(Names::MAIN));
    let mut analysis = Analysis::default();
    match Preemptions::default().of(&analysis.of(&view, &cast, 0, true), most) {
        Needs::Least(preemptions) => Some(preemptions),
        Needs::More | Needs::Unknown => None,
    }
}

/// A step that is to be made: by whom, and with which outcome if it is a choice.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Planned {
    task: Name,
    choice: u64,
}

/// An exhaustive exploration, as one worker sees it. A clone is for another worker: all share what there
/// is to explore, and each keeps for itself what one of its executions leaves to the next.
pub struct Explorer {
    own: Arc<Own>,
}

impl Clone for Explorer {
    fn clone(&self) -> Self {
        Explorer { own: Own::new(Arc::clone(&self.own.common)) }
    }
}

struct Shared {
    tree: Tree,
    names: Names,
    executions: u64,
    claimed: u64,
    /// Tickets given out.
    tickets: u64,
    /// Executions that may be made.
    budget: u64,
    /// An execution was not what its prefix had promised: nothing is known any more.
    diverged: bool,
    /// Executions of which it is known what came of them; counted only if there is to be a log.
    settled: u64,
    /// Nobody may claim anything for a moment.
    paused: bool,
    recorder: Option<Recorder>,
    /// Bytes that the tree may take.
    memory: usize,
    /// It took more once; since then only the first step of each sequence is stored.
    frugal: bool,
    /// Preemptions that a class may need, if there is a bound.
    preemptions: Option<u32>,
    /// Executions whose class is within that bound.
    within_bound: u64,
    /// Prefixes that were dropped because of it.
    dropped: u64,
    /// Workers that have nothing to do for the moment.
    waiting: usize,
    /// A task waited for ever in some execution. What it would have done next is not known there, so that a sequence may have
    /// been put into the tree although it was covered.
    may_repeat: bool,
}

/// Where an exhaustive exploration stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Progress {
    /// Executions that are over.
    pub executions: u64,
    /// Prefixes that are known to be left.
    pub pending: u64,
    /// Whether everything has been explored.
    pub exhausted: bool,
    /// Whether the program did not do again what it had done: then nothing is known.
    pub diverged: bool,
    /// Whether memory has run short, so that executions may be redundant.
    pub frugal: bool,
    /// Steps that the tree holds now.
    pub steps_held: usize,
    /// Executions whose class is within the [preemption bound](Explorer::with_preemptions); all, if there
    /// is none.
    pub within_bound: u64,
    /// Prefixes that were not explored because of it. If there are none, there was nothing beyond it.
    pub dropped: u64,
}

impl Default for Explorer {
    fn default() -> Self {
        Self::new(u64::MAX)
    }
}

impl Explorer {
    /// An explorer that has everything before it, and may make `budget` executions.
    pub fn new(budget: u64) -> Self {
        Self::of(Shared::new(budget))
    }

    /// Whether the memory that it has is worth keeping for another exploration.
    pub fn is_small(&self) -> bool {
        self.common().read().is_small() && self.own.kept().scratch.as_ref().is_none_or(|scratch| scratch.is_small())
    }

    /// Begins anew, in the same memory if nobody else has it and it is not much.
    pub fn renew(&mut self, budget: u64) {
        let own = Arc::get_mut(&mut self.own);
        match own.and_then(|own| Common::alone(&mut own.common)).filter(|shared| shared.is_small()) {
            None => *self = Explorer::new(budget),
            Some(shared) => {
                let mut tree = std::mem::replace(&mut shared.tree, Tree::of_nodes(Vec::new()));
                tree.clear();
                *shared = Shared::with(tree, budget);
                self.own.forget();
            }
        }
    }

    /// The same, with a tree that should not take more than so many bytes: if it does, the exploration
    /// becomes frugal. It is as complete as before, but makes executions that bring nothing.
    pub fn with_memory(self, bytes: usize) -> Self {
        self.lock().memory = bytes;
        self
    }

    /// The same, without classes whose executions all have more than `most` preemptions. Every other class is
    /// explored, once; so are some of those beyond the bound, since the way to others leads through them.
    /// Which of these depends on the order in which executions are made.
    pub fn with_preemptions(self, most: Option<u32>) -> Self {
        self.lock().preemptions = most;
        self
    }

    /// Whether an execution of this worker that is over brought nothing, since one like it is made
    /// elsewhere. Can be asked once.
    pub fn was_redundant(&self, ticket: Ticket) -> bool {
        self.own.kept().was_redundant(ticket)
    }

    /// Whether an execution of this worker that is over [brought nothing](Self::was_redundant), and how it was
    /// [not what it had to be](Self::take_divergence).
    pub fn take_outcome(&self, ticket: Ticket) -> (bool, Option<Divergence>) {
        let mut kept = self.own.kept();
        (kept.was_redundant(ticket), kept.divergence.take())
    }

    fn of(shared: Shared) -> Self {
        Explorer { own: Own::new(Common::new(shared)) }
    }

    fn common(&self) -> &Common {
        &self.own.common
    }

    fn lock(&self) -> RwLockWriteGuard<'_, Shared> {
        self.own.common.lock()
    }

    /// The strategy for one execution; `None` if there is nothing left to do. Waits for executions that
    /// are under way elsewhere and may bring something.
    pub fn claim(&self) -> Option<Exhaustive> {
        self.claim_by(Shared::claim)
    }

    /// The strategy for all executions that this worker [claims ahead](Self::claim_ahead). When one of them is over, the
    /// next one is claimed at once, which keeps other workers waiting for less time.
    pub fn strategy(&self) -> Exhaustive {
        Exhaustive::new(Explorer { own: Arc::clone(&self.own) }, true)
    }

    /// As [`claim`](Self::claim), for the [strategy](Self::strategy) that is told to prepare for an execution next. Who
    /// makes none has to [give it back](Self::give_back).
    pub fn claim_ahead(&self) -> Option<Ticket> {
        let mut own = self.own.kept();
        if own.next.is_none() {
            let mut scratch = own.scratch.take().unwrap_or_default();
            drop(own);
            let claimed = self.claim_or_wait(&mut scratch, Shared::claim);
            own = self.own.kept();
            (own.scratch, own.next) = (Some(scratch), claimed);
        }
        own.next.as_ref().map(|next| next.ticket)
    }

    /// As [`claim`](Self::claim), but which prefix it is turns out on the way: at each step the execution may go
    /// where somebody else would, if that leads to one that is left ([`Exhaustive::descend`]), and what is open is
    /// drawn from the tape of `seed`. For a few executions, made one after the other, that are to be unlike each
    /// other: the tree forgets little.
    pub fn claim_on_the_way(&self, seed: u64) -> Option<Exhaustive> {
        let mut on_the_way = false;
        let mut claimed = self.claim_by(|shared, route| match shared.tree.start_at_root(route)? {
            Place::Leaf(root) => Some(root),
            Place::Above(root) => {
                on_the_way = true;
                Some(root)
            }
        })?;
        claimed.on_the_way = on_the_way.then(|| Tape::new(seed));
        Some(claimed)
    }

    fn claim_by(&self, claim: impl FnMut(&mut Shared, &mut Route) -> Option<NodeId>) -> Option<Exhaustive> {
        let mut own = self.own.kept();
        let mut scratch = own.scratch.take().unwrap_or_default();
        let next = own.next.take();
        drop(own);
        let claimed = match next {
            Some(next) => next,
            None => self.claim_or_wait(&mut scratch, claim)?,
        };
        let mut strategy = Exhaustive::new(Explorer { own: Arc::clone(&self.own) }, false);
        strategy.take(claimed, scratch);
        Some(strategy)
    }

    fn claim_or_wait(
        &self,
        scratch: &mut Scratch,
        mut claim: impl FnMut(&mut Shared, &mut Route) -> Option<NodeId>,
    ) -> Option<Claimed> {
        let mut shared = self.lock();
        scratch.reversal.preemptions.set_bound(shared.preemptions);
        loop {
            if shared.claimed >= shared.budget || shared.diverged {
                return None;
            }
            if shared.paused {
                shared = self.common().wait(shared);
                continue;
            }
            match claim(&mut shared, &mut scratch.route) {
                Some(leaf) => return Some(shared.claimed(leaf)),
                None if shared.claimed == shared.executions => return None,
                None => shared = self.common().wait(shared),
            }
        }
    }

    /// Leaves to others what this worker has claimed [ahead](Self::claim_ahead).
    pub fn give_back(&self) {
        self.own.give_back();
    }

    /// Where the exploration stands.
    pub fn progress(&self) -> Progress {
        let shared = self.lock();
        let pending = shared.tree.unclaimed();
        Progress {
            executions: shared.executions,
            pending,
            exhausted: pending == 0 && shared.claimed == shared.executions && !shared.diverged,
            diverged: shared.diverged,
            frugal: shared.frugal,
            steps_held: shared.tree.len(),
            within_bound: shared.within_bound,
            dropped: shared.dropped,
        }
    }

    /// How the program behaved differently when a schedule was repeated, if the execution in which it did so
    /// was over before it could say so itself. Can be asked once.
    pub fn take_divergence(&self) -> Option<Divergence> {
        self.own.kept().divergence.take()
    }

    /// How many executions there will be in all: an estimate, and never less than is known. Takes time in
    /// proportion to what is left.
    pub fn estimate(&self) -> u64 {
        self.lock().tree.estimate() as u64
    }
}

impl Shared {
    fn is_small(&self) -> bool {
        self.tree.room() <= 4_096
    }

    fn new(budget: u64) -> Self {
        Self::with(Tree::new(), budget)
    }

    fn with(tree: Tree, budget: u64) -> Self {
        Shared {
            tree,
            names: Names::new(),
            executions: 0,
            claimed: 0,
            tickets: 0,
            budget,
            diverged: false,
            settled: 0,
            paused: false,
            recorder: None,
            memory: usize::MAX,
            frugal: false,
            preemptions: None,
            within_bound: 0,
            dropped: 0,
            waiting: 0,
            may_repeat: false,
        }
    }

    /// Leads `route` to a leaf that nobody has claimed.
    fn claim(&mut self, route: &mut Route) -> Option<NodeId> {
        // What is done to the right of others' parts cannot be forgotten yet: if there is no room for
        // it, workers have to stay together.
        let apart = self.tree.bytes() <= self.memory / 2;
        self.tree.claim(route, apart)
    }

    /// Whether only first steps may be stored from now on.
    fn must_be_frugal(&mut self) -> bool {
        self.frugal |= self.tree.bytes() > self.memory;
        self.frugal
    }

    /// The leaf that a worker goes on with whose `route` led to the one before; `None` if it has to wait or stop.
    fn claim_next(&mut self, route: &mut Route) -> Option<Claimed> {
        if self.claimed >= self.budget || self.diverged || self.paused {
            return None;
        }
        self.claim(route).map(|leaf| self.claimed(leaf))
    }

    fn claimed(&mut self, leaf: NodeId) -> Claimed {
        self.claimed += 1;
        self.tickets += 1;
        Claimed { leaf, ticket: Ticket(self.tickets), frugal: self.frugal, may_repeat: self.may_repeat }
    }

    fn finish(&mut self, leaf: NodeId, ticket: Ticket) {
        self.record(leaf, ticket);
        self.tree.finish(leaf);
        self.executions += 1;
    }
}

/// A leaf that was claimed.
struct Claimed {
    leaf: NodeId,
    ticket: Ticket,
    /// Its execution has to avoid who sleeps.
    frugal: bool,
    /// Its execution may be one that is made elsewhere.
    may_repeat: bool,
}
