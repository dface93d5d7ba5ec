//! Reads of lists by themselves: what they say of their own transaction, and of those that they read.

use super::{Lists, NOBODY};
use crate::transactions::anomaly::Anomaly;
use crate::transactions::atom::Atom;
use crate::transactions::history::{Action, End, Key, Kind, TxnId};
use crate::transactions::report::{Finding, Report};

impl Lists<'_> {
    /// Looks at every read: does it agree with its own transaction, and are those that it read done?
    pub(super) fn check_reads(&self, report: &mut Report) {
        let history = self.history;
        // For each key the first element of the longest list that an aborted transaction appended.
        let aborted: Vec<usize> = (0..history.keys() as u32)
            .map(|key| {
                let writers = self.writers(Key(key));
                let dirty = |op: &u32| *op != NOBODY && self.end(*op) == End::Aborted;
                writers.iter().position(dirty).unwrap_or(usize::MAX)
            })
            .collect();
        for (txn, transaction) in history.txns.iter().enumerate() {
            if transaction.end != End::Committed {
                continue;
            }
            for op in transaction.range() {
                let op = op as u32;
                let Some(list) = self.read(op) else { continue };
                if self.writes.previous[op as usize] != u32::MAX {
                    self.check_internal(txn as u32, op, list, report);
                }
                let micro = &history.ops[op as usize];
                let writers = match micro.kind {
                    Kind::ReadOther => None,
                    _ => Some(&self.writers(micro.key)[..list.len()]),
                };
                let dirty = match writers {
                    Some(writers) => {
                        let at = aborted[micro.key.0 as usize];
                        writers.get(at).copied()
                    }
                    None => list
                        .iter()
                        .filter_map(|value| self.writes.of(history, micro.key, *value))
                        .find(|writer| self.end(*writer) == End::Aborted),
                };
                if let Some(writer) = dirty {
                    self.report_read(Anomaly::G1a, txn as u32, op, writer, "which never committed", report);
                }
                if !list.is_empty() && !self.has_appended(op) {
                    self.check_external(txn as u32, op, list, writers, report);
                }
            }
        }
    }

    fn check_external(&self, txn: u32, op: u32, list: &[Atom], writers: Option<&[u32]>, report: &mut Report) {
        let history = self.history;
        let key = history.ops[op as usize].key;
        let last = match writers {
            Some(writers) => writers[list.len() - 1],
            None => self.writes.of(history, key, list[list.len() - 1]).unwrap_or(NOBODY),
        };
        if last == NOBODY {
            return;
        }
        if self.txn(last) != txn && !self.writes.last[last as usize] && self.end(last) != End::Aborted {
            self.report_read(Anomaly::G1b, txn, op, last, "which appended more to it", report);
        }
        // Its own element can only be there if it was appended later.
        let own = history.txns[txn as usize].range().map(|op| op as u32).filter(|own| *own > op);
        let own = own.filter(|own| history.ops[*own as usize].kind == Kind::Append && history.key_of(*own) == key);
        for own in own {
            if list.contains(&history.ops[own as usize].data) {
                let what = "which is itself, later on";
                self.report_read(Anomaly::FutureRead, txn, op, own, what, report);
                return;
            }
        }
    }

    fn report_read(&self, anomaly: Anomaly, txn: u32, op: u32, writer: u32, what: &str, report: &mut Report) {
        if report.is_full(anomaly) {
            report.tally(anomaly);
            return;
        }
        let history = self.history;
        let (reader, other) = (TxnId(txn), TxnId(self.txn(writer)));
        let because = vec![format!(
            "{} read {} ({}) with an element of {} ({}), {what}",
            history.name(reader),
            history.key_name(history.key_of(op)),
            history.micro(op),
            history.name(other),
            history.micro(writer)
        )];
        let transactions = if reader == other { vec![reader] } else { vec![other, reader] };
        report.add(Finding { anomaly, transactions, because });
    }

    /// A read must return what the transaction read before and its own appends since, or end with its own appends.
    fn check_internal(&self, txn: u32, op: u32, list: &[Atom], report: &mut Report) {
        let history = self.history;
        let mut appended = Vec::new();
        let mut before = self.writes.previous[op as usize];
        let mut base: Option<&[Atom]> = None;
        while before != u32::MAX && base.is_none() {
            match history.action(&history.ops[before as usize]) {
                Action::Append(value) => appended.push(value),
                _ => base = self.read(before),
            }
            before = self.writes.previous[before as usize];
        }
        appended.reverse();
        let fits = match base {
            Some(base) => {
                list.len() == base.len() + appended.len() && list.starts_with(base) && list.ends_with(&appended)
            }
            None => list.ends_with(&appended),
        };
        if fits {
            return;
        }
        let expected = match base {
            Some(base) => history.list(&[base, &appended].concat()),
            None => format!("a list that ends with {}", history.list(&appended)),
        };
        let because = vec![format!(
            "{} read {} ({}), but its earlier operations require {expected}",
            history.name(TxnId(txn)),
            history.key_name(history.key_of(op)),
            history.micro(op)
        )];
        report.add(Finding { anomaly: Anomaly::Internal, transactions: vec![TxnId(txn)], because });
    }
}
