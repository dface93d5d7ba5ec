// expect: toctou
use parking_lot::RwLock;
use std::collections::HashMap;
use std::sync::Arc;

#[derive(Default)]
pub struct Registry {
    rooms: RwLock<HashMap<String, Arc<Vec<u8>>>>,
}

impl Registry {
    pub fn room(&self, name: &str) -> Arc<Vec<u8>> {
        let known = self.rooms.read().contains_key(name);
        if !known {
            self.rooms.write().insert(name.to_string(), Arc::new(Vec::new())); // HERE
        }
        self.rooms.read()[name].clone()
    }
}
