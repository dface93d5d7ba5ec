// expect: toctou
use std::collections::BTreeMap;
use std::sync::{Arc, RwLock};

pub struct Snapshot {
    working: RwLock<Option<BTreeMap<String, i64>>>,
    base: Arc<BTreeMap<String, i64>>,
}

impl Snapshot {
    pub fn set(&self, key: String, value: i64) {
        if self.working.read().unwrap().is_none() {
            let copy = (*self.base).clone();
            *self.working.write().unwrap() = Some(copy); // HERE
        }
        if let Some(map) = self.working.write().unwrap().as_mut() {
            map.insert(key, value);
        }
    }

    pub fn revert(&self) {
        *self.working.write().unwrap() = None;
    }
}
