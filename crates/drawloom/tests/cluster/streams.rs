//! Streams: in order, or not at all.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use drawloom::cluster::{Cluster, Ctx, Faults, Host, Mode, Node, NodeId, Probe, Shape, StreamEvent, StreamId};

use crate::brute;

/// What the server and the client have seen, in words.
type Seen = [Vec<String>; 2];

const PORT: u16 = 80;

/// What client and server do.
#[derive(Clone, Copy)]
struct Play {
    listens: bool,
    chunks: u32,
    /// The server sends each chunk back.
    echoes: bool,
    /// The client closes behind its chunks.
    closes: bool,
    /// The client aborts when the first chunk has come back.
    aborts: bool,
    streams: usize,
}

const PLAIN: Play = Play { listens: true, chunks: 2, echoes: false, closes: false, aborts: false, streams: 1 };

struct Server(Play, Probe<Seen>);

impl Node<u32> for Server {
    fn on_start(&mut self, cx: &mut Ctx<'_, u32>) {
        if self.0.listens {
            cx.listen(PORT);
        }
    }

    fn on_message(&mut self, _: NodeId, _: u32, _: &mut Ctx<'_, u32>) {}

    fn on_stream(&mut self, stream: StreamId, event: StreamEvent<u32>, cx: &mut Ctx<'_, u32>) {
        let word = match &event {
            StreamEvent::Accepted { .. } => "accepted".to_owned(),
            other => format!("{other:?}"),
        };
        self.1.note()[0].push(word);
        if let (StreamEvent::Data(n), true) = (event, self.0.echoes) {
            cx.push(stream, n);
        }
    }
}

struct Client(Play, NodeId, Probe<Seen>);

impl Node<u32> for Client {
    fn on_start(&mut self, cx: &mut Ctx<'_, u32>) {
        for _ in 0..self.0.streams {
            let stream = cx.connect(self.1, PORT);
            for n in 0..self.0.chunks {
                assert!(cx.push(stream, n));
            }
            if self.0.closes {
                cx.close(stream);
            }
        }
    }

    fn on_message(&mut self, _: NodeId, _: u32, _: &mut Ctx<'_, u32>) {}

    fn on_stream(&mut self, stream: StreamId, event: StreamEvent<u32>, cx: &mut Ctx<'_, u32>) {
        self.2.note()[1].push(format!("{event:?}"));
        if self.0.aborts && event == StreamEvent::Data(0) {
            cx.abort(stream);
            assert!(!cx.push(stream, 9));
        }
    }
}

fn build(play: Play, faults: Faults, cluster: &mut drawloom_sim::Cluster<u32>) -> Probe<Seen> {
    let seen = Probe::<Seen>::default();
    let server = cluster.node_with("server", seen.clone(), move |seen| Server(play, seen));
    cluster.client_with("client", seen.clone(), move |seen| Client(play, server, seen));
    cluster.faults(faults);
    seen
}

/// All that can be seen: by brute force and by an exhaustive exploration, which makes one execution for each class.
fn all(play: Play, faults: fn() -> Faults) -> BTreeSet<Seen> {
    let run = |host: &mut dyn Host| {
        let mut cluster = drawloom_sim::Cluster::new();
        let seen = build(play, faults(), &mut cluster);
        cluster.run_on(host);
        seen.get().clone()
    };
    let (_, classes) = brute::classes(200_000, run).expect("few orders");
    let expected: BTreeSet<Seen> = classes.values().cloned().collect();
    let all = Arc::new(Mutex::new(BTreeSet::new()));
    let explored = {
        let all = all.clone();
        drawloom::explore("exhaustive, allow_no_choice = true".parse().unwrap(), move || {
            let mut cluster = Cluster::new();
            let seen = build(play, faults(), &mut cluster);
            cluster.run();
            all.lock().unwrap().insert(seen.get().clone());
        })
    };
    assert!(explored.findings().is_empty(), "{}", explored.findings()[0].report());
    assert_eq!(*all.lock().unwrap(), expected);
    assert_eq!(explored.executions() as usize, classes.len());
    expected
}

fn words(all: &BTreeSet<Seen>, at: usize) -> BTreeSet<String> {
    all.iter().map(|seen| seen[at].join(", ")).collect()
}

fn set(words: &[&str]) -> BTreeSet<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

#[test]
fn chunks_arrive_in_order() {
    let all = all(Play { echoes: true, closes: true, ..PLAIN }, Faults::none);
    assert_eq!(words(&all, 0), set(&["accepted, Data(0), Data(1), Closed"]));
    assert_eq!(words(&all, 1), set(&["Connected, Data(0), Data(1)"]));
}

#[test]
fn two_streams_have_nothing_to_do_with_each_other() {
    let all = all(Play { chunks: 1, streams: 2, ..PLAIN }, Faults::none);
    let one = "accepted, accepted, Data(0), Data(0)";
    assert_eq!(words(&all, 0), set(&[one, "accepted, Data(0), accepted, Data(0)"]));
}

#[test]
fn who_does_not_listen_refuses() {
    let all = all(Play { listens: false, ..PLAIN }, Faults::none);
    assert_eq!((words(&all, 0), words(&all, 1)), (set(&[""]), set(&["Refused"])));
}

#[test]
fn a_partition_delays_and_loses_nothing() {
    for mode in [Mode::Drop, Mode::Defer] {
        let faults: fn() -> Faults = match mode {
            Mode::Drop => {
                || Faults::none().partitions(1, Shape::Links(vec![(NodeId::from_index(1), NodeId::from_index(0))]))
            }
            _ => || {
                let link = (NodeId::from_index(1), NodeId::from_index(0));
                Faults::none().partitions(1, Shape::Links(vec![link])).mode(Mode::Defer)
            },
        };
        let all = all(PLAIN, faults);
        assert_eq!(words(&all, 0), set(&["accepted, Data(0), Data(1)"]), "{mode:?}");
    }
}

#[test]
fn a_link_that_rejects_resets() {
    let faults = || {
        let link = (NodeId::from_index(1), NodeId::from_index(0));
        Faults::none().partitions(1, Shape::Links(vec![link])).mode(Mode::Reject)
    };
    let all = all(Play { chunks: 1, ..PLAIN }, faults);
    assert!(words(&all, 1).contains("Connected, Reset") && words(&all, 1).contains("Connected"), "{all:?}");
}

#[test]
fn who_has_restarted_knows_no_stream_and_says_so() {
    let all = all(PLAIN, || Faults::none().reboots(1).certain());
    // Half open until the client sends: before it has, after the first chunk, or never.
    let expected = set(&["accepted", "accepted, Data(0)", "accepted, Data(0), Data(1)"]);
    assert_eq!(words(&all, 0), expected);
    assert!(words(&all, 1).contains("Connected, Reset"), "{all:?}");
}

#[test]
fn nobody_answers_for_a_node_that_is_down() {
    let all = all(Play { chunks: 0, ..PLAIN }, || Faults::none().crashes(1).certain());
    assert_eq!(words(&all, 1), set(&["", "Connected"]));
}

#[test]
fn who_stops_in_good_order_closes() {
    let all = all(Play { chunks: 1, ..PLAIN }, || Faults::none().stops(1).certain());
    assert!(words(&all, 1).contains("Connected, Closed"), "{all:?}");
}

#[test]
fn a_pause_stalls_a_stream() {
    let all = all(PLAIN, || Faults::none().pauses(1).certain());
    assert_eq!(words(&all, 0), set(&["accepted, Data(0), Data(1)"]));
}

#[test]
fn streams_are_reset_within_the_budget() {
    let all = all(PLAIN, || Faults::none().resets(1));
    assert!(
        words(&all, 0).contains("accepted, Reset") && words(&all, 0).contains("accepted, Data(0), Reset"),
        "{all:?}"
    );
    assert!(words(&all, 1).contains("Connected, Reset"), "{all:?}");
}

#[test]
fn who_aborts_hears_nothing_more() {
    let all = all(Play { echoes: true, aborts: true, ..PLAIN }, Faults::none);
    assert_eq!(words(&all, 1), set(&["Connected, Data(0)"]));
    assert_eq!(words(&all, 0), set(&["accepted, Data(0), Data(1), Reset"]));
}
