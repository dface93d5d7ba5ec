//! Values that belong to one task of one execution: thread-locals under control.

use std::any::Any;
use std::rc::Rc;

use drawloom_engine::TaskId;

use crate::runtime::Handle;

/// Identifies a task-local variable: the address of its static.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LocalKey(pub usize);

/// The locals of a task, in the order of their initialisation.
#[derive(Default)]
pub(crate) struct Locals {
    values: Vec<(LocalKey, Rc<dyn Any>)>,
    /// Keys whose values were dropped already: reading one again is an access error, as in std.
    dropped: Vec<LocalKey>,
}

impl Handle {
    /// The running task's value for `key`; an error once it was destroyed.
    pub fn local(self, key: LocalKey) -> Result<Option<Rc<dyn Any>>, Destroyed> {
        let inner = self.inner();
        let Some(locals) = inner.locals.get(inner.running.index()) else { return Ok(None) };
        if locals.dropped.contains(&key) {
            return Err(Destroyed);
        }
        Ok(locals.values.iter().find(|(k, _)| *k == key).map(|(_, value)| value.clone()))
    }

    /// Initialises the running task's value for `key`.
    pub fn set_local(self, key: LocalKey, value: Rc<dyn Any>) {
        let inner = self.inner();
        let task = inner.running.index();
        if inner.locals.len() <= task {
            inner.locals.resize_with(task + 1, Locals::default);
        }
        inner.locals[task].values.push((key, value));
    }

    /// Destroys the locals of a task that ends, those that destructors make meanwhile included.
    pub(crate) fn drop_locals(self, task: TaskId) {
        loop {
            let inner = self.inner();
            let Some(locals) = inner.locals.get_mut(task.index()) else { return };
            if locals.values.is_empty() {
                return;
            }
            let (key, value) = locals.values.remove(0);
            locals.dropped.push(key);
            drop(value);
        }
    }
}

/// The value was destroyed: the task is about to end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Destroyed;
