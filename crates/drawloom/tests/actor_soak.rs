//! A tree of fifty processes under random kills: who is started again, and how often, is what a model says.

use std::collections::BTreeSet;
use std::time::Duration;

use drawloom::actor::{self, AnyPid, ChildSpec, Ctx, Pid, Received, Strategy, Supervisor};
use drawloom::random;

/// How many children each of the three supervisors has. With them, their own supervisor and the first process, that is fifty.
const CHILDREN: usize = 15;
const STRATEGIES: [Strategy; 3] = [Strategy::OneForOne, Strategy::OneForAll, Strategy::RestForOne];
/// In each execution, one after the other.
const WAVES: usize = 3;

/// What is told to the first process.
#[derive(Debug)]
enum Note {
    /// A child has begun: of which supervisor, which one.
    Begun(usize, usize, AnyPid),
    /// The supervisor of children has begun.
    Team(usize, AnyPid),
}

/// The supervisor of fifteen children, as a child of the one above.
fn team(number: usize, tells: &Pid<Note>) -> ChildSpec {
    let tells = tells.clone();
    ChildSpec::new(format!("team {number}"), move |ctx| {
        let tells = tells.clone();
        Box::pin(async move {
            let mut supervisor = Supervisor::new(STRATEGIES[number]).intensity(1_000, Duration::from_secs(1));
            for child in 0..CHILDREN {
                let tells = tells.clone();
                supervisor = supervisor.child(ChildSpec::new(format!("{child}"), move |ctx| {
                    let pid: Pid<()> = ctx.spawn_link(async |mut ctx: Ctx<()>| drop(ctx.recv().await));
                    // By the supervisor: a child may be ended again before it does anything.
                    ctx.send(&tells, Note::Begun(number, child, pid.any().clone()));
                    Box::pin(std::future::ready(Ok(pid.into())))
                }));
            }
            let team = supervisor.start_link(ctx).await?;
            ctx.send(&tells, Note::Team(number, team.pid().any().clone()));
            Ok(team.pid().any().clone())
        })
    })
}

/// Everybody who lives, as far as the first process was told, and who has begun since.
#[derive(Default)]
struct Known {
    teams: [Option<AnyPid>; 3],
    children: [Vec<Option<AnyPid>>; 3],
    begun: [Vec<usize>; 3],
}

impl Known {
    async fn learn(&mut self, ctx: &mut Ctx<Note>) {
        self.begun = Default::default();
        ctx.settle().await;
        while let Some(Received::Message(note)) = ctx.recv_timeout(Duration::ZERO).await {
            match note {
                Note::Team(team, pid) => self.teams[team] = Some(pid),
                Note::Begun(team, child, pid) => {
                    self.children[team].resize(CHILDREN, None);
                    self.children[team][child] = Some(pid);
                    self.begun[team].push(child);
                }
            }
        }
        let all = self.teams.iter().chain(self.children.iter().flatten());
        assert!(all.clone().count() == 48 && all.flatten().all(|pid| ctx.is_alive(pid)), "all live");
    }
}

/// Who begins anew in a team of which these were killed at the same time, in this order.
fn check(strategy: Strategy, killed: &BTreeSet<usize>, begun: &[usize]) {
    let told = || format!("{strategy:?}: {killed:?} were killed, {begun:?} began");
    let all: Vec<usize> = (0..CHILDREN).collect();
    let Some(first) = killed.first() else { return assert!(begun.is_empty(), "{}", told()) };
    match strategy {
        Strategy::OneForOne => {
            let mut begun = begun.to_vec();
            begun.sort_unstable();
            assert!(begun.iter().eq(killed), "{}", told());
        }
        // Who was killed besides has ended with the others.
        Strategy::OneForAll => assert_eq!(begun, all, "{}", told()),
        // Rounds, each of which begins with one that was killed, before that of the round before.
        Strategy::RestForOne => {
            let (mut rest, mut before) = (begun, CHILDREN);
            while let [head, ..] = rest {
                assert!(killed.contains(head) && *head < before, "{}", told());
                let (round, others) = rest.split_at(CHILDREN - head);
                assert_eq!(round, &all[*head..], "{}", told());
                (rest, before) = (others, *head);
            }
            assert_eq!(before, *first, "{}", told());
        }
    }
}

fn below(limit: usize) -> usize {
    random::below(limit as u64) as usize
}

async fn wave(ctx: &mut Ctx<Note>, known: &mut Known) {
    let mut killed: [BTreeSet<usize>; 3] = Default::default();
    let team = if below(4) == 0 { Some(below(3)) } else { None };
    let mut victims: Vec<AnyPid> = team.and_then(|team| known.teams[team].clone()).into_iter().collect();
    for _ in 0..1 + below(4) {
        let (of, child) = (below(3), below(CHILDREN));
        if team != Some(of) && killed[of].insert(child) {
            victims.extend(known.children[of][child].clone());
        }
    }
    for victim in victims {
        // Each by a process of its own, so that they come in any order.
        ctx.spawn(move |ctx: Ctx<()>| async move { ctx.kill(&victim) });
    }
    known.learn(ctx).await;
    for (number, strategy) in STRATEGIES.into_iter().enumerate() {
        match team == Some(number) {
            // With their supervisor all have ended, and begin anew with it.
            true => check(Strategy::OneForAll, &BTreeSet::from([0]), &known.begun[number]),
            false => check(strategy, &killed[number], &known.begun[number]),
        }
    }
}

fn tree() {
    actor::run(async |mut ctx: Ctx<Note>| {
        let me = ctx.me().clone();
        let above = Supervisor::new(Strategy::OneForOne).intensity(1_000, Duration::from_secs(1));
        let above = (0..3).fold(above, |above, number| above.child(team(number, &me)));
        above.start(&mut ctx).await.expect("all begin");
        let mut known = Known::default();
        known.learn(&mut ctx).await;
        for _ in 0..WAVES {
            wave(&mut ctx, &mut known).await;
        }
    });
}

fn soak(schedules: u64) {
    let config = format!("random(iterations = {schedules}, max_steps = 100000, threads = 1, trace = false)");
    let explored = drawloom::explore(config.parse().expect("a configuration"), tree);
    assert!(explored.findings().is_empty(), "{}", explored.findings()[0].report());
    assert_eq!(explored.executions(), schedules);
}

#[test]
fn fifty_processes_survive_random_kills() {
    soak(60);
}

/// `cargo test --release -p drawloom --test actor_soak -- --ignored --nocapture`
#[test]
#[ignore = "ten thousand schedules: run with --release"]
fn fifty_processes_survive_ten_thousand_schedules_in_the_same_memory() {
    soak(1_000);
    let before = resident();
    soak(10_000);
    let after = resident();
    println!("{before} KiB after 1,000 schedules, {after} KiB after 10,000 more");
    assert!(after < before + before / 10 + 4_096, "{before} KiB became {after}");
}

/// KiB of memory, where the system says so.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}
