//! The models, and what their random histories are made of.

use drawloom_check::model::*;

use crate::histories::Subject;
use crate::rng::Rng;

/// A subject from a model, a maker of operations and a list of results.
macro_rules! subject {
    ($name:ident, $model:ty = $new:expr, |$rng:ident, $process:ident, $unique:ident| $op:expr, |$o:ident, $u:ident| $rets:expr) => {
        pub struct $name;

        impl Subject for $name {
            type Model = $model;

            fn model(&self) -> $model {
                $new
            }

            #[allow(unused_variables)]
            fn op(&self, $rng: &mut Rng, $process: u64, $unique: i64) -> <$model as Model>::Op {
                $op
            }

            #[allow(unused_variables)]
            fn rets(&self, $o: &<$model as Model>::Op, $u: i64) -> Vec<<$model as Model>::Ret> {
                $rets
            }
        }
    };
}

fn register_rets(op: &RegisterOp<i64>, values: std::ops::RangeInclusive<i64>) -> Vec<RegisterRet<i64>> {
    match op {
        RegisterOp::Read => values.map(RegisterRet::Value).collect(),
        RegisterOp::Write(_) => vec![RegisterRet::Written],
        RegisterOp::Cas(..) => vec![RegisterRet::Swapped(true), RegisterRet::Swapped(false)],
    }
}

fn container_rets(op: &ContainerOp<i64>, values: std::ops::RangeInclusive<i64>) -> Vec<ContainerRet<i64>> {
    match op {
        ContainerOp::Insert(_) => vec![ContainerRet::Inserted, ContainerRet::Full],
        ContainerOp::Remove => values.map(ContainerRet::Removed).chain([ContainerRet::Empty]).collect(),
    }
}

fn container_op(rng: &mut Rng, value: i64) -> ContainerOp<i64> {
    if rng.chance(55) { ContainerOp::Insert(value) } else { ContainerOp::Remove }
}

fn small(rng: &mut Rng) -> i64 {
    rng.below(3) as i64
}

subject!(
    Registers,
    Register<i64> = Register::new(0),
    |rng, process, unique| if rng.chance(50) { RegisterOp::Read } else { RegisterOp::Write(small(rng)) },
    |op, unique| register_rets(op, 0..=2)
);

subject!(
    CasRegisters,
    CasRegister<i64> = Register::new(0),
    |rng, process, unique| match rng.below(3) {
        0 => RegisterOp::Read,
        1 => RegisterOp::Write(small(rng)),
        _ => RegisterOp::Cas(small(rng), small(rng)),
    },
    |op, unique| register_rets(op, 0..=2)
);

subject!(
    DistinctRegisters,
    Register<i64> = Register::new(0),
    |rng, process, unique| if rng.chance(55) { RegisterOp::Read } else { RegisterOp::Write(unique) },
    |op, unique| register_rets(op, 0..=unique)
);

subject!(
    Stores,
    KeyValue<i64, String> = KeyValue::new(String::new()),
    |rng, process, unique| {
        let key = small(rng) % 2;
        let value = ["a", "b"][rng.below(2)].to_owned();
        match rng.below(5) {
            0 | 1 => KeyValueOp::Get(key),
            2 => KeyValueOp::Put(key, value),
            3 => KeyValueOp::Append(key, value),
            _ => KeyValueOp::Cas(key, ["", "a", "b"][rng.below(3)].to_owned(), value),
        }
    },
    |op, unique| match op {
        KeyValueOp::Get(_) =>
            ["", "a", "b", "ab", "aa", "ba", "bb", "aba", "bab"].iter().map(|v| KeyValueRet::Value(v.to_string())).collect(),
        KeyValueOp::Put(..) | KeyValueOp::Append(..) => vec![KeyValueRet::Done],
        KeyValueOp::Cas(..) => vec![KeyValueRet::Swapped(true), KeyValueRet::Swapped(false)],
    }
);

subject!(
    Counters,
    Counter = Counter { init: 0 },
    |rng, process, unique| match rng.below(5) {
        0 | 1 => CounterOp::Read,
        2 => CounterOp::AddAndGet(1 + small(rng)),
        _ => CounterOp::Add(small(rng) - 1),
    },
    |op, unique| match op {
        CounterOp::Add(_) => vec![CounterRet::Added],
        CounterOp::Read | CounterOp::AddAndGet(_) => (-3..8).map(CounterRet::Sum).collect(),
    }
);

subject!(
    Sums,
    Counter = Counter { init: 0 },
    |rng, process, unique| if rng.chance(50) { CounterOp::Read } else { CounterOp::Add(small(rng) * 2 - 1) },
    |op, unique| match op {
        CounterOp::Add(_) => vec![CounterRet::Added],
        CounterOp::Read | CounterOp::AddAndGet(_) => (-5..12).map(CounterRet::Sum).collect(),
    }
);

subject!(
    Sets,
    Set<i64> = Set::new(),
    |rng, process, unique| {
        let value = small(rng) % 2;
        match rng.below(20) {
            0 => SetOp::Elements,
            1..=7 => SetOp::Contains(value),
            8..=14 => SetOp::Add(value),
            _ => SetOp::Remove(value),
        }
    },
    |op, unique| match op {
        SetOp::Elements => [vec![], vec![0], vec![1], vec![1, 0]].map(SetRet::Elements).to_vec(),
        SetOp::Contains(_) => vec![SetRet::Answer(true), SetRet::Answer(false)],
        SetOp::Add(_) | SetOp::Remove(_) => vec![SetRet::Answer(true), SetRet::Answer(false), SetRet::Done],
    }
);

subject!(
    Queues,
    FifoQueue<i64> = FifoQueue::bounded(3),
    |rng, process, unique| { let value = small(rng); container_op(rng, value) },
    |op, unique| container_rets(op, 0..=2)
);

subject!(
    DistinctQueues,
    FifoQueue<i64> = FifoQueue::new(),
    |rng, process, unique| container_op(rng, unique),
    |op, unique| container_rets(op, 1..=unique)
);

subject!(
    EqualQueues,
    FifoQueue<i64> = FifoQueue::new(),
    |rng, process, unique| { let value = small(rng); container_op(rng, value) },
    |op, unique| container_rets(op, 0..=2)
);

subject!(
    Stacks,
    LifoStack<i64> = LifoStack::new(),
    |rng, process, unique| { let value = small(rng); container_op(rng, value) },
    |op, unique| container_rets(op, 0..=2)
);

subject!(
    DistinctStacks,
    LifoStack<i64> = LifoStack::new(),
    |rng, process, unique| container_op(rng, unique),
    |op, unique| container_rets(op, 1..=unique)
);

subject!(
    PriorityQueues,
    PriorityQueue<i64> = PriorityQueue::new(),
    |rng, process, unique| { let value = small(rng); container_op(rng, value) },
    |op, unique| container_rets(op, 0..=2)
);

subject!(
    Mutexes,
    Mutex = Mutex,
    |rng, process, unique| match rng.below(7) {
        0..=2 => LockOp::Acquire(process),
        3 => LockOp::TryAcquire(process),
        _ => LockOp::Release(process),
    },
    |op, unique| match op {
        LockOp::TryAcquire(_) => vec![LockRet::Done, LockRet::Busy],
        LockOp::Acquire(_) | LockOp::Release(_) => vec![LockRet::Done],
    }
);

subject!(
    Semaphores,
    Semaphore = Semaphore { permits: 2 },
    |rng, process, unique| {
        let permits = 1 + rng.below(2) as u64;
        match rng.below(7) {
            0..=2 => PermitOp::Acquire(permits),
            3 => PermitOp::TryAcquire(permits),
            _ => PermitOp::Release(permits),
        }
    },
    |op, unique| match op {
        PermitOp::TryAcquire(_) => vec![LockRet::Done, LockRet::Busy],
        PermitOp::Acquire(_) | PermitOp::Release(_) => vec![LockRet::Done],
    }
);

subject!(
    Lists,
    AppendList<i64> = AppendList::new(),
    |rng, process, unique| if rng.chance(50) { ListOp::Read } else { ListOp::Append(small(rng) % 2) },
    |op, unique| match op {
        ListOp::Append(_) => vec![ListRet::Appended],
        ListOp::Read => {
            let mut lists: Vec<Vec<i64>> = vec![vec![]];
            for length in 0..4 {
                let longest: Vec<_> = lists.iter().filter(|list| list.len() == length).cloned().collect();
                lists.extend(longest.into_iter().flat_map(|list| [0, 1].map(|last| [list.clone(), vec![last]].concat())));
            }
            lists.into_iter().map(ListRet::Elements).collect()
        }
    }
);

/// A register that forgets: a write may be lost. An object that is free to choose.
#[derive(Clone, Debug)]
pub struct Lossy;

impl Model for Lossy {
    type State = i64;
    type Op = RegisterOp<i64>;
    type Ret = RegisterRet<i64>;

    fn init(&self) -> i64 {
        0
    }

    fn step(&self, state: &i64, op: &Self::Op, ret: Option<&Self::Ret>, next: &mut Next<i64>) {
        Register::new(0).step(state, op, ret, next);
        if matches!(op, RegisterOp::Write(_)) {
            next.unchanged();
        }
        if matches!(op, RegisterOp::Cas(..)) {
            next.push(2);
        }
    }

    fn observer(&self, op: &Self::Op, _: Option<&Self::Ret>) -> bool {
        matches!(op, RegisterOp::Read)
    }
}

subject!(
    LossyRegisters,
    Lossy = Lossy,
    |rng, process, unique| match rng.below(5) {
        0 | 1 => RegisterOp::Read,
        2 | 3 => RegisterOp::Write(small(rng)),
        _ => RegisterOp::Cas(small(rng), small(rng)),
    },
    |op, unique| register_rets(op, 0..=2)
);

/// An implementation as a specification: a bounded pool of numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Pool {
    taken: Vec<u8>,
}

impl Pool {
    fn take(&mut self) -> Option<u8> {
        let free = (0..2).find(|number| !self.taken.contains(number))?;
        self.taken.push(free);
        self.taken.sort_unstable();
        Some(free)
    }

    fn give(&mut self, number: u8) -> bool {
        let before = self.taken.len();
        self.taken.retain(|other| *other != number);
        self.taken.len() < before
    }

    fn left(&self) -> usize {
        2 - self.taken.len()
    }
}

drawloom_check::spec! {
    Pool: PoolOp -> PoolRet {
        Take = take() -> Option<u8>,
        Give = give(number: u8) -> bool,
        read Left = left() -> usize,
    }
}

subject!(
    Pools,
    Pool = Pool::default(),
    |rng, process, unique| match rng.below(5) {
        0 | 1 => PoolOp::Take(),
        2 | 3 => PoolOp::Give(rng.below(2) as u8),
        _ => PoolOp::Left(),
    },
    |op, unique| match op {
        PoolOp::Take() => [None, Some(0), Some(1)].map(PoolRet::Take).to_vec(),
        PoolOp::Give(_) => [true, false].map(PoolRet::Give).to_vec(),
        PoolOp::Left() => [0, 1, 2].map(PoolRet::Left).to_vec(),
    }
);
