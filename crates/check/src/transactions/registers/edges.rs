//! The dependency graph of a register history, as far as the order of versions is known.

use super::{INITIAL, Registers};
use crate::transactions::anomaly::Anomaly;
use crate::transactions::graph::{Dependency, Edge, Edges, Graph, Layer, Place};
use crate::transactions::history::{End, Key, Kind, TxnId};
use crate::transactions::order;
use crate::transactions::report::{Finding, Report};
use crate::transactions::writes::Unfit;

/// What is known of one key.
struct Versions<'a> {
    key: Key,
    /// Final writes of live transactions, in the order of transactions.
    writes: &'a [Place],
    /// Reads of others, sorted by what they returned; first those of the initial version.
    reads: &'a [(u32, Place)],
}

impl Versions<'_> {
    fn readers(&self, writer: u32) -> Vec<Place> {
        // Without the one, the initial version is last in the order of numbers.
        let rank = |writer: u32| writer.wrapping_add(1);
        let from = self.reads.partition_point(|(other, _)| rank(*other) < rank(writer));
        let to = self.reads.partition_point(|(other, _)| rank(*other) <= rank(writer));
        self.reads[from..to].iter().map(|(_, reader)| *reader).collect()
    }
}

impl Registers<'_> {
    /// All dependencies that are known, and the number of keys whose versions are not all in a known order.
    pub(in crate::transactions) fn graph(&self, report: &mut Report) -> Result<(Graph, usize), Unfit> {
        let history = self.history;
        let mut edges = Edges::new(history.len(), history.ops.len() * 2 + history.len() * 3);
        let mut writes: Vec<(Key, Place)> = Vec::new();
        for (op, micro) in history.ops.iter().enumerate() {
            let txn = self.writes.txn_of[op];
            if micro.kind == Kind::Write && self.writes.last[op] && self.live[txn as usize] {
                writes.push((micro.key, (txn, op as u32)));
            }
        }
        writes.sort_unstable();
        let mut reads: Vec<(Key, u32, u32, Place)> = Vec::with_capacity(self.reads.len());
        for read in &self.reads {
            let reader = (self.txn(read.op), read.op);
            reads.push((self.key(read.op), read.writer.wrapping_add(1), read.writer, reader));
            if read.writer != INITIAL {
                edges.data(Dependency::Wr, (self.txn(read.writer), read.writer), reader);
            }
        }
        reads.sort_unstable();
        let (mut writes, mut reads) = (writes.as_slice(), reads.as_slice());
        let mut unordered = 0;
        for key in (0..history.keys() as u32).map(Key) {
            let (of_key, others) = writes.split_at(writes.partition_point(|(other, _)| *other <= key));
            let (read, other_reads) = reads.split_at(reads.partition_point(|(other, ..)| *other <= key));
            (writes, reads) = (others, other_reads);
            let of_key: Vec<Place> = of_key.iter().map(|(_, place)| *place).collect();
            let read: Vec<(u32, Place)> = read.iter().map(|(_, _, writer, reader)| (*writer, *reader)).collect();
            let versions = Versions { key, writes: &of_key, reads: &read };
            let updates = self.updates(&versions, report);
            match &history.recorded[key.0 as usize] {
                Some(_) => self.add_recorded(&versions, &mut edges)?,
                None => {
                    edges.all_pairs(Dependency::Rw, Layer::Data, &versions.readers(INITIAL), versions.writes);
                    for group in updates.chunk_by(|a, b| a.0 == b.0).filter(|group| group[0].0 != INITIAL) {
                        let updaters: Vec<Place> = group.iter().map(|(_, place)| *place).collect();
                        edges.all_pairs(Dependency::Rw, Layer::Data, &versions.readers(group[0].0), &updaters);
                    }
                    self.add_sessions(&versions, &mut edges);
                    self.add_real_time(&versions, &mut edges);
                    unordered += usize::from(!is_chain(versions.writes.len(), &updates));
                }
            }
        }
        order::sessions(history, &self.live, &mut edges);
        order::real_time(history, &self.live, &mut edges);
        Ok((edges.finish(), unordered))
    }

    /// Which version a transaction read and then replaced: sorted by that version. Reports lost updates.
    fn updates(&self, versions: &Versions<'_>, report: &mut Report) -> Vec<(u32, Place)> {
        let history = self.history;
        let mut updates: Vec<(u32, Place)> = Vec::new();
        let mut sorted: Vec<(Place, u32)> = versions.reads.iter().map(|(writer, reader)| (*reader, *writer)).collect();
        sorted.sort_unstable();
        for (txn, write) in versions.writes {
            // The last read before the write, if there are several.
            let at = sorted.partition_point(|(reader, _)| *reader < (*txn, *write));
            if let Some(((reader, _), writer)) = at.checked_sub(1).map(|at| sorted[at]) {
                if reader == *txn {
                    updates.push((writer, (*txn, *write)));
                }
            }
        }
        updates.sort_unstable();
        for group in updates.chunk_by(|a, b| a.0 == b.0).filter(|group| group.len() > 1) {
            let transactions: Vec<TxnId> = group.iter().map(|(_, (txn, _))| TxnId(*txn)).collect();
            let names: Vec<String> = transactions.iter().map(|txn| history.name(*txn)).collect();
            let version = match group[0].0 {
                INITIAL => history.atoms.show(history.initial).to_string(),
                writer => history.atoms.show(history.ops[writer as usize].data).to_string(),
            };
            let because = vec![format!(
                "{} read {version} from {}, and each replaced it",
                names.join(" and "),
                history.key_name(versions.key)
            )];
            report.add(Finding { anomaly: Anomaly::LostUpdate, transactions, because });
        }
        updates
    }

    /// The whole order of a key's versions.
    fn add_recorded(&self, versions: &Versions<'_>, edges: &mut Edges) -> Result<(), Unfit> {
        let history = self.history;
        let unfit = |reason: String| Unfit::Order { key: history.key_name(versions.key).to_string(), reason };
        let mut order: Vec<u32> = Vec::new();
        for value in history.recorded[versions.key.0 as usize].iter().flatten() {
            let writer = self
                .writes
                .of(history, versions.key, *value)
                .ok_or_else(|| unfit(format!("nobody wrote {}", history.atoms.show(*value))))?;
            if self.live[self.txn(writer) as usize] && self.writes.last[writer as usize] {
                order.push(writer);
            }
        }
        let mut sorted = order.clone();
        sorted.sort_unstable();
        if let Some(twice) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(unfit(format!("{} is there twice", history.micro(twice[0]))));
        }
        if let Some((_, missing)) = versions.writes.iter().find(|(_, op)| sorted.binary_search(op).is_err()) {
            return Err(unfit(format!("{} is missing", history.micro(*missing))));
        }
        let place = |op: u32| (self.txn(op), op);
        let mut before = INITIAL;
        for next in order {
            if before != INITIAL {
                edges.data(Dependency::Ww, place(before), place(next));
            }
            edges.all_pairs(Dependency::Rw, Layer::Data, &versions.readers(before), &[place(next)]);
            before = next;
        }
        Ok(())
    }

    /// For levels with session order: the versions of a session are in its order.
    fn add_sessions(&self, versions: &Versions<'_>, edges: &mut Edges) {
        let session = |txn: u32| self.history.txns[txn as usize].session;
        let mut writes: Vec<(u32, Place)> = versions.writes.iter().map(|place| (session(place.0), *place)).collect();
        writes.sort_unstable();
        for pair in writes.windows(2) {
            let ((first, (txn, op)), (second, next)) = (pair[0], pair[1]);
            if first == second && self.history.txns[txn as usize].end == End::Committed {
                edges.all_pairs(Dependency::Rw, Layer::Session, &versions.readers(op), &[next]);
            }
        }
    }

    /// For levels with real time: a version is before those that began to be written when its transaction had ended.
    fn add_real_time(&self, versions: &Versions<'_>, edges: &mut Edges) {
        let layer = Layer::RealTime;
        let txns: Vec<u32> = versions.writes.iter().map(|(txn, _)| *txn).collect();
        let write = |txn: u32| versions.writes[txns.binary_search(&txn).unwrap_or(0)].1;
        order::for_each_gap(self.history, &txns, |before, ended, begun| {
            let this = edges.relay();
            if let Some(before) = before {
                edges.onwards(before, this, INITIAL, layer);
            }
            for txn in ended {
                for (reader, from_op) in versions.readers(write(*txn)) {
                    let dependency = Dependency::Rw;
                    edges.add(reader, Edge { to: this, from_op, to_op: INITIAL, dependency, layer });
                }
            }
            for txn in begun {
                edges.onwards(this, *txn, write(*txn), layer);
            }
            this
        });
    }
}

/// Whether the updates are one chain from the initial version through all others.
fn is_chain(versions: usize, updates: &[(u32, Place)]) -> bool {
    if versions <= 1 {
        return true;
    }
    let mut at = INITIAL;
    for _ in 0..versions {
        match updates.binary_search_by_key(&at, |(from, _)| *from) {
            Ok(next) => at = updates[next].1.1,
            Err(_) => return false,
        }
    }
    updates.len() == versions
}
