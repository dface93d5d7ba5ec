//! The executor: runs executions, one after another, with the calling thread as main.

use std::sync::Arc;

use drawloom_engine::strategy::Strategy;
use drawloom_engine::{Engine, Outcome, Settings, TaskId};
use drawloom_explore::Executor;

use crate::gate::Gate;
use crate::runtime::{Baton, Body, Foreign, Inner, Shared, set_baton};

/// Runs executions and keeps their memory and threads.
pub struct Gates {
    pub(crate) shared: Box<Shared>,
}

impl Gates {
    /// An executor that makes its choices by `strategy`.
    pub fn new(foreign: Foreign, strategy: Box<dyn Strategy>) -> Gates {
        let shared = Shared::new(Inner {
            engine: Engine::new(),
            strategy,
            gates: Vec::new(),
            bodies: Vec::new(),
            idle: Vec::new(),
            conductor: Arc::new(Gate::new()),
            running: TaskId::MAIN,
            forced: Vec::new(),
            accesses_in_teardown: 0,
            of_frameworks_in_teardown: 0,
            giving_way: Vec::new(),
            leaked: 0,
            guests: Vec::new(),
            turns: None,
            told: None,
            foreign,
        });
        Gates { shared: Box::new(shared) }
    }

    /// What threads that are started for it call [`serve`](crate::serve) with.
    pub fn baton(&self) -> Baton {
        Baton::new(&self.shared)
    }

    /// Runs one execution, with `main` on the calling thread. The trace stays in the engine until the next one.
    pub fn run(&mut self, settings: &Settings, seed: u64, main: Body) -> Outcome {
        let baton = self.baton();
        let inner = baton.inner();
        inner.engine.begin(&settings.limits, &mut *inner.strategy, seed);
        inner.bodies.clear();
        inner.gates.clear();
        inner.forced.clear();
        inner.guests.clear();
        inner.turns = None;
        inner.told = None;
        inner.accesses_in_teardown = 0;
        inner.of_frameworks_in_teardown = 0;
        // Whoever explores may do so from another thread than the time before.
        inner.conductor = Arc::new(Gate::new());
        inner.conductor.belongs_to_caller();
        inner.enlist(TaskId::MAIN, main);
        inner.gates[TaskId::MAIN.index()] = Some(Arc::clone(&inner.conductor));
        inner.running = TaskId::MAIN;
        set_baton(Some(baton));
        let next = inner.engine.next(&mut *inner.strategy);
        inner.resolve(next);
        baton.run_task(TaskId::MAIN);
        if !baton.is_tearing_down() {
            let inner = baton.inner();
            let next = inner.engine.next(&mut *inner.strategy);
            let next = inner.resolve(next);
            let own = Arc::clone(&inner.conductor);
            if next.is_some() {
                baton.switch(next, &own);
            }
        }
        let leaked_tasks = self.tear_down();
        set_baton(None);
        let inner = baton.inner();
        Outcome { ending: inner.told.take().unwrap_or_else(|| inner.engine.ending().clone()), leaked_tasks }
    }
}

impl Executor for Gates {
    fn replace_strategy(&mut self, strategy: Box<dyn Strategy>) -> Box<dyn Strategy> {
        std::mem::replace(&mut self.baton().inner().strategy, strategy)
    }

    fn with_strategy<R>(&mut self, act: impl FnOnce(&mut dyn Strategy) -> R) -> R {
        act(&mut *self.baton().inner().strategy)
    }

    fn engine(&self) -> &Engine {
        self.shared.engine()
    }

    fn has_leaked(&self) -> bool {
        self.baton().inner().leaked > 0
    }
}

impl Drop for Gates {
    /// Sends its threads home. Those of leaked tasks never come through, so what they know of is kept for them.
    fn drop(&mut self) {
        for gate in self.baton().inner().idle.drain(..) {
            gate.assign(TaskId::NONE);
            gate.open();
        }
    }
}
