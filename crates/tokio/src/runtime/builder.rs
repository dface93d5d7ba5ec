//! How a runtime is to be.

use std::fmt;
use std::io;
use std::time::Duration;

use super::{Handle, LocalOptions, LocalRuntime, Runtime, RuntimeFlavor};

/// Builds a [`Runtime`], as `tokio::runtime::Builder`. What concerns the threads of the operating system is
/// accepted, and has no effect.
pub struct Builder {
    flavor: RuntimeFlavor,
    workers: Option<usize>,
    paused: bool,
}

/// What becomes of the runtime when a task panics: nothing; the panic is found if nobody awaits the task.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum UnhandledPanic {
    /// It goes on.
    Ignore,
    /// It goes on here, too.
    ShutdownRuntime,
}

impl Builder {
    fn new(flavor: RuntimeFlavor) -> Builder {
        Builder { flavor, workers: None, paused: false }
    }

    /// A runtime of one thread.
    #[must_use]
    pub fn new_current_thread() -> Builder {
        Builder::new(RuntimeFlavor::CurrentThread)
    }

    /// A runtime of several threads.
    #[must_use]
    pub fn new_multi_thread() -> Builder {
        Builder::new(RuntimeFlavor::MultiThread)
    }

    /// How many threads tasks are polled on. One of them is as good as a runtime of one thread, beside the
    /// thread that blocks on it.
    ///
    /// # Panics
    ///
    /// If it is none.
    #[track_caller]
    pub fn worker_threads(&mut self, val: usize) -> &mut Self {
        assert!(val > 0, "Worker threads cannot be set to 0");
        self.workers = Some(val);
        self
    }

    /// Whether the clock begins paused.
    pub fn start_paused(&mut self, start_paused: bool) -> &mut Self {
        self.paused = start_paused;
        self
    }

    /// Builds the runtime.
    #[track_caller]
    pub fn build(&mut self) -> io::Result<Runtime> {
        let workers = match self.flavor {
            RuntimeFlavor::CurrentThread => 1,
            RuntimeFlavor::MultiThread => self.workers.unwrap_or(2),
        };
        Ok(Runtime::of(Handle::new(self.flavor, workers, self.paused)))
    }

    /// Builds a runtime for what need not be `Send`.
    #[track_caller]
    pub fn build_local(&mut self, _options: LocalOptions) -> io::Result<LocalRuntime> {
        Ok(LocalRuntime::of(self.build()?))
    }
}

macro_rules! without_effect {
    ($($name:ident($($argument:ident: $t:ty)?);)*) => {
        impl Builder {
            $(
                /// As in tokio; without effect here.
                pub fn $name(&mut self $(, $argument: $t)?) -> &mut Self {
                    $(let _ = $argument;)?
                    self
                }
            )*
        }
    };
}

without_effect! {
    enable_all();
    enable_io();
    enable_time();
    max_blocking_threads(val: usize);
    thread_name(val: impl Into<String>);
    name(val: impl Into<String>);
    thread_name_fn(f: impl Fn() -> String + Send + Sync + 'static);
    thread_stack_size(val: usize);
    thread_keep_alive(duration: Duration);
    on_thread_start(f: impl Fn() + Send + Sync + 'static);
    on_thread_stop(f: impl Fn() + Send + Sync + 'static);
    on_thread_park(f: impl Fn() + Send + Sync + 'static);
    on_thread_unpark(f: impl Fn() + Send + Sync + 'static);
    global_queue_interval(val: u32);
    event_interval(val: u32);
    max_io_events_per_tick(capacity: usize);
    unhandled_panic(behavior: UnhandledPanic);
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder").field("flavor", &self.flavor).finish_non_exhaustive()
    }
}
