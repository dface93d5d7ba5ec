//! Random programs of actors: brute force over every schedule finds the classes that exhaustive exploration makes.

use std::panic::catch_unwind;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use drawloom::actor::{AnyPid, Ctx, Delivery, Down, Exit, ExitReason, MonitorRef, Pid, Received, System, TimerRef};
use drawloom::sync::Latch;

use drawloom_engine::{Budget, Budgets};

use super::brute::{Log, Numbers, Subject, compare_subject};

/// What a process does, one after the other.
#[derive(Clone, Copy, Debug)]
enum Does {
    Send(usize, i64),
    SendToName(i64),
    Take,
    TakeTag(i64),
    Poll,
    PollTag(i64),
    Monitor(usize),
    Demonitor,
    Flush,
    Link(usize),
    Unlink(usize),
    Trap,
    Signal(usize, u8),
    Alive(usize),
    Register(usize),
    Unregister,
    Whereis,
    Wait(u64),
    Later(usize, i64),
    LaterIn(usize, u64),
    Cancel,
    CancelFirst,
    Spawn(i64),
    SpawnLinked(u8),
    SpawnMonitored,
    End(u8),
}

/// What programs of a family are made of.
type Family = (&'static str, &'static [Does]);

use Does::*;

const FAMILIES: &[Family] = &[
    ("sends", &[Send(0, 1), Send(1, 2), Send(2, 3), Take]),
    ("sends to one", &[Send(0, 1), Send(0, 2), Take, Poll]),
    ("selective", &[Send(0, 1), Send(0, 2), Send(1, 1), TakeTag(1), TakeTag(2)]),
    ("selective and not", &[Send(0, 1), Send(1, 2), TakeTag(1), Take]),
    ("polls", &[Send(0, 1), Send(1, 2), Poll, PollTag(1)]),
    ("polls and receives", &[Send(0, 1), Send(1, 1), Poll, Take, PollTag(2)]),
    ("monitors", &[Monitor(0), Monitor(1), Take, Send(0, 1), Poll]),
    ("monitors taken back", &[Monitor(1), Demonitor, Poll, End(1)]),
    ("monitors flushed", &[Monitor(1), Flush, Poll, Send(1, 1)]),
    ("monitors of the dead", &[Monitor(0), Monitor(1), End(1), Poll]),
    ("links", &[Link(0), Link(1), End(1), Trap, Take]),
    ("links taken back", &[Link(1), Unlink(1), Link(0), Unlink(0), End(1), Poll]),
    ("links and sends", &[Link(1), Send(0, 1), Send(1, 2), Take, End(1)]),
    ("links of trappers", &[Trap, Link(0), Link(1), Poll, End(1)]),
    ("exits", &[Signal(0, 1), Signal(1, 1), Send(0, 1), Take]),
    ("exits of trappers", &[Trap, Signal(0, 1), Signal(1, 1), Poll]),
    ("normal exits", &[Trap, Signal(0, 0), Signal(1, 0), Poll]),
    ("kills", &[Signal(1, 2), Signal(0, 2), Send(1, 1), Poll]),
    ("kills of those who wait", &[Take, TakeTag(1), Signal(0, 1), Send(0, 1), Send(0, 2)]),
    ("kills and ends", &[Signal(1, 2), Signal(1, 1), End(0), Monitor(1), Poll]),
    ("kills and questions", &[Signal(1, 2), Alive(1), Alive(0), End(0)]),
    ("questions", &[Alive(0), Alive(1), End(0), Send(0, 1)]),
    ("questions and links", &[Alive(1), Link(1), Monitor(1), End(1)]),
    ("names", &[Register(0), Register(1), Whereis, Unregister]),
    ("names and ends", &[Register(1), Whereis, End(0), SendToName(1)]),
    ("names and sends", &[Register(0), SendToName(1), SendToName(2), Poll, Unregister]),
    ("names and kills", &[Register(1), Whereis, Signal(1, 2), Unregister]),
    ("timers", &[Later(0, 1), Later(1, 2), Poll, Cancel]),
    ("timers and sends", &[Later(0, 1), Send(0, 2), Take, Cancel]),
    ("timers and kills", &[Later(1, 1), Cancel, Signal(1, 2), Poll]),
    ("waits", &[Wait(1), Wait(2), Send(0, 1), Send(1, 2)]),
    ("waits and timers", &[Wait(1), Wait(2), LaterIn(0, 1), LaterIn(1, 2), Cancel]),
    ("waits and kills", &[Wait(1), Send(1, 1), Signal(1, 2), Signal(0, 1)]),
    ("timers of others", &[CancelFirst, Poll, Send(0, 1), Signal(1, 2)]),
    ("children", &[Spawn(1), Send(0, 2), Poll, End(0)]),
    ("children and kills", &[Spawn(1), Signal(0, 2), Signal(1, 1), Poll]),
    ("linked children", &[SpawnLinked(1), Trap, Poll, Send(0, 1)]),
    ("linked children that end well", &[SpawnLinked(0), Trap, Poll, Send(0, 1)]),
    ("monitored children", &[SpawnMonitored, Poll, Take, Demonitor]),
    ("traps", &[Trap, Signal(0, 1), Signal(1, 2), Send(0, 1), Poll]),
    ("two of a kind", &[Link(1), Monitor(1), Trap, Take, End(1)]),
    ("groups", &[Link(0), Link(1), Link(2), Signal(0, 1), Signal(1, 1)]),
    ("groups with trappers", &[Link(0), Link(1), Trap, Signal(0, 2), Poll]),
    ("calls", &[Monitor(0), Send(0, 1), Send(1, 2), TakeTag(2), Take]),
    (
        "anything",
        &[
            Send(0, 1),
            Send(1, 2),
            Take,
            Poll,
            TakeTag(1),
            Monitor(1),
            Demonitor,
            Link(1),
            Unlink(1),
            Trap,
            Signal(1, 1),
            Signal(0, 2),
            Alive(1),
            Register(1),
            Whereis,
            Unregister,
            SendToName(2),
            Later(0, 1),
            Cancel,
            Spawn(2),
            SpawnLinked(1),
            SpawnMonitored,
            End(1),
            Flush,
        ],
    ),
];

type Program = Vec<Vec<Does>>;

fn program((_, does): Family, seed: u64) -> Program {
    let mut numbers = Numbers::new(seed);
    let processes = 2 + numbers.below(2);
    (0..processes).map(|_| (0..=numbers.below(3)).map(|_| numbers.of(does)).collect()).collect()
}

fn reason(number: u8) -> ExitReason {
    match number {
        0 => ExitReason::Normal,
        1 => ExitReason::because("boom"),
        _ => ExitReason::Kill,
    }
}

fn number(reason: &ExitReason) -> i64 {
    match reason {
        ExitReason::Normal => 0,
        ExitReason::Error(_) => 1,
        ExitReason::Kill => 2,
        ExitReason::Killed => 3,
        ExitReason::NoProc => 4,
        _ => 5,
    }
}

fn value(received: &Received<i64>) -> i64 {
    match received {
        Received::Message(message) => *message,
        Received::Down(Down { reason, .. }) => 100 + number(reason),
        Received::Exit(Exit { reason, .. }) => 200 + number(reason),
    }
}

/// All of them, and a timer that was set before any of them did anything, if somebody cancels it.
type Peers = Arc<OnceLock<(Vec<Pid<i64>>, Option<TimerRef>)>>;

async fn live(
    mut ctx: Ctx<i64>,
    me: usize,
    does: Vec<Does>,
    peers: Peers,
    gate: Arc<Latch>,
    log: Arc<Log>,
) -> ExitReason {
    gate.wait();
    let (peers, first) = peers.get().expect("main knows all").clone();
    let peer = |at: usize| &peers[at % peers.len()];
    let (mut monitor, mut timer, mut children) = (None::<MonitorRef>, None::<TimerRef>, 0);
    for does in does {
        let seen = match does {
            Send(to, message) => {
                ctx.send(peer(to), 10 * message + me as i64);
                continue;
            }
            SendToName(message) => i64::from(ctx.send_to_name("n", 10 * message + me as i64).is_ok()),
            Take => value(&ctx.recv().await),
            TakeTag(tag) => ctx.recv_where(move |message| message / 10 == tag).await,
            Poll => ctx.recv_timeout(Duration::ZERO).await.map_or(-1, |received| value(&received)),
            PollTag(tag) => {
                let wanted = move |received: &Received<i64>| matches!(received, Received::Message(m) if m / 10 == tag);
                ctx.recv_match_timeout(wanted, Duration::ZERO).await.map_or(-1, |received| value(&received))
            }
            Wait(millis) => {
                let limit = Duration::from_millis(millis);
                ctx.recv_timeout(limit).await.map_or(-1, |received| value(&received))
            }
            Monitor(whom) => {
                monitor = Some(ctx.monitor(peer(whom)));
                continue;
            }
            Demonitor => monitor.map_or(-1, |monitor| i64::from(ctx.demonitor(monitor))),
            Flush => monitor.map_or(-1, |monitor| i64::from(ctx.demonitor_flush(monitor))),
            Link(whom) => i64::from(ctx.link(peer(whom)).is_ok()),
            Unlink(whom) => {
                ctx.unlink(peer(whom));
                continue;
            }
            Trap => i64::from(ctx.trap_exit(true)),
            Signal(to, why) => {
                ctx.send_exit(peer(to), reason(why));
                continue;
            }
            Alive(whom) => i64::from(ctx.is_alive(peer(whom))),
            Register(whom) => i64::from(ctx.register("n", peer(whom)).is_ok()),
            Unregister => i64::from(ctx.unregister("n").is_ok()),
            Whereis => {
                let found = ctx.whereis("n");
                let at = |found: AnyPid| peers.iter().position(|peer| *peer.any() == found).map_or(-2, |at| at as i64);
                found.map_or(-1, at)
            }
            Later(to, message) => {
                timer = Some(ctx.send_after(Duration::ZERO, peer(to), 10 * message + me as i64));
                continue;
            }
            LaterIn(to, millis) => {
                timer = Some(ctx.send_after(Duration::from_millis(millis), peer(to), 70 + me as i64));
                continue;
            }
            Cancel => timer.map_or(-1, |timer| i64::from(ctx.cancel(timer).is_some())),
            CancelFirst => first.map_or(-1, |timer| i64::from(ctx.cancel(timer).is_some())),
            Spawn(message) => {
                let to = peer(0).clone();
                ctx.spawn(move |ctx: Ctx<i64>| async move { ctx.send(&to, 10 * message + 5) });
                children += 1;
                children
            }
            SpawnLinked(why) => {
                ctx.spawn_link(move |_: Ctx<i64>| std::future::ready(reason(why)));
                continue;
            }
            SpawnMonitored => {
                monitor = Some(ctx.spawn_monitor(|_: Ctx<i64>| std::future::ready(())).1);
                continue;
            }
            End(why) => return reason(why),
        };
        log.note(me, seen);
    }
    ExitReason::Normal
}

fn run(program: &Program, delivery: Delivery, log: &Arc<Log>) {
    let gate = Arc::new(Latch::new(1));
    assert!(!gate.is_open());
    let (program, log) = (program.clone(), log.clone());
    let ended = System::new().delivery(delivery).run(move |ctx: Ctx<i64>| async move {
        let peers = Peers::default();
        let has_first = program.iter().flatten().any(|does| matches!(does, CancelFirst));
        let all = program.into_iter().enumerate().map(|(me, does)| {
            let (peers, gate, log) = (peers.clone(), gate.clone(), log.clone());
            ctx.spawn(move |ctx| live(ctx, me, does, peers, gate, log))
        });
        let all: Vec<Pid<i64>> = all.collect();
        let first = has_first.then(|| ctx.send_after(Duration::ZERO, &all[0], 99));
        peers.set((all, first)).expect("once");
        gate.count_down();
    });
    ended.expect("main returns");
}

/// Compares a program, unless it has too many schedules; whether it was compared.
fn compare_one(family: Family, seed: u64, most: u64, delivery: Delivery) -> bool {
    compare_it(&format!("{} {seed}", family.0), program(family, seed), most, (delivery, 0))
}

fn compare_program(program: Program, most: u64, delivery: Delivery) -> bool {
    compare_it("a program", program, most, (delivery, 0))
}

/// So many timers may fire early.
fn compare_it(name: &str, program: Program, most: u64, (delivery, early_fires): (Delivery, u32)) -> bool {
    let name = format!("{name} {delivery:?}: {program:?}");
    let body = move |log: &Arc<Log>| run(&program, delivery, log);
    let budgets = Budgets::NONE.with(Budget::EarlyFires, early_fires);
    let subject = Subject { body: Arc::new(body), asks_for_exits: false, has_gate: true, has_signals: true, budgets };
    compare_subject(&subject, &name, most).is_some()
}

/// Compares so many programs of each family; how many had not too many schedules.
fn compare(seeds: std::ops::Range<u64>, most: u64, delivery: Delivery) -> u64 {
    compare_families(FAMILIES, seeds, most, (delivery, 0))
}

fn compare_families(
    families: &[Family],
    seeds: std::ops::Range<u64>,
    most: u64,
    (delivery, early_fires): (Delivery, u32),
) -> u64 {
    let (mut compared, mut wrong, mut few) = (0, Vec::new(), Vec::new());
    for family in families {
        let mut of_family = 0;
        for seed in seeds.clone() {
            let name = format!("{} {seed} {delivery:?}: {:?}", family.0, program(*family, seed));
            let result = catch_unwind(|| compare_it(&name, program(*family, seed), most, (delivery, early_fires)));
            match result {
                Ok(compared) => of_family += u64::from(compared),
                Err(payload) => {
                    let text = payload.downcast_ref::<String>().cloned().unwrap_or_default();
                    wrong.push(format!(
                        "{name} {}",
                        text.lines()
                            .filter(|line| !line.contains("failed"))
                            .map(|l| l.chars().take(900).collect::<String>())
                            .collect::<Vec<_>>()
                            .join("\n   ")
                    ));
                }
            }
        }
        few.extend((of_family == 0).then_some(family.0));
        compared += of_family;
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), wrong.len() as u64 + compared, wrong.join("\n"));
    assert!(few.is_empty(), "no program was compared of {few:?}");
    compared
}

#[test]
fn actors_have_no_other_classes_than_by_brute_force() {
    let compared = compare(0..4, 1_500, Delivery::Atomic);
    assert!(compared > 100, "{compared}");
}

/// `SEEDS=100` or `SEEDS=100..200`.
fn seeds(otherwise: u64) -> std::ops::Range<u64> {
    let number = |text: &str| text.parse().expect("a number");
    match std::env::var("SEEDS") {
        Ok(text) => match text.split_once("..") {
            Some((from, to)) => number(from)..number(to),
            None => 0..number(&text),
        },
        Err(_) => 0..otherwise,
    }
}

#[test]
#[ignore = "takes long in a debug build: run with --release"]
fn many_programs_of_actors_have_no_other_classes_than_by_brute_force() {
    println!("{} programs", compare(seeds(200), 4_000, Delivery::Atomic));
}

#[test]
#[ignore = "takes long in a debug build: run with --release"]
fn nor_where_delivery_takes_time() {
    println!("{} programs", compare(seeds(100), 4_000, Delivery::Split));
}

#[test]
#[ignore = "takes long in a debug build: run with --release"]
fn nor_where_timers_fire_early() {
    let timed: Vec<Family> =
        FAMILIES.iter().filter(|(name, _)| name.contains("timer") || name.contains("wait")).copied().collect();
    for (delivery, most) in [(Delivery::Atomic, 4_000), (Delivery::Split, 12_000)] {
        println!("{} programs", compare_families(&timed, seeds(100), most, (delivery, 2)));
    }
}

/// What was found wrong before: a name that is taken away and a process that ends, in either order.
#[test]
fn names_that_are_taken_away_have_no_other_classes_than_by_brute_force() {
    let named = |name: &str| *FAMILIES.iter().find(|(of, _)| *of == name).expect("a family");
    for (family, seed) in [("names", 9), ("names and sends", 5), ("names and kills", 9)] {
        assert!(compare_one(named(family), seed, 4_000, Delivery::Atomic), "{family} {seed}");
    }
}

/// Two fatal signals to a process that ends by itself.
#[test]
fn processes_that_are_killed_twice_have_no_other_classes_than_by_brute_force() {
    let program = vec![vec![Signal(1, 2)], vec![End(0)], vec![Signal(1, 2)]];
    assert!(compare_program(program, 4_000, Delivery::Atomic));
    let program = vec![vec![Signal(1, 2), Alive(1)], vec![End(0)], vec![Signal(1, 2)]];
    assert!(compare_program(program, 4_000, Delivery::Atomic));
    let named = |name: &str| *FAMILIES.iter().find(|(of, _)| *of == name).expect("a family");
    for (family, seed) in [("kills and ends", 16), ("kills and ends", 43), ("kills and questions", 132), ("links", 160)]
    {
        assert!(compare_one(named(family), seed, 4_000, Delivery::Atomic), "{family} {seed}");
    }
}

/// What was found missing before: steps that decide what later ones come to, taken back to before steps that others have made.
#[test]
fn what_signals_and_cancels_decide_is_explored_as_by_brute_force() {
    let programs: Vec<Program> = vec![
        vec![vec![Trap], vec![Link(0), End(1)], vec![Link(0), Take]],
        vec![vec![Signal(1, 2), Unregister], vec![Register(1), Whereis]],
        vec![vec![Unregister], vec![Register(1)], vec![Unregister, Signal(1, 2)]],
        vec![vec![Later(0, 1), Cancel, Later(0, 1)], vec![Send(0, 2)]],
        vec![vec![Later(1, 1), Cancel, Later(1, 1)], vec![Poll]],
        vec![vec![Signal(1, 2), Poll], vec![Later(1, 1), Cancel, Cancel]],
        vec![vec![CancelFirst], vec![CancelFirst]],
        vec![vec![Poll], vec![CancelFirst], vec![CancelFirst]],
    ];
    for program in programs {
        assert!(compare_program(program, 40_000, Delivery::Atomic));
    }
}

/// Whoever is killed while it waits could have received before, what is sent only later in the execution at hand; if it accepts that.
#[test]
fn what_the_killed_could_have_received_is_explored_as_by_brute_force() {
    let programs: Vec<Program> = vec![
        vec![vec![Take], vec![Signal(0, 1)], vec![Send(0, 1)]],
        vec![vec![Take], vec![Signal(0, 1), Signal(0, 1)], vec![Send(0, 1)]],
        vec![vec![Take, Take], vec![Signal(0, 1)], vec![Send(0, 2), Send(0, 1)]],
        vec![vec![TakeTag(1)], vec![Signal(0, 2)], vec![Send(0, 1)]],
        vec![vec![TakeTag(1)], vec![Signal(0, 1)], vec![Send(0, 2)]],
        vec![vec![TakeTag(1), Take], vec![Signal(0, 1)], vec![Send(0, 2), Send(0, 1)]],
        vec![vec![TakeTag(1)], vec![Signal(0, 1), Alive(0)], vec![Send(0, 2), Send(0, 1)]],
        vec![vec![TakeTag(2)], vec![Signal(0, 1)], vec![Send(0, 2)], vec![Send(0, 1)]],
        vec![vec![TakeTag(1), TakeTag(1)], vec![Send(0, 1), Signal(0, 1)], vec![Send(0, 2), Send(0, 2), TakeTag(1)]],
    ];
    for program in programs {
        assert!(compare_program(program, 40_000, Delivery::Atomic));
    }
    for program in [
        vec![vec![Take], vec![Signal(0, 1)], vec![Send(0, 1)]],
        vec![vec![TakeTag(1)], vec![Signal(0, 1)], vec![Send(0, 2)]],
    ] {
        assert!(compare_program(program, 40_000, Delivery::Split));
    }
}

/// A message that comes when the time of a receive is up, and the receive has yet to notice: either is taken.
#[test]
fn receives_whose_time_is_up_early_have_no_other_classes_than_by_brute_force() {
    let programs: Vec<Program> = vec![
        vec![vec![Send(1, 2)], vec![Wait(1)]],
        vec![vec![Send(1, 2), Send(0, 1)], vec![Wait(1)]],
        vec![vec![Wait(1)], vec![Send(0, 2), Send(1, 1)]],
        vec![vec![Send(1, 1)], vec![Wait(1), Signal(0, 1)]],
        vec![vec![Wait(1), Poll], vec![LaterIn(0, 1)]],
    ];
    for program in programs {
        assert!(compare_it("a program", program, 40_000, (Delivery::Atomic, 2)));
    }
}
