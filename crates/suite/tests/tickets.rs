//! What a random walk needs where locks are tickets, computed exactly.
//!
//! The catalogue's numbers come from a simulator in which a lock can be requested only while it is free, and in
//! which a task's end is no step. Here a request takes its place in a queue, and the end is a step. A strategy
//! that leaves aside who would only wait does not notice the difference; `random`, which leaves nobody aside,
//! does. The walk is small enough to be summed up over all its states, by either rules.

use std::collections::HashMap;

use drawloom_suite::{Program, Trials, schedules_to_first_bug};

#[derive(Clone, Copy, PartialEq)]
enum Op {
    Step,
    Spawn(usize),
    Join(usize),
    Lock(usize),
    Unlock(usize),
}
use Op::{Join, Lock, Spawn, Step, Unlock};

/// Main first; no task has a choice of its own.
struct Model {
    tasks: &'static [&'static [Op]],
    /// Whether tasks that took the locks in this order have failed.
    fails: fn(&[(usize, usize)]) -> bool,
    tickets: bool,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct State {
    /// The next operation of each task; none before it is spawned.
    next: Vec<Option<usize>>,
    /// Who has requested each lock and not given it back, the holder first.
    queues: [Vec<usize>; 2],
    /// Requests in their order: task and lock.
    requests: Vec<(usize, usize)>,
}

impl Model {
    fn op(&self, state: &State, task: usize) -> Option<Op> {
        self.tasks[task].get(state.next[task]?).copied()
    }

    fn finished(&self, state: &State, task: usize) -> bool {
        // The end of a task is a step by our rules: one more than it has operations.
        let length = self.tasks[task].len() + usize::from(self.tickets);
        state.next[task].is_some_and(|next| next >= length)
    }

    fn ready(&self, state: &State, task: usize) -> bool {
        if state.next[task].is_none() || self.finished(state, task) {
            return false;
        }
        let waits = state.queues.iter().any(|queue| queue.iter().skip(1).any(|waiter| *waiter == task));
        match self.op(state, task) {
            Some(Join(other)) => self.finished(state, other),
            Some(Lock(lock)) if !self.tickets => state.queues[lock].is_empty(),
            _ => !waits,
        }
    }

    fn after(&self, state: &State, task: usize) -> State {
        let mut state = state.clone();
        match self.op(&state, task) {
            Some(Spawn(other)) => state.next[other] = Some(0),
            Some(Lock(lock)) => {
                state.queues[lock].push(task);
                state.requests.push((task, lock));
            }
            Some(Unlock(lock)) => {
                state.queues[lock].remove(0);
            }
            Some(Step | Join(_)) | None => {}
        }
        state.next[task] = state.next[task].map(|next| next + 1);
        state
    }

    /// The probability that a random walk from here ends in failure.
    fn failing(&self, state: &State, known: &mut HashMap<State, f64>) -> f64 {
        if let Some(known) = known.get(state) {
            return *known;
        }
        let ready: Vec<usize> = (0..self.tasks.len()).filter(|task| self.ready(state, *task)).collect();
        let over = (0..self.tasks.len()).all(|task| self.finished(state, task));
        let probability = if ready.is_empty() {
            f64::from(u8::from(!over || (self.fails)(&state.requests)))
        } else {
            let sum: f64 = ready.iter().map(|task| self.failing(&self.after(state, *task), known)).sum();
            sum / ready.len() as f64
        };
        known.insert(state.clone(), probability);
        probability
    }

    /// Mean executions until the first failure.
    fn mean(&self) -> f64 {
        let mut next = vec![None; self.tasks.len()];
        next[0] = Some(0);
        let begin = State { next, queues: [Vec::new(), Vec::new()], requests: Vec::new() };
        1.0 / self.failing(&begin, &mut HashMap::new())
    }
}

type Shape = (&'static str, &'static [&'static [Op]], fn(&[(usize, usize)]) -> bool);

const MAIN_OF_THREE: &[Op] = &[Spawn(1), Spawn(2), Spawn(3), Join(1), Join(2), Join(3)];
const MAIN_OF_TWO: &[Op] = &[Spawn(1), Spawn(2), Join(1), Join(2)];

/// Programs whose failure depends on nothing but the order in which locks are taken.
const SHAPES: [Shape; 4] = [
    (
        "account",
        &[
            &[Spawn(1), Spawn(2), Spawn(3), Join(3), Join(2), Join(1)],
            // Where it comes last it looks at all three; where it does not, it does not fail.
            &[Lock(0), Step, Step, Step, Unlock(0)],
            &[Lock(0), Step, Step, Step, Unlock(0)],
            &[Lock(0), Step, Step, Step, Unlock(0)],
        ],
        |requests| requests[2].0 == 1,
    ),
    (
        "lazy01",
        &[
            MAIN_OF_THREE,
            &[Lock(0), Step, Step, Unlock(0)],
            &[Lock(0), Step, Step, Unlock(0)],
            &[Lock(0), Step, Unlock(0)],
        ],
        |requests| requests[2].0 == 3,
    ),
    (
        "deadlock01",
        &[
            MAIN_OF_TWO,
            &[Lock(0), Lock(1), Step, Step, Unlock(1), Unlock(0)],
            &[Lock(1), Lock(0), Step, Step, Unlock(0), Unlock(1)],
        ],
        |_| false,
    ),
    ("cve_2009_3547", &[MAIN_OF_TWO, &[Lock(0), Step, Unlock(0)], &[Lock(0), Step, Unlock(0)]], |requests| {
        requests[0].0 == 2
    }),
];

fn near(measured: f64, expected: f64) -> bool {
    (measured / expected - 1.0).abs() <= 0.25
}

#[test]
fn the_model_agrees_with_the_simulator_by_its_rules_and_with_drawloom_by_ours() {
    for (name, tasks, fails) in SHAPES {
        let program = Program::named(name).expect("a program");
        let simulator = program.expected("random").expect("measured");
        let theirs = Model { tasks, fails, tickets: false }.mean();
        assert!(near(simulator, theirs), "{name}, locks requested while free: {simulator} simulated, {theirs} exact");
        let mut trials = Trials::default();
        for trial in 0..200 {
            trials.add(schedules_to_first_bug(&program.body, "random", trial, 10_000), 10_000);
        }
        let measured = trials.mean().unwrap_or_default();
        let ours = Model { tasks, fails, tickets: true }.mean();
        assert!(near(measured, ours), "{name}, tickets: {measured} measured, {ours} exact");
        println!("{name}: simulated {simulator}, exact {theirs:.2}; measured {measured:.2}, exact {ours:.2}");
    }
}
