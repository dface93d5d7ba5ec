//! List-append: the longest read of a key is the order of its versions, every other read a beginning of it.
//!
//! As in Elle (Kingsbury and Alvaro, VLDB 2020). Beyond it, an append that no read shows comes after everything that
//! was read of that key, so that a history without a cycle *is* serializable: any topological order of the graph is an
//! order in which every read returns what it returned.

mod edges;
mod reads;

use super::anomaly::Anomaly;
use super::atom::Atom;
use super::history::{Action, End, Key, Kind, Transactions, TxnId};
use super::report::{Finding, Report};
use super::writes::Writes;

/// No write: nobody appended the element.
const NOBODY: u32 = u32::MAX;

/// The longest list of every key, with its writers.
pub(super) struct Lists<'h> {
    history: &'h Transactions,
    writes: &'h Writes,
    /// Where the list of each key begins in `writers`.
    first: Vec<u32>,
    /// The append of each element.
    writers: Vec<u32>,
    /// Whether all reads of a key agree with the longest.
    agrees: Vec<bool>,
    /// Whether a transaction took effect: it committed, or somebody saw one of its elements.
    pub(super) live: Vec<bool>,
}

impl<'h> Lists<'h> {
    pub(super) fn new(history: &'h Transactions, writes: &'h Writes) -> Lists<'h> {
        let mut first = Vec::with_capacity(history.keys() + 1);
        let mut writers = Vec::with_capacity(history.longest.iter().map(Vec::len).sum());
        let mut live: Vec<bool> = history.txns.iter().map(|txn| txn.end == End::Committed).collect();
        let mut see = |op: u32| {
            let txn = writes.txn_of[op as usize] as usize;
            live[txn] |= history.txns[txn].end == End::Unknown;
        };
        for (key, longest) in history.longest.iter().enumerate() {
            first.push(writers.len() as u32);
            for value in longest {
                let writer = writes.of(history, Key(key as u32), *value).unwrap_or(NOBODY);
                writers.push(writer);
                if writer != NOBODY {
                    see(writer);
                }
            }
        }
        first.push(writers.len() as u32);
        let mut agrees = vec![true; history.keys()];
        for op in history.ops.iter().filter(|op| op.kind == Kind::ReadOther) {
            agrees[op.key.0 as usize] = false;
            if let Action::ReadList(list) = history.action(op) {
                list.iter().filter_map(|value| writes.of(history, op.key, *value)).for_each(&mut see);
            }
        }
        Lists { history, writes, first, writers, agrees, live }
    }

    /// The appends of a key's longest list.
    fn writers(&self, key: Key) -> &[u32] {
        &self.writers[self.first[key.0 as usize] as usize..self.first[key.0 as usize + 1] as usize]
    }

    fn txn(&self, op: u32) -> u32 {
        self.writes.txn_of[op as usize]
    }

    fn end(&self, op: u32) -> End {
        self.history.txns[self.txn(op) as usize].end
    }

    /// The list that a micro-operation read.
    fn read(&self, op: u32) -> Option<&'h [Atom]> {
        match self.history.action(&self.history.ops[op as usize]) {
            Action::ReadList(list) => Some(list),
            Action::Read(value) if value.is_nil() => Some(&[]),
            Action::Read(_) | Action::ReadUnknown | Action::Append(_) | Action::Write(_) => None,
        }
    }

    /// Whether the transaction has appended to the key before.
    fn has_appended(&self, op: u32) -> bool {
        let mut before = self.writes.previous[op as usize];
        while before != u32::MAX {
            if self.history.ops[before as usize].kind == Kind::Append {
                return true;
            }
            before = self.writes.previous[before as usize];
        }
        false
    }

    /// The append of the same transaction to the same key before this one.
    fn earlier_append(&self, op: u32) -> Option<u32> {
        let mut before = self.writes.previous[op as usize];
        while before != u32::MAX && self.history.ops[before as usize].kind != Kind::Append {
            before = self.writes.previous[before as usize];
        }
        (before != u32::MAX).then_some(before)
    }

    /// Committed reads of what others wrote: with their transaction, and what they returned.
    fn external_reads(&self) -> impl Iterator<Item = (u32, u32, &'h [Atom])> + '_ {
        let committed = self.history.txns.iter().enumerate().filter(|(_, txn)| txn.end == End::Committed);
        let ops = committed.flat_map(|(txn, transaction)| transaction.range().map(move |op| (txn as u32, op as u32)));
        ops.filter_map(|(txn, op)| Some((txn, op, self.read(op)?))).filter(|(_, op, _)| !self.has_appended(*op))
    }

    /// Everything that is wrong without a look at cycles.
    pub(super) fn check(&self, report: &mut Report) {
        self.check_lists(report);
        self.check_reads(report);
        self.check_updates(report);
    }

    /// Looks at every list once: the longest of each key, and those that disagree with it.
    fn check_lists(&self, report: &mut Report) {
        let history = self.history;
        let mut seen = vec![u32::MAX; history.ops.len()];
        let mut round = 0;
        for key in (0..history.keys() as u32).map(Key) {
            let longest = &history.longest[key.0 as usize];
            let whose = || self.reader_of(key, longest.len());
            self.check_list(key, longest, self.writers(key), (&mut seen, round), whose, report);
            round += 1;
        }
        for (op, micro) in history.ops.iter().enumerate().filter(|(_, op)| op.kind == Kind::ReadOther) {
            let op = op as u32;
            let (Some(list), txn) = (self.read(op), TxnId(self.txn(op))) else { continue };
            let writers: Vec<u32> =
                list.iter().map(|value| self.writes.of(history, micro.key, *value).unwrap_or(NOBODY)).collect();
            self.check_list(micro.key, list, &writers, (&mut seen, round), || Some((txn, op)), report);
            round += 1;
            if report.is_full(Anomaly::IncompatibleOrder) {
                report.tally(Anomaly::IncompatibleOrder);
                continue;
            }
            let longest = &history.longest[micro.key.0 as usize];
            let at = longest.iter().zip(list).take_while(|(a, b)| a == b).count();
            let other = self.reader_of(micro.key, at + 1);
            report.add(Finding {
                anomaly: Anomaly::IncompatibleOrder,
                transactions: other.iter().map(|(txn, _)| *txn).chain([txn]).collect(),
                because: vec![format!(
                    "{} read {} ({}), another one {}: they differ from element {} on",
                    history.name(txn),
                    history.key_name(micro.key),
                    history.micro(op),
                    history.list(longest),
                    at + 1
                )],
            });
        }
    }

    /// The first transaction that read at least so many elements of a key's longest list.
    fn reader_of(&self, key: Key, len: usize) -> Option<(TxnId, u32)> {
        let reads = self
            .history
            .ops
            .iter()
            .position(|op| op.kind == Kind::ReadPrefix && op.key == key && op.length as usize >= len)?;
        Some((TxnId(self.txn(reads as u32)), reads as u32))
    }

    fn check_list(
        &self,
        key: Key,
        list: &[Atom],
        writers: &[u32],
        (seen, round): (&mut [u32], u32),
        whose: impl Fn() -> Option<(TxnId, u32)>,
        report: &mut Report,
    ) {
        let history = self.history;
        let mut aborted: Option<u32> = None;
        for (value, writer) in list.iter().zip(writers) {
            let problem = if *writer == NOBODY {
                let what = format!("{} of {} was never appended", history.atoms.show(*value), history.key_name(key));
                Some((Anomaly::Garbage, what))
            } else if seen[*writer as usize] == round {
                let what = format!("{} stands twice in {}", history.atoms.show(*value), history.key_name(key));
                Some((Anomaly::Duplicate, what))
            } else {
                seen[*writer as usize] = round;
                None
            };
            // Looking for a reader takes a pass over the history.
            let problem = problem.filter(|(anomaly, _)| {
                let full = report.is_full(*anomaly);
                if full {
                    report.tally(*anomaly);
                }
                !full
            });
            if let Some(((anomaly, what), (txn, op))) = problem.and_then(|problem| Some((problem, whose()?))) {
                let because = vec![format!("{what}: {} read it ({})", history.name(txn), history.micro(op))];
                report.add(Finding { anomaly, transactions: vec![txn], because });
            }
            if *writer == NOBODY {
                continue;
            }
            if let Some(earlier) = self.earlier_append(*writer).filter(|earlier| seen[*earlier as usize] != round) {
                if report.is_full(Anomaly::IncompatibleOrder) {
                    report.tally(Anomaly::IncompatibleOrder);
                    continue;
                }
                let txn = TxnId(self.txn(*writer));
                let because = vec![format!(
                    "{} appended to {} ({}) before {}, but the list has the second without the first before it",
                    history.name(txn),
                    history.key_name(key),
                    history.micro(earlier),
                    history.micro(*writer)
                )];
                let reader = whose().map(|(reader, _)| reader).filter(|reader| *reader != txn);
                let transactions = [txn].into_iter().chain(reader).collect();
                report.add(Finding { anomaly: Anomaly::IncompatibleOrder, transactions, because });
            }
            match (self.end(*writer), aborted) {
                (End::Aborted, _) => aborted = Some(*writer),
                (End::Committed | End::Unknown, Some(dirty)) => {
                    let (first, second) = (TxnId(self.txn(dirty)), TxnId(self.txn(*writer)));
                    let because = vec![format!(
                        "{} appended to {} ({}) behind what {} had appended ({}) and never committed",
                        history.name(second),
                        history.key_name(key),
                        history.micro(*writer),
                        history.name(first),
                        history.micro(dirty)
                    )];
                    report.add(Finding { anomaly: Anomaly::DirtyUpdate, transactions: vec![first, second], because });
                    aborted = None;
                }
                (End::Committed | End::Unknown, None) => {}
            }
        }
    }

    /// Lost updates: several transactions read the same version of a key and appended to it.
    fn check_updates(&self, report: &mut Report) {
        let history = self.history;
        let mut updates: Vec<(Key, usize, u32, u32)> = Vec::new();
        for (txn, op, list) in self.external_reads() {
            let key = history.ops[op as usize].key;
            let range = history.txns[txn as usize].range();
            let appends =
                |other: &u32| history.ops[*other as usize].kind == Kind::Append && history.key_of(*other) == key;
            if history.ops[op as usize].kind != Kind::ReadOther
                && (op + 1..range.end as u32).any(|other| appends(&other))
            {
                // Only the last read before the append counts, if there are several.
                let earlier = updates.last().is_some_and(|(k, _, t, _)| (*k, *t) == (key, txn));
                if earlier {
                    updates.pop();
                }
                updates.push((key, list.len(), txn, op));
            }
        }
        updates.sort_unstable();
        for group in updates.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)).filter(|group| group.len() > 1) {
            let mut transactions: Vec<TxnId> = group.iter().map(|(_, _, txn, _)| TxnId(*txn)).collect();
            transactions.dedup();
            if transactions.len() < 2 {
                continue;
            }
            let names: Vec<String> = transactions.iter().map(|txn| history.name(*txn)).collect();
            let because = vec![format!(
                "{} read the same version of {} ({}), and each appended to it",
                names.join(" and "),
                history.key_name(group[0].0),
                history.micro(group[0].3)
            )];
            report.add(Finding { anomaly: Anomaly::LostUpdate, transactions, because });
        }
    }
}
