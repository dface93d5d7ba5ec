//! From a dependency graph to classified cycles: which components have which, and the shortest of each.

use super::anomaly::{Anomaly, Class, Suffix};
use super::cycles::{Component, Found};
use super::graph::{Dependency, Edge, Graph, Layer, Place};
use super::history::{Key, Transactions, TxnId};
use super::model::RuledOut;
use super::report::{Finding, Report, Undecided};

/// Adds all classes of cycles of a graph to a report.
///
/// `unordered` are writes, sorted by key, of which nobody knows in which order they took place. As long as there is no
/// cycle, any order will do; but two of them within a cycle can make it worse than it looks, whatever their order.
pub(super) fn classify(history: &Transactions, graph: &Graph, unordered: &[(Key, Place)], report: &mut Report) {
    // A graph without a cycle is the common case, and one pass shows it.
    let everything = |edge: &Edge| edge.dependency != Dependency::Visible;
    if graph.components(everything).is_empty() {
        return;
    }
    // What has been found in the component of a transaction.
    let mut known: Vec<RuledOut> = vec![RuledOut::default(); history.len()];
    for suffix in Suffix::ALL {
        for class in [Class::G0, Class::G1c, Class::G2Item] {
            // Anti-dependencies make one kind of component, in which three classes are looked for.
            let classes: &[Class] = match class {
                Class::G2Item => &[Class::GSingle, Class::GNonadjacent, Class::G2Item],
                Class::G1c => &[Class::G1c],
                _ => &[Class::G0],
            };
            let keep = |edge: &Edge| {
                edge.layer <= suffix.layer()
                    && (class.allows(edge.dependency) && edge.dependency != Dependency::Visible)
            };
            for nodes in graph.components(keep) {
                let component = Component::new(graph, nodes, keep);
                let mut found =
                    component.transactions().fold(RuledOut::default(), |all, txn| all.union(known[txn.index()]));
                for class in classes {
                    let anomaly = Anomaly::Cycle(*class, suffix);
                    // With a suffix, a class is news only if it rules out more than what is known without.
                    if suffix != Suffix::None && found.covers(anomaly) {
                        continue;
                    }
                    match component.shortest(*class, suffix) {
                        Found::Nothing => {}
                        Found::Cycle(hops) => {
                            found.add_anomaly(anomaly);
                            let because = hops.iter().map(|hop| history.because(hop)).collect();
                            let transactions = hops.iter().map(|hop| hop.from).collect();
                            report.add(Finding { anomaly, transactions, because });
                        }
                        Found::Undecided => {
                            let size = component.transactions().len();
                            let reason = format!(
                                "whether {size} entangled transactions have a cycle {anomaly}: the search was given up"
                            );
                            report.undecided.push(Undecided { models: anomaly.rules_out().to_vec(), reason });
                        }
                    }
                }
                let looks_mild = [Class::GNonadjacent, Class::G2Item].map(|class| Anomaly::Cycle(class, suffix));
                let worse = Anomaly::Cycle(Class::GSingle, suffix);
                if looks_mild.iter().any(|mild| found.covers(*mild)) && !found.covers(worse) {
                    let members: Vec<TxnId> = component.transactions().collect();
                    if let Some((key, count)) = entangled(&members, unordered) {
                        let key = history.key_name(key);
                        let reason = format!(
                            "in which order {count} transactions wrote key {key}, which no transaction read afterwards"
                        );
                        report.undecided.push(Undecided { models: worse.rules_out().to_vec(), reason });
                    }
                }
                component.transactions().for_each(|txn| known[txn.index()] = found);
            }
        }
    }
}

/// A key that several members of a component wrote in an unknown order, and how many.
fn entangled(members: &[TxnId], unordered: &[(Key, Place)]) -> Option<(Key, usize)> {
    unordered.chunk_by(|a, b| a.0 == b.0).find_map(|group| {
        let mut writers: Vec<u32> = group.iter().map(|(_, (txn, _))| *txn).collect();
        writers.dedup();
        let count = writers.iter().filter(|txn| members.binary_search(&TxnId(**txn)).is_ok()).count();
        (count > 1).then_some((group[0].0, count))
    })
}

impl Suffix {
    fn layer(self) -> Layer {
        match self {
            Suffix::None => Layer::Data,
            Suffix::Process => Layer::Session,
            Suffix::Realtime => Layer::RealTime,
        }
    }
}
