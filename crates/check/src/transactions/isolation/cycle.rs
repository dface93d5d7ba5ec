//! A shortest cycle, in sentences.

use super::Violation;
use crate::transactions::graph::{Dependency, Edge, Graph, Hop};
use crate::transactions::history::{Transactions, TxnId};
use crate::transactions::registers::Registers;

/// Edges looked at before the search for a shorter cycle ends.
const MOST_WORK: u64 = 20_000_000;

/// The shortest cycle of the smallest component, or of as many as the budget allows; `None` if there is no cycle.
pub(crate) fn shortest(registers: &Registers<'_>, graph: &Graph) -> Option<Violation> {
    let components = graph.components(|_| true);
    let component = components.iter().min_by_key(|component| component.len())?;
    let mut best: Vec<Hop> = Vec::new();
    let mut work = 0;
    let mut reached: Vec<Option<(usize, Edge)>> = Vec::new();
    for start in 0..component.len() {
        reached.clear();
        reached.resize(component.len(), None);
        let mut queue = vec![start];
        let mut at = 0;
        while let Some(&node) = queue.get(at) {
            at += 1;
            for edge in graph.out(component[node]) {
                work += 1;
                let Ok(to) = component.binary_search(&edge.to) else { continue };
                if reached[to].is_some() {
                    continue;
                }
                reached[to] = Some((node, *edge));
                if to == start {
                    let cycle = walk(component, &reached, start);
                    if best.is_empty() || cycle.len() < best.len() {
                        best = cycle;
                    }
                    queue.clear();
                    break;
                }
                queue.push(to);
            }
        }
        if best.len() == 2 || (work > MOST_WORK && !best.is_empty()) {
            break;
        }
    }
    let readers = best.iter().filter(|hop| hop.dependency == Dependency::Visible);
    let readers = readers.map(|hop| TxnId(registers.txn(hop.to_op)));
    let transactions = best.iter().map(|hop| hop.from).chain(readers).collect();
    let because = best.iter().map(|hop| sentence(registers, hop)).collect();
    Some(Violation { transactions, because })
}

fn walk(component: &[u32], reached: &[Option<(usize, Edge)>], start: usize) -> Vec<Hop> {
    let mut hops = Vec::new();
    let mut node = start;
    while let Some((from, edge)) = reached[node] {
        let Edge { from_op, to_op, dependency, layer, .. } = edge;
        let (from_txn, to_txn) = (TxnId(component[from]), TxnId(component[node]));
        hops.push(Hop { from: from_txn, to: to_txn, from_op, to_op, dependency, layer });
        node = from;
        if node == start {
            break;
        }
    }
    hops.reverse();
    hops
}

/// A read of the initial version by one to whom a write of that key was visible.
pub(crate) fn initial(registers: &Registers<'_>, write: u32, read: u32) -> Violation {
    let history = registers.history;
    let (writer, reader) = (TxnId(registers.txn(write)), TxnId(registers.txn(read)));
    let because = vec![format!(
        "{} read {} as it was at the beginning ({}), though {} was visible to it, which wrote it ({})",
        history.name(reader),
        history.key_name(registers.key(read)),
        history.micro(read),
        history.name(writer),
        history.micro(write)
    )];
    Violation { transactions: vec![writer, reader], because }
}

fn sentence(registers: &Registers<'_>, hop: &Hop) -> String {
    let history = registers.history;
    if hop.dependency != Dependency::Visible {
        return history.because(hop);
    }
    let reader = TxnId(registers.txn(hop.to_op));
    format!(
        "{} comes before {}: {} read {} ({}) from {}, though {} was visible to it, which also wrote it ({})",
        history.name(hop.from),
        history.name(hop.to),
        history.name(reader),
        history.key_name(registers.key(hop.to_op)),
        history.micro(hop.to_op),
        history.name(hop.to),
        history.name(hop.from),
        history.micro(hop.from_op)
    )
}

impl Violation {
    /// The violation for people, with the transactions that take part.
    pub fn text(&self, history: &Transactions) -> String {
        let mut lines: Vec<String> = Vec::new();
        for txn in &self.transactions {
            let line = format!("  {}", history.describe(*txn));
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
        lines.extend(self.because.iter().map(|sentence| format!("    - {sentence}")));
        lines.join("\n") + "\n"
    }
}
