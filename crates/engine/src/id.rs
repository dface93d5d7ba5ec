//! Names of things within one execution.
//!
//! Ids are dense indices, cheap to store and to compare. They are *not* stable from one execution
//! to the next; what is stable is a task's spawn path ([`crate::Engine::path`]) and a resource's
//! creation site and ordinal.

use std::fmt;

/// A task of the current execution, by order of creation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct TaskId(pub u32);

impl TaskId {
    /// The task that runs the test's body.
    pub const MAIN: TaskId = TaskId(0);
    /// No task.
    pub const NONE: TaskId = TaskId(u32::MAX);

    /// The position in tables indexed by task.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A resource of the current execution, by order of first announcement.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ResourceId(pub u32);

impl ResourceId {
    /// No resource: the operation touches nothing shared.
    pub const NONE: ResourceId = ResourceId(u32::MAX);

    /// The position in tables indexed by resource.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A place in the user's source, opaque to the engine.
///
/// Each front end has its own idea of a place (a `&'static Location` in Rust, a code object and an
/// offset in Python), so the engine only carries the word around and never looks inside it, orders
/// by it or hashes it: a front end resolves it when a report is made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Site(pub usize);

impl Site {
    /// A place that is not known.
    pub const UNKNOWN: Site = Site(0);
}

/// A task's name that is the same in every execution: the ordinals of spawns from main downwards.
///
/// Main is `0`, its first child `0.1`, that child's second child `0.1.2`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct TaskPath(pub Vec<u32>);

impl fmt::Display for TaskPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("clock");
        }
        for (i, part) in self.0.iter().enumerate() {
            if i > 0 {
                f.write_str(".")?;
            }
            write!(f, "{part}")?;
        }
        Ok(())
    }
}
