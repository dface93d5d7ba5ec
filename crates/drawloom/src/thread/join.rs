//! Spawning and joining.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::{Arc, Mutex};

use drawloom_fiber::ForcedUnwind;

use crate::rt::{self, Handle, OpKind, TaskId};

/// As [`std::thread::Result`].
pub type Result<T> = std::result::Result<T, Box<dyn Any + Send + 'static>>;

/// As [`std::thread::JoinHandle`].
pub struct JoinHandle<T>(Inner<T>);

enum Inner<T> {
    Native(std::thread::JoinHandle<T>),
    Task(Packet<T>),
}

/// The result of a task, shared by the task and its handle.
struct Packet<T> {
    task: TaskId,
    result: Arc<Mutex<Option<Result<T>>>>,
}

/// As [`std::thread::spawn`].
#[track_caller]
pub fn spawn<F, T>(f: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    let site = rt::here();
    let Some(rt) = rt::current() else {
        return JoinHandle(Inner::Native(std::thread::spawn(f)));
    };
    let result = Arc::new(Mutex::new(None));
    let theirs = result.clone();
    let task = rt.spawn(
        None,
        site,
        Box::new(move || {
            let outcome = catch_unwind(AssertUnwindSafe(f));
            if let Err(payload) = &outcome {
                if !payload.is::<ForcedUnwind>() {
                    rt.panicked(false);
                }
            }
            *theirs.lock().unwrap() = Some(outcome);
        }),
    );
    JoinHandle(Inner::Task(Packet { task, result }))
}

impl<T> JoinHandle<T> {
    /// As [`std::thread::JoinHandle::join`].
    #[track_caller]
    pub fn join(self) -> Result<T> {
        match self.0 {
            Inner::Native(handle) => handle.join(),
            Inner::Task(packet) => {
                let rt = rt::current().expect("joined outside of the exploration");
                rt::bare(rt, OpKind::Join, u64::from(packet.task.0));
                let result = packet.result.lock().unwrap().take().expect("a task that has exited left its result");
                if result.is_err() {
                    rt.received_panic(packet.task);
                }
                result
            }
        }
    }
}
#[allow(dead_code)]
fn _unused(_: Option<(Handle, Rc<()>)>) {}
