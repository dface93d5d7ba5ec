//! Serializability and snapshot isolation by definition: every order is tried.

use crate::support::{End, Op, Txn};

/// What must be before what, besides what the data says.
pub type Before = Vec<Vec<bool>>;

/// Nothing, sessions, or sessions and real time.
pub fn orders(txns: &[Txn], times: &[(usize, usize)]) -> [Before; 3] {
    let n = txns.len();
    let relation = |rule: &dyn Fn(usize, usize) -> bool| -> Before {
        (0..n).map(|a| (0..n).map(|b| txns[a].end == End::Ok && rule(a, b)).collect()).collect()
    };
    let session = |a: usize, b: usize| a < b && txns[a].session == txns[b].session;
    [relation(&|_, _| false), relation(&session), relation(&|a, b| session(a, b) || times[a].1 < times[b].0)]
}

/// The lists of all keys; a register is a list of which the last element is seen.
pub type State = Vec<Vec<i64>>;

/// Carries out a transaction on a state; `false` if some read returned something else.
fn fits(txn: &Txn, state: &State) -> bool {
    let mut own: Vec<(usize, i64)> = Vec::new();
    txn.ops.iter().all(|op| match op {
        Op::Write(key, value) | Op::Append(key, value) => {
            own.push((*key, *value));
            true
        }
        Op::Read(key, value) => {
            let mine = own.iter().rev().find(|(other, _)| other == key).map(|(_, value)| *value);
            txn.end != End::Ok || *value == mine.or(state[*key].last().copied()).unwrap_or(0)
        }
        Op::ReadList(key, list) => {
            let mine = own.iter().filter(|(other, _)| other == key).map(|(_, value)| value);
            txn.end != End::Ok || list.iter().eq(state[*key].iter().chain(mine))
        }
    })
}

fn commit(txn: &Txn, state: &mut State) {
    for op in &txn.ops {
        if let Op::Write(key, value) | Op::Append(key, value) = op {
            state[*key].push(*value);
        }
    }
}

/// Whether the versions that an order gives are those that the store has recorded.
pub fn with_versions(recorded: Option<&State>) -> impl Fn(&[Txn], &[usize], &State) -> bool {
    move |txns, chosen, made| {
        let Some(recorded) = recorded else { return true };
        let last = |key: usize, value: i64| {
            chosen.iter().any(|txn| {
                let writes = txns[*txn].ops.iter().rev();
                writes
                    .filter_map(|op| if let Op::Write(k, v) = op { Some((*k, *v)) } else { None })
                    .find(|(k, _)| *k == key)
                    == Some((key, value))
            })
        };
        recorded.iter().enumerate().all(|(key, order)| {
            let of = |list: &[i64]| list.iter().copied().filter(|value| last(key, *value)).collect::<Vec<_>>();
            of(order) == of(&made[key])
        })
    }
}

/// A condition on the versions at the end.
pub trait Rule: Fn(&[Txn], &[usize], &State) -> bool {}
impl<F: Fn(&[Txn], &[usize], &State) -> bool> Rule for F {}

/// Any versions will do.
pub fn any_versions(_: &[Txn], _: &[usize], _: &State) -> bool {
    true
}

/// All ways to choose which transactions took effect.
fn choices(txns: &[Txn]) -> Vec<Vec<usize>> {
    let unknown: Vec<usize> = (0..txns.len()).filter(|txn| txns[*txn].end == End::Info).collect();
    (0..1_usize << unknown.len())
        .map(|bits| {
            let chosen = |txn: &usize| match unknown.iter().position(|other| other == txn) {
                Some(at) => bits & 1 << at != 0,
                None => txns[*txn].end == End::Ok,
            };
            (0..txns.len()).filter(chosen).collect()
        })
        .collect()
}

/// Whether some serial order explains all reads.
pub fn serializable(txns: &[Txn], before: &Before, keys: usize, rule: &impl Rule) -> bool {
    fn search(txns: &[Txn], before: &Before, left: &[usize], state: &State, end: &impl Fn(&State) -> bool) -> bool {
        left.is_empty() && end(state)
            || left.iter().any(|next| {
                if left.iter().any(|other| before[*other][*next]) || !fits(&txns[*next], state) {
                    return false;
                }
                let mut after = state.clone();
                commit(&txns[*next], &mut after);
                let rest: Vec<usize> = left.iter().copied().filter(|other| other != next).collect();
                search(txns, before, &rest, &after, end)
            })
    }
    choices(txns)
        .iter()
        .any(|chosen| search(txns, before, chosen, &vec![Vec::new(); keys], &|state: &State| rule(txns, chosen, state)))
}

/// Whether some order of snapshots and commits explains all reads, and no key is written by two at a time.
pub fn snapshot_isolation(txns: &[Txn], before: &Before, keys: usize, rule: &impl Rule) -> bool {
    struct Search<'a, R> {
        rule: &'a R,
        txns: &'a [Txn],
        before: &'a Before,
        chosen: &'a [usize],
    }
    impl<R: Rule> Search<'_, R> {
        /// `started` and `done` by transaction; `open` are those between.
        fn go(&self, started: &mut Vec<usize>, done: &mut Vec<usize>, state: &State, dirty: &[(usize, usize)]) -> bool {
            if done.len() == self.chosen.len() {
                return (self.rule)(self.txns, self.chosen, state);
            }
            for &txn in self.chosen {
                if !started.contains(&txn) {
                    let waits = self.chosen.iter().any(|other| self.before[*other][txn] && !done.contains(other));
                    if !waits && fits(&self.txns[txn], state) {
                        started.push(txn);
                        if self.go(started, done, state, dirty) {
                            return true;
                        }
                        started.pop();
                    }
                } else if !done.contains(&txn) {
                    // Keys that others have committed since it started.
                    let written = |key: usize| writes(&self.txns[txn], key);
                    if dirty.iter().any(|(whom, key)| *whom == txn && written(*key)) {
                        continue;
                    }
                    let mut after = state.clone();
                    commit(&self.txns[txn], &mut after);
                    let mut stained = dirty.to_vec();
                    for open in started.iter().filter(|open| **open != txn && !done.contains(open)) {
                        stained.extend((0..state.len()).filter(|key| written(*key)).map(|key| (*open, key)));
                    }
                    done.push(txn);
                    if self.go(started, done, &after, &stained) {
                        return true;
                    }
                    done.pop();
                }
            }
            false
        }
    }
    choices(txns).iter().any(|chosen| {
        let search = Search { rule, txns, before, chosen };
        search.go(&mut Vec::new(), &mut Vec::new(), &vec![Vec::new(); keys], &[])
    })
}

fn writes(txn: &Txn, key: usize) -> bool {
    txn.ops.iter().any(|op| matches!(op, Op::Write(other, _) | Op::Append(other, _) if *other == key))
}
