//! The machine: runs a program under a strategy and keeps the real values.

use std::collections::VecDeque;

use drawloom_engine::finding::{FindingKind, Panic};
use drawloom_engine::strategy::Strategy;
use drawloom_engine::{
    Budget, ChannelState, Committed, Engine, Limits, Next, OpKind, Operation, ResourceId, Site, State, Step, TaskId,
    outcome,
};

use super::instruction::{Act, Instruction, Into, Target, Value, When};
use super::program::Program;

/// An execution that is over.
#[derive(Clone, Debug)]
pub struct Run {
    /// The registers of each thread.
    pub registers: Vec<[i64; 8]>,
    /// The values of the program's variables, by declaration.
    pub memory: Vec<i64>,
    /// The word of the finding, if there was one.
    pub finding: Option<String>,
    /// The kind of the finding.
    pub kind: Option<FindingKind>,
    /// The trace.
    pub steps: Vec<Step>,
    /// The spawn path of each task, by id.
    pub paths: Vec<String>,
    /// The task of each thread; `NONE` if it was never started.
    pub tasks: Vec<TaskId>,
    /// Virtual time at the end.
    pub now: u64,
    /// The behaviour hash.
    pub behaviour: u64,
}

/// A site is a line of the program.
pub fn line_of(site: Site) -> u32 {
    site.0 as u32
}

/// Runs `program` once.
pub fn run(program: &Program, strategy: &mut dyn Strategy) -> Run {
    run_on(&mut Engine::new(), program, strategy, &Limits::default(), 0)
}

/// Runs `program` once on `engine`, which may have run others before.
pub fn run_on(engine: &mut Engine, program: &Program, strategy: &mut dyn Strategy, limits: &Limits, seed: u64) -> Run {
    engine.begin(limits, strategy, seed);
    let mut machine = Machine {
        program,
        engine,
        strategy,
        tasks: vec![TaskId::NONE; program.threads.len()],
        threads: Vec::new(),
        resources: Vec::new(),
        memory: program.things.iter().map(|t| t.initial).collect(),
        messages: vec![VecDeque::new(); program.things.len()],
        in_flight: Vec::new(),
    };
    machine.run();
    machine.strategy.end(&machine.engine.view(), machine.engine.ending());
    let Machine { tasks, threads, memory, .. } = machine;
    let mut registers = vec![[0; 8]; program.threads.len()];
    for state in threads.into_iter().flatten() {
        registers[state.thread] = state.registers;
    }
    let finding = engine.finding();
    Run {
        registers,
        memory,
        finding: finding.map(|f| f.kind.word().to_string()),
        kind: finding.map(|f| f.kind.clone()),
        steps: engine.steps().to_vec(),
        paths: (0..engine.tasks().len()).map(|t| engine.path(TaskId(t as u32)).to_string()).collect(),
        tasks,
        now: engine.now(),
        behaviour: engine.behaviour(),
    }
}

/// Where a thread stands.
pub(super) struct Running {
    pub(super) thread: usize,
    pub(super) at: usize,
    pub(super) registers: [i64; 8],
    /// Past a wait on a condition variable, the mutex has to be taken again: that mutex.
    pub(super) relock: Option<ResourceId>,
    /// In the midst of killing a group, the last one killed.
    pub(super) killed: Option<TaskId>,
    /// The operation that was announced is this thread's last.
    pub(super) exiting: bool,
    pub(super) announced: bool,
}

pub(super) struct Machine<'a> {
    pub(super) program: &'a Program,
    pub(super) engine: &'a mut Engine,
    pub(super) strategy: &'a mut dyn Strategy,
    pub(super) tasks: Vec<TaskId>,
    /// By task; main and the clock have no thread.
    pub(super) threads: Vec<Option<Running>>,
    pub(super) resources: Vec<ResourceId>,
    pub(super) memory: Vec<i64>,
    pub(super) messages: Vec<VecDeque<i64>>,
    /// Messages that the environment has yet to send, each with who does and where to.
    in_flight: Vec<(TaskId, usize, i64)>,
}

impl Machine<'_> {
    fn run(&mut self) {
        loop {
            match self.engine.next(self.strategy) {
                Next::Stop => return,
                Next::Settle(TaskId::MAIN) => self.start(),
                Next::Settle(task) => {
                    let result = self.engine.result(task);
                    // Who is to look again announces the same.
                    if self.thread(task).announced && result != outcome::LOOK_AGAIN {
                        self.complete(task, result);
                    }
                    self.go_on(task);
                }
                Next::Run(task) => {
                    let kind = self.engine.task(task).pending.kind;
                    let committed = self.engine.commit(task, kind, self.strategy);
                    if self.engine.task(task).environment {
                        assert_eq!(committed, Committed::Wait, "nobody resumes the environment");
                        self.arrive(task);
                        continue;
                    }
                    if task == TaskId::MAIN || self.thread(task).exiting {
                        continue;
                    }
                    if matches!(committed, Committed::Wait | Committed::Done(outcome::OK)) {
                        self.deliver(task);
                    }
                    if let Committed::Done(result) = committed {
                        self.complete(task, result);
                        self.go_on(task);
                    }
                }
            }
        }
    }

    /// A message is in the channel as soon as its send has a ticket.
    fn deliver(&mut self, task: TaskId) {
        let running = self.thread(task);
        let (thread, at) = (running.thread, running.at);
        if let Instruction::Send { at, value, .. } = self.program.threads[thread].code[at].1 {
            let index = self.index(task, at);
            let value = self.value(task, value);
            self.messages[index].push_back(value);
        }
    }

    /// The channel was closed: who had no room for its message takes it back.
    pub(super) fn take_back(&mut self, task: TaskId, at: Target) {
        let (index, id) = (self.index(task, at), self.resource(task, at));
        let State::Channel(channel) = self.engine.resources()[id.index()].state else { return };
        let sent =
            |step: &&Step| step.resource == id && step.is_ok() && matches!(step.kind, OpKind::Send | OpKind::TrySend);
        // Earlier closes have taken back theirs: only one ever finds the channel open.
        let closes =
            self.engine.steps().iter().filter(|step| step.resource == id && step.kind == OpKind::Close).count();
        if closes == 1 {
            let tickets = self.engine.steps().iter().filter(sent).count();
            let kept = self.messages[index].len() + channel.sent as usize - tickets;
            self.messages[index].truncate(kept);
        }
    }

    /// The environment has made a step: what it has sent is in the channel.
    fn arrive(&mut self, task: TaskId) {
        let Some(step) = self.engine.steps().last().copied() else { return };
        if step.kind != OpKind::TrySend || !step.is_ok() {
            return;
        }
        let flies = |(by, to, _): &(TaskId, usize, i64)| *by == task && self.resources[*to] == step.resource;
        let at = self.in_flight.iter().position(flies).expect("a message in flight");
        let (_, to, value) = self.in_flight.remove(at);
        self.messages[to].push_back(value);
    }

    /// Leaves `acts` to the environment.
    pub(super) fn leave(&mut self, parent: TaskId, acts: [Option<Act>; 2], budget: Option<Budget>) {
        let index = |machine: &mut Self, act: &Act| act.at.map_or(usize::MAX, |at| machine.index(parent, at));
        let acts: Vec<(Act, usize)> = acts.into_iter().flatten().map(|act| (act, index(self, &act))).collect();
        let operation = |(act, at): &(Act, usize)| {
            if act.of_group {
                return Engine::kill_of_group(act.value as u16, Site::UNKNOWN);
            }
            if act.kind == OpKind::Kill {
                let victim = self.tasks[act.value as usize];
                return Operation::new(OpKind::Kill, ResourceId::NONE, Site::UNKNOWN).with_arg(u64::from(victim.0));
            }
            let arg = match self.program.things[*at].state {
                State::Channel(ChannelState { capacity, .. }) => capacity,
                _ => act.value as u64,
            };
            Operation::new(act.kind, self.resources[*at], Site::UNKNOWN).with_arg(arg)
        };
        let operations: Vec<Operation> = acts.iter().map(operation).collect();
        let task = self.engine.create_environment(parent, &operations, budget, None, self.strategy);
        let sends = acts.iter().filter(|(act, _)| act.kind == OpKind::TrySend);
        self.in_flight.extend(sends.map(|(act, at)| (task, *at, act.value)));
    }

    /// Main makes all things and starts the threads without a step, and exits.
    fn start(&mut self) {
        for thing in &self.program.things {
            let id = self.engine.create_resource(TaskId::MAIN, thing.kind, thing.state, Site::UNKNOWN);
            self.resources.push(id);
        }
        for thread in 0..self.program.threads.len() {
            if !self.program.threads[thread].off {
                self.spawn(TaskId::MAIN, thread);
            }
        }
        self.engine.announce(TaskId::MAIN, Operation::new(OpKind::Exit, ResourceId::NONE, Site::UNKNOWN));
    }

    pub(super) fn spawn(&mut self, parent: TaskId, thread: usize) {
        let task = self.engine.spawn(parent, Site::UNKNOWN, None, self.strategy);
        self.tasks[thread] = task;
        if self.program.threads[thread].group != 0 {
            self.engine.set_group(task, self.program.threads[thread].group);
        }
        self.threads.resize_with(task.index() + 1, || None);
        self.threads[task.index()] = Some(Running {
            thread,
            at: 0,
            registers: [0; 8],
            relock: None,
            killed: None,
            exiting: false,
            announced: false,
        });
    }

    pub(super) fn thread(&mut self, task: TaskId) -> &mut Running {
        self.threads[task.index()].as_mut().expect("a task of a thread")
    }

    pub(super) fn value(&mut self, task: TaskId, value: Value) -> i64 {
        match value {
            Value::Number(number) => number,
            Value::Register(register) => self.thread(task).registers[register],
        }
    }

    pub(super) fn set(&mut self, task: TaskId, register: Into, value: i64) {
        if let Some(register) = register {
            self.thread(task).registers[register] = value;
        }
    }

    pub(super) fn index(&mut self, task: TaskId, target: Target) -> usize {
        target.first + self.value(task, target.index) as usize
    }

    pub(super) fn resource(&mut self, task: TaskId, target: Target) -> ResourceId {
        let index = self.index(task, target);
        self.resources[index]
    }

    /// Carries out local instructions, then announces the next visible one.
    fn go_on(&mut self, task: TaskId) {
        loop {
            let program = self.program;
            let running = self.thread(task);
            let code = &program.threads[running.thread].code;
            let Some(&(line, instruction)) = code.get(running.at) else {
                running.exiting = true;
                let end = code.last().map_or(0, |(line, _)| line + 1);
                self.engine.announce(task, Operation::new(OpKind::Exit, ResourceId::NONE, Site(end)));
                return;
            };
            match instruction {
                Instruction::Set { to, a, op, b } => {
                    let result = op.apply(self.value(task, a), self.value(task, b));
                    self.set(task, to, result);
                    self.thread(task).at += 1;
                }
                Instruction::Jump { when, to } => {
                    let jump = match when {
                        When::Always => true,
                        When::Zero(v) => self.value(task, v) == 0,
                        When::NotZero(v) => self.value(task, v) != 0,
                    };
                    let running = self.thread(task);
                    running.at = if jump { to } else { running.at + 1 };
                }
                Instruction::KillAll(group) => {
                    let last = self.thread(task).killed;
                    let Some(victim) = self.engine.next_member(group, last) else {
                        let running = self.thread(task);
                        running.killed = None;
                        running.at += 1;
                        continue;
                    };
                    let running = self.thread(task);
                    running.killed = Some(victim);
                    running.announced = true;
                    let kill = Operation::new(OpKind::Kill, ResourceId::NONE, Site(line));
                    self.engine.announce(task, kill.with_arg(u64::from(victim.0)));
                    return;
                }
                Instruction::Assume(v) if self.value(task, v) != 0 => self.thread(task).at += 1,
                Instruction::Assert(v) => {
                    if self.value(task, v) == 0 {
                        let panic = Panic { message: format!("line {line}"), ..Panic::default() };
                        self.engine.fail(FindingKind::Panic(Box::new(panic)), task);
                        return;
                    }
                    self.thread(task).at += 1;
                }
                visible => {
                    let operation = self.operation(task, &visible, Site(line));
                    self.thread(task).announced = true;
                    self.engine.announce(task, operation);
                    return;
                }
            }
        }
    }
}
