//! Pods: sets of tasks with memory of their own, and channels between them over the network.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use drawloom::Exploration;
use drawloom::cluster::pods::Pods;
use drawloom::cluster::{Faults, Mode, NodeId, Shape};
use drawloom::sync::atomic::{AtomicU32, Ordering};
use drawloom::thread;

/// Everything that a run can come to, by exhaustive exploration.
fn all<T: Ord + Clone + Send + 'static>(run: fn() -> T) -> (BTreeSet<T>, u64) {
    let all = Arc::new(Mutex::new(BTreeSet::new()));
    let seen = all.clone();
    let config = "exhaustive(resume = false), allow_no_choice = true".parse().unwrap();
    let explored = drawloom::explore(config, move || {
        let outcome = run();
        seen.lock().unwrap().insert(outcome);
    });
    assert!(explored.findings().is_empty(), "{}", explored.findings()[0].report());
    assert!(explored.exhausted(), "{}", explored.summary());
    let all = all.lock().unwrap().clone();
    (all, explored.executions())
}

/// Where a client leaves what it has seen. The test's, and no pod's.
fn result<T: Clone>() -> drawloom::cluster::Probe<Vec<T>> {
    drawloom::cluster::Probe::new(Vec::new())
}

/// One pod sends these, another one hears three.
fn two_in_flight(ordered: bool) -> Vec<u32> {
    let (mut pods, heard) = (Pods::new(), result());
    let (sender, receiver) = if ordered { pods.ordered_channel("b") } else { pods.channel::<u32>("b") };
    pods.pod("a", sender, |sender| (1..4).for_each(|n| sender.send(n)));
    pods.client("b", (receiver, heard.clone()), |(receiver, heard)| {
        for _ in 0..3 {
            let n = receiver.recv();
            heard.note().push(n);
        }
    });
    pods.run();
    heard.get().clone()
}

#[test]
fn messages_overtake_each_other_unless_the_channel_keeps_their_order() {
    assert_eq!(all(|| two_in_flight(false)).0.len(), 6);
    assert_eq!(all(|| two_in_flight(true)), (BTreeSet::from([vec![1, 2, 3]]), 1));
}

/// `a` sends 1, 2 to `b`, which hears what comes before it is told to end.
fn until_the_end(faults: fn() -> Faults) -> Vec<u32> {
    let (mut pods, heard) = (Pods::new(), result());
    let (sender, receiver) = pods.channel::<u32>("b");
    pods.pod("a", sender, |sender| {
        sender.send(1);
        sender.send(2);
    });
    pods.client("b", (receiver, heard.clone()), |(receiver, heard)| {
        while let Some(n) = receiver.recv_timeout(Duration::from_secs(1)) {
            heard.note().push(n);
        }
    });
    pods.faults(faults());
    pods.run();
    heard.get().clone()
}

fn set(all: &[&[u32]]) -> BTreeSet<Vec<u32>> {
    all.iter().map(|one| one.to_vec()).collect()
}

#[test]
fn messages_are_lost_or_come_twice_within_the_budget() {
    assert_eq!(all(|| until_the_end(Faults::none)).0, set(&[&[1, 2], &[2, 1]]));
    let lost = all(|| until_the_end(|| Faults::none().losses(1))).0;
    assert_eq!(lost, set(&[&[1, 2], &[2, 1], &[1], &[2]]));
    let twice = all(|| until_the_end(|| Faults::none().duplicates(1))).0;
    let doubled = set(&[&[1, 2], &[2, 1], &[1, 1, 2], &[1, 2, 1], &[2, 1, 1], &[2, 2, 1], &[2, 1, 2], &[1, 2, 2]]);
    assert_eq!(twice, doubled);
}

#[test]
fn a_link_that_is_cut_loses_or_delays() {
    let lost = all(|| until_the_end(|| cut_of(Mode::Drop))).0;
    assert_eq!(lost, set(&[&[1, 2], &[2, 1], &[1], &[2], &[]]));
    let late = all(|| until_the_end(|| cut_of(Mode::Defer))).0;
    assert_eq!(late, set(&[&[1, 2], &[2, 1]]));
}

fn cut_of(mode: Mode) -> Faults {
    Faults::none().partitions(1, Shape::Links(vec![(NodeId::from_index(0), NodeId::from_index(1))])).mode(mode)
}

/// A counter that crashes: what a client is told by it before and after.
fn counter(is_stored: bool) -> Vec<u32> {
    let (mut pods, heard) = (Pods::new(), result());
    let (requests, inbox) = pods.channel::<()>("counter");
    let (replies, outbox) = pods.channel::<u32>("client");
    let storage = pods.storage::<u32>();
    pods.pod("counter", (inbox, replies, storage, is_stored), |(inbox, replies, storage, is_stored)| {
        let mut count = storage.load().unwrap_or(0);
        loop {
            inbox.recv();
            count += 1;
            if is_stored {
                storage.save(count);
            }
            replies.send(count);
        }
    });
    pods.client("client", (requests, outbox, heard.clone()), |(requests, outbox, heard)| {
        for _ in 0..2 {
            requests.send(());
            if let Some(count) = outbox.recv_timeout(Duration::from_secs(1)) {
                heard.note().push(count);
            }
        }
    });
    pods.faults(Faults::none().reboots(1));
    pods.run();
    heard.get().clone()
}

#[test]
fn a_pod_forgets_its_memory_and_keeps_its_storage() {
    let forgets = all(|| counter(false)).0;
    assert_eq!(forgets, set(&[&[1, 2], &[1, 1], &[1]]));
    let keeps = all(|| counter(true)).0;
    assert!(!keeps.contains(&vec![1, 1]) && keeps.contains(&vec![1, 2]) && keeps.contains(&vec![2]), "{keeps:?}");
}

/// A task of a pod that crashes while it holds a lock; the pod that comes back has a lock of its own.
#[test]
fn a_crash_kills_all_tasks_of_a_pod_and_nothing_of_it_is_noticed() {
    fn run() -> Vec<u32> {
        let (mut pods, heard) = (Pods::new(), result());
        let (sender, receiver) = pods.channel::<u32>("client");
        pods.pod("server", sender, |sender| {
            struct Farewell(drawloom::cluster::pods::Sender<u32>);
            impl Drop for Farewell {
                fn drop(&mut self) {
                    self.0.send(9);
                }
            }
            let count = drawloom::sync::Arc::new(AtomicU32::new(0));
            let theirs = count.clone();
            let farewell = Farewell(sender.clone());
            let worker = thread::spawn(move || {
                let _farewell = farewell;
                theirs.fetch_add(1, Ordering::SeqCst);
                loop {
                    thread::park();
                }
            });
            sender.send(count.fetch_add(1, Ordering::SeqCst));
            worker.join().unwrap();
        });
        pods.client("client", (receiver, heard.clone()), |(receiver, heard)| {
            while let Some(n) = receiver.recv_timeout(Duration::from_secs(1)) {
                heard.note().push(n);
            }
        });
        pods.faults(Faults::none().crashes(1));
        pods.run();
        heard.get().clone()
    }
    assert_eq!(all(run).0, set(&[&[], &[0], &[1]]));
}

// ── the example of the proposal that pods are from ────────────────────────────────────────────────────────────────

#[derive(Clone, Debug)]
enum Transfer {
    Credit { number: u32, amount: u32 },
    Done,
}

/// Two banks: one debits an account, tells the other to credit its own, and repeats that until it is told that it was done.
fn transfer(remembers: bool) {
    let mut pods = Pods::new();
    let (credits, inbox) = pods.channel::<Transfer>("credit bank");
    let (dones, replies) = pods.channel::<Transfer>("debit bank");
    let (reports, balance) = pods.channel::<u32>("debit bank");
    pods.pod("credit bank", (inbox, dones, reports, remembers), |(inbox, dones, reports, remembers)| {
        let (mut account, mut known) = (0, Vec::new());
        loop {
            let Transfer::Credit { number, amount } = inbox.recv() else { continue };
            if !remembers || !known.contains(&number) {
                account += amount;
                known.push(number);
            }
            reports.send(account);
            dones.send(Transfer::Done);
        }
    });
    pods.client("debit bank", (credits, replies, balance), |(credits, replies, balance)| {
        let account = 100 - 30;
        for _ in 0..2 {
            credits.send(Transfer::Credit { number: 1, amount: 30 });
            if let Some(Transfer::Done) = replies.recv_timeout(Duration::from_secs(1)) {
                break;
            }
        }
        while let Some(there) = balance.recv_timeout(Duration::from_secs(1)) {
            assert!(account + there <= 100, "{account} here and {there} there: money was made");
        }
    });
    let link = Shape::Between(vec![NodeId::from_index(0)], vec![NodeId::from_index(1)]);
    pods.faults(Faults::none().partitions(1, link).losses(1));
    pods.run();
}

fn explored(config: &str, run: fn()) -> Exploration {
    drawloom::explore(config.parse().unwrap(), run)
}

#[test]
fn the_proposals_example_runs() {
    let found = explored("auto(iterations = 10000)", || transfer(false));
    let first = found.findings().first().expect("a credit that is lost on its way back is made twice");
    assert!(first.message().contains("money was made"), "{}", first.report());
    assert!(found.executions() <= 1_000, "{}", found.summary());
    let clean = explored("auto(iterations = 2000)", || transfer(true));
    assert!(clean.findings().is_empty(), "{}", clean.findings()[0].report());
}

/// The example of the guide.
fn deposits(is_stored: bool) {
    let mut pods = Pods::new();
    let (deposits, inbox) = pods.channel::<(u32, u32)>("bank");
    let (sums, balance) = pods.channel::<u32>("customer");
    let account = pods.storage::<(u32, u32)>();
    pods.pod("bank", (inbox, sums, account, is_stored), |(inbox, sums, account, is_stored)| {
        let (mut last, mut sum) = account.load().unwrap_or((0, 0));
        loop {
            let (number, amount) = inbox.recv();
            if number > last {
                (last, sum) = (number, sum + amount);
                account.save((if is_stored { last } else { 0 }, sum));
            }
            sums.send(sum);
        }
    });
    pods.client("customer", (deposits, balance), |(deposits, balance)| {
        for _ in 0..2 {
            deposits.send((1, 10));
            if let Some(sum) = balance.recv_timeout(Duration::from_secs(1)) {
                return assert_eq!(sum, 10);
            }
        }
    });
    pods.faults(Faults::none().reboots(1).losses(1));
    pods.run();
}

#[test]
fn the_guides_example_is_right() {
    let clean = explored("auto(iterations = 3000)", || deposits(true));
    assert!(clean.findings().is_empty(), "{}", clean.findings()[0].report());
    let found = explored("auto(iterations = 10000)", || deposits(false));
    assert!(found.findings()[0].message().contains("assertion"), "{}", found.summary());
}

// ── mistakes ──────────────────────────────────────────────────────────────────────────────────────────────────────

fn said(run: fn()) -> String {
    let found = explored("random(iterations = 3), shrink = false, allow_no_choice = true", run);
    let found = found.findings().first().expect("an error");
    let place = found.record().place(found.record().finding.place).expect("a place");
    let source = include_str!("pods.rs").lines().nth(place.line as usize - 1).unwrap_or_default().trim().to_owned();
    let message = found.message();
    let file = concat!("crates/drawloom/tests/cluster/pods.rs", ":");
    let places = message.matches(file).count();
    let message: Vec<&str> = message.split(file).collect();
    let message: Vec<String> = message
        .iter()
        .enumerate()
        .map(|(at, part)| {
            if at == 0 {
                (*part).to_owned()
            } else {
                part.trim_start_matches(|c: char| c.is_ascii_digit() || c == ':').to_owned()
            }
        })
        .collect();
    format!("{} ({places} other place)\n    in: {source}", message.join("[a line]"))
}

#[test]
fn mistakes_are_named_with_their_place() {
    let mistakes: &[(&str, fn())] = &[
        ("no client", || {
            let mut pods = Pods::new();
            pods.pod("a", (), |()| {});
            pods.run();
        }),
        ("two pods of one name", || {
            let mut pods = Pods::new();
            pods.pod("a", (), |()| {});
            pods.client("a", (), |()| {});
        }),
        ("a channel to nobody", || {
            let mut pods = Pods::new();
            let (sender, _) = pods.channel::<u32>("z");
            pods.client("a", sender, |sender| sender.send(1));
            pods.run();
        }),
        ("a channel of somebody else", || {
            let mut pods = Pods::new();
            let (_, receiver) = pods.channel::<u32>("b");
            pods.client("a", receiver, |receiver| _ = receiver.try_recv());
            pods.pod("b", (), |()| {});
            pods.run();
        }),
        ("a pause", || {
            let mut pods = Pods::new();
            pods.client("a", (), |()| {});
            pods.faults(Faults::none().pauses(1));
            pods.run();
        }),
        ("a crash where there are only clients", || {
            let mut pods = Pods::new();
            pods.client("a", (), |()| {});
            pods.faults(Faults::none().crashes(1));
            pods.run();
        }),
    ];
    let all: Vec<String> = mistakes.iter().map(|(name, run)| format!("{name}:\n{}", said(*run))).collect();
    insta::assert_snapshot!(all.join("\n\n"));
}
