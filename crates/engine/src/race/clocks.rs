//! Vector clocks of tasks, and of what they leave behind for others, in reused memory.

/// A clock, by its place among [`Clocks`]. That of a task has the task's number.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Row(pub(super) u32);

impl Row {
    /// A clock that knows nothing.
    pub(super) const NONE: Row = Row(u32::MAX);
}

impl Default for Row {
    fn default() -> Self {
        Row::NONE
    }
}

/// Clocks, one after the other in one piece of memory.
#[derive(Default)]
pub(super) struct Clocks {
    tasks: usize,
    words: Vec<u32>,
    free: Vec<Row>,
}

impl Clocks {
    pub(super) fn begin(&mut self, tasks: usize) {
        self.tasks = tasks;
        self.words.clear();
        self.words.resize(tasks * tasks, 0);
        self.free.clear();
    }

    pub(super) fn get(&self, clock: Row, task: u32) -> u32 {
        self.words[clock.0 as usize * self.tasks + task as usize]
    }

    /// A task's next step.
    pub(super) fn tick(&mut self, task: Row) {
        self.words[task.0 as usize * (self.tasks + 1)] += 1;
    }

    /// `clock` knows all that `other` knows.
    pub(super) fn join(&mut self, clock: Row, other: Row) {
        if other == Row::NONE || clock == other {
            return;
        }
        let (a, b) = (clock.0 as usize * self.tasks, other.0 as usize * self.tasks);
        for k in 0..self.tasks {
            self.words[a + k] = self.words[a + k].max(self.words[b + k]);
        }
    }

    /// Adds what `task` knows to a clock that others can read.
    pub(super) fn publish(&mut self, clock: &mut Row, task: Row) {
        if *clock == Row::NONE {
            self.replace(clock, task);
        } else {
            self.join(*clock, task);
        }
    }

    /// Makes a clock that others can read one that knows what `task` knows, and nothing else.
    pub(super) fn replace(&mut self, clock: &mut Row, task: Row) {
        let from = task.0 as usize * self.tasks;
        let from = from..from + self.tasks;
        if *clock == Row::NONE {
            if let Some(free) = self.free.pop() {
                *clock = free;
            } else {
                *clock = Row((self.words.len() / self.tasks) as u32);
                self.words.extend_from_within(from);
                return;
            }
        }
        self.words.copy_within(from, clock.0 as usize * self.tasks);
    }

    /// Joins the clock of a ticket, which is not needed again.
    pub(super) fn take(&mut self, task: Row, tickets: &mut [Row], ticket: Option<u64>) {
        let found = ticket.and_then(|ticket| tickets.get_mut(usize::try_from(ticket).ok()?));
        if let Some(row) = found {
            self.join(task, *row);
            self.forget(row);
        }
    }

    pub(super) fn forget(&mut self, clock: &mut Row) {
        let row = std::mem::take(clock);
        if row != Row::NONE {
            self.free.push(row);
        }
    }
}
