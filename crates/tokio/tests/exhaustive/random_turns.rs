//! Random programs on a runtime of one thread, against brute force.

use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;

use drawloom::sync::atomic::AtomicI64;
use drawloom::thread;
use drawloom_tokio::runtime::Builder;
use drawloom_tokio::sync::Notify;
use drawloom_tokio::task::{self, AbortHandle};

use super::brute::{Log, Numbers, compare_random};

/// What a task of the runtime does, or somebody outside.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Does {
    Add,
    Read,
    Yield,
    Notify,
    Wait,
    /// Ends the first task.
    Abort,
}

#[derive(Clone, Debug)]
struct Program {
    tasks: Vec<Vec<Does>>,
    main: Vec<Does>,
    /// A thread that is none of the runtime's.
    outside: Vec<Does>,
    /// Whether main waits for its tasks. Else they end with the runtime.
    joins: bool,
}

fn program(seed: u64) -> Program {
    use Does::{Abort, Add, Notify, Read, Wait, Yield};
    let mut numbers = Numbers::new(seed);
    let inside = [Add, Add, Read, Yield, Yield, Notify, Wait];
    let mains = [Add, Read, Yield, Abort, Notify];
    let outsides = [Add, Read, Abort, Notify];
    let number = 1 + numbers.below(2);
    let tasks = (0..number).map(|_| (0..1 + numbers.below(2)).map(|_| numbers.of(&inside)).collect()).collect();
    let main = (0..numbers.below(2)).map(|_| numbers.of(&mains)).collect();
    let outside = if numbers.below(2) == 0 { vec![numbers.of(&outsides)] } else { Vec::new() };
    Program { tasks, main, outside, joins: numbers.below(4) == 0 }
}

#[derive(Default)]
struct World {
    number: AtomicI64,
    notify: Notify,
}

/// What `does` comes to.
async fn act(world: &World, does: Does, first: Option<&AbortHandle>) -> i64 {
    match does {
        Does::Add => world.number.fetch_add(1, SeqCst),
        Does::Read => 10 + world.number.load(SeqCst),
        Does::Yield => {
            task::yield_now().await;
            20
        }
        Does::Notify => {
            world.notify.notify_one();
            30
        }
        Does::Wait => {
            world.notify.notified().await;
            40
        }
        Does::Abort => {
            first.inspect(|first| first.abort());
            50
        }
    }
}

impl Program {
    fn run(&self, log: &Arc<Log>) {
        let world = Arc::new(World::default());
        let runtime = Builder::new_current_thread().build().unwrap();
        let outside = runtime.block_on(async {
            let tasks: Vec<_> = (1..)
                .zip(self.tasks.clone())
                .map(|(me, does)| {
                    let (world, log) = (world.clone(), log.clone());
                    task::spawn(async move {
                        for does in does {
                            log.note(me, act(&world, does, None).await);
                        }
                    })
                })
                .collect();
            let first = tasks[0].abort_handle();
            let outside = (!self.outside.is_empty()).then(|| {
                let (world, does, first, log) = (world.clone(), self.outside.clone(), first.clone(), log.clone());
                thread::spawn(move || {
                    for does in does {
                        log.note(9, drawloom::future::block_on(act(&world, does, Some(&first))));
                    }
                })
            });
            for does in &self.main {
                log.note(0, act(&world, *does, Some(&first)).await);
            }
            if self.joins {
                for task in tasks {
                    log.note(0, i64::from(task.await.is_ok()));
                }
            }
            outside
        });
        drop(runtime);
        if let Some(outside) = outside {
            outside.join().unwrap();
        }
    }
}

#[test]
fn random_programs_that_take_turns_are_exhausted_class_by_class() {
    compare_random(0..16, 8_000, program, Program::run);
}

/// Some minutes: `cargo test --release -p drawloom-tokio --test exhaustive -- --include-ignored many_random`.
#[test]
#[ignore = "takes minutes"]
fn so_are_many_random_programs_that_take_turns() {
    compare_random(0..300, 50_000, program, Program::run);
}
