//! Fifteen known bugs of programs with actors, each with a fixed twin: how soon strategies find them, and that the twins are right.

mod messages;
mod shared_state;
mod timers;

use drawloom::actor::{Ctx, MonitorRef};
use drawloom::{Config, Exploration};

/// Starts a process whose end is waited for.
fn worker<M, F, Fut>(ctx: &Ctx<M>, f: F) -> MonitorRef
where
    M: drawloom::actor::Message,
    F: FnOnce(Ctx<()>) -> Fut + Send + 'static,
    Fut: Future<Output = ()> + Send + 'static,
{
    ctx.spawn_monitor(f).1
}

/// Waits until all have ended, as they should.
async fn all<M: drawloom::actor::Message>(ctx: &mut Ctx<M>, workers: impl IntoIterator<Item = MonitorRef>) {
    for worker in workers {
        let reason = ctx.recv_down(worker).await.reason;
        assert!(reason.is_normal(), "{reason}");
    }
}

struct Port {
    name: &'static str,
    buggy: fn(),
    fixed: fn(),
    /// The strategy for it.
    recommended: &'static str,
    /// How many executions the best strategy of a model in Python needs, on average.
    best: f64,
    /// The twin is small enough to go through all of its schedules.
    exhausted: bool,
}

macro_rules! ports {
    ($($room:ident $port:ident $recommended:literal $percent:literal $exhausted:literal)+) => {
        &[$(Port {
            name: stringify!($port),
            buggy: $room::$port::<false>,
            fixed: $room::$port::<true>,
            recommended: $recommended,
            best: 100.0 / $percent,
            exhausted: $exhausted,
        }),+]
    };
}

const PORTS: &[Port] = ports! {
    shared_state lost_update "random" 72.0 true
    shared_state replaced_cell "urw" 10.0 true
    shared_state alive_then_call "pos" 16.0 true
    messages stale_read "urw" 51.0 true
    messages stale_reads "pct" 74.0 false
    messages two_leaders "pos" 78.0 false
    messages dead_neighbour "random" 75.0 true
    shared_state two_owners "urw" 69.0 true
    shared_state missing_session "urw" 39.0 true
    messages starved_follower "pos" 33.0 false
    messages fatal_order "surw" 2.3 false
    timers expired_lease "surw" 8.2 false
    timers late_reply "random" 82.0 false
    timers late_vote "pct" 62.0 false
    timers deposed_leader "random" 63.0 false
};

const RULES: &str = "threads = 1, shrink = false, trace = false, clock = explore, early_fires = 3";

fn explore(strategy: &str, rules: &str, body: fn()) -> Exploration {
    let config: Config =
        format!("{strategy}, {RULES}{rules}").parse().unwrap_or_else(|error| panic!("{strategy}: {error}"));
    drawloom::explore(config, body)
}

/// How many executions it takes to find the bug, on average; at most 1,000.
fn mean(port: &Port, strategy: &str, trials: u32) -> f64 {
    let executions = |seed| {
        let explored = explore(strategy, &format!(", iterations = 1000, seed = {seed}"), port.buggy);
        explored.executions()
    };
    (0..trials).map(|seed| executions(seed) as f64).sum::<f64>() / f64::from(trials)
}

#[test]
fn each_bug_is_found_by_auto_and_by_its_strategy() {
    let mut missed = Vec::new();
    for port in PORTS {
        // The one that is not found as soon as in the model: there a timer is as likely as a process.
        let times = if port.name == "late_reply" { 2.5 } else { 2.0 };
        for (strategy, times) in [("auto", 10.0), (port.recommended, times)] {
            let mean = mean(port, strategy, 20);
            if mean > times * port.best {
                missed.push(format!("{}: {strategy} needs {mean:.1}, the best {:.1}", port.name, port.best));
            }
        }
    }
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn small_twins_are_exhausted_and_others_hold_in_a_sample() {
    for port in PORTS {
        let strategy = if port.exhausted { "exhaustive(max_schedules = 200000)" } else { "random(iterations = 200)" };
        let explored = explore(strategy, "", port.fixed);
        let found: Vec<_> = explored.findings().iter().map(|found| found.message().to_owned()).collect();
        assert!(found.is_empty(), "{}: {found:?}", port.name);
        assert_eq!(explored.exhausted(), port.exhausted, "{}: {}", port.name, explored.summary());
    }
}

#[test]
fn the_replaced_cell_shrinks_to_one_preemption() {
    for seed in 0..5 {
        let config = format!("pos(iterations = 1000), threads = 1, seed = {seed}").parse().unwrap();
        let explored = drawloom::explore(config, shared_state::replaced_cell::<false>);
        assert_eq!(explored.findings()[0].preemptions(), 1, "{}", explored.findings()[0].report());
    }
}

/// What the documentation says: `cargo test -p drawloom --test actor_ports -- --ignored --nocapture`.
#[test]
#[ignore = "prints a table"]
fn table() {
    const STRATEGIES: [&str; 6] = ["random", "pct", "pos", "urw", "surw", "auto"];
    println!("| port | best of the model | {} | classes of the twin |", STRATEGIES.join(" | "));
    for port in PORTS {
        let means = STRATEGIES.map(|strategy| format!("{:.1}", mean(port, strategy, 20)));
        let classes = match port.exhausted {
            true => explore("exhaustive(max_schedules = 200000)", "", port.fixed).executions().to_string(),
            false => "".to_owned(),
        };
        println!("| {} | {:.1} | {} | {classes} |", port.name, port.best, means.join(" | "));
    }
}
