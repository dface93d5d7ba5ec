//! How workers have an exploration in common.
//!
//! All that they share is a [`Board`], a plain state machine. The engine has no threads: how several workers get at one
//! board, and how they wait for each other, is the affair of whoever has threads, and comes in as a [`Sharing`].

use std::sync::Arc;

use super::checkpoint::Ticket;
use super::strategy::Scratch;
use super::{Board, Claimed};
use crate::finding::Divergence;

/// How the workers of an exploration share what they have in common.
#[derive(Clone, Copy)]
pub struct Sharing {
    /// Puts a board where all workers can reach it.
    pub commons: fn(Board) -> Arc<dyn Commons>,
    /// Puts what one worker keeps for itself where both its explorer and its strategy can reach it.
    pub desk: fn(Kept) -> Arc<dyn Desk>,
}

/// Where the board of all workers is.
pub trait Commons: Send + Sync {
    /// Calls `act` while nobody else reads or changes the board, and does then what it says.
    fn change(&self, act: &mut dyn FnMut(&mut Board) -> Then);

    /// Calls `look` as often as it says that it goes on. Others may read the board at the same time; whoever wants to
    /// change it goes first, between two calls.
    fn read(&self, look: &mut dyn FnMut(&Board) -> bool);

    /// The board, if nobody else has it.
    fn board(&mut self) -> &mut Board;
}

/// What follows a change of the board.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Then {
    /// Nothing that anybody waits for.
    Done,
    /// Those who wait look at it again.
    Tell,
    /// There was nothing to do: wait until another worker has [told](Self::Tell), and act again.
    Wait,
}

/// Where one worker keeps what is its own.
pub trait Desk: Send + Sync {
    /// Calls `act` with it.
    fn with(&self, act: &mut dyn FnMut(&mut Kept));
}

/// What a worker keeps from one execution to the next.
#[derive(Default)]
pub struct Kept {
    /// Left by the execution before.
    pub(super) scratch: Option<Box<Scratch>>,
    /// Executions that were redundant, and have not been asked for.
    pub(super) redundant: Vec<Ticket>,
    /// How an execution differed that was over before that could be said.
    pub(super) divergence: Option<Divergence>,
    /// What it makes next, claimed when the execution before was over.
    pub(super) next: Option<Claimed>,
}

impl Kept {
    pub(super) fn was_redundant(&mut self, ticket: Ticket) -> bool {
        match self.redundant.iter().position(|other| *other == ticket) {
            Some(at) => {
                self.redundant.swap_remove(at);
                true
            }
            None => false,
        }
    }
}

/// One worker's own.
pub(super) struct Own {
    pub(super) sharing: Sharing,
    pub(super) commons: Arc<dyn Commons>,
    desk: Arc<dyn Desk>,
}

impl Own {
    pub(super) fn new(sharing: Sharing, commons: Arc<dyn Commons>) -> Arc<Own> {
        let mut scratch = None;
        commons.change(&mut |board| {
            scratch = board.left.take();
            Then::Done
        });
        let desk = (sharing.desk)(Kept { scratch, ..Kept::default() });
        Arc::new(Own { sharing, commons, desk })
    }

    /// Calls `act` with the board; nobody waits for what it changes.
    #[inline]
    pub(super) fn with<R>(&self, act: impl FnOnce(&mut Board) -> R) -> R {
        self.once(act, Then::Done)
    }

    /// Calls `act` with the board; those who wait look at it again.
    #[inline]
    pub(super) fn with_and_tell<R>(&self, act: impl FnOnce(&mut Board) -> R) -> R {
        self.once(act, Then::Tell)
    }

    #[inline]
    fn once<R>(&self, act: impl FnOnce(&mut Board) -> R, then: Then) -> R {
        let (mut act, mut result) = (Some(act), None);
        self.commons.change(&mut |board| {
            result = act.take().map(|act| act(board));
            then
        });
        result.expect("a change is made once, unless it is to wait")
    }

    /// Calls `attempt` with the board until it comes to something, and waits for other workers in between.
    pub(super) fn wait_for<R>(&self, mut attempt: impl FnMut(&mut Board) -> Option<R>) -> R {
        let mut result = None;
        self.commons.change(&mut |board| {
            result = attempt(board);
            if result.is_some() { Then::Done } else { Then::Wait }
        });
        result.expect("it is tried until it succeeds")
    }

    /// Calls `act` with what the worker keeps.
    #[inline]
    pub(super) fn kept<R>(&self, act: impl FnOnce(&mut Kept) -> R) -> R {
        let (mut act, mut result) = (Some(act), None);
        self.desk.with(&mut |kept| result = act.take().map(|act| act(kept)));
        result.expect("it is called once")
    }

    /// Knows of no execution any more.
    pub(super) fn forget(&self) {
        self.kept(|kept| {
            let scratch = kept.scratch.take().map(Scratch::forgetful);
            *kept = Kept { scratch, ..Kept::default() };
        });
    }

    /// Leaves to others what this worker would have made next.
    pub(super) fn give_back(&self) {
        if let Some(next) = self.kept(|kept| kept.next.take()) {
            self.with_and_tell(|board| {
                board.tree.unclaim(next.leaf);
                board.claimed -= 1;
            });
        }
    }

    /// Whether there are other workers.
    pub(super) fn has_company(&self) -> bool {
        Arc::strong_count(&self.commons) > 1
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        self.give_back();
        if let Some(scratch) = self.kept(|kept| kept.scratch.take()) {
            self.with(|board| board.left = Some(scratch.forgetful()));
        }
    }
}
