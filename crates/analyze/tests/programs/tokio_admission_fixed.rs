// expect: clean
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

pub struct Admission {
    active: AtomicUsize,
    most: usize,
}

impl Admission {
    pub async fn enter(&self) -> Result<(), &'static str> {
        self.active
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, |now| (now < self.most).then_some(now + 1))
            .map(|_| ())
            .map_err(|_| "full")
    }

    pub fn leave(&self) {
        self.active.fetch_sub(1, Ordering::AcqRel);
    }
}

pub async fn handle(admission: Arc<Admission>) {
    if admission.enter().await.is_ok() {
        tokio::task::yield_now().await;
        admission.leave();
    }
}
