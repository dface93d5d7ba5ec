//! Every order of events there is, one after the other, without the engine: what exhaustive exploration is held against.

use std::collections::{BTreeMap, HashSet};

use drawloom_sim::{Event, Host, NodeId, Place, QueueId};

/// Who may make an event happen, whatever the order of those before: the node that has brought it about, and its number there.
type Name = (usize, u32);

/// Follows a list of choices, and takes the first of what is possible after it.
struct Follower {
    path: Vec<usize>,
    /// How many there were to choose from at each choice.
    widths: Vec<usize>,
    ready: Vec<(Name, usize, Event)>,
    children: Vec<u32>,
    /// Where the events of each node are ordered.
    places: Vec<usize>,
    queues: Vec<(Name, std::collections::VecDeque<(usize, Event)>)>,
    at: usize,
    class: Class,
    /// Classes of beginnings that were met before, if nobody wants to go through one twice.
    known: Option<HashSet<Class>>,
    /// The beginning is known: nothing more happens.
    is_known: bool,
}

/// What executions have in common that differ only in the order of events that commute: what was chosen at first, and what happened at each
/// node.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Class {
    first: Vec<u64>,
    nodes: BTreeMap<usize, Vec<(Name, Vec<u64>)>>,
}

impl Follower {
    fn new(path: Vec<usize>, known: Option<HashSet<Class>>) -> Self {
        let (widths, ready, children, queues) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Follower {
            path,
            widths,
            ready,
            children,
            places: Vec::new(),
            queues,
            at: 0,
            class: Class::default(),
            known,
            is_known: false,
        }
    }

    fn choice(&mut self, width: usize) -> usize {
        let at = self.widths.len();
        self.widths.push(width);
        self.path.get(at).copied().unwrap_or(0)
    }

    fn name(&mut self, by: NodeId) -> Name {
        self.children[by.index()] += 1;
        (by.index(), self.children[by.index()])
    }
}

impl Host for Follower {
    fn add_node(&mut self, node: NodeId, _: &str, with: Option<NodeId>) {
        self.children.push(0);
        self.places.push(with.map_or(node.index(), |with| self.places[with.index()]));
    }

    fn choose(&mut self, outcomes: u64) -> u64 {
        let chosen = self.choice(outcomes as usize) as u64;
        self.class.first.push(chosen);
        chosen
    }

    fn choose_within(&mut self, outcomes: u64) -> u64 {
        let chosen = self.choice(outcomes as usize) as u64;
        match self.class.nodes.get_mut(&self.at).and_then(|events| events.last_mut()) {
            Some((_, choices)) => choices.push(chosen),
            None => self.class.first.push(chosen),
        }
        chosen
    }

    fn post(&mut self, by: NodeId, at: NodeId, event: Event, _: Place) {
        let name = self.name(by);
        self.ready.push((name, at.index(), event));
    }

    fn queue(&mut self, by: NodeId) -> QueueId {
        let name = self.name(by);
        self.queues.push((name, Default::default()));
        QueueId(self.queues.len() as u32 - 1)
    }

    fn post_in_turn(&mut self, queue: QueueId, at: NodeId, event: Event, _: Place) {
        self.queues[queue.0 as usize].1.push_back((at.index(), event));
    }

    fn next(&mut self) -> Option<Event> {
        let in_turn = (0..self.queues.len()).filter(|at| !self.queues[*at].1.is_empty()).collect::<Vec<_>>();
        let width = self.ready.len() + in_turn.len();
        if let Some(known) = self.known.as_mut().filter(|_| self.widths.len() >= self.path.len()) {
            self.is_known |= !known.insert(self.class.clone());
        }
        if width == 0 || self.is_known {
            return None;
        }
        let chosen = self.choice(width);
        let (name, at, event) = match self.ready.get(chosen) {
            Some(_) => self.ready.remove(chosen),
            None => {
                let (name, events) = &mut self.queues[in_turn[chosen - self.ready.len()]];
                let (at, event) = events.pop_front().expect("one of those that are not empty");
                (*name, at, event)
            }
        };
        let at = self.places[at];
        self.at = at;
        self.class.nodes.entry(at).or_default().push((name, Vec::new()));
        Some(event)
    }
}

/// Everything that can happen: each class, with what `run` says of it. `None` if there are more than so many orders.
pub fn classes<T: PartialEq + std::fmt::Debug>(
    most: usize,
    run: impl Fn(&mut dyn Host) -> T,
) -> Option<(usize, BTreeMap<Class, T>)> {
    let (mut classes, mut path) = (BTreeMap::new(), Vec::new());
    for orders in 1..=most {
        let mut follower = Follower::new(path, None);
        let seen = run(&mut follower);
        let Follower { widths, path: followed, class, .. } = follower;
        if let Some(before) = classes.get(&class) {
            assert_eq!(*before, seen, "events that are said to commute do not: {class:?}");
        }
        classes.insert(class, seen);
        match next_path(&widths, &followed) {
            Some(next) => path = next,
            None => return Some((orders, classes)),
        }
    }
    None
}

/// The next path: the last choice that has another outcome left.
fn next_path(widths: &[usize], followed: &[usize]) -> Option<Vec<usize>> {
    let mut path: Vec<usize> = (0..widths.len()).map(|at| followed.get(at).copied().unwrap_or(0)).collect();
    loop {
        let last = path.pop()?;
        if last + 1 < widths[path.len()] {
            path.push(last + 1);
            return Some(path);
        }
    }
}

/// How many classes there are, where there are too many orders to go through: no beginning is continued twice that differs from another
/// only in the order of events that commute.
pub fn count(run: impl Fn(&mut dyn Host)) -> usize {
    let (mut classes, mut path, mut known) = (0, Vec::new(), HashSet::new());
    loop {
        let mut follower = Follower::new(path, Some(known));
        run(&mut follower);
        classes += usize::from(!follower.is_known);
        known = follower.known.take().unwrap_or_default();
        match next_path(&follower.widths, &follower.path) {
            Some(next) => path = next,
            None => return classes,
        }
    }
}
