//! Records a history from threads, and orders its events on its own.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{History, Operation, Outcome, Process};

/// Collects what concurrent clients do.
///
/// Clocks of several cores do not agree, and a history ordered by them shows violations that never were. Here
/// every event draws a number from one counter: before an operation begins and after it has ended, so that
/// an operation that ended before another began has the smaller number. Events are stored by client: recording
/// never waits for another client.
///
/// ```
/// use drawloom_check::Recorder;
///
/// let recorder = Recorder::new();
/// std::thread::scope(|scope| {
///     for _ in 0..2 {
///         let mut client = recorder.client();
///         scope.spawn(move || client.call("increment", || 1));
///     }
/// });
/// assert_eq!(recorder.history()?.len(), 2);
/// # Ok::<(), drawloom_check::HistoryError>(())
/// ```
#[derive(Debug)]
pub struct Recorder<O, R> {
    shared: Arc<Shared<O, R>>,
}

#[derive(Debug)]
struct Shared<O, R> {
    sequence: AtomicU64,
    shards: Mutex<Vec<Shard<O, R>>>,
}

type Shard<O, R> = Arc<Mutex<Vec<Stamped<O, R>>>>;

/// An operation with the numbers that its call and its end have drawn.
#[derive(Clone, Debug)]
struct Stamped<O, R> {
    process: Process,
    op: O,
    call: u64,
    end: Option<(u64, Outcome<R>)>,
}

impl<O, R> Clone for Recorder<O, R> {
    fn clone(&self) -> Self {
        Recorder { shared: Arc::clone(&self.shared) }
    }
}

impl<O, R> Default for Recorder<O, R> {
    fn default() -> Self {
        Recorder { shared: Arc::new(Shared { sequence: AtomicU64::new(0), shards: Mutex::new(Vec::new()) }) }
    }
}

impl<O, R> Recorder<O, R> {
    /// A recorder that has seen nothing yet.
    pub fn new() -> Self {
        Recorder::default()
    }

    /// A new client, numbered in the order of these calls.
    pub fn client(&self) -> Client<O, R> {
        let mut shards = lock(&self.shared.shards);
        let shard = Arc::new(Mutex::new(Vec::new()));
        shards.push(Arc::clone(&shard));
        Client { process: Process(shards.len() as u64 - 1), shared: Arc::clone(&self.shared), shard }
    }

    /// The history so far. Operations that have not ended are pending.
    pub fn history(&self) -> Result<History<O, R>, super::HistoryError>
    where
        O: Clone,
        R: Clone,
    {
        let mut stamped: Vec<Stamped<O, R>> = Vec::new();
        for shard in lock(&self.shared.shards).iter() {
            stamped.extend(lock(shard).iter().cloned());
        }
        if stamped.len() > (u32::MAX / 2 - 1) as usize {
            return Err(super::HistoryError::TooLong);
        }
        let mut stamps: Vec<u64> =
            stamped.iter().flat_map(|s| [Some(s.call), s.end.as_ref().map(|(end, _)| *end)]).flatten().collect();
        stamps.sort_unstable();
        let dense = |stamp: u64| stamps.partition_point(|other| *other < stamp) as u32;
        let operations = stamped.into_iter().map(|s| {
            let (end, outcome) = s.end.map_or((None, Outcome::Pending), |(end, outcome)| (Some(dense(end)), outcome));
            Operation { process: s.process, op: s.op, outcome, call: dense(s.call), end }
        });
        Ok(History::from_positions(operations.collect()))
    }
}

/// The recorder of one client. A client is sequential: a call ends the operation before it, as [`Outcome::Info`].
#[derive(Debug)]
pub struct Client<O, R> {
    process: Process,
    shared: Arc<Shared<O, R>>,
    shard: Shard<O, R>,
}

impl<O, R> Client<O, R> {
    /// This client's process.
    pub fn process(&self) -> Process {
        self.process
    }

    /// Calls an operation: to be said before it begins.
    pub fn invoke(&mut self, op: O) {
        self.end(Outcome::Info);
        let process = self.process;
        let mut shard = lock(&self.shard);
        let call = self.shared.sequence.fetch_add(1, Ordering::SeqCst);
        shard.push(Stamped { process, op, call, end: None });
    }

    /// The operation took effect and returned: to be said after it has.
    pub fn ok(&mut self, ret: R) {
        self.end(Outcome::Ok(ret));
    }

    /// The operation certainly did not take effect.
    pub fn fail(&mut self) {
        self.end(Outcome::Fail);
    }

    /// Ends the operation without a known result: it may or may not have taken effect.
    pub fn info(&mut self) {
        self.end(Outcome::Info);
    }

    /// Records an operation around `body`. If `body` panics the operation stays pending.
    pub fn call(&mut self, op: O, body: impl FnOnce() -> R) -> R
    where
        R: Clone,
    {
        self.invoke(op);
        let ret = body();
        self.ok(ret.clone());
        ret
    }

    fn end(&mut self, outcome: Outcome<R>) {
        let stamp = self.shared.sequence.fetch_add(1, Ordering::SeqCst);
        if let Some(last) = lock(&self.shard).last_mut() {
            last.end.get_or_insert((stamp, outcome));
        }
    }
}

/// A panic of another client leaves complete entries behind, so poison says nothing here.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
