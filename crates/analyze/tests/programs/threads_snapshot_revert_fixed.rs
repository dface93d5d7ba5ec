// expect: clean
use std::collections::BTreeMap;
use std::sync::{Arc, RwLock};

pub struct Snapshot {
    working: RwLock<Option<BTreeMap<String, i64>>>,
    base: Arc<BTreeMap<String, i64>>,
}

impl Snapshot {
    pub fn set(&self, key: String, value: i64) {
        let mut working = self.working.write().unwrap();
        let map = working.get_or_insert_with(|| (*self.base).clone());
        map.insert(key, value);
    }

    pub fn revert(&self) {
        *self.working.write().unwrap() = None;
    }
}
