//! `std::sync::Mutex`.

parity! {
    lock_gives_access covers ["sync::Mutex::new", "sync::Mutex::lock", "sync::MutexGuard"] {
        let mutex = sync::Mutex::new(1);
        *mutex.lock().unwrap() += 1;
        format!("{mutex:?} {:?}", mutex.lock().unwrap())
    }

    a_panic_poisons covers ["sync::Mutex::is_poisoned", "sync::Mutex::clear_poison", "thread::JoinHandle::join"] {
        let mutex = sync::Arc::new(sync::Mutex::new(1));
        let theirs = mutex.clone();
        let joined = thread::spawn(move || {
            let _guard = theirs.lock();
            std::panic::resume_unwind(Box::new("deliberate"));
        })
        .join();
        let poisoned = (joined.is_err(), mutex.is_poisoned(), mutex.lock().is_err());
        mutex.clear_poison();
        format!("{poisoned:?} {:?}", mutex.lock().is_ok())
    }

    try_lock_refuses_a_held_lock covers ["sync::Mutex::try_lock", "sync::TryLockError::WouldBlock"] {
        let mutex = sync::Mutex::new(());
        let free = mutex.try_lock().is_ok();
        let guard = mutex.lock();
        let held = matches!(mutex.try_lock(), Err(sync::TryLockError::WouldBlock));
        drop(guard);
        format!("{free} {held}")
    }
}
