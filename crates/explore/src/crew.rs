//! Who decides what is run next, and who runs it.
//!
//! An [`Explorer`] hands out orders until nothing is left: samples in rounds (`spread`), or the tree of everything
//! (`exhaust`). A [`Crew`] has workers carry them out: on OS threads ([`Threads`]), for now. Neither knows the other:
//! another way to explore needs no threads, and another crew decides nothing.

use std::time::{Duration, Instant};

use super::plan::Plan;
use super::program::Program;
use super::worker::Worker;

/// Decides what is run next. All workers of a crew ask the same one.
pub(super) trait Explorer<P: Program>: Sync {
    /// What a worker is to run.
    type Order;
    /// What a worker keeps from one order to the next.
    type Seat;

    /// A place for another worker; the first one may have a place of its own.
    fn seat(&self, worker: &mut Worker<'_, P>, is_first: bool) -> Self::Seat;

    /// What is to be run next; `None` if there is nothing. Waits where that depends on what others run.
    fn next(&self, seat: &mut Self::Seat) -> Option<Self::Order>;

    /// Has `worker` run it, and takes note of what came of it. False if the worker is to stop.
    fn run(&self, order: Self::Order, seat: &mut Self::Seat, worker: &mut Worker<'_, P>) -> bool;

    /// A worker stops.
    fn leave(&self, _seat: Self::Seat) {}
}

/// Runs what an explorer decides on.
pub(super) trait Crew {
    /// Lets `first` and others like it work, until `explorer` has nothing left for any of them.
    fn work<P: Program, E: Explorer<P>>(&self, explorer: &E, first: &mut Worker<'_, P>, plan: &Plan, program: &P);
}

/// Workers on OS threads.
pub(super) struct Threads {
    /// So many at most.
    pub(super) most: usize,
    /// An exploration that is shorter than this stays on the thread that it was started on.
    pub(super) worth_spreading: Duration,
}

impl Crew for Threads {
    fn work<P: Program, E: Explorer<P>>(&self, explorer: &E, first: &mut Worker<'_, P>, plan: &Plan, program: &P) {
        std::thread::scope(|scope| {
            let began = Instant::now();
            let mut alone = self.most > 1;
            let mut seat = explorer.seat(first, true);
            while take_turn(explorer, &mut seat, first) {
                if alone && began.elapsed() > self.worth_spreading {
                    alone = false;
                    for _ in 1..self.most {
                        scope.spawn(|| {
                            let mut worker = Worker::new(plan, program);
                            let mut seat = explorer.seat(&mut worker, false);
                            while take_turn(explorer, &mut seat, &mut worker) {}
                            explorer.leave(seat);
                        });
                    }
                }
            }
            explorer.leave(seat);
        });
    }
}

/// Lets `worker` run what is next. False when it is to stop.
fn take_turn<P: Program, E: Explorer<P>>(explorer: &E, seat: &mut E::Seat, worker: &mut Worker<'_, P>) -> bool {
    if worker.is_spent() {
        return false;
    }
    explorer.next(seat).is_some_and(|order| explorer.run(order, seat, worker))
}
