//! Typed storage of a node: values by name, pending until they are synced.

use std::any::Any;
use std::collections::BTreeMap;

/// What a node has stored.
#[derive(Default)]
pub(crate) struct Store {
    /// What a crash leaves.
    durable: BTreeMap<&'static str, Box<dyn Any>>,
    /// Written since the last sync, oldest first.
    pending: Vec<(&'static str, Box<dyn Any>)>,
}

impl Store {
    pub(crate) fn write<T: Any + Clone>(&mut self, name: &'static str, value: T) {
        self.pending.push((name, Box::new(value)));
    }

    pub(crate) fn sync(&mut self) {
        self.durable.extend(self.pending.drain(..));
    }

    #[track_caller]
    pub(crate) fn read<T: Any + Clone>(&self, name: &'static str) -> Option<T> {
        let newest = self.pending.iter().rev().find(|(written, _)| *written == name).map(|(_, value)| value);
        let value = newest.or_else(|| self.durable.get(name))?;
        match value.downcast_ref::<T>() {
            Some(value) => Some(value.clone()),
            None => panic!("`{name}` was not stored as a `{}`", std::any::type_name::<T>()),
        }
    }

    /// A crash: the first `kept` of the pending writes have reached the disk, the others are lost.
    pub(crate) fn crash(&mut self, kept: usize) {
        self.pending.truncate(kept);
        self.sync();
    }

    pub(crate) fn wipe(&mut self) {
        self.durable.clear();
        self.pending.clear();
    }
}
