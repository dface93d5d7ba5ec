//! Executions without an executor: tasks are lists of operations, driven through the engine's own API.

use std::collections::VecDeque;

use drawloom_engine::finding::{Divergence, Finding, FindingKind};
use drawloom_engine::strategy::{Sequential, Strategy, View};
use drawloom_engine::{
    Committed, Engine, Limits, Next, OpKind, Operation, ResourceId, ResourceKind, Site, State, TaskId,
};
use drawloom_report::{Meta, Place, Record, language};

pub const MAIN: u32 = 0;
/// The first and second task that a script spawns; 1 is the clock.
pub const FIRST: u32 = 2;
pub const SECOND: u32 = 3;

/// One thing that a task does.
#[derive(Clone)]
pub enum Act {
    Op { operation: Operation, value: Option<u64> },
    Spawn { line: usize, name: Option<&'static str>, body: Vec<Act> },
    Fail(FindingKind),
}

/// An operation on a resource at a line.
pub fn op(kind: OpKind, resource: u32, line: usize) -> Act {
    Act::Op { operation: Operation::new(kind, ResourceId(resource), Site(line)), value: None }
}

/// An operation without a resource.
pub fn bare(kind: OpKind, arg: u64, line: usize) -> Act {
    Act::Op { operation: Operation::new(kind, ResourceId::NONE, Site(line)).with_arg(arg), value: None }
}

pub fn join(task: u32, line: usize) -> Act {
    bare(OpKind::Join, u64::from(task), line)
}

pub fn spawn(line: usize, name: Option<&'static str>, body: Vec<Act>) -> Act {
    Act::Spawn { line, name, body }
}

impl Act {
    pub fn arg(mut self, arg: u64) -> Act {
        if let Act::Op { operation, .. } = &mut self {
            operation.arg = arg;
        }
        self
    }

    pub fn value(mut self, noted: u64) -> Act {
        if let Act::Op { value, .. } = &mut self {
            *value = Some(noted);
        }
        self
    }
}

/// Picks as told, and goes on with the current task when there is nothing left to tell.
struct Picks(VecDeque<u32>);

impl Strategy for Picks {
    fn begin(&mut self, _seed: u64) {}
    fn pick(&mut self, view: &View<'_>) -> Result<TaskId, Box<Divergence>> {
        match self.0.pop_front().map(TaskId) {
            Some(task) if view.is_ready(task) => Ok(task),
            _ => Sequential.pick(view),
        }
    }
}

/// A program with its resources and the choices to make.
#[derive(Default)]
pub struct Script {
    pub limits: Limits,
    pub resources: Vec<(ResourceKind, State, usize, Option<&'static str>)>,
    pub picks: Vec<u32>,
}

impl Script {
    pub fn with(resources: &[(ResourceKind, State, usize, Option<&'static str>)]) -> Script {
        Script { resources: resources.to_vec(), ..Script::default() }
    }

    pub fn picks(mut self, picks: &[u32]) -> Script {
        self.picks = picks.to_vec();
        self
    }

    /// Runs `main` to its end or to a finding.
    pub fn run(self, main: Vec<Act>) -> Engine {
        let mut engine = Engine::new();
        let mut strategy = Picks(self.picks.into());
        engine.begin(&self.limits, &mut strategy, 0);
        for (kind, state, line, name) in self.resources {
            let id = engine.create_resource(TaskId::MAIN, kind, state, Site(line));
            if let Some(name) = name {
                engine.name_resource(id, name);
            }
        }
        let mut bodies = vec![VecDeque::from(main), VecDeque::new()];
        loop {
            match engine.next(&mut strategy) {
                Next::Stop => return engine,
                Next::Settle(task) => announce(&mut engine, &mut bodies, task),
                Next::Run(task) => {
                    let kind = engine.task(task).pending.kind;
                    if engine.commit(task, kind, &mut strategy) == Committed::Wait {
                        bodies[task.index()].pop_front();
                        continue;
                    }
                    match bodies[task.index()].pop_front() {
                        Some(Act::Op { value: Some(value), .. }) => engine.note_value(value),
                        Some(Act::Spawn { line, name, body }) => {
                            engine.spawn(task, Site(line), name.map(Into::into), &mut strategy);
                            bodies.push(body.into());
                        }
                        _ => {}
                    }
                    if kind != OpKind::Exit {
                        announce(&mut engine, &mut bodies, task);
                    }
                }
            }
        }
    }

    /// The record of what `main` comes to; there must be a finding.
    pub fn record(self, test: &str, main: Vec<Act>) -> Record {
        let engine = self.run(main);
        let finding = engine.finding().expect("the script has a finding").clone();
        record(&engine, &finding, test)
    }
}

fn announce(engine: &mut Engine, bodies: &mut [VecDeque<Act>], task: TaskId) {
    let operation = match bodies[task.index()].front() {
        Some(Act::Op { operation, .. }) => *operation,
        Some(Act::Spawn { line, .. }) => Operation::new(OpKind::Spawn, ResourceId::NONE, Site(*line)),
        Some(Act::Fail(kind)) => {
            engine.fail(kind.clone(), task);
            return;
        }
        None => Operation::new(OpKind::Exit, ResourceId::NONE, Site::UNKNOWN),
    };
    engine.announce(task, operation);
}

pub fn record(engine: &Engine, finding: &Finding, test: &str) -> Record {
    Record::of(engine, finding, meta(test), &resolve)
}

fn meta(test: &str) -> Meta {
    Meta {
        test: test.to_owned(),
        strategy: "random(iterations = 500)".to_owned(),
        seed: Some(0x5eed),
        iteration: 17,
        executions: 17,
        token: "dl1AbC-d_9".to_owned(),
        replay_with: None,
        minimised: None,
        language: language::RUST,
        command: None,
        package: None,
        target: None,
        own: false,
    }
}

/// In scripts a site is a line of one file.
pub fn resolve(site: Site) -> Option<Place> {
    Some(Place { file: "src/x.rs".to_owned(), line: site.0 as u32, column: 5 })
}

/// The record of an execution in which nothing was found.
#[allow(dead_code)]
pub fn passed(engine: &Engine, test: &str) -> Record {
    Record::passed(engine, meta(test), &resolve)
}
