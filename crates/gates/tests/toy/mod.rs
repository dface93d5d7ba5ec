//! A toy runtime of plain OS threads, in the place of a foreign one: threads give up nothing but their turn.

use std::sync::{Arc, Mutex};

use drawloom_engine::finding::Panic;
use drawloom_engine::strategy::Random;
use drawloom_engine::{OpKind, Operation, Outcome, ResourceId, ResourceKind, Settings, Site, State, Step, TaskId};
use drawloom_explore::Executor;
use drawloom_gates::{Baton, Foreign, Gate, Gates, TornDown, baton, serve};

pub const TOY: Foreign = Foreign { switch, start_thread, waits: |_| Vec::new() };

fn switch(next: Option<&Gate>, own: &Gate) {
    if let Some(next) = next {
        next.open();
    }
    own.wait();
}

struct Sent(Baton);

// SAFETY: the thread touches nothing through it before it is let through.
unsafe impl Send for Sent {}

fn start_thread(baton: Baton, gate: Arc<Gate>) {
    let sent = Sent(baton);
    std::thread::spawn(move || {
        let sent = sent;
        serve(TOY, sent.0, &gate);
    });
}

/// What tasks of a toy program can do; who is torn down leaves by `?`.
pub type Toy<R> = Result<R, TornDown>;

/// A line of a toy program.
pub fn at(line: usize) -> Site {
    Site(line)
}

pub fn here() -> Baton {
    baton().expect("a task of an execution")
}

pub fn resource(kind: ResourceKind, state: State) -> ResourceId {
    let task = here().running();
    here().with_engine(|engine| engine.create_resource(task, kind, state, Site::UNKNOWN))
}

pub fn mutex() -> ResourceId {
    resource(ResourceKind::Mutex, State::Plain)
}

pub fn cell() -> ResourceId {
    resource(ResourceKind::Cell, State::Plain)
}

pub fn step(kind: OpKind, resource: ResourceId, line: usize) -> Toy<u32> {
    here().step(Operation::new(kind, resource, at(line)))
}

pub fn spawn(body: impl FnOnce() -> Toy<()> + 'static) -> Toy<TaskId> {
    here().spawn(None, at(1), Box::new(move || told(body())))
}

pub fn join(task: TaskId) -> Toy<()> {
    here().step(Operation::new(OpKind::Join, ResourceId::NONE, at(2)).with_arg(u64::from(task.0))).map(|_| ())
}

pub fn panic(message: &str) -> Panic {
    Panic { message: message.to_owned(), ..Panic::default() }
}

fn told(done: Toy<()>) -> Option<Panic> {
    let _ = done;
    None
}

pub fn settings() -> Settings {
    Settings::default()
}

pub fn gates() -> Gates {
    Gates::new(TOY, Box::new(Random::new()))
}

/// One execution of `main` under the choices of `seed`.
pub fn run(gates: &mut Gates, seed: u64, main: impl FnOnce() -> Toy<()> + 'static) -> Outcome {
    gates.run(&settings(), seed, Box::new(move || told(main())))
}

/// The steps of the last execution: who did what, where.
pub fn trace(gates: &Gates) -> Vec<(u32, OpKind, usize)> {
    let told = |step: &Step| (step.task.0, step.kind, step.site.0);
    gates.engine().steps().iter().map(told).collect()
}

/// What tasks have said, in the order in which they did.
pub type Said = Arc<Mutex<Vec<u32>>>;

pub fn say(said: &Said, word: u32) {
    said.lock().unwrap_or_else(|e| e.into_inner()).push(word);
}

pub fn heard(said: &Said) -> Vec<u32> {
    std::mem::take(&mut *said.lock().unwrap_or_else(|e| e.into_inner()))
}
