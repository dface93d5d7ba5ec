//! Virtual guards: a fix that is tried out without anybody editing the program.
//!
//! A [`Guard`] says what a fix would do to the order of operations: one more lock, two accesses made one,
//! one operation kept waiting for another. An execution under a guard obeys it, as if the program had been
//! changed; so an exploration under a guard tells whether the fix helps.
//!
//! What a guard does is done by ordinary steps on a resource of its own, which the engine adds to those of
//! the program: a mutex that is requested before the operation at `enter` and given back after the one at
//! `leave`; permits that are there once the operation at `before` is over. So strategies, wait-for graph,
//! race detection and exhaustive exploration need not know of guards. Two things are different, and can be
//! sampled only ([`Engine::guard_is_exact`](crate::Engine::guard_is_exact)): `Atomic` keeps the others from being
//! picked, which no dependence of steps shows; and a wait for a notification gives the new lock back in the
//! same breath, where no other step can come between.
//!
//! # When an operation is over
//!
//! One place may stand for several operations: a call that reads and writes, or a lock, which is given back
//! at the place where it was taken.
//!
//! - Operations of one task at one place that follow each other are one *statement*, until one of the kind of
//!   the first comes again: that is the next round of a loop. (Where a region is [whole](Region::whole), it is one only if it
//!   is done to the same resource.)
//! - Accesses in a transaction that the task has begun before belong to the statement before them, at the same place.
//! - A statement is over when the task announces something else; a wait on a condition variable, when it
//!   begins.
//! - A statement that takes a lock is over when the lock is given back, and no sooner. A lock of a library is an object, of which the
//!   front end says what is done to it ([`Act`](crate::act::Act)).
//! - A future that waits goes on when it is polled again. In between its task parks, at the place where it was spawned.
//!
//! # When a region is over
//!
//! A region begins before the statement at `enter` and ends when the statement at `leave` is over. If, without
//! that, the task comes to `enter` again, ends, or joins, parks or sleeps outside of the region's lines, then the
//! region was left by another way, and ends there. Regions may lie in each other: the lock is given back at the
//! end of the outermost.
//!
//! A wait for a notification inside a region gives the lock back, too, and takes it again before the mutex: the
//! new lock stands for that mutex held longer, or for one in its place. (One that is *not* given back there
//! would be another fix, and a bad one.)

/// What reports call the lock of a guard.
pub const NEW_LOCK: &str = "the new lock";

/// A place in the user's source that means the same in every execution, process and file.
///
/// (The engine's own [`crate::Site`] is a word that only the front end of one process understands.)
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Site {
    /// The file, as reports name it.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1; 0 stands for every column of the line.
    pub column: u32,
}

/// A stretch of one task's operations, from the one at `enter` to the one at `leave`, both included.
///
/// An access that is guarded by itself is a region whose ends are the same place. Several regions may begin
/// at the same place: whichever `leave` comes first ends it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Region {
    /// The first operation.
    pub enter: Site,
    /// The last operation.
    pub leave: Site,
    /// Operations at one of these places that do the same to different resources are one statement, as in
    /// `(self.host, self.port)` where places are lines. Else each of them is a round of a loop.
    pub whole: bool,
}

/// What a fix would do to the order of operations.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Guard {
    /// One new lock, held in all of these regions.
    Lock(Vec<Region>),
    /// No other task runs while one is in any of these regions.
    Atomic(Vec<Region>),
    /// Operations at `after` wait until one at `before` has been carried out.
    Order {
        /// What has to come first.
        before: Site,
        /// What waits for it.
        after: Site,
    },
    /// Notifications at these places reach all who wait, and not one alone.
    NotifyAll(Vec<Site>),
}

/// A guard, and how the front end tells places.
#[derive(Clone, Debug)]
pub struct Armed {
    /// What is to be obeyed.
    pub guard: Guard,
    /// The place that a site of the front end stands for.
    pub place: fn(crate::Site) -> Option<Site>,
}

impl Site {
    /// Whether operations at `place` are meant.
    pub fn is_at(&self, place: &Site) -> bool {
        (self.line, &self.file) == (place.line, &place.file) && (self.column == 0 || self.column == place.column)
    }
}
