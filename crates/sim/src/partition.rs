//! Partitions: which links are cut.

use crate::id::NodeId;

/// The fate of a message over a cut link.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Mode {
    /// It is lost.
    #[default]
    Drop,
    /// It arrives after the link has healed.
    Defer,
    /// It is lost, and its sender is told ([`Node::on_rejected`](crate::Node::on_rejected)).
    Reject,
}

/// The shape of a partition, in Jepsen's words.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Shape {
    /// One node hears nobody, and nobody hears it. Every node is tried.
    IsolateOne,
    /// One node hears nobody, but is heard. Every node is tried.
    DeafOne,
    /// One node is heard by nobody, but hears. Every node is tried.
    MuteOne,
    /// Two halves that do not hear each other: every way to divide the nodes as evenly as possible.
    Halves,
    /// Every node hears a majority, and no two hear the same one.
    MajoritiesRing,
    /// Two halves that do not hear each other, and one node that hears both and is heard by both.
    Bridge,
    /// One directed link. Every one is tried.
    OneLink,
    /// These directed links, from the first to the second of each pair.
    Links(Vec<(NodeId, NodeId)>),
    /// These two groups do not hear each other.
    Between(Vec<NodeId>, Vec<NodeId>),
}

/// Directed links that are cut together: of each node that is affected, whom it does not hear.
pub(crate) type Cut = Vec<(NodeId, Vec<NodeId>)>;

impl Shape {
    /// All partitions of this shape among `nodes`.
    pub(crate) fn cuts(&self, nodes: &[NodeId]) -> Vec<Cut> {
        let hears_not = |is_cut: &dyn Fn(NodeId, NodeId) -> bool| -> Cut {
            let of =
                |to: NodeId| nodes.iter().copied().filter(|from| *from != to && is_cut(*from, to)).collect::<Vec<_>>();
            nodes.iter().map(|to| (*to, of(*to))).filter(|(_, from)| !from.is_empty()).collect()
        };
        let each = |is_cut: &dyn Fn(NodeId, NodeId, NodeId) -> bool| -> Vec<Cut> {
            nodes.iter().map(|one| hears_not(&|from, to| is_cut(*one, from, to))).collect()
        };
        let place = |node: NodeId| nodes.iter().position(|other| *other == node).unwrap_or(0);
        let many = nodes.len();
        let cuts = match self {
            Shape::IsolateOne => each(&|one, from, to| from == one || to == one),
            Shape::DeafOne => each(&|one, _, to| to == one),
            Shape::MuteOne => each(&|one, from, _| from == one),
            Shape::Halves => {
                // Whoever is first is in the first half: the other half is the same partition.
                let halves = (0..1_u32 << many.min(20))
                    .filter(|half| half.count_ones() as usize == many / 2 && (many % 2 == 1 || half & 1 == 1));
                halves.map(|half| hears_not(&|a, b| half >> place(a) & 1 != half >> place(b) & 1)).collect()
            }
            Shape::MajoritiesRing => {
                let reach = many / 2 / 2 + many / 2 % 2;
                let apart = |a: usize, b: usize| a.abs_diff(b).min(many - a.abs_diff(b));
                vec![hears_not(&|a, b| apart(place(a), place(b)) > reach)]
            }
            Shape::Bridge => each(&|one, from, to| {
                let side = |node: NodeId| (place(node) + many - place(one)) % many <= many / 2;
                from != one && to != one && side(from) != side(to)
            }),
            Shape::OneLink => {
                let pairs = nodes.iter().flat_map(|a| nodes.iter().map(move |b| (*a, *b))).filter(|(a, b)| a != b);
                pairs.map(|(a, b)| hears_not(&|from, to| (from, to) == (a, b))).collect()
            }
            Shape::Links(links) => vec![hears_not(&|from, to| links.contains(&(from, to)))],
            Shape::Between(one, other) => vec![hears_not(&|from, to| {
                one.contains(&from) && other.contains(&to) || other.contains(&from) && one.contains(&to)
            })],
        };
        cuts.into_iter().filter(|cut: &Cut| !cut.is_empty()).collect()
    }
}
