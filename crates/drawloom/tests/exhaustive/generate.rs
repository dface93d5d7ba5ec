//! Random programs: 2 to 4 tasks, 1 to 6 operations each, some of them deadlocking or panicking.

use drawloom_engine::strategy::Tape;
use drawloom_engine::{Budget, Budgets};

use crate::random_program::{CHANNELS, Op, Program};

/// The program of `seed`.
pub fn generate(seed: u64) -> Program {
    let mut draw = Draw(Tape::new(seed ^ 0x0D0A_11CE));
    let count = [2, 2, 2, 3, 3, 4][draw.below(6)];
    // The more tasks, the fewer operations: every schedule has to be run.
    let most = [0, 0, 6, 4, 2][count];
    generate_with(draw, count, most, Budgets::NONE, Draw::op)
}

/// The program of `seed` about waits that end, and exchanges that fail, without a reason; seldom with timers.
pub fn generate_with_mishaps(seed: u64) -> Program {
    let mut draw = Draw(Tape::new(seed ^ 0x0BAD_1DEA));
    let count = [2, 2, 2, 3][draw.below(4)];
    let most = [0, 0, 4, 2][count];
    let spurious = draw.below(3) as u32;
    let weak = if spurious == 0 { 1 + draw.below(2) } else { draw.below(2) } as u32;
    let budgets = Budgets::NONE.with(Budget::SpuriousWakeups, spurious).with(Budget::WeakFailures, weak);
    let budgets = budgets.with(Budget::EarlyFires, draw.below(6).saturating_sub(4) as u32);
    generate_with(draw, count, most, budgets, Draw::op_or_mishap)
}

/// The program of `seed` about time; in most of them timers may fire early.
pub fn generate_with_timers(seed: u64) -> Program {
    let mut draw = Draw(Tape::new(seed ^ 0x0C10_CC5A));
    let count = [2, 2, 3][draw.below(3)];
    let most = [0, 0, 4, 2][count];
    let budgets = Budgets::NONE.with(Budget::EarlyFires, draw.below(4) as u32);
    generate_with(draw, count, most, budgets, Draw::op_or_wait)
}

/// The program of `seed` about tasks that await values.
pub fn generate_awaiting(seed: u64) -> Program {
    let mut draw = Draw(Tape::new(seed ^ 0x0A3A_17ED));
    let count = [2, 2, 3, 3, 4][draw.below(5)];
    let most = [0, 0, 6, 4, 2][count];
    // Seldom with timers.
    let budgets = Budgets::NONE.with(Budget::EarlyFires, draw.below(8).saturating_sub(6) as u32);
    generate_with(draw, count, most, budgets, Draw::op_or_await)
}

fn generate_with(
    mut draw: Draw,
    count: usize,
    most: usize,
    budgets: Budgets,
    op: impl Fn(&mut Draw, usize, usize) -> Op,
) -> Program {
    let receivers = [(); CHANNELS.len()].map(|()| draw.below(count));
    let joined_by = (0..count).map(|task| draw.joiner_of(task, count)).collect();
    let mut program = Program { tasks: Vec::new(), receivers, joined_by, budgets };
    // Few kinds per program, so that tasks meet at the same things.
    let palette: Vec<Op> = (0..4).map(|_| op(&mut draw, count, 1)).collect();
    for task in 0..count {
        let length = 1 + draw.below(most);
        let ops = (0..length).map(|_| {
            let op = if draw.below(4) > 0 { palette[draw.below(4)].clone() } else { op(&mut draw, count, 1) };
            fitting(op, task, &program)
        });
        let ops = ops.collect();
        program.tasks.push(ops);
    }
    program
}

/// `op`, if `task` can do it; else what it does instead.
fn fitting(mut op: Op, task: usize, program: &Program) -> Op {
    for inner in op.inner_mut().into_iter().flatten() {
        *inner = fitting(inner.clone(), task, program);
    }
    match op {
        Op::Recv(c) | Op::TryRecv(c) | Op::RecvTimeout(c, _) | Op::DropReceiver(c) if program.receivers[c] != task => {
            Op::Send(c, task as i64)
        }
        Op::IsFinished(target) if program.joined_by[target] != Some(task) => Op::Load(0),
        other => other,
    }
}

struct Draw(Tape);

impl Draw {
    fn below(&mut self, n: usize) -> usize {
        self.0.below(n as u64) as usize
    }

    fn value(&mut self) -> i64 {
        self.0.below(3) as i64
    }

    /// Seldom another task than main, and then a later one, so that no two join each other.
    fn joiner_of(&mut self, task: usize, count: usize) -> Option<usize> {
        let later = count - task - 1;
        (later > 0 && self.below(8) == 0).then(|| task + 1 + self.below(later))
    }

    fn inner(&mut self, tasks: usize, depth: usize) -> Vec<Op> {
        let count = if depth == 0 { 0 } else { self.below(2) };
        (0..count)
            .map(|_| self.op(tasks, depth - 1))
            .map(|op| if initialises(&op) { Op::Load(0) } else { op })
            .collect()
    }

    /// As often as not, what has to do with time.
    fn op_or_wait(&mut self, tasks: usize, depth: usize) -> Op {
        let (a, c, t) = (self.below(2), self.below(CHANNELS.len()), self.below(tasks));
        let (v, time) = (self.value(), 1 + self.below(3) as u64);
        match self.below(22) {
            0 | 1 => Op::Sleep(time),
            2 | 3 => Op::RecvTimeout(c, time),
            4 | 5 => Op::WaitTimeout(time),
            6 | 7 => Op::ParkTimeout(time),
            8 => Op::Now,
            9 => Op::NotifyOne,
            10 => Op::NotifyAll,
            11 | 12 => Op::Send(c, v),
            13 => Op::DropSender(c),
            14 => Op::Unpark(t),
            15 => Op::Load(a),
            16 => Op::Add(a, 1),
            17 => Op::Lock(0, self.inner(tasks, depth)),
            _ => self.op(tasks, depth),
        }
    }

    /// As often as not, what can end or fail without a reason, or has to do with that.
    fn op_or_mishap(&mut self, tasks: usize, depth: usize) -> Op {
        let (a, t) = (self.below(2), self.below(tasks));
        let (v, w, time) = (self.value(), self.value(), 1 + self.below(3) as u64);
        match self.below(20) {
            0..=2 => Op::CasWeak(a, v, w),
            3 | 4 => Op::Park,
            5 | 6 => Op::Unpark(t),
            7 | 8 => Op::Wait,
            9 => Op::WaitWhile,
            10 => Op::NotifyOne,
            11 => Op::NotifyAll,
            12 => Op::WaitTimeout(time),
            13 => Op::ParkTimeout(time),
            14 => Op::Lock(0, vec![Op::Add(a, 1)]),
            15 => Op::Load(a),
            16 => Op::Store(a, v),
            _ => self.op(tasks, depth),
        }
    }

    /// As often as not, what is awaited or writes that.
    fn op_or_await(&mut self, tasks: usize, depth: usize) -> Op {
        let (a, v, w) = (self.below(2), self.value(), self.value());
        match self.below(24) {
            0..=3 => Op::Await(a, v, true),
            4 | 5 => Op::Await(a, v, false),
            6..=8 => Op::Store(a, v),
            9 | 10 => Op::Add(a, 1),
            11 | 12 => Op::Cas(a, v, w),
            13 => Op::Load(a),
            14 => Op::Lock(0, vec![Op::Await(a, v, true)]),
            15 => Op::Lock(0, vec![Op::Store(a, v)]),
            16 => Op::Sleep(1 + v as u64),
            _ => self.op(tasks, depth),
        }
    }

    fn op(&mut self, tasks: usize, depth: usize) -> Op {
        let (a, c, t) = (self.below(2), self.below(CHANNELS.len()), self.below(tasks));
        let (v, w) = (self.value(), self.value());
        match self.below(46) {
            0 => Op::Load(a),
            1 => Op::Store(a, v),
            2 => Op::Swap(a, v),
            3 => Op::Add(a, v),
            4 => Op::Max(a, v),
            5 => Op::Cas(a, v, w),
            6 => Op::CasWeak(a, v, w),
            7 => Op::Update(a),
            8 => Op::FlagNot,
            9 => Op::FlagLoad,
            10 => Op::Fence,
            11 | 12 => Op::Lock(a, self.inner(tasks, depth)),
            13 => Op::TryLock(a, self.inner(tasks, depth)),
            14 => Op::Poison(a),
            15 => Op::IsPoisoned(a),
            16 => Op::ClearPoison(a),
            17 => Op::Read(self.inner(tasks, depth)),
            18 => Op::Write(self.inner(tasks, depth)),
            19 => Op::TryRead(self.inner(tasks, depth)),
            20 => Op::TryWrite(self.inner(tasks, depth)),
            21 => Op::Wait,
            22 => Op::WaitWhile,
            23 => Op::NotifyOne,
            24 => Op::NotifyAll,
            25 => Op::Arrive,
            26 => Op::CallOnce(self.inner(tasks, depth)),
            27 => Op::IsCompleted,
            28 => Op::WaitForOnce,
            29 => Op::Get,
            30 => Op::Set(v),
            31 => Op::GetOrInit(self.inner(tasks, depth)),
            32 | 33 => Op::Send(c, v),
            34 => Op::TrySend(c, v),
            35 => Op::Recv(c),
            36 => Op::TryRecv(c),
            37 => Op::DropSender(c),
            38 => Op::DropReceiver(c),
            39 => Op::Park,
            40 => Op::Unpark(t),
            41 => Op::IsFinished(t),
            42 => Op::Choose(2 + v as usize),
            43 => Op::Cell,
            44 => Op::CellRead,
            _ => Op::Assert(a),
        }
    }
}

/// Whether `op` must not be done from within an initialiser, where it would wait for itself.
fn initialises(op: &Op) -> bool {
    matches!(op, Op::CallOnce(_) | Op::GetOrInit(_) | Op::Set(_))
}
