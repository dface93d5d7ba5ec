// expect: toctou
use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, RwLock};

static NAMED: OnceLock<RwLock<HashMap<String, Arc<Mutex<()>>>>> = OnceLock::new();

fn all() -> &'static RwLock<HashMap<String, Arc<Mutex<()>>>> {
    NAMED.get_or_init(|| RwLock::new(HashMap::new()))
}

fn make_sure(name: &str) {
    let known = all().read().unwrap().contains_key(name);
    if !known {
        all().write().unwrap().insert(name.to_owned(), Arc::new(Mutex::new(()))); // HERE
    }
}

pub fn alone<R>(name: &str, run: impl FnOnce() -> R) -> R {
    make_sure(name);
    let lock = all().read().unwrap()[name].clone();
    let _guard = lock.lock().unwrap();
    run()
}
