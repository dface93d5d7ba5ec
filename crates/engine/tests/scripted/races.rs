//! Data races against their definition: accesses with no way from one to the other in the graph of all
//! that orders steps.

use drawloom_engine::race::Races;
use drawloom_engine::strategy::{Random, Tape};
use drawloom_engine::{Budget, Budgets, Engine, Limits, OpKind, Step, UNBOUNDED, outcome};

use crate::driver::{InOrder, Program, run_on};

/// Two points of each step, its beginning and its end, and all that orders them.
struct Graph<'a> {
    steps: &'a [Step],
    edges: Vec<Vec<usize>>,
}

fn begin(step: usize) -> usize {
    2 * step
}

fn end(step: usize) -> usize {
    2 * step + 1
}

impl<'a> Graph<'a> {
    fn of(steps: &'a [Step]) -> Self {
        use OpKind::*;
        let mut graph = Graph { steps, edges: vec![Vec::new(); 2 * steps.len()] };
        for (j, step) in steps.iter().enumerate() {
            graph.edge(begin(j), end(j));
            if let Some(next) = graph.next(j) {
                graph.edge(end(j), begin(next));
            }
            if let Some(by) = step.after.checked_sub(1).filter(|by| steps[*by as usize].kind == Spawn) {
                graph.edge(begin(by as usize), begin(j));
            }
            for i in 0..steps.len() {
                if i != j && graph.tells(i, j) {
                    graph.edge(begin(i), end(j));
                }
            }
            let write = |s: &Step| matches!(s.kind, Store | Rmw) || (s.kind == Cas && done(s));
            if let Load | Rmw | Cas = step.kind {
                let read = steps[..j].iter().rposition(|s| s.resource == step.resource && write(s));
                read.into_iter().for_each(|i| graph.edge(end(i), end(j)));
            }
        }
        graph.barriers();
        graph.channels();
        graph
    }

    fn edge(&mut self, from: usize, to: usize) {
        self.edges[from].push(to);
    }

    fn next(&self, j: usize) -> Option<usize> {
        (j + 1..self.steps.len()).find(|k| self.steps[*k].task == self.steps[j].task)
    }

    /// The step that ended the wait in `j`.
    fn ended_by(&self, j: usize) -> Option<usize> {
        let by = self.steps[self.next(j)?].after.checked_sub(1)?;
        (by as usize > j).then_some(by as usize)
    }

    /// Whether the wait in `j` was in vain.
    fn timed_out(&self, j: usize) -> bool {
        let step = &self.steps[j];
        let until = self.next(j).unwrap_or(self.steps.len());
        let fires =
            |s: &Step| s.kind == OpKind::TimerFire && s.arg == u64::from(step.task.0) && s.resource == step.resource;
        self.steps[j..until].iter().any(fires)
    }

    /// Whether the beginning of `i` comes before the end of `j`, by what they do.
    fn tells(&self, i: usize, j: usize) -> bool {
        use OpKind::*;
        let (from, to) = (&self.steps[i], &self.steps[j]);
        let in_time = i <= self.ended_by(j).unwrap_or(j);
        let same = from.resource == to.resource;
        match (from.kind, to.kind) {
            (Exit, Join) => to.arg == u64::from(from.task.0),
            (Exit, IsFinished) => to.arg == u64::from(from.task.0) && done(to),
            (Unpark, Park) => from.arg == u64::from(to.task.0) && i < j && done(to),
            (Unlock, Lock | TryLock) => same && in_time && done(to),
            (CondWait, Lock | TryLock) => from.arg == u64::from(to.resource.0) && in_time && done(to),
            (WriteUnlock | Downgrade, Read | TryRead | Write | TryWrite) => same && in_time && done(to),
            (ReadUnlock, Write | TryWrite) => same && in_time && done(to),
            (NotifyOne | NotifyAll, CondWait) => self.ended_by(j) == Some(i),
            (Release, Acquire | TryAcquire) => same && in_time && done(to),
            (OnceFinish, OnceEnter) => same && in_time,
            (OnceFinish, OnceCheck) => same && in_time && done(to),
            (CloseSend, Recv) => same && in_time && self.disconnected(j),
            (CloseSend, TryRecv) => same && in_time && self.disconnected(j),
            (CloseRecv, Send | TrySend) => same && in_time && self.disconnected(j),
            _ => false,
        }
    }

    fn disconnected(&self, j: usize) -> bool {
        let closes = |by: usize| matches!(self.steps[by].kind, OpKind::CloseSend | OpKind::CloseRecv);
        u32::from(self.steps[j].outcome) == outcome::DISCONNECTED || self.ended_by(j).is_some_and(closes)
    }

    /// All who arrive come before all who leave.
    fn barriers(&mut self) {
        let mut together: Vec<usize> = Vec::new();
        // There is one barrier in these programs.
        for j in 0..self.steps.len() {
            if self.steps[j].kind != OpKind::Arrive {
                continue;
            }
            together.push(j);
            if u32::from(self.steps[j].outcome) == outcome::LEADER {
                for (a, b) in together.iter().flat_map(|a| together.iter().map(move |b| (*a, *b))) {
                    self.edge(begin(a), end(b));
                }
                together.clear();
            }
        }
    }

    /// The n-th receive that succeeds has the message of the n-th send that does.
    fn channels(&mut self) {
        use OpKind::*;
        let channels: std::collections::BTreeSet<_> =
            self.steps.iter().filter(|s| matches!(s.kind, Send | TrySend)).map(|s| s.resource).collect();
        for channel in channels {
            let of = |kinds: [OpKind; 2]| -> Vec<usize> {
                let on = |s: &Step| s.resource == channel && kinds.contains(&s.kind) && done(s);
                let all = (0..self.steps.len()).filter(|j| on(&self.steps[*j]));
                all.filter(|j| !self.timed_out(*j) && !self.disconnected(*j)).collect()
            };
            let (sends, receives) = (of([Send, TrySend]), of([Recv, TryRecv]));
            for (n, (send, receive)) in sends.iter().zip(&receives).enumerate() {
                self.edge(begin(*send), end(*receive));
                let capacity = self.steps[*send].arg;
                if capacity != UNBOUNDED {
                    let needs_room = sends.get(n + capacity as usize).copied();
                    needs_room.into_iter().for_each(|s| self.edge(end(*receive), end(s)));
                }
            }
        }
    }

    fn reachable(&self, from: usize) -> Vec<bool> {
        let mut seen = vec![false; self.edges.len()];
        let mut open = vec![from];
        while let Some(at) = open.pop() {
            if !std::mem::replace(&mut seen[at], true) {
                open.extend(&self.edges[at]);
            }
        }
        seen
    }

    fn races(&self) -> Vec<(usize, usize)> {
        let is_access = |j: &usize| matches!(self.steps[*j].kind, OpKind::CellRead | OpKind::CellWrite);
        let accesses: Vec<usize> = (0..self.steps.len()).filter(is_access).collect();
        let mut races = Vec::new();
        for &i in &accesses {
            let seen = self.reachable(begin(i));
            let a = &self.steps[i];
            for &j in accesses.iter().filter(|j| **j > i) {
                let b = &self.steps[j];
                let write = a.kind == OpKind::CellWrite || b.kind == OpKind::CellWrite;
                if a.resource == b.resource && a.task != b.task && write && !seen[begin(j)] {
                    races.push((i, j));
                }
            }
        }
        races
    }
}

fn done(step: &Step) -> bool {
    u32::from(step.outcome) == outcome::OK
}

/// Fragments that meet at the same things; `@` is where an access may stand.
const FAMILIES: &[&[&str]] = &[
    &["load r0 x @", "@ store x 1 @", "@ faa _ x 1 @", "@ cas r0 x 0 1 @", "@ xchg r0 x 0 @"],
    &["lock m @ unlock m @", "@ lock m @ unlock m", "trylock r5 m; jz r5 L @ unlock m; label L @"],
    &["lock m @ cvwaitfor r5 c m T @ unlock m @", "@ notify c", "@ notifyall c @", "lock m @ cvwait c m @ unlock m"],
    &["rlock l @ rwunlock l @", "@ wlock l @ rwunlock l", "wlock l @ downgrade l @ rwunlock l @"],
    &[
        "@ rlock l @ rwunlock l",
        "tryrlock r5 l; jz r5 L @ rwunlock l; label L @",
        "trywlock r5 l; jz r5 L @ rwunlock l; label L",
    ],
    &[
        "acquire s @ release s @",
        "@ release s",
        "acquire s 2 @ release s 2",
        "tryacquire r5 s; jz r5 L @ release s; label L @",
    ],
    &["@ arrive r6 b @", "arrive r6 b @", "@ arrive r6 b"],
    &["enter r6 o; jz r6 L @ finish o 1; label L @", "check r6 o @", "@ enter r6 o; jz r6 L; finish o 0; label L @"],
    &["@ send q 1 @", "recv r0 q @", "@ recvfor r5 r0 q T @", "trysend r5 q 3 @", "@ tryrecv r5 r0 q @"],
    &["@ send z 4 @", "@ recv r0 z @", "@ trysend r5 z 5 @", "@ recvfor r5 r0 z T @"],
    &["@ send u 6", "recvok r5 r0 u @", "tryrecv r5 r0 u @"],
    &["@ unpark t0", "@ unpark t1", "parkfor r5 T @", "isfinished r6 t1 @", "sleep T @"],
];

/// Fragments that only the first thread has, by family.
const FIRST: &[(usize, &str)] = &[
    (8, "@ closerecv q"),
    (9, "@ closerecv z"),
    (10, "@ close u"),
    (11, "@ park @"),
    (11, "join t1 @"),
    (11, "@ spawn late; join late @"),
];

/// A random program around one or two families, with few accesses, so that the first race is not
/// always the obvious one.
fn with_cells(seed: u64) -> String {
    let mut tape = Tape::new(seed);
    let families: Vec<usize> = (0..1 + tape.below(2)).map(|_| tape.below(FAMILIES.len() as u64) as usize).collect();
    let rarity = 2 + tape.below(4);
    let mut labels = 0;
    let mut text = String::from(
        "var x; mutex m; rwlock l; cond c; chan q 1; chan z 0; chan u inf; sem s 1; barrier b 2; once o\ncell p",
    );
    let mut fragment = |text: &mut String, tape: &mut Tape, chosen: &str| {
        labels += 1;
        let chosen = chosen.replace('T', &(1u64 << labels).to_string()).replace('L', &format!("L{labels}"));
        for (n, part) in chosen.split('@').enumerate() {
            if n > 0 {
                text.push_str(match tape.below(2 * rarity) {
                    0 => "; write p; ",
                    1 => "; read p; ",
                    _ => "; ",
                });
            }
            text.push_str(part);
        }
        text.push('\n');
    };
    for thread in 0..2 + tape.below(3) {
        text.push_str(&format!("\nthread t{thread}\n"));
        for _ in 0..1 + tape.below(3) {
            let family = FAMILIES[families[tape.below(families.len() as u64) as usize]];
            let chosen = family[tape.below(family.len() as u64) as usize];
            fragment(&mut text, &mut tape, chosen);
        }
        let own: Vec<&str> = FIRST.iter().filter(|(family, _)| families.contains(family)).map(|f| f.1).collect();
        if thread == 0 && !own.is_empty() && tape.below(2) == 0 {
            let chosen = own[tape.below(own.len() as u64) as usize];
            fragment(&mut text, &mut tape, chosen);
        }
    }
    text.push_str("thread late off\nwrite p\n");
    text
}

#[test]
fn races_are_those_of_the_definition() {
    let limits = Limits { budgets: Budgets::NONE.with(Budget::EarlyFires, 2), ..Limits::default() };
    let mut engine = Engine::new();
    let mut detector = Races::default();
    let (mut racy, mut orderly) = (0, 0);
    for seed in 0..12_000 {
        let text = with_cells(seed);
        let run = run_on(&mut engine, &Program::parse(&text), &mut Random::new(), &limits, seed);
        let races = Graph::of(&run.steps).races();
        let first = races.iter().map(|(_, j)| *j).min().map(|first| {
            let (i, j) = races.iter().filter(|(_, j)| *j == first).max().expect("a race");
            (*i as u64, *j as u64)
        });
        let found = detector.of(&engine).map(|race| (race.earlier.step, race.later.step));
        assert_eq!(found, first, "seed {seed}\n{text}\n{:#?}", run.steps);
        let cell = |s: &&Step| matches!(s.kind, OpKind::CellRead | OpKind::CellWrite);
        racy += usize::from(found.is_some());
        orderly += usize::from(found.is_none() && run.steps.iter().filter(cell).count() > 1);
    }
    assert!(racy > 1_000 && orderly > 1_000, "{racy} with races, {orderly} without");
}

/// The first race of `program` when its threads go in this order, as two lines of it.
fn race(program: &str, order: &str) -> Option<(usize, usize)> {
    let program = Program::parse(program);
    let mut engine = Engine::new();
    run_on(&mut engine, &program, &mut InOrder::new(&program, order), &Limits::default(), 0);
    let race = Races::default().of(&engine)?;
    Some((race.earlier.site.0, race.later.site.0))
}

#[test]
fn the_order_of_the_accesses_themselves_is_no_order() {
    let program = "cell p\nthread a\nwrite p\nthread b\nread p";
    assert_eq!(race(program, "a a b"), Some((3, 5)));
    assert_eq!(race(program, "b b a"), Some((5, 3)));
    assert_eq!(race("cell p\nthread a\nread p\nthread b\nread p", "a b"), None);
}

#[test]
fn an_unlock_comes_before_a_lock_that_need_not_wait() {
    let program = "cell p; mutex m\nthread a\nlock m; write p; unlock m\nthread b\nlock m; write p; unlock m";
    assert_eq!(race(program, "a a a a b"), None);
    assert_eq!(race(program, "a b a a b"), None);
}

#[test]
fn the_order_of_requests_is_no_order() {
    // b asks for the lock after a wrote, and its own write comes after the lock; but a's unlock did not.
    let program = "cell p; mutex m\nthread a\nlock m; unlock m; write p\nthread b\nlock m; write p; unlock m";
    assert_eq!(race(program, "a a a b"), Some((3, 5)));
}

#[test]
fn readers_learn_nothing_from_each_other() {
    let program = "cell p; rwlock l\nthread a\nrlock l; write p; rwunlock l\nthread b\nTAKE l; read p; rwunlock l";
    assert_eq!(race(&program.replace("TAKE", "rlock"), "a a a b"), Some((3, 5)));
    assert_eq!(race(&program.replace("TAKE", "wlock"), "a a a b"), None);
}

#[test]
fn a_store_that_was_overwritten_tells_nothing() {
    let program = "cell p; var x\nthread a\nwrite p; store x 1\nthread b\nOVER\nthread c\nload r0 x; read p";
    assert_eq!(race(&program.replace("OVER", "store x 2"), "a a b c"), Some((3, 7)));
    assert_eq!(race(&program.replace("OVER", "faa _ x 1"), "a a b c"), None);
}

#[test]
fn time_is_no_order() {
    assert_eq!(race("cell p\nthread a\nwrite p\nthread b\nsleep 9; read p", "a"), Some((3, 5)));
}

#[test]
fn a_race_says_by_what_it_could_have_been_avoided() {
    let text = "cell p; mutex m; mutex n\nthread a\nwrite p\nlock m\nunlock m\nthread b\nlock n\nread p";
    let program = Program::parse(text);
    let mut engine = Engine::new();
    run_on(&mut engine, &program, &mut InOrder::new(&program, "a a a b"), &Limits::default(), 0);
    let race = Races::default().of(&engine).expect("a race");
    let line = |step: Option<u64>| step.map(|step| engine.steps()[step as usize].site.0);
    assert_eq!((line(race.earlier.sync), line(race.later.sync)), (Some(5), Some(7)));
}
