//! Generators are pure values: the same seed and the same outcomes give the same operations.

use drawloom_check::generate::*;
use drawloom_check::{Outcome, Process};

const P: [Process; 3] = [Process(0), Process(1), Process(2)];

/// What a generator says to a process, `count` times.
fn asked<O>(generator: &mut dyn Generator<O, u32>, count: usize, seed: u64) -> Vec<Next<O>> {
    let mut draw = Seeded::new(seed);
    (0..count).map(|at| generator.next(P[at % 3], &mut draw)).collect()
}

#[test]
fn the_same_seed_gives_the_same_operations() {
    let generator = || weighted([(1, "rare"), (9, "frequent")]);
    assert_eq!(asked(&mut generator(), 100, 5), asked(&mut generator(), 100, 5));
    assert_ne!(asked(&mut generator(), 100, 5), asked(&mut generator(), 100, 6));
    let rare = asked(&mut generator(), 1000, 5).iter().filter(|next| **next == Next::Call("rare")).count();
    assert!((50..200).contains(&rare), "{rare} of 1000");
}

#[test]
fn cycle_and_take_end_where_they_say() {
    let next = asked(&mut Generator::<_, u32>::take(cycle(["a", "b", "c"]), 4), 6, 0);
    assert_eq!(next, [Next::Call("a"), Next::Call("b"), Next::Call("c"), Next::Call("a"), Next::Done, Next::Done]);
}

#[test]
fn a_mix_goes_on_until_all_are_done() {
    let part = |op: &'static str, count| Generator::<_, u32>::take(cycle([op]), count);
    let next = asked(&mut mix([part("a", 3), part("b", 2)]), 6, 1);
    let count = |op| next.iter().filter(|next| **next == Next::Call(op)).count();
    assert_eq!((count("a"), count("b"), next.last()), (3, 2, Some(&Next::Done)));
}

#[test]
fn a_phase_waits_for_the_operations_of_the_one_before() {
    let phase = |op: &'static str| Generator::<_, u32>::take(cycle([op]), 1);
    let mut generator = phases([phase("write"), phase("read")]);
    let mut draw = Seeded::new(0);
    let mut next = |generator: &mut Phases<_>, process| Generator::<_, u32>::next(generator, process, &mut draw);
    assert_eq!(next(&mut generator, P[0]), Next::Call("write"));
    assert_eq!(next(&mut generator, P[1]), Next::Wait);
    generator.ended(P[0], &"write", &Outcome::Ok(1));
    assert_eq!(next(&mut generator, P[1]), Next::Call("read"));
    generator.ended(P[1], &"read", &Outcome::Ok(1));
    assert_eq!(next(&mut generator, P[0]), Next::Done);
}

#[test]
fn processes_have_their_own_routes() {
    let next = asked(&mut route([cycle(["client"]), cycle(["nemesis"])], |process| usize::from(process.0 == 2)), 3, 0);
    assert_eq!(next, [Next::Call("client"), Next::Call("client"), Next::Call("nemesis")]);
}

#[test]
fn reactions_come_first_and_to_the_same_process() {
    let release = |op: &&'static str, outcome: &Outcome<u32>| {
        (*op == "acquire" && matches!(outcome, Outcome::Ok(_))).then_some("release")
    };
    let mut generator = react(cycle(["acquire"]), release);
    let mut draw = Seeded::new(0);
    generator.ended(P[1], &"acquire", &Outcome::Ok(0));
    assert_eq!(generator.next(P[0], &mut draw), Next::Call("acquire"));
    assert_eq!(generator.next(P[1], &mut draw), Next::Call("release"));
    assert_eq!(generator.next(P[1], &mut draw), Next::Call("acquire"));
}

#[test]
fn until_stops_at_what_it_waits_for_and_stagger_pauses() {
    let mut generator = cycle(["poll"]).until(|_, outcome: &Outcome<u32>| *outcome == Outcome::Ok(3));
    let mut draw = Seeded::new(0);
    for value in [1, 2, 3] {
        assert_eq!(generator.next(P[0], &mut draw), Next::Call("poll"));
        generator.ended(P[0], &"poll", &Outcome::Ok(value));
    }
    assert_eq!(generator.next(P[0], &mut draw), Next::Done);
    let waits = asked(&mut stagger(4, cycle(["a"])), 400, 3).iter().filter(|next| **next == Next::Wait).count();
    assert!((250..350).contains(&waits), "{waits} of 400");
}
