//! Long histories from seeds: clients without think time, operations that take effect at a random moment, and, if
//! asked for, one violation that is certainly one, at nine tenths of the history.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use drawloom_check::model::*;
use drawloom_check::{History, Outcome, Process};

/// Numbers from a seed (splitmix64).
pub struct Rng(pub u64);

impl Rng {
    pub fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let word = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (word ^ (word >> 31)) % n
    }
}

/// What a history is made of.
#[derive(Clone, Copy)]
pub struct Plan {
    pub clients: u64,
    pub operations: usize,
    pub keys: u64,
    /// Operations of unknown outcome in ten thousand.
    pub crashed: u64,
    pub bad: bool,
}

/// An operation with its times, before it becomes part of a history.
#[derive(Clone)]
pub struct Timed<O, R> {
    pub process: u64,
    pub op: O,
    /// `None`: nobody knows.
    pub ret: Option<R>,
    crashed: bool,
    pub call: u64,
    pub effect: Option<u64>,
    pub end: u64,
}

/// A model with random operations and a way to break a history.
pub trait Kind {
    type Model: Model<Op: Clone, Ret: Clone>;

    fn model(&self) -> Self::Model;

    fn choose(&self, rng: &mut Rng, plan: &Plan, unique: i64) -> <Self::Model as Model>::Op;

    /// Carries an operation out on the state.
    fn apply(&mut self, op: &<Self::Model as Model>::Op) -> <Self::Model as Model>::Ret;

    /// Breaks the history; `by_nearness` lists completed operations, those near nine tenths of it first.
    fn corrupt(&self, operations: &mut Operations<Self>, by_nearness: &[usize]) -> bool;
}

pub type Operations<K> = Vec<Timed<<<K as Kind>::Model as Model>::Op, <<K as Kind>::Model as Model>::Ret>>;
pub type Generated<K> = History<<<K as Kind>::Model as Model>::Op, <<K as Kind>::Model as Model>::Ret>;

const DURATION: u64 = 1000;

pub fn generate<K: Kind>(kind: &mut K, plan: Plan, seed: u64) -> Generated<K> {
    let mut rng = Rng(seed);
    let mut operations: Operations<K> = Vec::new();
    let mut free: BinaryHeap<Reverse<(u64, u64, u64)>> =
        (0..plan.clients).map(|client| Reverse((rng.below(DURATION), client, client))).collect();
    let mut newest = plan.clients;
    while operations.len() < plan.operations {
        let Some(Reverse((call, slot, mut process))) = free.pop() else { break };
        let op = kind.choose(&mut rng, &plan, operations.len() as i64 + 1);
        let took = 2 + rng.below(2 * DURATION);
        let crashed = rng.below(10_000) < plan.crashed;
        let owner = process;
        let effect = if crashed {
            process = newest;
            newest += 1;
            (rng.below(2) == 0).then(|| call + 1 + rng.below(4 * took))
        } else {
            Some(call + 1 + rng.below(took - 1))
        };
        operations.push(Timed { process: owner, op, ret: None, crashed, call, effect, end: call + took });
        free.push(Reverse((call + took + 1, slot, process)));
    }
    let mut order: Vec<usize> = (0..operations.len()).filter(|at| operations[*at].effect.is_some()).collect();
    order.sort_by_key(|at| (operations[*at].effect, *at));
    for at in order {
        let ret = kind.apply(&operations[at].op);
        operations[at].ret = (!operations[at].crashed).then_some(ret);
    }
    if plan.bad {
        let mut near: Vec<usize> = (0..operations.len()).filter(|at| operations[*at].ret.is_some()).collect();
        let last = near.iter().map(|at| operations[*at].call).max().unwrap_or(0);
        near.sort_by_key(|at| (operations[*at].call.abs_diff(last * 9 / 10), *at));
        assert!(kind.corrupt(&mut operations, &near), "there is no place for a violation");
    }
    history(operations)
}

fn history<O, R>(operations: Vec<Timed<O, R>>) -> History<O, R> {
    let mut events: Vec<(u64, bool, usize)> = Vec::with_capacity(2 * operations.len());
    for (at, operation) in operations.iter().enumerate() {
        events.push((operation.call, false, at));
        events.push((operation.end, true, at));
    }
    events.sort_unstable();
    let mut operations: Vec<Option<Timed<O, R>>> = operations.into_iter().map(Some).collect();
    let mut rets: HashMap<usize, (u64, Option<R>)> = HashMap::new();
    let mut history = History::new();
    for (_, ended, at) in events {
        if let Some(Timed { process, op, ret, .. }) = operations[at].take() {
            history.invoke(Process(process), op).expect("clients are sequential");
            rets.insert(at, (process, ret));
        } else if let (true, Some((process, ret))) = (ended, rets.remove(&at)) {
            let outcome = ret.map_or(Outcome::Info, Outcome::Ok);
            history.complete(Process(process), outcome).expect("it was called");
        }
    }
    history
}

/// Registers: distinct values, or few values and compare-and-set.
pub struct Registers {
    pub cas: bool,
    pub value: i64,
}

impl Kind for Registers {
    type Model = Register<i64>;

    fn model(&self) -> Register<i64> {
        Register::new(0)
    }

    fn choose(&self, rng: &mut Rng, _: &Plan, unique: i64) -> RegisterOp<i64> {
        match (self.cas, rng.below(if self.cas { 3 } else { 2 })) {
            (_, 0) => RegisterOp::Read,
            (false, _) => RegisterOp::Write(unique),
            (true, 1) => RegisterOp::Write(rng.below(5) as i64),
            (true, _) => RegisterOp::Cas(rng.below(5) as i64, rng.below(5) as i64),
        }
    }

    fn apply(&mut self, op: &RegisterOp<i64>) -> RegisterRet<i64> {
        match op {
            RegisterOp::Read => RegisterRet::Value(self.value),
            RegisterOp::Write(value) => {
                self.value = *value;
                RegisterRet::Written
            }
            RegisterOp::Cas(from, to) => {
                let swaps = self.value == *from;
                if swaps {
                    self.value = *to;
                }
                RegisterRet::Swapped(swaps)
            }
        }
    }

    fn corrupt(&self, operations: &mut Operations<Self>, near: &[usize]) -> bool {
        if self.cas {
            let read = near.iter().find(|at| operations[**at].op == RegisterOp::Read);
            return read.map(|at| operations[*at].ret = Some(RegisterRet::Value(999_999_937))).is_some();
        }
        let stale = stale(
            operations,
            near,
            |op| matches!(op, RegisterOp::Read),
            |op| matches!(op, RegisterOp::Write(_)),
            |_, _| true,
        );
        stale.map(|(at, ret)| operations[at].ret = Some(ret)).is_some()
    }
}

/// A read that could return what an earlier one did, although a write ran between the two.
fn stale<O, R: PartialEq + Clone>(
    operations: &[Timed<O, R>],
    near: &[usize],
    reads: impl Fn(&O) -> bool,
    writes: impl Fn(&O) -> bool,
    same: impl Fn(&O, &O) -> bool,
) -> Option<(usize, R)> {
    near.iter().copied().filter(|at| reads(&operations[*at].op)).find_map(|at| {
        let read = &operations[at];
        let completed = |other: &&Timed<O, R>| other.ret.is_some() && same(&other.op, &read.op);
        let before = operations.iter().filter(completed).filter(|other| writes(&other.op) && other.end < read.call);
        let latest = before.map(|write| write.call).max()?;
        let older = operations.iter().filter(completed).filter(|other| reads(&other.op) && other.end < latest);
        let older = older.filter(|other| other.ret != read.ret).max_by_key(|other| other.end)?;
        older.ret.clone().map(|ret| (at, ret))
    })
}

#[derive(Default)]
pub struct Stores {
    values: HashMap<i64, String>,
}

impl Kind for Stores {
    type Model = KeyValue<i64, String>;

    fn model(&self) -> KeyValue<i64, String> {
        KeyValue::new(String::new())
    }

    fn choose(&self, rng: &mut Rng, plan: &Plan, unique: i64) -> KeyValueOp<i64, String> {
        let key = rng.below(plan.keys) as i64;
        match rng.below(4) {
            0 | 1 => KeyValueOp::Get(key),
            2 => KeyValueOp::Put(key, format!("p{unique}.")),
            _ => KeyValueOp::Append(key, format!("a{unique}.")),
        }
    }

    fn apply(&mut self, op: &KeyValueOp<i64, String>) -> KeyValueRet<String> {
        let value = self.values.entry(*op.key()).or_default();
        match op {
            KeyValueOp::Get(_) => return KeyValueRet::Value(value.clone()),
            KeyValueOp::Put(_, new) => value.clone_from(new),
            KeyValueOp::Append(_, more) => value.push_str(more),
            KeyValueOp::Cas(..) => {}
        }
        KeyValueRet::Done
    }

    fn corrupt(&self, operations: &mut Operations<Self>, near: &[usize]) -> bool {
        let same = |a: &KeyValueOp<i64, String>, b: &KeyValueOp<i64, String>| a.key() == b.key();
        let stale = stale(
            operations,
            near,
            |op| matches!(op, KeyValueOp::Get(_)),
            |op| matches!(op, KeyValueOp::Put(..)),
            same,
        );
        stale.map(|(at, ret)| operations[at].ret = Some(ret)).is_some()
    }
}

#[derive(Default)]
pub struct Counters {
    sum: i64,
}

impl Kind for Counters {
    type Model = Counter;

    fn model(&self) -> Counter {
        Counter { init: 0 }
    }

    fn choose(&self, rng: &mut Rng, _: &Plan, _: i64) -> CounterOp {
        if rng.below(2) == 0 { CounterOp::Read } else { CounterOp::Add(1 + rng.below(3) as i64) }
    }

    fn apply(&mut self, op: &CounterOp) -> CounterRet {
        if let CounterOp::Add(amount) = op {
            self.sum += amount;
            return CounterRet::Added;
        }
        CounterRet::Sum(self.sum)
    }

    fn corrupt(&self, operations: &mut Operations<Self>, near: &[usize]) -> bool {
        let read = near.iter().find(|at| operations[**at].op == CounterOp::Read);
        read.map(|at| operations[*at].ret = Some(CounterRet::Sum(999_999_937))).is_some()
    }
}

#[derive(Default)]
pub struct Sets {
    values: std::collections::BTreeSet<i64>,
}

fn element(op: &SetOp<i64>) -> Option<i64> {
    match op {
        SetOp::Add(value) | SetOp::Remove(value) | SetOp::Contains(value) => Some(*value),
        SetOp::Elements => None,
    }
}

impl Kind for Sets {
    type Model = Set<i64>;

    fn model(&self) -> Set<i64> {
        Set::new()
    }

    fn choose(&self, rng: &mut Rng, plan: &Plan, _: i64) -> SetOp<i64> {
        let value = rng.below(plan.keys) as i64;
        match rng.below(4) {
            0 | 1 => SetOp::Contains(value),
            2 => SetOp::Add(value),
            _ => SetOp::Remove(value),
        }
    }

    fn apply(&mut self, op: &SetOp<i64>) -> SetRet<i64> {
        SetRet::Answer(match op {
            SetOp::Add(value) => self.values.insert(*value),
            SetOp::Remove(value) => self.values.remove(value),
            SetOp::Contains(value) => self.values.contains(value),
            SetOp::Elements => false,
        })
    }

    fn corrupt(&self, operations: &mut Operations<Self>, near: &[usize]) -> bool {
        let alone = |at: &&usize| {
            let read = &operations[**at];
            let changes = |other: &&Timed<SetOp<i64>, SetRet<i64>>| {
                element(&other.op) == element(&read.op) && !matches!(other.op, SetOp::Contains(_))
            };
            matches!(read.op, SetOp::Contains(_))
                && !operations
                    .iter()
                    .filter(changes)
                    .any(|o| o.call < read.end && (o.end > read.call || o.ret.is_none()))
        };
        let Some(at) = near.iter().find(alone).copied() else { return false };
        let Some(SetRet::Answer(answer)) = operations[at].ret else { return false };
        operations[at].ret = Some(SetRet::Answer(!answer));
        true
    }
}

/// Queues and stacks of distinct values.
pub struct Containers<D> {
    values: std::collections::VecDeque<i64>,
    discipline: std::marker::PhantomData<D>,
}

impl<D> Default for Containers<D> {
    fn default() -> Self {
        Containers { values: Default::default(), discipline: std::marker::PhantomData }
    }
}

/// Two removes whose values, exchanged, are certainly in the wrong order: is asked of inserts and removes.
pub trait Wrong {
    fn wrong(insert: [(u64, u64); 2], remove: [(u64, u64); 2]) -> bool;
}

impl Wrong for Fifo {
    fn wrong(insert: [(u64, u64); 2], remove: [(u64, u64); 2]) -> bool {
        remove[0].1 < remove[1].0 && insert[0].1 < insert[1].0 && insert[1].0 < remove[0].1
    }
}

impl Wrong for Lifo {
    fn wrong(insert: [(u64, u64); 2], remove: [(u64, u64); 2]) -> bool {
        remove[0].1 < remove[1].0 && insert[1].1 < insert[0].0 && insert[0].1 < remove[0].0
    }
}

impl<D: Discipline<i64> + Wrong> Kind for Containers<D> {
    type Model = Container<i64, D>;

    fn model(&self) -> Self::Model {
        Container::new()
    }

    fn choose(&self, rng: &mut Rng, _: &Plan, unique: i64) -> ContainerOp<i64> {
        if rng.below(2) == 0 { ContainerOp::Insert(unique) } else { ContainerOp::Remove }
    }

    fn apply(&mut self, op: &ContainerOp<i64>) -> ContainerRet<i64> {
        match op {
            ContainerOp::Insert(value) => {
                D::insert(&mut self.values, *value);
                ContainerRet::Inserted
            }
            ContainerOp::Remove => self.values.pop_front().map_or(ContainerRet::Empty, ContainerRet::Removed),
        }
    }

    fn corrupt(&self, operations: &mut Operations<Self>, near: &[usize]) -> bool {
        let inserts: HashMap<i64, (u64, u64)> = operations
            .iter()
            .filter(|operation| operation.ret.is_some())
            .filter_map(|o| if let ContainerOp::Insert(value) = o.op { Some((value, (o.call, o.end))) } else { None })
            .collect();
        let mut removes: Vec<(usize, i64)> = (0..operations.len())
            .filter_map(|at| match operations[at].ret {
                Some(ContainerRet::Removed(value)) if inserts.contains_key(&value) => Some((at, value)),
                _ => None,
            })
            .collect();
        removes.sort_by_key(|(at, _)| operations[*at].call);
        let times = |at: usize| (operations[at].call, operations[at].end);
        for near in near {
            let Some(place) = removes.iter().position(|(at, _)| at == near) else { continue };
            let (first, value) = removes[place];
            for (second, other) in removes[place + 1..].iter().take(400).copied() {
                let (a, b) = (inserts[&value], inserts[&other]);
                if D::wrong([a, b], [times(first), times(second)]) {
                    operations[first].ret = Some(ContainerRet::Removed(other));
                    operations[second].ret = Some(ContainerRet::Removed(value));
                    return true;
                }
            }
        }
        false
    }
}
