//! A sum.

use super::{Access, Call, Model, Next, Shape};

/// A number to which amounts are added.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counter {
    /// The number at the beginning.
    pub init: i64,
}

/// The operations of a counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CounterOp {
    /// Adds an amount, which may be negative.
    Add(i64),
    /// Adds an amount, and returns the sum.
    AddAndGet(i64),
    /// Returns the sum.
    Read,
}

/// The results of operations of a counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CounterRet {
    /// To an add.
    Added,
    /// To the others.
    Sum(i64),
}

impl Model for Counter {
    type State = i64;
    type Op = CounterOp;
    type Ret = CounterRet;

    fn init(&self) -> i64 {
        self.init
    }

    fn step(&self, state: &i64, op: &CounterOp, ret: Option<&CounterRet>, next: &mut Next<i64>) {
        match (op, ret) {
            (CounterOp::Read, None) => next.unchanged(),
            (CounterOp::Read, Some(CounterRet::Sum(sum))) => next.unchanged_if(state == sum),
            (CounterOp::Add(amount), None | Some(CounterRet::Added)) | (CounterOp::AddAndGet(amount), None) => {
                next.push(state.wrapping_add(*amount));
            }
            (CounterOp::AddAndGet(amount), Some(CounterRet::Sum(sum))) if state.wrapping_add(*amount) == *sum => {
                next.push(*sum);
            }
            _ => {}
        }
    }

    fn observer(&self, op: &CounterOp, _: Option<&CounterRet>) -> bool {
        matches!(op, CounterOp::Read | CounterOp::Add(0))
    }

    fn hopeless<'a, I>(&self, state: &i64, op: &'a CounterOp, ret: &'a CounterRet, others: I) -> bool
    where
        I: Iterator<Item = Call<'a, Self>> + Clone,
    {
        let (sum, own) = match (op, ret) {
            (CounterOp::Read, CounterRet::Sum(sum)) => (*sum, 0),
            (CounterOp::AddAndGet(amount), CounterRet::Sum(sum)) => (*sum, *amount),
            _ => return false,
        };
        let (mut low, mut high) = (i128::from(*state) + i128::from(own), i128::from(*state) + i128::from(own));
        for (other, _) in others {
            if let CounterOp::Add(amount) | CounterOp::AddAndGet(amount) = other {
                low += i128::from((*amount).min(0));
                high += i128::from((*amount).max(0));
            }
        }
        // A sum that leaves the range of numbers wraps around: then nothing is known.
        low >= i128::from(i64::MIN) && high <= i128::from(i64::MAX) && !(low..=high).contains(&i128::from(sum))
    }

    fn explain(&self, state: &i64, op: &CounterOp, _: &CounterRet) -> String {
        match op {
            CounterOp::AddAndGet(amount) => {
                format!("the sum is {state}, so it would have returned {}", state.wrapping_add(*amount))
            }
            _ => format!("the sum is {state}"),
        }
    }

    fn describe(&self, op: &CounterOp, ret: Option<&CounterRet>) -> String {
        let text = match op {
            CounterOp::Add(amount) => format!("add {amount}"),
            CounterOp::AddAndGet(amount) => format!("add-and-get {amount}"),
            CounterOp::Read => "read".to_owned(),
        };
        match ret {
            None => text + " → ?",
            Some(CounterRet::Added) => text,
            Some(CounterRet::Sum(sum)) => format!("{text} → {sum}"),
        }
    }

    fn shape(&self) -> Shape<'_> {
        Shape::Counter(self.init)
    }

    fn access<'a>(&self, op: &'a CounterOp, ret: Option<&'a CounterRet>) -> Access<'a> {
        match (op, ret) {
            (CounterOp::Add(amount), None | Some(CounterRet::Added)) => Access::Add(*amount),
            (CounterOp::Read, Some(CounterRet::Sum(sum))) => Access::Sum(*sum),
            _ => Access::Other,
        }
    }
}
