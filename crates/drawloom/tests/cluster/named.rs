//! Small clusters, each with the number of classes that it has: what every order of events gives, exhaustive exploration makes once each.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use drawloom::cluster::{Clock, Cluster, Ctx, Faults, Host, Loss, Mode, Node, NodeId, Probe, Shape, Timer};

use crate::brute;

/// What each node has seen.
type Seen = Vec<Vec<(u32, u32)>>;

/// What nodes do.
#[derive(Clone, Copy)]
struct Play {
    /// From whom, to whom, what: when the run begins.
    sends: &'static [(usize, usize, u32)],
    /// Timers of each node, in milliseconds: when it starts.
    timers: &'static [(usize, u64)],
    /// Who passes on what it gets, and to whom.
    relays: &'static [(usize, usize)],
    /// Writes what it gets; syncs what is even.
    writes: bool,
    /// Cancels its timers when it gets something.
    cancels: bool,
    /// Draws one of two numbers when it gets something.
    chooses: bool,
}

const NOTHING: Play = Play { sends: &[], timers: &[], relays: &[], writes: false, cancels: false, chooses: false };

struct Player {
    play: Play,
    set: Vec<drawloom::cluster::TimerId>,
    seen: Probe<Seen>,
}

impl Player {
    fn note(&self, cx: &Ctx<'_, u32>, what: (u32, u32)) {
        self.seen.note()[cx.me().index()].push(what);
    }
}

impl Node<u32> for Player {
    fn on_start(&mut self, cx: &mut Ctx<'_, u32>) {
        let me = cx.me().index();
        if cx.starts() > 1 {
            return self.note(cx, (1, cx.load("last").unwrap_or(0)));
        }
        for (_, to, what) in self.play.sends.iter().filter(|(from, ..)| *from == me) {
            cx.send(NodeId::from_index(*to), *what);
        }
        for (_, after) in self.play.timers.iter().filter(|(node, _)| *node == me) {
            self.set.push(cx.set_timer(Duration::from_millis(*after), *after));
        }
    }

    fn on_message(&mut self, _: NodeId, what: u32, cx: &mut Ctx<'_, u32>) {
        let drawn = if self.play.chooses { cx.choose(2) as u32 } else { 0 };
        self.note(cx, (2, what * 2 + drawn));
        let me = cx.me().index();
        if self.play.writes {
            cx.write("last", what);
            if what % 2 == 0 {
                cx.sync();
            }
        }
        if self.play.cancels {
            self.set.drain(..).for_each(|timer| _ = cx.cancel_timer(timer));
        }
        for (_, to) in self.play.relays.iter().filter(|(from, _)| *from == me) {
            cx.send(NodeId::from_index(*to), what + 1);
        }
    }

    fn on_timer(&mut self, timer: Timer, cx: &mut Ctx<'_, u32>) {
        self.note(cx, (3, timer.tag as u32));
    }

    fn on_rejected(&mut self, _: NodeId, what: u32, cx: &mut Ctx<'_, u32>) {
        self.note(cx, (4, what));
    }

    fn on_stop(&mut self, cx: &mut Ctx<'_, u32>) {
        self.note(cx, (5, 0));
    }
}

/// A cluster, with its number of nodes and of classes.
struct Case {
    name: &'static str,
    nodes: usize,
    play: Play,
    more: fn(&mut drawloom_sim::Cluster<u32>),
    classes: usize,
}

const fn case(name: &'static str, nodes: usize, play: Play, classes: usize) -> Case {
    Case { name, nodes, play, more: |_| {}, classes }
}

const fn faulty(name: &'static str, play: Play, more: fn(&mut drawloom_sim::Cluster<u32>), classes: usize) -> Case {
    Case { name, nodes: 2, play, more, classes }
}

const TWO: Play = Play { sends: &[(0, 1, 2), (0, 1, 4)], ..NOTHING };
const WRITES: Play = Play { sends: &[(0, 1, 3), (0, 1, 5)], writes: true, ..NOTHING };

fn one() -> [NodeId; 1] {
    [NodeId::from_index(1)]
}

const CASES: &[Case] = &[
    case("two messages to one node", 2, TWO, 2),
    case("three messages to one node", 2, Play { sends: &[(0, 1, 2), (0, 1, 4), (0, 1, 6)], ..NOTHING }, 6),
    case("two senders", 3, Play { sends: &[(0, 2, 2), (1, 2, 4)], ..NOTHING }, 2),
    case("two receivers", 3, Play { sends: &[(0, 1, 2), (0, 2, 4)], ..NOTHING }, 1),
    case("two receivers of two", 3, Play { sends: &[(0, 1, 2), (0, 2, 4), (0, 1, 6), (0, 2, 8)], ..NOTHING }, 4),
    case("a detour", 3, Play { sends: &[(0, 2, 2), (0, 1, 4)], relays: &[(1, 2)], ..NOTHING }, 2),
    case("two detours", 3, Play { sends: &[(0, 1, 2), (0, 1, 4)], relays: &[(1, 2)], ..NOTHING }, 4),
    case("a message to itself", 2, Play { sends: &[(0, 0, 2), (1, 0, 4)], ..NOTHING }, 2),
    case("replies", 3, Play { sends: &[(0, 1, 2), (0, 2, 4)], relays: &[(1, 0), (2, 0)], ..NOTHING }, 2),
    case("an early timer", 2, Play { sends: &[(0, 1, 2)], timers: &[(1, 5)], ..NOTHING }, 2),
    case("two timers and a message", 2, Play { sends: &[(0, 1, 2)], timers: &[(1, 5), (1, 3)], ..NOTHING }, 3),
    case("timers of two nodes", 2, Play { timers: &[(0, 5), (1, 3)], ..NOTHING }, 1),
    case("a timer is cancelled", 2, Play { sends: &[(0, 1, 2)], timers: &[(1, 5)], cancels: true, ..NOTHING }, 2),
    faulty("one clock", Play { timers: &[(1, 5), (1, 3)], ..TWO }, |c| _ = c.clock(Clock::Virtual), 2),
    faulty("a choice in an event", Play { chooses: true, ..TWO }, |c| _ = c.ordered(), 8),
    faulty("a duplicate", TWO, |c| _ = c.faults(Faults::none().duplicates(1)), 12),
    faulty("a loss", TWO, |c| _ = c.faults(Faults::none().losses(1)), 10),
    faulty("a crash", TWO, |c| _ = c.faults(Faults::none().crashes(1).crash_only(one())), 8),
    faulty("a certain crash", TWO, |c| _ = c.faults(Faults::none().crashes(1).crash_only(one()).certain()), 6),
    faulty("a crash and a restart", TWO, |c| _ = c.faults(Faults::none().crashes(1).crash_only(one()).restarts()), 14),
    faulty("a reboot", TWO, |c| _ = c.faults(Faults::none().reboots(1).crash_only(one())), 8),
    faulty("two reboots", TWO, |c| _ = c.faults(Faults::none().reboots(2).crash_only(one()).certain()), 24),
    faulty(
        "a reboot that loses writes",
        WRITES,
        |c| _ = c.faults(Faults::none().reboots(1).crash_only(one()).loses(Loss::Unsynced)),
        26,
    ),
    faulty("a pause", TWO, |c| _ = c.faults(Faults::none().pauses(1).crash_only(one())), 18),
    faulty("a stop", TWO, |c| _ = c.faults(Faults::none().stops(1).crash_only(one())), 8),
    faulty("a link is cut", TWO, |c| _ = c.faults(Faults::none().partitions(1, Shape::OneLink)), 16),
    faulty(
        "a link is cut, and messages wait",
        TWO,
        |c| _ = c.faults(Faults::none().partitions(1, Shape::OneLink).mode(Mode::Defer)),
        20,
    ),
    faulty(
        "a link is cut, and messages are rejected",
        TWO,
        |c| _ = c.faults(Faults::none().partitions(1, Shape::OneLink).mode(Mode::Reject)),
        18,
    ),
    faulty("a node is isolated", TWO, |c| _ = c.faults(Faults::none().partitions(1, Shape::IsolateOne)), 26),
    faulty("halves", TWO, |c| _ = c.faults(Faults::none().partitions(1, Shape::Halves)), 14),
    faulty(
        "a crash and a duplicate",
        Play { sends: &[(0, 1, 2)], ..NOTHING },
        |c| _ = c.faults(Faults::none().crashes(1).crash_only(one()).duplicates(1).certain()),
        9,
    ),
    Case {
        name: "one clock for three",
        nodes: 3,
        play: Play { sends: &[(0, 1, 2), (0, 2, 4)], timers: &[(1, 5), (2, 3)], relays: &[(1, 2)], ..NOTHING },
        more: |c| _ = c.clock(Clock::Virtual),
        classes: 2,
    },
    Case {
        name: "a bridge between three",
        nodes: 3,
        play: Play { sends: &[(0, 1, 2), (1, 2, 4)], ..NOTHING },
        more: |c| _ = c.faults(Faults::none().partitions(1, Shape::Bridge).certain()),
        classes: 15,
    },
    Case {
        name: "a ring of majorities of five",
        nodes: 5,
        play: Play { sends: &[(0, 2, 2), (0, 1, 4)], ..NOTHING },
        more: |c| _ = c.faults(Faults::none().partitions(1, Shape::MajoritiesRing).certain()),
        classes: 9,
    },
];

fn build(case: &Case, cluster: &mut drawloom_sim::Cluster<u32>) -> Probe<Seen> {
    let seen = Probe::new(vec![Vec::new(); case.nodes]);
    let play = case.play;
    for node in 0..case.nodes {
        let make = move |seen| Player { play, set: Vec::new(), seen };
        cluster.node_with(format!("n{node}"), seen.clone(), make);
    }
    (case.more)(cluster);
    seen
}

#[test]
fn small_clusters_have_the_classes_that_they_have() {
    let mut wrong = Vec::new();
    for case in CASES {
        let run = |host: &mut dyn Host| {
            let mut cluster = drawloom_sim::Cluster::new();
            let seen = build(case, &mut cluster);
            cluster.run_on(host);
            seen.get().clone()
        };
        let (orders, classes) = brute::classes(100_000, run).expect("few orders");
        let all = Arc::new(Mutex::new(BTreeSet::new()));
        let explored = {
            let all = all.clone();
            drawloom::explore("exhaustive, allow_no_choice = true".parse().unwrap(), move || {
                let mut cluster = Cluster::new();
                let seen = build(case, &mut cluster);
                cluster.run();
                all.lock().unwrap().insert(seen.get().clone());
            })
        };
        assert!(explored.findings().is_empty(), "{}: {}", case.name, explored.findings()[0].report());
        let expected: BTreeSet<Seen> = classes.values().cloned().collect();
        assert_eq!(*all.lock().unwrap(), expected, "{}: what is seen", case.name);
        // Where nodes choose in the midst of events, all orders are gone through.
        let many = if case.play.chooses { orders } else { classes.len() };
        if (many, explored.executions() as usize) != (case.classes, case.classes) {
            wrong.push(format!(
                "{}: {many} classes, {} executions, {} expected",
                case.name,
                explored.executions(),
                case.classes
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
