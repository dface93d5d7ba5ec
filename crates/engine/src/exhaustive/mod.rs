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
//! - `sharing`: what workers have in common, and who says how they wait for it;
//! - `strategy`: [`Exhaustive`], what a worker makes one execution with;
//! - [`Explorer`]: what workers share.

mod asleep;
mod checkpoint;
mod context;
mod execution;
mod frugal;
mod names;
mod plant;
mod preemptions;
mod reverse;
mod route;
mod sequence;
mod sharing;
mod strategy;
mod tally;
mod tree;

pub(crate) use self::context::There;
pub(crate) use self::preemptions::Made;
pub use checkpoint::{Header, LogError, Restored, Ticket, hash};
pub use sharing::{Commons, Desk, Kept, Sharing, Then};
pub use strategy::Exhaustive;
pub use tally::{Tally, Witness};

use std::sync::Arc;

use self::checkpoint::Recorder;
use self::execution::Analysis;
use self::names::{Cast, Name, Names};
use self::preemptions::{Needs, Preemptions};
use self::route::Route;
use self::sharing::Own;
use self::strategy::Scratch;
use self::tree::{NodeId, Place, Tree};
use crate::engine::Engine;
use crate::finding::Divergence;
use crate::strategy::{Guided, Tape};

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
        Explorer { own: Own::new(self.own.sharing, Arc::clone(&self.own.commons)) }
    }
}

/// All that workers have in common: what there is to explore, and how far they are. Whoever shares it need not look inside.
pub struct Board {
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
    /// A task waited for ever in some execution. What it would have done next is not known there, so that a sequence may have
    /// been put into the tree although it was covered.
    may_repeat: bool,
    /// What the last worker that is gone has left to another.
    left: Option<Box<Scratch>>,
    /// What the guides of all workers know.
    pub(crate) guided: Guided,
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

impl Explorer {
    /// An explorer that has everything before it, and may make `budget` executions.
    pub fn new(sharing: Sharing, budget: u64) -> Self {
        Self::of(sharing, Board::new(budget))
    }

    /// Whether the memory that it has is worth keeping for another exploration.
    pub fn is_small(&self) -> bool {
        self.own.with(|board| board.is_small())
            && self.own.kept(|kept| kept.scratch.as_ref().is_none_or(|scratch| scratch.is_small()))
    }

    /// Begins anew, in the same memory if nobody else has it and it is not much.
    pub fn renew(&mut self, budget: u64) {
        let sharing = self.own.sharing;
        let commons = Arc::get_mut(&mut self.own).and_then(|own| Arc::get_mut(&mut own.commons));
        match commons.map(|commons| commons.board()).filter(|board| board.is_small()) {
            None => *self = Explorer::new(sharing, budget),
            Some(board) => {
                let mut tree = std::mem::replace(&mut board.tree, Tree::of_nodes(Vec::new()));
                tree.clear();
                *board = Board { left: board.left.take(), ..Board::with(tree, budget) };
                self.own.forget();
            }
        }
    }

    /// The same, with a tree that should not take more than so many bytes: if it does, the exploration
    /// becomes frugal. It is as complete as before, but makes executions that bring nothing.
    pub fn with_memory(self, bytes: usize) -> Self {
        self.own.with(|board| board.memory = bytes);
        self
    }

    /// The same, without classes whose executions all have more than `most` preemptions. Every other class is
    /// explored, once; so are some of those beyond the bound, since the way to others leads through them.
    /// Which of these depends on the order in which executions are made.
    pub fn with_preemptions(self, most: Option<u32>) -> Self {
        self.own.with(|board| board.preemptions = most);
        self
    }

    /// Whether an execution of this worker that is over brought nothing, since one like it is made
    /// elsewhere. Can be asked once.
    pub fn was_redundant(&self, ticket: Ticket) -> bool {
        self.own.kept(|kept| kept.was_redundant(ticket))
    }

    /// Whether an execution of this worker that is over [brought nothing](Self::was_redundant), and how it was
    /// [not what it had to be](Self::take_divergence).
    pub fn take_outcome(&self, ticket: Ticket) -> (bool, Option<Divergence>) {
        self.own.kept(|kept| (kept.was_redundant(ticket), kept.divergence.take()))
    }

    fn of(sharing: Sharing, board: Board) -> Self {
        Explorer { own: Own::new(sharing, (sharing.commons)(board)) }
    }

    /// Calls `act` with what the guides of all workers know.
    pub(crate) fn guided<R>(&self, act: impl FnOnce(&mut Guided) -> R) -> R {
        self.own.with(|board| act(&mut board.guided))
    }

    /// The strategy for one execution; `None` if there is nothing left to do. Waits for executions that
    /// are under way elsewhere and may bring something.
    pub fn claim(&self) -> Option<Exhaustive> {
        self.claim_by(Board::claim)
    }

    /// The strategy for all executions that this worker [claims ahead](Self::claim_ahead). When one of them ends, the
    /// next one is claimed at once, which keeps other workers waiting for less time.
    pub fn strategy(&self) -> Exhaustive {
        Exhaustive::new(Explorer { own: Arc::clone(&self.own) }, true)
    }

    /// As [`claim`](Self::claim), for the [strategy](Self::strategy) that is told to prepare for an execution next. Who
    /// makes none has to [give it back](Self::give_back).
    pub fn claim_ahead(&self) -> Option<Ticket> {
        let claimed = self.own.kept(|kept| match &kept.next {
            Some(next) => Ok(next.ticket),
            None => Err(kept.scratch.take().unwrap_or_default()),
        });
        let mut scratch = match claimed {
            Ok(ticket) => return Some(ticket),
            Err(scratch) => scratch,
        };
        let claimed = self.claim_or_wait(&mut scratch, Board::claim);
        let ticket = claimed.as_ref().map(|claimed| claimed.ticket);
        self.own.kept(|kept| (kept.scratch, kept.next) = (Some(scratch), claimed));
        ticket
    }

    /// As [`claim`](Self::claim), but which prefix it is turns out on the way: at each step the execution may go
    /// where somebody else would, if that leads to one that is left ([`Exhaustive::descend`]), and what is open is
    /// drawn from the tape of `seed`. For a few executions, made one after the other, that are to be unlike each
    /// other: the tree forgets little.
    pub fn claim_on_the_way(&self, seed: u64) -> Option<Exhaustive> {
        let mut on_the_way = false;
        let mut claimed = self.claim_by(|board, route| match board.tree.start_at_root(route)? {
            Place::Leaf(root) => Some(root),
            Place::Above(root) => {
                on_the_way = true;
                Some(root)
            }
        })?;
        claimed.on_the_way = on_the_way.then(|| Tape::new(seed));
        Some(claimed)
    }

    fn claim_by(&self, claim: impl FnMut(&mut Board, &mut Route) -> Option<NodeId>) -> Option<Exhaustive> {
        let (mut scratch, next) = self.own.kept(|kept| (kept.scratch.take().unwrap_or_default(), kept.next.take()));
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
        mut claim: impl FnMut(&mut Board, &mut Route) -> Option<NodeId>,
    ) -> Option<Claimed> {
        self.own.wait_for(|board| {
            scratch.reversal.preemptions.set_bound(board.preemptions);
            if board.claimed >= board.budget || board.diverged {
                return Some(None);
            }
            if board.paused {
                return None;
            }
            match claim(board, &mut scratch.route) {
                Some(leaf) => Some(Some(board.claimed(leaf))),
                None if board.claimed == board.executions => Some(None),
                None => None,
            }
        })
    }

    /// Leaves to others what this worker has claimed [ahead](Self::claim_ahead).
    pub fn give_back(&self) {
        self.own.give_back();
    }

    /// Where the exploration stands.
    pub fn progress(&self) -> Progress {
        self.own.with(|board| {
            let pending = board.tree.unclaimed();
            Progress {
                executions: board.executions,
                pending,
                exhausted: pending == 0 && board.claimed == board.executions && !board.diverged,
                diverged: board.diverged,
                frugal: board.frugal,
                steps_held: board.tree.len(),
                within_bound: board.within_bound,
                dropped: board.dropped,
            }
        })
    }

    /// How the program behaved differently when a schedule was repeated, if the execution in which it did so
    /// was over before it could say so itself. Can be asked once.
    pub fn take_divergence(&self) -> Option<Divergence> {
        self.own.kept(|kept| kept.divergence.take())
    }

    /// How many executions there will be in all: an estimate, and never less than is known. Takes time in
    /// proportion to what is left.
    pub fn estimate(&self) -> u64 {
        self.own.with(|board| board.tree.estimate() as u64)
    }
}

impl Board {
    fn is_small(&self) -> bool {
        self.tree.room() <= 4_096
    }

    fn new(budget: u64) -> Self {
        Self::with(Tree::new(), budget)
    }

    fn with(tree: Tree, budget: u64) -> Self {
        Board {
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
            may_repeat: false,
            left: None,
            guided: Guided::default(),
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
