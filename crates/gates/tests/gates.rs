//! The gates executor with plain OS threads: exactly one runs at a time, and the schedule says which.

mod toy;

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use drawloom_engine::finding::{Blocked, FindingKind};
use drawloom_engine::strategy::Random;
use drawloom_engine::{Ending, OpKind, Operation, ResourceId, ResourceKind, State, Stop, TaskId};
use drawloom_explore::Executor;
use drawloom_gates::{Baton, Errand, Foreign, Gates, Wait};

use toy::{Said, TOY, Toy, at, cell, gates, heard, here, join, mutex, panic, resource, run, say, spawn, step, trace};

/// Two tasks, each of which reads a cell and writes it back.
fn two_writers() -> Toy<()> {
    let x = cell();
    let write = move || {
        step(OpKind::CellRead, x, 10)?;
        step(OpKind::CellWrite, x, 11).map(|_| ())
    };
    let tasks = [spawn(write)?, spawn(write)?];
    tasks.into_iter().try_for_each(join)
}

#[test]
fn the_same_seed_gives_the_same_trace() {
    let (mut one, mut other) = (gates(), gates());
    let mut traces = HashSet::new();
    for seed in 0..50 {
        assert!(run(&mut one, seed, two_writers).ending.is_done());
        assert!(run(&mut other, seed, two_writers).ending.is_done());
        assert_eq!(trace(&one), trace(&other), "seed {seed}");
        traces.insert(format!("{:?}", trace(&one)));
    }
    // Reads and writes of two tasks, with their exits: other schedules come up, too.
    assert!(traces.len() > 6, "{}", traces.len());
}

#[test]
fn one_thread_runs_at_a_time() {
    let running = Arc::new(AtomicUsize::new(0));
    let mut gates = gates();
    for seed in 0..20 {
        let running = Arc::clone(&running);
        let outcome = run(&mut gates, seed, move || {
            let x = cell();
            let work = |running: Arc<AtomicUsize>| {
                move || {
                    for _ in 0..5 {
                        step(OpKind::CellWrite, x, 10)?;
                        assert_eq!(running.fetch_add(1, Ordering::SeqCst), 0);
                        std::thread::yield_now();
                        running.fetch_sub(1, Ordering::SeqCst);
                    }
                    Ok(())
                }
            };
            let tasks: Vec<TaskId> = (0..3).map(|_| spawn(work(Arc::clone(&running)))).collect::<Toy<_>>()?;
            tasks.into_iter().try_for_each(join)
        });
        assert!(outcome.ending.is_done());
    }
}

#[test]
fn threads_are_used_again() {
    let mut gates = gates();
    let threads: Arc<std::sync::Mutex<HashSet<std::thread::ThreadId>>> = Arc::default();
    for seed in 0..20 {
        let threads = Arc::clone(&threads);
        run(&mut gates, seed, move || {
            let note = |threads: Arc<std::sync::Mutex<HashSet<_>>>| {
                move || {
                    threads.lock().unwrap_or_else(|e| e.into_inner()).insert(std::thread::current().id());
                    Ok(())
                }
            };
            let tasks = [spawn(note(Arc::clone(&threads)))?, spawn(note(threads))?];
            tasks.into_iter().try_for_each(join)
        });
    }
    assert!(threads.lock().unwrap_or_else(|e| e.into_inner()).len() <= 2);
}

#[test]
fn a_deadlock_is_known_at_once_and_unwound() {
    let mut gates = gates();
    let unwound = Arc::new(AtomicUsize::new(0));
    let mut found = 0;
    for seed in 0..50 {
        let counter = Arc::clone(&unwound);
        let before = unwound.load(Ordering::SeqCst);
        let outcome = run(&mut gates, seed, move || {
            let (a, b) = (mutex(), mutex());
            let both = |first, second, counter: Arc<AtomicUsize>| {
                move || {
                    step(OpKind::Lock, first, 10)?;
                    let taken = step(OpKind::Lock, second, 11);
                    if taken.is_err() {
                        counter.fetch_add(1, Ordering::SeqCst);
                    }
                    taken?;
                    step(OpKind::Unlock, second, 12)?;
                    step(OpKind::Unlock, first, 13).map(|_| ())
                }
            };
            let tasks = [spawn(both(a, b, Arc::clone(&counter)))?, spawn(both(b, a, counter))?];
            tasks.into_iter().try_for_each(join)
        });
        assert_eq!(outcome.leaked_tasks, 0);
        if let Some(finding) = outcome.ending.finding() {
            assert_eq!(finding.kind.word(), "deadlock");
            assert_eq!(unwound.load(Ordering::SeqCst), before + 2, "both are told to leave");
            found += 1;
        }
    }
    assert!((1..50).contains(&found), "{found}");
}

#[test]
fn whoever_never_unwinds_is_held_and_counted() {
    let mut gates = gates();
    let outcome = run(&mut gates, 0, || {
        let never = resource(ResourceKind::Semaphore, State::Count(0));
        spawn(move || {
            loop {
                let _ = here().step(Operation::new(OpKind::Acquire, never, at(10)).with_arg(1));
            }
        })
        .and_then(join)
    });
    assert_eq!(outcome.ending.word(), "starvation");
    assert_eq!(outcome.leaked_tasks, 1);
    assert!(gates.has_leaked());
    // The others go on without it.
    assert!(run(&mut gates, 1, two_writers).ending.is_done());
    // Its thread still knows of the executor.
    std::mem::forget(gates);
}

#[test]
fn a_failure_ends_the_execution_for_all() {
    let mut gates = gates();
    let body = || {
        here().spawn(None, at(1), Box::new(|| Some(panic("as asked"))))?;
        let never = mutex();
        step(OpKind::Lock, never, 10)?;
        step(OpKind::Lock, never, 11).map(|_| ())
    };
    let outcome = run(&mut gates, 0, body);
    assert!(matches!(
        outcome.ending.finding().map(|f| &f.kind),
        Some(FindingKind::Panic(_) | FindingKind::Deadlock(_))
    ));
    assert_eq!(outcome.leaked_tasks, 0);
}

#[test]
fn daemons_run_on_until_they_wait_and_time_stands_still() {
    let mut gates = gates();
    let said: Said = Arc::default();
    let told = Arc::clone(&said);
    let outcome = run(&mut gates, 0, move || {
        let x = cell();
        let daemon = spawn(move || {
            step(OpKind::CellWrite, x, 10)?;
            say(&told, 1);
            let later = here().with_engine(|engine| engine.now()) + 1;
            here().step(Operation::new(OpKind::Sleep, ResourceId::NONE, at(11)).with_arg(later))?;
            say(&told, 2);
            Ok(())
        })?;
        here().with_engine(|engine| engine.make_daemon(daemon));
        Ok(())
    });
    assert!(outcome.ending.is_done(), "{:?}", outcome.ending);
    assert_eq!(heard(&said), [1]);
}

#[test]
fn a_thread_that_stands_still_is_given_up_and_stopped_when_it_comes_back() {
    let mut gates = gates();
    let (stuck, back, past) =
        (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    let rescuer = {
        let (stuck, baton) = (Arc::clone(&stuck), Sent(gates.baton()));
        std::thread::spawn(move || {
            let baton = baton;
            while !stuck.load(Ordering::SeqCst) {
                std::thread::sleep(Duration::from_millis(1));
            }
            assert!(baton.0.give_up_running(Stop::Stuck("a lock of its own".into())));
        })
    };
    let shared = (stuck, Arc::clone(&back), Arc::clone(&past));
    let outcome = run(&mut gates, 0, move || {
        let (stuck, back, past) = shared;
        spawn(move || {
            stuck.store(true, Ordering::SeqCst);
            while !back.load(Ordering::SeqCst) {
                std::thread::sleep(Duration::from_millis(1));
            }
            let _ = drawloom_gates::baton();
            past.store(true, Ordering::SeqCst);
            Ok(())
        })
        .and_then(join)
    });
    rescuer.join().expect("it is given up");
    assert_eq!(outcome.ending, Ending::Stopped(Stop::Stuck("a lock of its own".into())));
    back.store(true, Ordering::SeqCst);
    std::thread::sleep(Duration::from_millis(20));
    assert!(!past.load(Ordering::SeqCst), "it stops where it would have to do with the execution");
    assert!(run(&mut gates, 1, two_writers).ending.is_done());
    std::mem::forget(gates);
}

struct Sent(drawloom_gates::Baton);

// SAFETY: it is used only while the thread that runs stands still.
unsafe impl Send for Sent {}

/// An event loop with two guests, each of which has two pieces; who goes next is chosen.
fn host(said: &Said) -> Toy<()> {
    let x = cell();
    let piece = |line| Errand::Piece(Operation::new(OpKind::CellWrite, x, at(line)), None);
    let guests = [here().invite(Some("a"), at(1), piece(10)), here().invite(Some("b"), at(1), piece(20))];
    let mut pieces = [0; 2];
    for guest in guests {
        let joined = Operation::new(OpKind::Join, ResourceId::NONE, at(2)).with_arg(u64::from(guest.0));
        loop {
            let next = here().next_guest(joined)?;
            let Some(number) = guests.iter().position(|guest| *guest == next) else { break };
            assert!(here().is_guest());
            say(said, number as u32);
            pieces[number] += 1;
            here().go_on(next, if pieces[number] < 2 { piece(11) } else { Errand::Exit });
        }
    }
    Ok(())
}

#[test]
fn pieces_of_guests_come_in_every_order() {
    let mut gates = gates();
    let said: Said = Arc::default();
    let mut orders = HashSet::new();
    for seed in 0..100 {
        let told = Arc::clone(&said);
        let outcome = run(&mut gates, seed, move || host(&told));
        assert!(outcome.ending.is_done(), "{:?}", outcome.ending);
        orders.insert(heard(&said));
    }
    // Two pieces of one among two of the other.
    assert_eq!(orders.len(), 6);
}

#[test]
fn a_guest_that_nobody_wakes_is_a_deadlock() {
    let mut gates = gates();
    let outcome = run(&mut gates, 0, || {
        let x = cell();
        let guest = here().invite(None, at(1), Errand::Piece(Operation::new(OpKind::CellWrite, x, at(10)), None));
        let joined = Operation::new(OpKind::Join, ResourceId::NONE, at(2)).with_arg(u64::from(guest.0));
        assert_eq!(here().next_guest(joined)?, guest);
        here().suspend(guest, Operation::new(OpKind::Park, ResourceId::NONE, at(11)).with_arg(1));
        here().next_guest(joined).map(|_| ())
    });
    assert!(matches!(outcome.ending.finding().map(|f| &f.kind), Some(FindingKind::Deadlock(_))));
}

#[test]
fn who_was_joined_is_known_when_another_guest_comes_after() {
    let mut gates = gates();
    let said: Said = Arc::default();
    let told = Arc::clone(&said);
    let outcome = run(&mut gates, 0, move || {
        let x = cell();
        for _ in 0..2 {
            let piece = Errand::Piece(Operation::new(OpKind::CellWrite, x, at(10)), None);
            let guest = here().invite(None, at(1), piece);
            say(&told, guest.0);
            let joined = Operation::new(OpKind::Join, ResourceId::NONE, at(2)).with_arg(u64::from(guest.0));
            here().next_guest(joined)?;
            here().go_on(guest, Errand::Exit);
            here().next_guest(joined)?;
        }
        Ok(())
    });
    assert!(outcome.ending.is_done(), "{:?}", outcome.ending);
    let joined = gates.engine().steps().iter().filter(|step| step.kind == OpKind::Join).map(|step| step.arg as u32);
    assert_eq!(joined.collect::<Vec<_>>(), heard(&said));
}

#[test]
fn a_thread_cannot_be_waited_for_within_a_piece() {
    let mut gates = gates();
    let outcome = run(&mut gates, 0, || {
        let x = cell();
        let guest = here().invite(None, at(1), Errand::Piece(Operation::new(OpKind::CellWrite, x, at(10)), None));
        let joined = Operation::new(OpKind::Join, ResourceId::NONE, at(2)).with_arg(u64::from(guest.0));
        here().next_guest(joined)?;
        step(OpKind::Lock, mutex(), 11).map(|_| ())
    });
    assert_eq!(outcome.ending, Ending::Stopped(Stop::Unsupported("`lock` of a thread within an event loop".into())));
}

/// A turn of the running task.
fn turn(line: usize) -> Toy<()> {
    here().turn(1, at(line))
}

#[test]
fn between_two_turns_a_task_is_alone_and_makes_no_steps() {
    let mut gates = gates();
    let mut orders = HashSet::new();
    for seed in 0..50 {
        let outcome = run(&mut gates, seed, move || {
            let (a, x) = (mutex(), cell());
            here().take_turns(cell());
            let work = move || {
                for line in [10, 11] {
                    turn(line)?;
                    step(OpKind::Lock, a, 20)?;
                    step(OpKind::CellWrite, x, 21)?;
                    step(OpKind::Unlock, a, 22)?;
                }
                Ok(())
            };
            let tasks = [spawn(work)?, spawn(work)?];
            tasks.into_iter().try_for_each(join)
        });
        assert!(outcome.ending.is_done());
        let turns: Vec<_> = trace(&gates).into_iter().filter(|(_, kind, _)| *kind == OpKind::CellWrite).collect();
        assert_eq!(turns.len(), 4, "nothing else is a step");
        assert!(trace(&gates).iter().all(|(_, kind, _)| !matches!(kind, OpKind::Lock | OpKind::Unlock)));
        orders.insert(turns);
    }
    assert_eq!(orders.len(), 6, "all orders of two turns and two");
}

#[test]
fn who_has_to_wait_needs_another_turn_and_others_may_come_first() {
    let mut gates = gates();
    let mut taken = HashSet::new();
    for seed in 0..200 {
        let all = Said::default();
        let said = Said::clone(&all);
        let outcome = run(&mut gates, seed, move || {
            let a = mutex();
            here().take_turns(cell());
            let work = move |said: Said, name: u32| {
                move || {
                    turn(10)?;
                    say(&said, name);
                    step(OpKind::Lock, a, 20)?;
                    say(&said, name);
                    if name == 1 {
                        turn(11)?;
                    }
                    step(OpKind::Unlock, a, 22).map(|_| ())
                }
            };
            let tasks = [1, 2, 3].map(|name| spawn(work(Said::clone(&said), name)));
            tasks.into_iter().try_for_each(|task| join(task?))
        });
        assert!(outcome.ending.is_done());
        taken.insert(heard(&all));
    }
    // The second asks before the third while the first has the lock, and either gets it then.
    assert!(taken.contains(&vec![1, 1, 2, 3, 2, 3]) && taken.contains(&vec![1, 1, 2, 3, 3, 2]), "{taken:?}");
}

#[test]
fn a_deadlock_between_turns_is_known_at_once() {
    let mut gates = gates();
    let mut found = 0;
    for seed in 0..50 {
        let outcome = run(&mut gates, seed, move || {
            let (a, b) = (mutex(), mutex());
            here().take_turns(cell());
            let both = |first, second| {
                move || {
                    turn(10)?;
                    step(OpKind::Lock, first, 20)?;
                    turn(11)?;
                    step(OpKind::Lock, second, 21)?;
                    step(OpKind::Unlock, second, 22)?;
                    step(OpKind::Unlock, first, 23).map(|_| ())
                }
            };
            let tasks = [spawn(both(a, b))?, spawn(both(b, a))?];
            tasks.into_iter().try_for_each(join)
        });
        assert_eq!(outcome.leaked_tasks, 0);
        found += usize::from(outcome.ending.word() == "deadlock");
    }
    assert!((1..50).contains(&found), "{found}");
}

/// Two tasks that are parked, as far as the engine knows; main waits for them.
fn two_parked() -> Toy<()> {
    let park = || step(OpKind::Park, ResourceId::NONE, 20).map(|_| ());
    let tasks = [spawn(park)?, spawn(park)?];
    assert_eq!(tasks, PARKED);
    tasks.into_iter().try_for_each(join)
}

const PARKED: [TaskId; 2] = [TaskId(2), TaskId(3)];

/// What such an execution comes to if the runtime says this of those who wait.
fn told(waits: fn(Baton) -> Vec<Wait>) -> (&'static str, Vec<TaskId>, Vec<usize>) {
    let mut gates = Gates::new(Foreign { waits, ..TOY }, Box::new(Random::new()));
    let ending = run(&mut gates, 0, two_parked).ending;
    let finding = ending.finding().expect("nobody goes on");
    let FindingKind::Deadlock(found) = &finding.kind else { panic!("{finding:?}") };
    (finding.kind.word(), found.cycle.clone(), found.blocked.iter().map(|b| b.blockers.len()).collect())
}

fn wait(task: TaskId, certain: &[TaskId], likely: &[TaskId]) -> Wait {
    let at_a_line = |tasks: &[TaskId]| tasks.iter().map(|task| (*task, at(30))).collect();
    let (kind, resource, site) = (OpKind::Recv, ResourceId::NONE, at(20));
    let blockers = at_a_line(certain);
    Wait {
        blocked: Blocked { task, kind, resource, arg: 0, awaited: None, site, blockers, queued: 0 },
        likely: at_a_line(likely),
    }
}

#[test]
fn a_circle_of_which_only_the_runtime_knows_is_a_deadlock() {
    let [first, second] = PARKED;
    assert_eq!(told(|_| Vec::new()), ("starvation", vec![], vec![1, 0, 0]));
    let circle = told(|_| vec![wait(PARKED[0], &[], &[PARKED[1]]), wait(PARKED[1], &[PARKED[0]], &[])]);
    assert_eq!(circle, ("deadlock", vec![first, second], vec![1, 1, 1]));
}

#[test]
fn a_guess_that_closes_no_circle_is_not_told() {
    let chain = told(|_| vec![wait(PARKED[0], &[], &[PARKED[1]])]);
    assert_eq!(chain, ("starvation", vec![], vec![1, 0, 0]));
}

#[test]
fn who_waits_behind_somebody_that_nobody_wakes_starves() {
    let chain = told(|_| vec![wait(PARKED[0], &[PARKED[1]], &[])]);
    assert_eq!(chain, ("starvation", vec![], vec![0, 1, 0]));
}
