//! Where a model puts the states after an operation.

/// The states after an operation. It is reused from step to step, and so is the memory of the states in it.
#[derive(Clone, Debug)]
pub struct Next<S> {
    slots: Vec<S>,
    used: usize,
    unchanged: bool,
}

impl<S> Default for Next<S> {
    fn default() -> Self {
        Next { slots: Vec::new(), used: 0, unchanged: false }
    }
}

impl<S: Clone> Next<S> {
    /// The object may be in this state.
    pub fn push(&mut self, state: S) {
        match self.slots.get_mut(self.used) {
            Some(slot) => *slot = state,
            None => self.slots.push(state),
        }
        self.used += 1;
    }

    /// The object may be in the state that it was in.
    pub fn unchanged(&mut self) {
        self.unchanged = true;
    }

    /// As `unchanged`, if the condition holds: what most observers need.
    pub fn unchanged_if(&mut self, condition: bool) {
        self.unchanged |= condition;
    }

    /// The object may be in what the caller makes of this copy of `state`. Takes no memory once warm.
    pub fn copy(&mut self, state: &S) -> &mut S {
        match self.slots.get_mut(self.used) {
            Some(slot) => slot.clone_from(state),
            None => self.slots.push(state.clone()),
        }
        self.used += 1;
        &mut self.slots[self.used - 1]
    }

    /// Takes back the last state that was pushed or copied.
    pub fn take_back(&mut self) {
        self.used = self.used.saturating_sub(1);
    }

    /// Forgets all states, and keeps their memory.
    pub fn clear(&mut self) {
        self.used = 0;
        self.unchanged = false;
    }

    pub(crate) fn stays(&self) -> bool {
        self.unchanged
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.used == 0 && !self.unchanged
    }

    /// One of the states other than the unchanged one.
    pub(crate) fn get(&self, number: usize) -> Option<&S> {
        self.slots[..self.used].get(number)
    }

    /// States other than the unchanged one.
    pub(crate) fn changed(&mut self) -> &mut [S] {
        &mut self.slots[..self.used]
    }

    /// All states: `from` is the state that `unchanged` stands for.
    pub fn states<'a>(&'a self, from: &'a S) -> impl Iterator<Item = &'a S> {
        self.slots[..self.used].iter().chain(self.unchanged.then_some(from))
    }
}
