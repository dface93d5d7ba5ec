//! Groups: the tasks that end together with the future that [`run`] runs.

use std::cell::RefCell;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};

use drawloom_engine::TaskPath;
use drawloom_engine::sorted::sort_by;

use super::drive::{Target, block_on};
use crate::rt::{self, OpKind};
use crate::thread::TaskOf;

/// The tasks that were spawned by a future, by those tasks, and so on.
#[derive(Default)]
pub(super) struct Group {
    /// Known to nobody before the end, so adding to it is no step.
    members: Mutex<Vec<Member>>,
}

struct Member {
    task: TaskOf,
    /// What never waits to be woken cannot be aborted.
    target: Option<Arc<Target>>,
}

crate::thread_local! {
    /// The group that the running task's children belong to.
    static CURRENT: RefCell<Option<Arc<Group>>> = const { RefCell::new(None) };
}

impl Group {
    pub(super) fn current() -> Option<Arc<Group>> {
        CURRENT.try_with(|group| group.borrow().clone()).ok().flatten()
    }

    /// Makes `group` that of the running task; returns the one that it had.
    pub(super) fn enter(group: Option<Arc<Group>>) -> Option<Arc<Group>> {
        CURRENT.with(|current| current.replace(group))
    }

    pub(super) fn add(&self, task: TaskOf, target: Option<Arc<Target>>) {
        self.members().push(Member { task, target });
    }

    fn members(&self) -> std::sync::MutexGuard<'_, Vec<Member>> {
        self.members.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Aborts what can be, and waits for nobody.
    pub(super) fn abort(&self) {
        for target in self.take().iter().filter_map(|member| member.target.as_ref()) {
            target.abort();
        }
    }

    /// The members so far, in the order of what they are called: in which order they were added depends on
    /// the schedule.
    fn take(&self) -> Vec<Member> {
        let members = std::mem::take(&mut *self.members());
        let Some(rt) = members.first().and_then(|member| member.task.here()) else { return Vec::new() };
        let path = |member: &Member| rt.with_engine(|engine| engine.path(member.task.task));
        let mut members: Vec<(TaskPath, Member)> = members.into_iter().map(|member| (path(&member), member)).collect();
        sort_by(&mut members, |(a, _), (b, _)| a.cmp(b));
        members.into_iter().map(|(_, member)| member).collect()
    }

    /// Aborts what can be, waits for all, and for what is spawned meanwhile.
    #[track_caller]
    pub(super) fn end(&self) {
        loop {
            let members = self.take();
            let Some(rt) = members.first().and_then(|member| member.task.here()) else { return };
            for target in members.iter().filter_map(|member| member.target.as_ref()) {
                target.abort();
            }
            for member in &members {
                rt::bare(rt, OpKind::Join, u64::from(member.task.task.0));
            }
        }
    }
}

/// Runs a future to its end on the calling task, and then ends the tasks that it has spawned: those that
/// wait are aborted, as when a runtime is shut down; what [`spawn_blocking`](super::spawn_blocking) runs is
/// waited for.
///
/// Outside of an exploration it is [`block_on`].
///
/// ```
/// use drawloom::future;
///
/// let sum = future::run(async {
///     let left = future::spawn(async { 40 });
///     left.await.unwrap() + 2
/// });
/// assert_eq!(sum, 42);
/// ```
#[track_caller]
pub fn run<F: Future>(future: F) -> F::Output {
    let group = Arc::new(Group::default());
    let outer = Group::enter(Some(group.clone()));
    let output = block_on(future);
    group.end();
    Group::enter(outer);
    output
}
