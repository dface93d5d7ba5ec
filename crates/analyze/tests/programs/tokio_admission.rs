// expect: toctou
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

pub struct Admission {
    active: AtomicUsize,
    most: usize,
}

impl Admission {
    pub async fn enter(&self) -> Result<(), &'static str> {
        if self.active.load(Ordering::Acquire) >= self.most {
            return Err("full");
        }
        self.active.fetch_add(1, Ordering::AcqRel); // HERE
        Ok(())
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
