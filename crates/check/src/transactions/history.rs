//! Transactions of sessions, packed: what each read, wrote or appended, and how it ended.

use super::atom::{Atom, Atoms, Numbers, hash};

/// A key of the store, by its place in the order of first appearance.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Key(pub u32);

/// A transaction, by its place in the order in which they ended.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct TxnId(pub u32);

impl TxnId {
    /// The transaction as an index into [`Transactions::transactions`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// How a transaction ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// It took effect.
    Committed,
    /// It certainly did not.
    Aborted,
    /// Unknown. It counts as committed if another transaction has seen one of its writes.
    Unknown,
}

/// One transaction of a session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Transaction {
    /// The session of the transaction. Sessions are numbered in the order of their first event.
    pub session: u32,
    /// How it ended.
    pub end: End,
    first: u32,
    len: u32,
    /// The event that began it, or 0 if the file does not say.
    pub(crate) invoked: u32,
    /// The event that ended it, or `u32::MAX` if there is none.
    pub(crate) completed: u32,
    /// The line on which it ended (or began, if it never did), 1 and up; 0 if there is no file.
    pub line: u64,
}

impl Transaction {
    pub(crate) fn range(&self) -> std::ops::Range<usize> {
        self.first as usize..(self.first + self.len) as usize
    }
}

/// A micro-operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action<'a> {
    /// Appended an element to a list.
    Append(Atom),
    /// Wrote a register.
    Write(Atom),
    /// Read a register, or `null`, which is also an empty list.
    Read(Atom),
    /// Read a list.
    ReadList(&'a [Atom]),
    /// Read something, but nobody knows what.
    ReadUnknown,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Append,
    Write,
    Read,
    /// A list that is a beginning of the key's longest one: `data` is its length.
    ReadPrefix,
    /// Another list: `data` is where it begins in the pool, and its length.
    ReadOther,
    ReadUnknown,
}

/// One step of a transaction on one key.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MicroOp {
    pub(crate) key: Key,
    pub(crate) kind: Kind,
    /// An atom, or what `kind` says.
    pub(crate) data: Atom,
    pub(crate) length: u32,
}

/// A history of transactions.
#[derive(Clone, Debug, Default)]
pub struct Transactions {
    pub(crate) atoms: Atoms,
    pub(crate) txns: Vec<Transaction>,
    pub(crate) ops: Vec<MicroOp>,
    /// For each key the longest list that a committed transaction read.
    pub(crate) longest: Vec<Vec<Atom>>,
    pub(crate) pool: Vec<Atom>,
    pub(crate) keys: Vec<Atom>,
    key_numbers: Numbers,
    sessions: Vec<String>,
    /// For each key the order of its versions, where the store has recorded it.
    pub(crate) recorded: Vec<Option<Vec<Atom>>>,
    /// What a register holds before it is first written.
    pub(crate) initial: Atom,
    /// If lists cannot begin so: what kind of value that is.
    pub(crate) no_list: Option<&'static str>,
    /// Whether the file says when transactions began.
    pub(crate) has_calls: bool,
    /// Whether each transaction is a single operation, and called so.
    pub(crate) of_operations: bool,
}

impl Transactions {
    /// An empty history.
    pub fn new() -> Transactions {
        Transactions::default()
    }

    /// How many transactions there are, however they ended.
    pub fn len(&self) -> usize {
        self.txns.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.txns.is_empty()
    }

    /// The transactions, in the order in which they ended.
    pub fn transactions(&self) -> &[Transaction] {
        &self.txns
    }

    /// How many sessions there are.
    pub fn sessions(&self) -> usize {
        self.sessions.len()
    }

    /// How many micro-operations there are.
    pub fn operations(&self) -> usize {
        self.ops.len()
    }

    /// How many keys there are.
    pub fn keys(&self) -> usize {
        self.keys.len()
    }

    /// The name of a session, as the file has it.
    pub fn session_name(&self, session: u32) -> &str {
        &self.sessions[session as usize]
    }

    /// The name of a key, as JSON.
    pub fn key_name(&self, key: Key) -> super::atom::Shown<'_> {
        self.atoms.show(self.keys[key.0 as usize])
    }

    /// The micro-operations of a transaction, in order.
    pub fn actions(&self, txn: TxnId) -> impl ExactSizeIterator<Item = (Key, Action<'_>)> {
        self.ops[self.txns[txn.index()].range()].iter().map(|op| (op.key, self.action(op)))
    }

    pub(crate) fn action(&self, op: &MicroOp) -> Action<'_> {
        match op.kind {
            Kind::Append => Action::Append(op.data),
            Kind::Write => Action::Write(op.data),
            Kind::Read => Action::Read(op.data),
            Kind::ReadPrefix => Action::ReadList(&self.longest[op.key.0 as usize][..op.length as usize]),
            Kind::ReadOther => {
                let first = op.data.bits() as usize;
                Action::ReadList(&self.pool[first..first + op.length as usize])
            }
            Kind::ReadUnknown => Action::ReadUnknown,
        }
    }

    /// Whether keys are lists: somebody appends, or reads a list.
    pub fn has_lists(&self) -> bool {
        self.ops.iter().any(|op| matches!(op.kind, Kind::Append | Kind::ReadPrefix | Kind::ReadOther))
    }

    /// Whether keys are registers: somebody writes one.
    pub fn has_registers(&self) -> bool {
        self.ops.iter().any(|op| op.kind == Kind::Write)
    }

    pub(crate) fn key(&mut self, name: Atom) -> Key {
        let Transactions { keys, key_numbers, .. } = self;
        let next = keys.len() as u32;
        let found = key_numbers.find_or_insert(
            hash(0, name),
            |k| keys[k as usize] == name,
            next,
            |k| hash(0, keys[k as usize]),
        );
        if let Err(key) = found {
            return Key(key);
        }
        self.keys.push(name);
        self.longest.push(Vec::new());
        self.recorded.push(None);
        Key(next)
    }

    pub(crate) fn session(&mut self, name: String) -> u32 {
        self.sessions.push(name);
        self.sessions.len() as u32 - 1
    }

    pub(crate) fn end(
        &mut self,
        session: u32,
        end: End,
        steps: &Steps,
        (invoked, completed): (u32, u32),
        line: u64,
    ) -> TxnId {
        let first = self.ops.len() as u32;
        for step in &steps.steps {
            let op = match (step.kind, end) {
                (StepKind::Append, _) => MicroOp { key: step.key, kind: Kind::Append, data: step.value, length: 0 },
                (StepKind::Write, _) => MicroOp { key: step.key, kind: Kind::Write, data: step.value, length: 0 },
                (StepKind::Read, End::Committed) => {
                    MicroOp { key: step.key, kind: Kind::Read, data: step.value, length: 0 }
                }
                (StepKind::ReadList(from, to), End::Committed) => {
                    self.read_list(step.key, &steps.elements[from as usize..to as usize])
                }
                (StepKind::Read | StepKind::ReadList(..), End::Aborted | End::Unknown) => {
                    MicroOp { key: step.key, kind: Kind::ReadUnknown, data: Atom::NIL, length: 0 }
                }
            };
            self.ops.push(op);
        }
        let len = steps.steps.len() as u32;
        self.txns.push(Transaction { session, end, first, len, invoked, completed, line });
        TxnId(self.txns.len() as u32 - 1)
    }

    /// Keeps a list by its length alone if it agrees with the longest one.
    fn read_list(&mut self, key: Key, list: &[Atom]) -> MicroOp {
        let longest = &mut self.longest[key.0 as usize];
        let common = longest.len().min(list.len());
        if longest[..common] == list[..common] {
            longest.extend_from_slice(&list[common..]);
            return MicroOp { key, kind: Kind::ReadPrefix, data: Atom::NIL, length: list.len() as u32 };
        }
        self.other_list(key, list)
    }

    fn other_list(&mut self, key: Key, list: &[Atom]) -> MicroOp {
        let first = self.pool.len() as u64;
        self.pool.extend_from_slice(list);
        MicroOp { key, kind: Kind::ReadOther, data: Atom::at(first), length: list.len() as u32 }
    }

    /// Makes sure that `longest` is the longest list of every key, also where reads disagree: the first one that
    /// was seen is no better than the others.
    pub(crate) fn settle(&mut self) {
        let mut better: Vec<(Key, Vec<Atom>)> = Vec::new();
        for op in self.ops.iter().filter(|op| op.kind == Kind::ReadOther) {
            let Action::ReadList(list) = self.action(op) else { continue };
            if list.len() <= self.longest[op.key.0 as usize].len() {
                continue;
            }
            match better.binary_search_by_key(&op.key, |(key, _)| *key) {
                Ok(at) if better[at].1.len() < list.len() => better[at].1 = list.to_vec(),
                Ok(_) => {}
                Err(at) => better.insert(at, (op.key, list.to_vec())),
            }
        }
        if better.is_empty() {
            return;
        }
        for index in 0..self.ops.len() {
            let op = self.ops[index];
            let Ok(at) = better.binary_search_by_key(&op.key, |(key, _)| *key) else { continue };
            let Action::ReadList(list) = self.action(&op) else { continue };
            if better[at].1.starts_with(list) {
                self.ops[index].kind = Kind::ReadPrefix;
            } else if op.kind == Kind::ReadPrefix {
                let list = list.to_vec();
                self.ops[index] = self.other_list(op.key, &list);
            }
        }
        for (key, list) in better {
            self.longest[key.0 as usize] = list;
        }
    }
}

/// The steps of a transaction that is being read or written down.
#[derive(Clone, Debug, Default)]
pub(crate) struct Steps {
    pub(crate) steps: Vec<Step>,
    pub(crate) elements: Vec<Atom>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub(crate) key: Key,
    pub(crate) kind: StepKind,
    pub(crate) value: Atom,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StepKind {
    Append,
    Write,
    Read,
    /// Where the elements begin and end.
    ReadList(u32, u32),
}

impl Steps {
    pub(crate) fn clear(&mut self) {
        self.steps.clear();
        self.elements.clear();
    }
}
