//! How many executions there will be, told from those that have been made.
//!
//! What is to the right of a branch has not been explored. It is taken to be as large as what is to its left
//! is on average, or as the last of that: the recursive estimator of Kilby, Slaney, Thiébaux and Walsh (*Estimating search tree size*,
//! AAAI 2006), which is Knuth's where one path is known. Branches that nobody has thought of yet are
//! not counted, and those on the right are often smaller than those on the left: an estimate, no more.

use super::{NodeId, ROOT, Tree};

impl Tree {
    /// The number of executions that there will be: an estimate, and never less than those that were made
    /// and those that are known to be left.
    pub(in crate::exhaustive) fn estimate(&self) -> f64 {
        let (size, made) = self.size_of(ROOT);
        size.max(made + self.open() as f64)
    }

    /// The estimated number of executions at or below `id`, and the number of those that have been made.
    fn size_of(&self, id: NodeId) -> (f64, f64) {
        let node = self.node(id);
        // One of its own, the execution that began with it, went on along the leftmost branch.
        let own = f64::from(node.made);
        let (mut known, mut size, mut unknown, mut last, mut made) = (0.0, 0.0, 0.0, 0.0, own);
        for (i, kid) in self.kids(id).enumerate() {
            let first = if i == 0 { own } else { 0.0 };
            let (size_of_kid, made_of_kid) = self.size_of(kid);
            made += made_of_kid;
            if made_of_kid > 0.0 || first > 0.0 {
                known += 1.0;
                last = first + size_of_kid;
                size += last;
            } else {
                unknown += 1.0;
            }
        }
        if node.open == 0 {
            return (made, made);
        }
        if known == 0.0 {
            return (own.max(1.0) + unknown, made);
        }
        (size + unknown * f64::min(last, size / known), made)
    }
}
