//! Clients that do what a generator says.

use std::sync::Arc;

use drawloom_check::generate::{Generator, Next, Seeded};

use super::{Model, Outcome, Watch};
use crate::object::Object;
use crate::thread;

/// A seed is chosen digit by digit: a choice of many outcomes would be a burden for whoever explores all of them.
const DIGITS: usize = 4;
const OUTCOMES: usize = 16;

/// One execution in which clients of `object` do what `generator` says, and what they see is watched.
///
/// The seed of the generator is a [choice](crate::choose), and who asks it first is the scheduler's: so what is called
/// is replayed with the schedule. The generator learns each result before its client asks again. A client that is
/// told to wait lets others continue. To explore *all* that could be called is for [`run`](super::run).
///
/// ```
/// use drawloom::history::generate::{Generator, one_of, phases};
/// use drawloom::history::model::{Counter, CounterOp::*, CounterRet::*};
/// use drawloom::sync::atomic::{AtomicI64, Ordering::SeqCst};
///
/// // Everybody adds; when all are done, somebody reads.
/// let exploration = drawloom::explore("iterations = 200".parse()?, || {
///     let load = Generator::<_, drawloom::history::model::CounterRet>::take(one_of([Add(1), Add(2)]), 3);
///     let end = Generator::<_, drawloom::history::model::CounterRet>::take(one_of([Read]), 1);
///     drawloom::history::generated(2, phases([load, end]), Counter::default(), AtomicI64::new(0), |count, operation| {
///         match operation {
///             Add(by) => { count.fetch_add(by, SeqCst); Added }
///             Read | AddAndGet(_) => Sum(count.load(SeqCst)),
///         }
///     });
/// });
/// assert!(exploration.findings().is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Panics
///
/// If what the clients see is not linearizable, with the explanation.
#[track_caller]
pub fn generated<G, M, T>(
    clients: usize,
    generator: G,
    model: M,
    object: T,
    apply: impl Fn(&T, M::Op) -> M::Ret + Send + Sync + 'static,
) where
    G: Generator<M::Op, M::Ret> + Send + 'static,
    M: Model + Clone + Send + 'static,
    M::State: Send,
    M::Op: Clone + Send + 'static,
    M::Ret: Clone + Send + 'static,
    T: Send + Sync + 'static,
{
    let seed = (0..DIGITS).fold(0, |seed, _| seed * OUTCOMES + crate::choose(OUTCOMES));
    let draw = Seeded::new(seed as u64);
    let watch = Watch::new(model);
    let shared = Arc::new((object, apply, Object::new((generator, draw))));
    let clients: Vec<_> = (0..clients).map(|_| watch.client()).collect();
    let clients: Vec<_> = clients
        .into_iter()
        .map(|mut client| {
            let shared = shared.clone();
            thread::spawn(move || {
                let ((object, apply, generator), process) = (&*shared, client.process());
                loop {
                    match generator.update(|(generator, draw)| generator.next(process, draw)) {
                        Next::Call(op) => {
                            let ret = client.call(op.clone(), || apply(object, op.clone()));
                            generator.update(|(generator, _)| generator.ended(process, &op, &Outcome::Ok(ret)));
                        }
                        Next::Wait => thread::yield_now(),
                        Next::Done => return,
                    }
                }
            })
        })
        .collect();
    for client in clients {
        client.join().expect("a client panicked");
    }
}
