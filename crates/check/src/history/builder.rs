//! A history written down by hand, as tests and examples do.

use super::{History, HistoryError, Outcome, Process};

/// Collects events in order; the first mistake is reported by [`Builder::build`].
///
/// ```
/// use drawloom_check::History;
///
/// let history = History::builder().invoke(0, "write 1").invoke(1, "read").ok(0, 0).ok(1, 1).build()?;
/// assert_eq!(history.len(), 2);
/// assert!(!history.operations()[0].precedes(&history.operations()[1]));
/// # Ok::<(), drawloom_check::HistoryError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Builder<O, R> {
    history: History<O, R>,
    error: Option<HistoryError>,
}

impl<O, R> Default for Builder<O, R> {
    fn default() -> Self {
        Builder { history: History::default(), error: None }
    }
}

impl<O, R> Builder<O, R> {
    /// A process calls an operation.
    pub fn invoke(mut self, process: u64, op: O) -> Self {
        let done = self.history.invoke(Process(process), op).map(drop);
        self.note(done)
    }

    /// The process's open operation took effect and returned.
    pub fn ok(self, process: u64, ret: R) -> Self {
        self.complete(process, Outcome::Ok(ret))
    }

    /// The process's open operation certainly did not take effect.
    pub fn fail(self, process: u64) -> Self {
        self.complete(process, Outcome::Fail)
    }

    /// The process will never know whether its open operation took effect.
    pub fn info(self, process: u64) -> Self {
        self.complete(process, Outcome::Info)
    }

    /// A call and its return, with nothing between them.
    pub fn call(self, process: u64, op: O, ret: R) -> Self {
        self.invoke(process, op).ok(process, ret)
    }

    /// The history, or the first event that could not be.
    pub fn build(self) -> Result<History<O, R>, HistoryError> {
        match self.error {
            Some(error) => Err(error),
            None => Ok(self.history),
        }
    }

    fn complete(mut self, process: u64, outcome: Outcome<R>) -> Self {
        let done = self.history.complete(Process(process), outcome).map(drop);
        self.note(done)
    }

    fn note(mut self, done: Result<(), HistoryError>) -> Self {
        self.error = self.error.or(done.err());
        self
    }
}
