//! Sentences about transactions, with their micro-operations as the history has them.

use std::fmt::Write;

use super::atom::Atom;
use super::graph::{Dependency, Hop, Layer, NO_OP};
use super::history::{Action, End, Key, Transactions, TxnId};

/// How many elements of a long list are shown.
const SHOWN: usize = 8;

impl Transactions {
    pub(crate) fn name(&self, txn: TxnId) -> String {
        format!("{}{}", if self.of_operations { "#" } else { "T" }, txn.0 + 1)
    }

    /// Whose a transaction is, where it stands, and what it did.
    pub(crate) fn describe(&self, txn: TxnId) -> String {
        let transaction = &self.txns[txn.index()];
        let mut text = format!("{} = process {}", self.name(txn), self.session_name(transaction.session));
        if transaction.line > 0 {
            let _ = write!(text, ", line {}", transaction.line);
        }
        match transaction.end {
            End::Committed => {}
            End::Aborted => text.push_str(", aborted"),
            End::Unknown => text.push_str(", end unknown"),
        }
        for (index, op) in transaction.range().enumerate() {
            let _ = write!(text, "{}{}", if index == 0 { ": " } else { ", " }, self.micro(op as u32));
        }
        text
    }

    /// A micro-operation as one writes it: `append x 4`, `r x [1 4]`.
    pub(crate) fn micro(&self, op: u32) -> String {
        let op = &self.ops[op as usize];
        let key = self.key_name(op.key);
        match self.action(op) {
            Action::Append(value) => format!("append {key} {}", self.atoms.show(value)),
            Action::Write(value) => format!("w {key} {}", self.atoms.show(value)),
            Action::Read(value) => format!("r {key} {}", self.atoms.show(value)),
            Action::ReadList(list) => format!("r {key} {}", self.list(list)),
            Action::ReadUnknown => format!("r {key} ?"),
        }
    }

    pub(crate) fn list(&self, list: &[Atom]) -> String {
        let hidden = list.len().saturating_sub(SHOWN);
        let mut text = String::from(if hidden > 0 { "[… " } else { "[" });
        for (index, value) in list[hidden..].iter().enumerate() {
            let _ = write!(text, "{}{}", if index == 0 { "" } else { " " }, self.atoms.show(*value));
        }
        text.push(']');
        text
    }

    pub(crate) fn key_of(&self, op: u32) -> Key {
        self.ops[op as usize].key
    }

    /// The value that a micro-operation wrote, or the last that it read.
    fn value_of(&self, op: u32) -> String {
        match self.action(&self.ops[op as usize]) {
            Action::Append(value) | Action::Write(value) | Action::Read(value) => self.atoms.show(value).to_string(),
            Action::ReadList(list) => list.last().map_or("nothing".into(), |value| self.atoms.show(*value).to_string()),
            Action::ReadUnknown => "?".into(),
        }
    }

    /// Why the first transaction of a hop comes before the second.
    pub(crate) fn because(&self, hop: &Hop) -> String {
        let (a, b) = (self.name(hop.from), self.name(hop.to));
        let (first, second) = (hop.from_op, hop.to_op);
        match hop.dependency {
            Dependency::Ww | Dependency::Wr | Dependency::Rw if first == NO_OP || second == NO_OP => {
                format!("{a} comes before {b}")
            }
            Dependency::Ww => {
                let verb = match self.action(&self.ops[second as usize]) {
                    Action::Append(_) => "appended",
                    _ => "wrote",
                };
                format!(
                    "{a} comes before {b} (ww): {b} {verb} {} to {} ({}) after {} of {a} ({})",
                    self.value_of(second),
                    self.key_name(self.key_of(second)),
                    self.micro(second),
                    self.value_of(first),
                    self.micro(first),
                )
            }
            Dependency::Wr => format!(
                "{a} comes before {b} (wr): {b} read {} from {} ({}), which {a} wrote ({})",
                self.value_of(first),
                self.key_name(self.key_of(first)),
                self.micro(second),
                self.micro(first),
            ),
            Dependency::Rw => {
                let why = match hop.layer {
                    Layer::Data => "",
                    Layer::Session => "; a session wrote that version before this one",
                    Layer::RealTime => "; that version was there before this one began to be written",
                };
                format!(
                    "{a} comes before {b} (rw): {a} read {} without {} ({}), which {b} wrote ({}){why}",
                    self.key_name(self.key_of(second)),
                    self.value_of(second),
                    self.micro(first),
                    self.micro(second),
                )
            }
            Dependency::Session => {
                let session = self.session_name(self.txns[hop.from.index()].session);
                format!("{a} comes before {b} (process): process {session} ran {a} before {b}")
            }
            Dependency::RealTime => {
                let ended = self.txns[hop.from.index()].completed;
                let began = self.txns[hop.to.index()].invoked;
                format!("{a} comes before {b} (realtime): {a} ended (event {ended}) before {b} began (event {began})")
            }
            Dependency::Visible | Dependency::Relay => format!("{a} comes before {b}"),
        }
    }
}
