//! Mistakes: each is an error that says what is wrong, and where.

use drawloom::cluster::{Cluster, Ctx, Faults, Node, NodeId, Shape, Timer};
use drawloom::sync::Mutex;
use std::time::Duration;

/// Does as it is told when it starts.
struct Does(fn(&mut Ctx<'_, u32>));

impl Node<u32> for Does {
    fn on_start(&mut self, cx: &mut Ctx<'_, u32>) {
        (self.0)(cx);
    }
    fn on_message(&mut self, _: NodeId, _: u32, _: &mut Ctx<'_, u32>) {}
}

/// Does as it is told when a message arrives.
struct Answers(fn(&mut Ctx<'_, u32>));

impl Node<u32> for Answers {
    fn on_message(&mut self, _: NodeId, _: u32, cx: &mut Ctx<'_, u32>) {
        (self.0)(cx);
    }
}

/// Sends messages to another node.
struct SendsTo(NodeId);

impl Node<u32> for SendsTo {
    fn on_start(&mut self, cx: &mut Ctx<'_, u32>) {
        (0..3).for_each(|message| cx.send(self.0, message));
    }
    fn on_message(&mut self, _: NodeId, _: u32, _: &mut Ctx<'_, u32>) {}
}

/// Never comes to rest.
struct Restless;

impl Node<u32> for Restless {
    fn on_start(&mut self, cx: &mut Ctx<'_, u32>) {
        let me = cx.me();
        cx.send(me, 0);
    }
    fn on_message(&mut self, from: NodeId, _: u32, cx: &mut Ctx<'_, u32>) {
        cx.send(from, 0);
    }
    fn on_timer(&mut self, _: Timer, _: &mut Ctx<'_, u32>) {}
}

fn nothing() -> Does {
    Does(|_| {})
}

fn sends() -> Does {
    Does(|cx| cx.send(NodeId::from_index(0), 1))
}

/// What is said of it, and of which line of this file.
fn said(build: fn(&mut Cluster<u32>)) -> String {
    let found = drawloom::explore(
        "random(iterations = 3), shrink = false, allow_no_choice = true".parse().unwrap(),
        move || {
            let mut cluster = Cluster::new();
            build(&mut cluster);
            cluster.run();
        },
    );
    let found = found.findings().first().expect("an error");
    let place = found.record().place(found.record().finding.place).expect("a place");
    let file = place.file.rsplit('/').next().unwrap_or_default();
    // Lines are those of this file: they are told apart by what stands there.
    let source = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cluster/mistakes.rs")).unwrap();
    let line = source.lines().nth(place.line as usize - 1).unwrap_or_default().trim();
    let message = found.message();
    let own = concat!("crates/drawloom/tests/cluster/mistakes.rs", ":");
    let message = match message.split_once(own) {
        None => message.to_owned(),
        Some((before, rest)) => {
            let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
            let other = source.lines().nth(rest[..digits].parse::<usize>().unwrap() - 1).unwrap_or_default().trim();
            format!("{before}[{other}]{}", &rest[digits..])
        }
    };
    format!("{message}\n    in {file}: {line}")
}

type Mistake = (&'static str, fn(&mut Cluster<u32>));

const MISTAKES: &[Mistake] = &[
    ("no nodes", |_| {}),
    ("a message to an unknown node", |cluster| {
        cluster.node("a", || Does(|cx| cx.send(NodeId::from_index(7), 1)));
    }),
    ("two nodes of one name", |cluster| {
        cluster.node("a", nothing);
        cluster.node("a", nothing);
    }),
    ("a crash of an unknown node", |cluster| {
        cluster.node("a", nothing);
        cluster.faults(Faults::none().crashes(1).crash_only([NodeId::from_index(3)]));
    }),
    ("a crash where there are only clients", |cluster| {
        cluster.client("a", nothing);
        cluster.faults(Faults::none().crashes(1));
    }),
    ("a partition of nobody", |cluster| {
        cluster.node("a", nothing);
        cluster.node("b", nothing);
        cluster.faults(Faults::none().partitions(1, Shape::Between(vec![], vec![])));
    }),
    ("a partition of one node", |cluster| {
        cluster.node("a", nothing);
        cluster.faults(Faults::none().partitions(1, Shape::IsolateOne));
    }),
    ("more crashes than the protocol survives", |cluster| {
        for name in ["a", "b", "c"] {
            cluster.node(name, nothing);
        }
        cluster.survives(1);
        cluster.faults(Faults::none().crashes(2));
    }),
    ("corruption of messages that nobody can corrupt", |cluster| {
        cluster.node("a", nothing);
        cluster.faults(Faults::none().corruptions(1));
    }),
    ("no end", |cluster| {
        cluster.node("a", || Restless);
        cluster.events(100);
    }),
    ("a choice among nothing", |cluster| {
        cluster.node("a", || Does(|cx| assert_eq!(cx.choose(0), 0)));
    }),
    ("two listeners on one port", |cluster| {
        cluster.node("a", || {
            Does(|cx| {
                cx.listen(80);
                cx.listen(80);
            })
        });
    }),
    ("a stream to an unknown node", |cluster| {
        cluster.node("a", || Does(|cx| _ = cx.connect(NodeId::from_index(2), 80)));
    }),
    ("storage of another type", |cluster| {
        cluster.node("a", || {
            Does(|cx| {
                cx.save("term", 1_u64);
                let _: Option<u32> = cx.load("term");
            })
        });
    }),
    ("a lock in a node", |cluster| {
        cluster.node("a", || Answers(|_| drop(Mutex::new(0).lock())));
        cluster.node("b", sends);
    }),
    ("a thread in a node", |cluster| {
        cluster.node("a", || Answers(|_| drop(drawloom::thread::spawn(|| {}))));
        cluster.node("b", sends);
    }),
    ("a clock in a node", |cluster| {
        cluster.node("a", || Answers(|_| drawloom::thread::sleep(Duration::from_millis(1))));
        cluster.node("b", sends);
    }),
];

/// What cannot be gone through is a mistake only where that was asked for.
#[test]
fn choices_in_events_that_are_not_ordered_are_drawn_unless_all_is_to_be_explored() {
    fn explored(config: &str) -> drawloom::Exploration {
        drawloom::explore(config.parse().expect("a configuration"), || {
            let mut cluster = Cluster::new();
            for (name, client) in [("a", "c"), ("b", "d")] {
                let chooses = cluster.node(name, || Answers(|cx| _ = cx.choose(2)));
                cluster.client(client, move || SendsTo(chooses));
            }
            cluster.run();
        })
    }
    let drawn = explored("auto, shrink = false");
    assert_eq!((drawn.findings().len(), drawn.exhausted()), (0, false), "{}", drawn.summary());
    let all = explored("exhaustive, shrink = false");
    assert!(all.findings()[0].message().contains("`cluster.ordered()`"), "{}", all.summary());
}

#[test]
fn mistakes_are_named_with_their_place() {
    let all: Vec<String> = MISTAKES.iter().map(|(name, build)| format!("{name}:\n{}", said(*build))).collect();
    insta::assert_snapshot!(all.join("\n\n"));
}
