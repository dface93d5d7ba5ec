//! The clocks against their definition: the same relation, worked out by looking at every pair.

use drawloom_engine::causality::Causality;
use drawloom_engine::dependence::{Relation, relation};
use drawloom_engine::strategy::Random;
use drawloom_engine::{Budget, Budgets, Engine, Limits, OpKind, Step, TaskId, outcome};

use crate::driver::{Program, generate, run_on};

/// The clocks and races of `steps`, in time that grows with the square of their number.
fn by_definition(steps: &[Step]) -> (Vec<Vec<u32>>, Vec<(usize, usize)>) {
    let tasks = steps.iter().map(|s| s.task.index() + 1).max().unwrap_or(0);
    let mut clocks: Vec<Vec<u32>> = Vec::new();
    let mut races = Vec::new();
    let own: Vec<u32> =
        (0..steps.len()).map(|j| steps[..=j].iter().filter(|s| s.task == steps[j].task).count() as u32).collect();
    for (j, step) in steps.iter().enumerate() {
        let mut clock = vec![0; tasks];
        let previous = steps[..j].iter().rposition(|s| s.task == step.task);
        let mut known: Vec<usize> = previous.into_iter().collect();
        known.extend(step.after.checked_sub(1).map(|by| by as usize));
        if let Some(p) = previous {
            known.extend((0..j).filter(|i| grants(steps, *i, p, step)));
        }
        if step.kind == OpKind::TimerFire && !step.was_choice {
            known.extend(0..j);
        }
        known.iter().for_each(|i| join(&mut clock, &clocks[*i]));
        clock[step.task.index()] = own[j];
        for i in (0..j).rev() {
            if own[i] <= clock[steps[i].task.index()] {
                continue;
            }
            match relation(&steps[i].label(), &step.label()) {
                Relation::Independent | Relation::Granting => continue,
                Relation::Dependent => races.push((i, j)),
                Relation::Enabling => {}
            }
            join(&mut clock, &clocks[i]);
        }
        clocks.push(clock);
    }
    (clocks, races)
}

/// Whether step `i` let request `p` go on, so that `next`, which follows `p`, knows of it.
fn grants(steps: &[Step], i: usize, p: usize, next: &Step) -> bool {
    let (giver, request) = (&steps[i], &steps[p]);
    let mut label = giver.label();
    if giver.task == request.task {
        // The table says nothing of steps of one task; here it is another one's that counts.
        label.task = TaskId::NONE;
    }
    if relation(&label, &request.label()) != Relation::Granting {
        return false;
    }
    let ended_by = next.after.checked_sub(1).map(|by| steps[by as usize].kind);
    match (request.kind, giver.kind) {
        _ if ended_by == Some(OpKind::TimerFire) => false,
        (OpKind::Recv, OpKind::CloseSend) => {
            u32::from(request.outcome) == outcome::DISCONNECTED || ended_by == Some(OpKind::CloseSend)
        }
        (OpKind::Recv, _) => ended_by.is_none() && giver.value == request.value,
        (OpKind::Send, _) => ended_by.is_none() && giver.value.checked_add(request.arg) == Some(request.value),
        (OpKind::Acquire, _) => {
            let given = |upto: usize| -> u64 {
                let releases =
                    steps[..upto].iter().filter(|s| s.kind == OpKind::Release && s.resource == request.resource);
                releases.map(|s| s.arg).sum()
            };
            // Without `i` and the releases after it, fewer were free than were asked for.
            ended_by.is_none() && i < p && request.value < given(p) - given(i) + request.arg
        }
        (OpKind::Lock | OpKind::Read | OpKind::Write | OpKind::OnceEnter | OpKind::LatchWait, _) => true,
        _ => false,
    }
}

fn join(clock: &mut [u32], other: &[u32]) {
    clock.iter_mut().zip(other).for_each(|(mine, theirs)| *mine = (*mine).max(*theirs));
}

/// Compares the clocks and races of a random run with what the definition says.
pub fn compare_clocks((program, text): (Program, String), seed: u64) {
    let limits = Limits { budgets: Budgets::NONE.with(Budget::EarlyFires, 2), ..Limits::default() };
    let run = run_on(&mut Engine::new(), &program, &mut Random::new(), &limits, seed);
    let (clocks, races) = by_definition(&run.steps);
    let causality = Causality::of(&run.steps);
    for (j, clock) in clocks.iter().enumerate() {
        let found: Vec<u32> = (0..clock.len()).map(|t| causality.clock(j, TaskId(t as u32))).collect();
        assert_eq!(&found, clock, "step {j} ({}) of seed {seed}\n{text}", run.steps[j].kind.word());
    }
    assert_eq!(causality.races(), races, "seed {seed}\n{text}");
}

#[test]
fn clocks_and_races_are_those_of_the_definition() {
    (0..500).for_each(|seed| compare_clocks(generate(seed), seed));
}

#[test]
fn races_are_immediate() {
    // Both stores depend on the load, but the first one's effect on it is overtaken by the second.
    let program = Program::parse("var x\nthread a; store x 1; store x 2; unpark b\nthread b; park; load r0 x");
    let run = run_on(&mut Engine::new(), &program, &mut Random::new(), &Limits::default(), 0);
    let race = |(i, j): &(usize, usize)| (run.steps[*i].kind, run.steps[*j].kind);
    let races: Vec<_> = Causality::of(&run.steps).races().iter().map(race).collect();
    assert_eq!(races, [(OpKind::Unpark, OpKind::Park)]);
}

#[test]
fn a_long_trace_takes_no_longer_per_step_than_a_short_one() {
    let rounds = |n| format!("set r7 {n}; label L; faa _ x 1; lock m; load r0 x; unlock m; set r7 r7 - 1; jnz r7 L");
    let text = format!("var x; mutex m\nthread a; {0}\nthread b; {0}\nthread c; {0}", rounds(4_000));
    let program = Program::parse(&text);
    let run = run_on(&mut Engine::new(), &program, &mut Random::new(), &Limits::default(), 0);
    let causality = Causality::of(&run.steps);
    let last = run.steps.len() - 1;
    assert!(last > 45_000);
    assert!(causality.races().len() > 5_000);
    assert_eq!(causality.own(last), causality.clock(last, run.steps[last].task));
}
