//! Names of tasks that hold for all executions: spawn paths, as numbers.

use crate::id::TaskId;
use crate::sorted::Map;

/// A task of the program, whatever its number in an execution.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Name(pub(super) u32);

/// Gives out names.
pub(super) struct Names {
    children: Map<(Name, u32), Name>,
    /// Whose which child each is, in the order in which they were given out.
    given: Vec<(Name, u32)>,
}

impl Names {
    pub(super) const MAIN: Name = Name(0);
    /// Of the tasks that are there from the beginning: main, and the first one of the environment.
    const FIRST: [Name; 2] = [Names::MAIN, Name(1)];

    pub(super) fn new() -> Self {
        Names { children: Map::default(), given: Vec::new() }
    }

    /// Whose which child each is, in the order in which they were given out.
    pub(super) fn given(&self) -> &[(Name, u32)] {
        &self.given
    }

    /// The name of the `ordinal`-th child of `parent`.
    pub(super) fn child(&mut self, parent: Name, ordinal: u32) -> Name {
        let next = Name((Names::FIRST.len() + self.given.len()) as u32);
        *self.children.get_or_insert_with((parent, ordinal), || {
            self.given.push((parent, ordinal));
            next
        })
    }
}

/// The tasks of one execution, by number and by name. The next one often has the same.
#[derive(Default)]
pub(super) struct Cast {
    names: Vec<Name>,
    tasks: Vec<Option<TaskId>>,
    /// Those after so many are of the execution before.
    len: usize,
}

impl Cast {
    /// Begins with those who are there from the beginning.
    pub(super) fn begin(&mut self) {
        self.len = 0;
        Names::FIRST.into_iter().for_each(|name| self.push(name));
    }

    /// Number of tasks.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// The next task has this name.
    #[inline]
    pub(super) fn push(&mut self, name: Name) {
        if self.names.get(self.len) != Some(&name) {
            self.forget_others();
            let at = name.0 as usize;
            if self.tasks.len() <= at {
                self.tasks.resize(at + 1, None);
            }
            self.tasks[at] = Some(TaskId(self.len as u32));
            self.names.push(name);
        }
        self.len += 1;
    }

    /// Knows only of tasks that there have been in this execution.
    pub(super) fn forget_others(&mut self) {
        for name in self.names.drain(self.len..) {
            self.tasks[name.0 as usize] = None;
        }
    }

    #[inline]
    pub(super) fn name(&self, task: TaskId) -> Name {
        self.names[task.index()]
    }

    /// The task of that name, if it exists; perhaps not before long, if others have not been forgotten.
    #[inline]
    pub(super) fn task(&self, name: Name) -> Option<TaskId> {
        *self.tasks.get(name.0 as usize)?
    }
}
