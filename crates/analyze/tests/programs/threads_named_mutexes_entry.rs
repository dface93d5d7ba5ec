// expect: clean
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, RwLock};

static NAMED: LazyLock<RwLock<HashMap<String, Arc<Mutex<()>>>>> = LazyLock::new(|| RwLock::new(HashMap::new()));

fn lock_of(name: &str) -> Arc<Mutex<()>> {
    if let Some(lock) = NAMED.read().unwrap().get(name) {
        return Arc::clone(lock);
    }
    let mut all = NAMED.write().unwrap();
    Arc::clone(all.entry(name.to_owned()).or_default())
}

pub fn alone<R>(name: &str, run: impl FnOnce() -> R) -> R {
    let lock = lock_of(name);
    let _guard = lock.lock().unwrap();
    run()
}
