//! Records to look at: a lost update with its minimised and its passing schedule, a deadlock, a data race,
//! and a long one.

use drawloom_engine::finding::{Finding, FindingKind, Panic};
use drawloom_engine::{ChannelState, Engine, OpKind, ResourceKind, State, TaskId};
use drawloom_report::{Record, Window};

use crate::script::*;

pub const SOURCE: &str = r#"use drawloom::sync::{Arc, Mutex, atomic::{AtomicU64, Ordering::SeqCst}};
use drawloom::thread;

/// An account whose deposits must all arrive.
struct Account {
    balance: AtomicU64,
    log: Mutex<Vec<u64>>,
}

impl Account {
    fn deposit(&self, amount: u64) {
        let balance = self.balance.load(SeqCst);
        // Another deposit may come in between.
        self.balance.store(balance + amount, SeqCst);
        self.log.lock().unwrap().push(amount);
    }
}

#[drawloom::test]
fn every_deposit_arrives() {
    let account = Arc::new(Account::new(0)); // </script><!-- \u{2028}
    let deposits = [1, 2, 3].map(|amount| {
        let account = account.clone();
        thread::spawn(move || account.deposit(amount))
    });
    for deposit in deposits {
        deposit.join().unwrap();
    }
    assert_eq!(account.balance.load(SeqCst), 6, "a deposit was lost");
}
"#;

const BALANCE: u32 = 0;
const LOG: u32 = 1;

fn resources() -> [(ResourceKind, State, usize, Option<&'static str>); 2] {
    [(ResourceKind::Atomic, State::Plain, 21, Some("balance")), (ResourceKind::Mutex, State::Plain, 21, Some("log"))]
}

fn deposit(read: u64, written: u64) -> Vec<Act> {
    vec![
        op(OpKind::Load, BALANCE, 12).value(read),
        op(OpKind::Store, BALANCE, 14).value(written),
        op(OpKind::Lock, LOG, 15),
        op(OpKind::Unlock, LOG, 15),
    ]
}

fn main_of(bodies: Vec<Vec<Act>>, balance: u64, fails: bool) -> Vec<Act> {
    let names = ["one", "two", "three"];
    let count = bodies.len() as u32;
    let mut main: Vec<Act> = bodies.into_iter().zip(names).map(|(body, name)| spawn(24, Some(name), body)).collect();
    main.extend((0..count).map(|i| join(FIRST + i, 27)));
    main.push(op(OpKind::Load, BALANCE, 29).value(balance));
    if fails {
        let message = format!(
            "assertion `left == right` failed: a deposit was lost </script><script>alert(1)</script>\n  left: {balance}\n right: 6"
        );
        let panic = Panic { message, location: "src/x.rs:29:5".into(), ..Panic::default() };
        main.push(Act::Fail(FindingKind::Panic(Box::new(panic))));
    }
    main
}

/// Three deposits, one of which is lost.
pub fn lost_update() -> Record {
    let picks = [MAIN, MAIN, 2, 3, 4, 3, 2, 4, 2, 3, 4, 4, 2, 2, 3];
    let bodies = vec![deposit(0, 1), deposit(0, 2), deposit(0, 3)];
    let mut record =
        Script::with(&resources()).picks(&picks).record("account::every_deposit_arrives", main_of(bodies, 3, true));
    let load = |task: u32| record.steps.iter().position(|s| s.task == task && record.operation(s) == "load");
    let store = |task: u32| record.steps.iter().position(|s| s.task == task && record.operation(s) == "store");
    let (from, to) = (load(FIRST).expect("a load") as u32, store(FIRST).expect("a store") as u32);
    record.window = Some(Window { from, to, resource: Some(BALANCE) });
    record
}

/// The same with the fewest switches.
pub fn minimised() -> Record {
    let picks = [MAIN, MAIN, 2, 3, 3, 3, 3, 3, 2, 2, 2, 2, 2];
    let bodies = vec![deposit(0, 1), deposit(0, 2), deposit(1, 4)];
    Script::with(&resources()).picks(&picks).record("account::every_deposit_arrives", main_of(bodies, 4, true))
}

/// The same, one after the other.
pub fn passing() -> Record {
    let picks = [MAIN, MAIN, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 4];
    let bodies = vec![deposit(0, 1), deposit(1, 3), deposit(3, 6)];
    let engine = Script::with(&resources()).picks(&picks).run(main_of(bodies, 6, false));
    passed(&engine, "account::every_deposit_arrives")
}

/// Two tasks that take two locks in opposite orders.
pub fn deadlock() -> Record {
    let locks =
        [(ResourceKind::Mutex, State::Plain, 5, Some("from")), (ResourceKind::Mutex, State::Plain, 6, Some("to"))];
    let body = |a, b| vec![op(OpKind::Lock, a, 12), op(OpKind::Lock, b, 13), op(OpKind::Unlock, b, 14)];
    let main = vec![
        spawn(24, Some("there"), body(0, 1)),
        spawn(24, Some("back"), body(1, 0)),
        join(FIRST, 26),
        join(SECOND, 26),
    ];
    Script::with(&locks).picks(&[MAIN, 2, 3, 2, 3]).record("account::transfers", main)
}

/// About `steps` steps of eight tasks that work on a few counters and locks.
pub fn long(steps: usize) -> Record {
    let (script, main) = long_program(steps);
    script.record("service::everything_is_indexed", main)
}

/// The program of [`long`], and its schedule.
pub fn long_program(steps: usize) -> (Script, Vec<Act>) {
    const WORKERS: u32 = 8;
    const NAMES: [&str; 8] = ["parse", "route", "index", "store", "flush", "audit", "sweep", "report"];
    let mut all = vec![
        (ResourceKind::Mutex, State::Plain, 6, Some("queue")),
        (ResourceKind::Mutex, State::Plain, 6, Some("cache")),
        (ResourceKind::RwLock, State::Plain, 6, Some("routes")),
    ];
    all.extend(
        (0..5).map(|i| (ResourceKind::Atomic, State::Plain, 5, Some(["hits", "misses", "bytes", "seen", "open"][i]))),
    );
    let mut random = Lcg(7);
    let rounds = steps / (WORKERS as usize * 6);
    let panic = Panic {
        message: "the index has 4181 entries, and 4182 were stored".into(),
        location: "src/x.rs:29:5".into(),
        ..Panic::default()
    };
    let mut main = Vec::new();
    for worker in 0..WORKERS {
        let mut body = Vec::new();
        for round in 0..rounds as u64 {
            let (mutex, counter) = (random.below(2), 3 + random.below(5));
            body.push(op(OpKind::Load, counter, 12).value(round));
            if random.below(4) == 0 {
                body.extend([op(OpKind::Read, 2, 12), op(OpKind::ReadUnlock, 2, 12)]);
            }
            body.push(op(OpKind::Lock, mutex, 15));
            body.push(op(OpKind::Rmw, counter, 14).value(round).arg(round + 1));
            body.push(op(OpKind::Unlock, mutex, 15));
            body.push(op(OpKind::Store, 3 + random.below(5), 14).value(round * 3));
        }
        // The first to be done fails; the others are in the midst of it.
        body.push(Act::Fail(FindingKind::Panic(Box::new(panic.clone()))));
        main.push(spawn(24, Some(NAMES[worker as usize]), body));
    }
    main.extend((0..WORKERS).map(|i| join(FIRST + i, 27)));
    // A task goes on for a while before another one is let run, as it is with most strategies.
    let mut picks = vec![MAIN; WORKERS as usize];
    while picks.len() < steps {
        let task = FIRST + random.below(WORKERS);
        picks.extend(std::iter::repeat_n(task, 1 + random.below(6) as usize));
    }
    (Script::with(&all).picks(&picks), main)
}

/// An execution that was over before it began.
pub fn empty() -> Record {
    let finding = Finding { kind: FindingKind::NothingExplored, task: TaskId::MAIN, step: 0 };
    record(&Engine::new(), &finding, "account::nothing")
}

/// More tasks than a screen has room for lanes; each waits for a message that never comes.
pub fn crowd() -> Record {
    let mut main: Vec<Act> = (0..300).map(|_| spawn(24, None, vec![op(OpKind::Recv, 0, 15)])).collect();
    main.push(join(FIRST, 27));
    let channel = State::Channel(ChannelState::new(1));
    Script::with(&[(ResourceKind::Channel, channel, 7, None)]).record("account::crowd", main)
}

/// A linear congruential generator: the same numbers everywhere.
struct Lcg(u64);

impl Lcg {
    fn below(&mut self, limit: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % u64::from(limit)) as u32
    }
}

/// A finding of Python with its explanation and fixes, as it was kept.
/// A shop of twelve processes (`drawloom/tests/actor_reports/programs.rs`, `a_shop`): its trace file.
pub fn shop() -> Record {
    Record::read(include_str!("shop.json")).expect("a trace file")
}

pub fn explained() -> Record {
    Record::read(include_str!("explained.json")).expect("a trace file")
}
