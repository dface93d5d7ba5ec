//! Tokio as a runtime of processes.

use std::future::Future;
use std::pin::Pin;
use std::time::{Duration, Instant};

use tokio::runtime::Handle;

use super::Runtime;

impl Runtime for Handle {
    fn spawn(&self, process: Pin<Box<dyn Future<Output = ()> + Send>>) {
        // Nobody joins it: who wants to know of its end monitors it.
        drop(Handle::spawn(self, process));
    }

    fn sleep(&self, time: Duration) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        // A timer belongs to the runtime in which it is made.
        let _entered = self.enter();
        Box::pin(tokio::time::sleep(time))
    }

    fn now(&self) -> Instant {
        let _entered = self.enter();
        tokio::time::Instant::now().into_std()
    }
}
