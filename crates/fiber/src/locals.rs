//! What belongs to one task of one execution: thread-locals and the thread's name, under control.

use std::any::Any;
use std::ptr::NonNull;
use std::sync::Arc;

use drawloom_engine::TaskId;

use crate::runtime::Handle;

/// Identifies a task-local variable: the address of its static.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LocalKey(pub usize);

/// The value was destroyed: the task is about to end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Destroyed;

/// What one task has of its own.
#[derive(Default)]
pub(crate) struct Locals {
    /// In the order of their initialisation.
    values: Vec<Local>,
    /// Keys whose values were dropped already: reading one again is an access error, as in std.
    dropped: Vec<LocalKey>,
    name: Option<Arc<str>>,
    draws: u64,
}

struct Local {
    key: LocalKey,
    /// Whether its destruction can be noticed. What need not be dropped is never "destroyed".
    has_destructor: bool,
    value: Box<dyn Any>,
}

impl Handle {
    fn locals_of(&self, task: TaskId) -> &mut Locals {
        let locals = &mut self.inner().locals;
        if locals.len() <= task.index() {
            locals.resize_with(task.index() + 1, Locals::default);
        }
        &mut locals[task.index()]
    }

    /// Where the running task's value for `key` is, if it was initialised; an error once it was
    /// destroyed. The value stays there until the task ends or sets it anew.
    #[inline]
    pub fn local(self, key: LocalKey) -> Result<Option<NonNull<()>>, Destroyed> {
        let inner = self.inner();
        let Some(locals) = inner.locals.get(inner.running.index()) else { return Ok(None) };
        if let Some(local) = locals.values.iter().find(|l| l.key == key) {
            return Ok(Some(NonNull::from(&*local.value).cast()));
        }
        if locals.dropped.contains(&key) { Err(Destroyed) } else { Ok(None) }
    }

    /// What a front end remembers of the running task: a number, 0 at first.
    #[inline]
    pub fn memo(self) -> u8 {
        let inner = self.inner();
        inner.memos.get(inner.running.index()).copied().unwrap_or_default()
    }

    /// Sets it.
    #[inline]
    pub fn set_memo(self, memo: u8) {
        let inner = self.inner();
        match inner.memos.get_mut(inner.running.index()) {
            Some(place) => *place = memo,
            None => self.add_memo(memo),
        }
    }

    #[cold]
    fn add_memo(self, memo: u8) {
        let inner = self.inner();
        inner.memos.resize(inner.running.index() + 1, 0);
        inner.memos[inner.running.index()] = memo;
    }

    /// Initialises the running task's value for `key`. Gives back the value that was there: one that
    /// the initialiser itself has made meanwhile.
    pub fn set_local<T: 'static>(self, key: LocalKey, value: T) -> Option<Box<dyn Any>> {
        let value: Box<dyn Any> = Box::new(value);
        let locals = self.locals_of(self.running());
        if let Some(local) = locals.values.iter_mut().find(|l| l.key == key) {
            return Some(std::mem::replace(&mut local.value, value));
        }
        locals.values.push(Local { key, has_destructor: std::mem::needs_drop::<T>(), value });
        None
    }

    /// Destroys the locals of a task that ends, the youngest first, those that destructors make
    /// meanwhile included.
    pub(crate) fn drop_locals(self, task: TaskId) {
        loop {
            let Some(locals) = self.inner().locals.get_mut(task.index()) else { return };
            let Some(at) = locals.values.iter().rposition(|l| l.has_destructor) else { break };
            let local = locals.values.remove(at);
            locals.dropped.push(local.key);
            drop(local.value);
        }
    }

    /// Leaks the locals of a task that is leaked itself.
    pub(crate) fn forget_locals(self, task: TaskId) {
        if let Some(locals) = self.inner().locals.get_mut(task.index()) {
            std::mem::forget(std::mem::take(&mut locals.values));
        }
    }

    /// Names the thread that `task` stands for.
    pub fn set_thread_name(self, task: TaskId, name: Arc<str>) {
        self.locals_of(task).name = Some(name);
    }

    /// Counts the running task's random draws: the number of the one that is about to be made.
    pub fn count_draw(self) -> u64 {
        let locals = self.locals_of(self.running());
        locals.draws += 1;
        locals.draws
    }

    /// The name of the thread that the running task stands for.
    pub fn thread_name(self) -> Option<Arc<str>> {
        let inner = self.inner();
        inner.locals.get(inner.running.index()).and_then(|locals| locals.name.clone())
    }
}
