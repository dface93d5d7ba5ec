// expect: clean
use parking_lot::RwLock;
use std::collections::HashMap;
use std::sync::Arc;

#[derive(Default)]
pub struct Registry {
    rooms: RwLock<HashMap<String, Arc<Vec<u8>>>>,
}

impl Registry {
    pub fn room(&self, name: &str) -> Arc<Vec<u8>> {
        if let Some(room) = self.rooms.read().get(name) {
            return room.clone();
        }
        self.rooms.write().entry(name.to_string()).or_insert_with(|| Arc::new(Vec::new())).clone()
    }
}
