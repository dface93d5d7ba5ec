//! The dependency graph of a list-append history.

use super::{Lists, NOBODY};
use crate::transactions::graph::{Dependency, Edges, Graph, Layer, Place};
use crate::transactions::history::{Key, Kind};
use crate::transactions::order;

impl Lists<'_> {
    /// All dependencies, the order of sessions and real time; and what nobody read, by key.
    pub(in crate::transactions) fn graph(&self) -> (Graph, Vec<(Key, Place)>) {
        let history = self.history;
        let mut edges = Edges::new(history.len(), history.ops.len() * 2 + history.len() * 3);
        for key in (0..history.keys() as u32).map(Key) {
            let mut live = self.writers(key).iter().filter(|op| self.is_live(**op));
            let Some(mut before) = live.next() else { continue };
            for next in live {
                edges.data(Dependency::Ww, (self.txn(*before), *before), (self.txn(*next), *next));
                before = next;
            }
        }
        let unread = self.unread();
        let mut has_unread = vec![false; history.keys()];
        unread.iter().for_each(|(key, _)| has_unread[key.0 as usize] = true);
        // Reads of all there is of a key, where something follows that nobody read.
        let mut of_all: Vec<(Key, Place)> = Vec::new();
        for (txn, op, list) in self.external_reads() {
            let micro = &history.ops[op as usize];
            if micro.kind == Kind::ReadOther {
                continue;
            }
            let writers = self.writers(micro.key);
            let last = list.len().checked_sub(1).map(|at| writers[at]).filter(|op| *op != NOBODY);
            if let Some(last) = last.filter(|last| self.is_live(*last)) {
                edges.data(Dependency::Wr, (self.txn(last), last), (txn, op));
            }
            let of_last = last.map(|last| self.txn(last));
            let next =
                writers[list.len()..].iter().find(|next| self.is_live(**next) && Some(self.txn(**next)) != of_last);
            match next {
                Some(next) => edges.data(Dependency::Rw, (txn, op), (self.txn(*next), *next)),
                None if has_unread[micro.key.0 as usize] => of_all.push((micro.key, (txn, op))),
                None => {}
            }
        }
        self.add_unread(&unread, of_all, &mut edges);
        order::sessions(history, &self.live, &mut edges);
        order::real_time(history, &self.live, &mut edges);
        (edges.finish(), unread)
    }

    fn is_live(&self, op: u32) -> bool {
        op != NOBODY && self.live[self.txn(op) as usize]
    }

    /// Appends of live transactions that no read shows, by key.
    fn unread(&self) -> Vec<(Key, Place)> {
        let history = self.history;
        let mut shown = vec![false; history.ops.len()];
        self.writers.iter().filter(|op| **op != NOBODY).for_each(|op| shown[*op as usize] = true);
        let appends = history.ops.iter().enumerate().filter(|(op, micro)| {
            micro.kind == Kind::Append && !shown[*op] && self.is_live(*op as u32) && self.agrees[micro.key.0 as usize]
        });
        let mut unread: Vec<_> = appends.map(|(op, micro)| (micro.key, (self.txn(op as u32), op as u32))).collect();
        unread.sort_unstable();
        unread
    }

    /// What nobody read comes after everything that was read.
    fn add_unread(&self, unread: &[(Key, Place)], mut of_all: Vec<(Key, Place)>, edges: &mut Edges) {
        of_all.sort_unstable();
        let mut readers = of_all.as_slice();
        for group in unread.chunk_by(|a, b| a.0 == b.0) {
            let key = group[0].0;
            let writers: Vec<Place> = group.iter().map(|(_, writer)| *writer).collect();
            let last = self.writers(key).iter().rev().find(|op| self.is_live(**op));
            if let Some(last) = last {
                edges.all_pairs(Dependency::Ww, Layer::Data, &[(self.txn(*last), *last)], &writers);
            }
            // Whoever appended more to a list that was read has been read too early, which is no anti-dependency.
            let of_last = last.map(|last| self.txn(*last));
            let writers: Vec<Place> = writers.into_iter().filter(|(txn, _)| Some(*txn) != of_last).collect();
            let from = readers.partition_point(|(other, _)| *other < key);
            let to = readers.partition_point(|(other, _)| *other <= key);
            let read: Vec<Place> = readers[from..to].iter().map(|(_, reader)| *reader).collect();
            edges.all_pairs(Dependency::Rw, Layer::Data, &read, &writers);
            readers = &readers[to..];
        }
    }
}
