//! How a runtime is to be.

use std::fmt;
use std::io;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use super::handle::Making;
use super::{Handle, LocalOptions, LocalRuntime, Runtime, RuntimeFlavor};
use crate::task::{Hook, ThreadHooks};

/// Builds a [`Runtime`], as `tokio::runtime::Builder`. What concerns the threads of the operating system is
/// accepted, and has no effect.
pub struct Builder {
    flavor: RuntimeFlavor,
    workers: Option<usize>,
    paused: bool,
    name: Option<String>,
    has_time: bool,
    park: Option<Hook>,
    threads: ThreadHooks,
}

/// What becomes of the runtime when a task panics: nothing; the panic is found if nobody awaits the task.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum UnhandledPanic {
    /// It continues.
    Ignore,
    /// It continues here, too.
    ShutdownRuntime,
}

impl Builder {
    fn new(flavor: RuntimeFlavor) -> Builder {
        Builder {
            flavor,
            workers: None,
            paused: false,
            name: None,
            has_time: false,
            park: None,
            threads: ThreadHooks::default(),
        }
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

    /// Everything that a runtime can have: timers.
    pub fn enable_all(&mut self) -> &mut Self {
        self.enable_time()
    }

    /// Timers: without them, whatever would make one panics.
    pub fn enable_time(&mut self) -> &mut Self {
        self.has_time = true;
        self
    }

    /// What the runtime is called.
    ///
    /// # Panics
    ///
    /// If that is empty.
    #[track_caller]
    pub fn name(&mut self, val: impl Into<String>) -> &mut Self {
        let val = val.into();
        assert!(!val.trim().is_empty(), "runtime name shouldn't be empty");
        self.name = Some(val);
        self
    }

    /// Calls `f` whenever the thread that blocks on a runtime of one thread is about to wait. Other threads are those
    /// of tasks, and do not call it.
    pub fn on_thread_park(&mut self, f: impl Fn() + Send + Sync + 'static) -> &mut Self {
        self.park = Some(Arc::new(AssertUnwindSafe(Box::new(f))));
        self
    }

    /// Calls `f` where a thread begins, outside of explorations.
    pub fn on_thread_start(&mut self, f: impl Fn() + Send + Sync + 'static) -> &mut Self {
        self.threads.start = Some(Arc::new(AssertUnwindSafe(Box::new(f))));
        self
    }

    /// Calls `f` where a thread ends, outside of explorations.
    pub fn on_thread_stop(&mut self, f: impl Fn() + Send + Sync + 'static) -> &mut Self {
        self.threads.stop = Some(Arc::new(AssertUnwindSafe(Box::new(f))));
        self
    }

    /// Builds the runtime.
    #[track_caller]
    pub fn build(&mut self) -> io::Result<Runtime> {
        Ok(Runtime::of(self.handle(false)))
    }

    /// Builds a runtime for what need not be `Send`.
    ///
    /// # Panics
    ///
    /// If it is to have several threads.
    #[track_caller]
    pub fn build_local(&mut self, _options: LocalOptions) -> io::Result<LocalRuntime> {
        let is_single = self.flavor == RuntimeFlavor::CurrentThread;
        assert!(is_single, "multi_thread is not supported for LocalRuntime");
        Ok(LocalRuntime::of(Runtime::of(self.handle(true))))
    }

    #[track_caller]
    fn handle(&self, is_local: bool) -> Handle {
        let workers = match self.flavor {
            RuntimeFlavor::CurrentThread => 1,
            RuntimeFlavor::MultiThread => self.workers.unwrap_or(2),
        };
        Handle::new(Making {
            flavor: self.flavor,
            workers,
            paused: self.paused,
            name: self.name.clone(),
            has_time: self.has_time,
            is_local,
            park: self.park.clone().filter(|_| self.flavor == RuntimeFlavor::CurrentThread),
            threads: self.threads.clone(),
        })
    }
}

macro_rules! at_least_one {
    ($($name:ident($argument:ident: $t:ty): $message:literal;)*) => {
        impl Builder {
            $(
                /// As in tokio; without effect here.
                ///
                /// # Panics
                ///
                /// If it is zero.
                #[track_caller]
                pub fn $name(&mut self, $argument: $t) -> &mut Self {
                    assert!($argument > 0, $message);
                    self
                }
            )*
        }
    };
}

at_least_one! {
    max_blocking_threads(val: usize): "Max blocking threads cannot be set to 0";
    global_queue_interval(val: u32): "global_queue_interval must be greater than 0";
    event_interval(val: u32): "event_interval must be greater than 0";
    max_io_events_per_tick(capacity: usize): "max_io_events_per_tick must be non-zero";
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
    enable_io();
    thread_name(val: impl Into<String>);
    thread_name_fn(f: impl Fn() -> String + Send + Sync + 'static);
    thread_stack_size(val: usize);
    thread_keep_alive(duration: Duration);
    on_thread_unpark(f: impl Fn() + Send + Sync + 'static);
    unhandled_panic(behavior: UnhandledPanic);
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder").field("flavor", &self.flavor).finish_non_exhaustive()
    }
}
