//! A failing run with faults and many messages comes down to the faults that it needs, and is replayed in a fresh process.

use std::process::Command;
use std::time::Duration;

use drawloom::cluster::{Cluster, Ctx, Faults, Loss, Node, NodeId, Probe, Shape, Timer};
use drawloom::{Config, Exploration, Failure};

/// What is sent: a number to be counted once, an answer, or noise.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Message {
    Count(u32),
    Counted,
    Noise(u32),
}

/// What is wrong with a server, which counts each number once.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wrong {
    /// It knows in memory alone what it has counted.
    ForgetsInACrash,
    /// Only the second crash makes it forget.
    ForgetsInTwo,
    /// It does not look.
    DoesNotLook,
}

struct Server {
    wrong: Wrong,
    last: u32,
    counts: Probe<Vec<u32>>,
}

impl Node<Message> for Server {
    fn on_start(&mut self, cx: &mut Ctx<'_, Message>) {
        if self.wrong == Wrong::ForgetsInTwo && cx.starts() < 3 {
            self.last = cx.load("last").unwrap_or(0);
        }
    }

    fn on_message(&mut self, from: NodeId, message: Message, cx: &mut Ctx<'_, Message>) {
        match message {
            Message::Count(number) => {
                if number > self.last || self.wrong == Wrong::DoesNotLook {
                    self.last = number;
                    self.counts.note().push(number);
                    cx.save("last", number);
                }
                cx.send(from, Message::Counted);
            }
            Message::Noise(left) if left > 0 => cx.send(from, Message::Noise(left - 1)),
            _ => {}
        }
    }
}

/// Sends a number, again if no answer comes soon, and noise all the while.
struct Caller {
    servers: Vec<NodeId>,
    noise: u32,
    answered: bool,
}

impl Node<Message> for Caller {
    fn on_start(&mut self, cx: &mut Ctx<'_, Message>) {
        cx.send(self.servers[0], Message::Count(1));
        cx.set_timer(Duration::from_secs(1), 0);
        for _ in 0..20 {
            cx.send_all(&self.servers, &Message::Noise(self.noise));
        }
    }

    fn on_message(&mut self, from: NodeId, message: Message, cx: &mut Ctx<'_, Message>) {
        match message {
            Message::Counted => self.answered = true,
            Message::Noise(left) if left > 0 => cx.send(from, Message::Noise(left - 1)),
            _ => {}
        }
    }

    fn on_timer(&mut self, _: Timer, cx: &mut Ctx<'_, Message>) {
        if !self.answered {
            cx.send(self.servers[0], Message::Count(1));
        }
    }
}

/// A failing program, and the faults that it needs.
struct Case {
    name: &'static str,
    faults: fn() -> Faults,
    wrong: Wrong,
    needs: &'static [&'static str],
}

const CASES: &[Case] = &[
    Case {
        name: "a crash, among partitions and duplicates",
        faults: || Faults::none().reboots(1).partitions(1, Shape::IsolateOne).duplicates(1),
        wrong: Wrong::ForgetsInACrash,
        needs: &["s0 crashes and restarts"],
    },
    Case {
        name: "a crash, among pauses and faults that are certain",
        faults: || Faults::none().reboots(1).pauses(1).losses(1).certain(),
        wrong: Wrong::ForgetsInACrash,
        needs: &["s0 crashes and restarts"],
    },
    Case {
        name: "two crashes that lose writes",
        faults: || Faults::none().reboots(2).loses(Loss::Unsynced).duplicates(1),
        wrong: Wrong::ForgetsInTwo,
        needs: &[
            "s0 crashes and restarts, and loses all unsynced data",
            "s0 crashes and restarts, and loses all unsynced data",
        ],
    },
    Case {
        name: "no fault is needed",
        faults: || Faults::none().reboots(1).partitions(1, Shape::OneLink).duplicates(1).certain(),
        wrong: Wrong::DoesNotLook,
        needs: &[],
    },
];

fn run(case: &Case) {
    let counts = Probe::<Vec<u32>>::default();
    let mut cluster = Cluster::new();
    let wrong = case.wrong;
    let servers: Vec<NodeId> = (0..3)
        .map(|at| cluster.node_with(format!("s{at}"), counts.clone(), move |counts| Server { wrong, last: 0, counts }))
        .collect();
    cluster.client_with("client", servers, |servers| Caller { servers, noise: 10, answered: false });
    cluster.faults((case.faults)());
    cluster.stable_invariant("counted once", move |_| {
        let mut counts = counts.get().clone();
        let many = counts.len();
        counts.dedup();
        counts.len() == many
    });
    cluster.run();
}

fn explored(case: usize, config: &str) -> Exploration {
    let config: Config = config.parse().expect("a configuration");
    drawloom::explore(config.name(CASES[case].name), move || run(&CASES[case]))
}

/// What faults struck before the failure, and how many messages arrived.
fn told(found: &Failure) -> (Vec<String>, usize) {
    let record = found.record();
    let name = |task: u32| record.tasks[task as usize].name.clone().unwrap_or_default();
    let happened = &record.processes.happened;
    let faults = happened.iter().filter(|event| event.what == "fault");
    let faults = faults.map(|event| format!("{} {}", name(event.from.expect("a node")), event.text)).collect();
    (faults, happened.iter().filter(|event| event.what == "arrives").count())
}

/// A failing run with three faults and two hundred messages.
fn large(case: usize) -> (String, usize) {
    for seed in 0.. {
        let found = explored(case, &format!("random(iterations = 2000, seed = {seed}), shrink = false, threads = 1"));
        let found = found.findings().first().expect("it fails often");
        let (faults, messages) = told(found);
        if faults.len() >= 3 && messages >= 200 {
            return (found.token().to_owned(), messages);
        }
    }
    unreachable!()
}

/// The same, as simple as can be.
fn small(case: usize, token: &str) -> Failure {
    let found = explored(case, &format!("replay(token = \"{token}\"), shrink = full, fixes = 0"));
    found.findings().first().expect("the finding again").clone()
}

#[test]
fn three_faults_and_two_hundred_messages_come_down_to_the_faults_that_are_needed() {
    if let Ok(request) = std::env::var("DRAWLOOM_TEST_CLUSTER") {
        let (case, token) = request.split_once(' ').expect("a number and a token");
        let found = explored(case.parse().expect("a number"), &format!("replay(token = \"{token}\")"));
        return println!("<<{:?}>>", told(found.findings().first().expect("the finding again")));
    }
    for (number, case) in CASES.iter().enumerate() {
        let (token, before) = large(number);
        let found = small(number, &token);
        let (faults, after) = told(&found);
        assert_eq!(faults, case.needs, "{}: {}", case.name, found.report());
        assert!(before >= 200 && after == 2, "{}: {before} messages, {after} of them needed", case.name);
        let child = Command::new(std::env::current_exe().expect("the running test"))
            .args([
                "--exact",
                "shrinking::three_faults_and_two_hundred_messages_come_down_to_the_faults_that_are_needed",
            ])
            .args(["--nocapture"])
            .env("DRAWLOOM_TEST_CLUSTER", format!("{number} {}", found.token()))
            .output()
            .expect("the same test in another process");
        let output = String::from_utf8_lossy(&child.stdout).into_owned();
        let expected = format!("<<{:?}>>", told(&found));
        assert!(output.contains(&expected), "{}: expected {expected} in\n{output}", case.name);
    }
}

#[test]
fn a_failing_run_is_drawn_with_a_lane_for_each_node_and_one_for_faults() {
    let found = small(0, &large(0).0);
    let report = found.report();
    let from = report.find("What happened").expect("a chart");
    let shown = report[from..].lines().filter(|line| !line.starts_with("replay:")).collect::<Vec<_>>().join("\n");
    insta::assert_snapshot!(shown);
}
