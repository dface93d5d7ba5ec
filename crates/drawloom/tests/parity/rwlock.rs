//! `std::sync::RwLock`.

parity! {
    a_writer_changes_what_readers_see covers [
        "sync::RwLock::new",
        "sync::RwLock::read",
        "sync::RwLock::write",
        "sync::RwLockReadGuard",
        "sync::RwLockWriteGuard",
        "sync::RwLock: Debug",
    ] {
        let lock = sync::RwLock::new(1);
        *lock.write().unwrap() += 1;
        let (one, other) = (lock.read().unwrap(), lock.read().unwrap());
        let read = format!("{one:?} {other} {lock:?}");
        drop((one, other));
        let mut written = lock.write().unwrap();
        *written += 1;
        format!("{read} {written:?} {written} {lock:?}")
    }

    try_read_and_try_write_refuse_what_is_held covers ["sync::RwLock::try_read", "sync::RwLock::try_write"] {
        let lock = sync::RwLock::new(());
        let mut seen = Vec::new();
        let reading = lock.read().unwrap();
        seen.push((lock.try_read().is_ok(), matches!(lock.try_write(), Err(sync::TryLockError::WouldBlock))));
        drop(reading);
        let writing = lock.try_write().unwrap();
        seen.push((
            matches!(lock.try_read(), Err(sync::TryLockError::WouldBlock)),
            matches!(lock.try_write(), Err(sync::TryLockError::WouldBlock)),
        ));
        drop(writing);
        let free = lock.try_read().is_ok();
        format!("{seen:?} {free} {}", lock.try_write().is_ok())
    }

    only_a_writer_s_panic_poisons covers [
        "sync::RwLock::is_poisoned",
        "sync::RwLock::clear_poison",
        "sync::RwLock::get_mut",
        "sync::RwLock::into_inner",
    ] {
        let panic_with = |write: bool| {
            let lock = sync::Arc::new(sync::RwLock::new(1));
            let theirs = lock.clone();
            let joined = thread::spawn(move || {
                let _guards = if write { (None, Some(theirs.write())) } else { (Some(theirs.read()), None) };
                std::panic::resume_unwind(Box::new("deliberate"));
            })
            .join();
            assert!(joined.is_err());
            sync::Arc::into_inner(lock).unwrap()
        };
        let read = panic_with(false);
        let mut written = panic_with(true);
        let mut poisoned = vec![written.is_poisoned()];
        poisoned.push(written.read().is_err());
        poisoned.push(written.write().is_err());
        poisoned.push(matches!(written.try_read(), Err(sync::TryLockError::Poisoned(_))));
        poisoned.push(matches!(written.try_write(), Err(sync::TryLockError::Poisoned(_))));
        poisoned.push(written.get_mut().is_err());
        let shown = format!("{written:?}");
        written.clear_poison();
        *written.get_mut().unwrap() = 7;
        format!("{} {poisoned:?} {shown} {:?}", read.is_poisoned(), written.into_inner())
    }

    a_rwlock_is_made_in_std_s_ways covers [
        "sync::RwLock: Default",
        "sync::RwLock: From",
        "sync::RwLockWriteGuard: DerefMut",
        "sync::RwLock: Send",
        "sync::RwLock: Sync",
        "sync::RwLock: UnwindSafe",
        "sync::RwLock: RefUnwindSafe",
        "sync::RwLockReadGuard: Sync",
        "sync::RwLockWriteGuard: Sync",
    ] {
        fn traits<T: Send + Sync + std::panic::UnwindSafe + std::panic::RefUnwindSafe + Unpin>() {}
        fn shared<T: Sync>() {}
        fn covariant<'a, 'b>(
            guard: sync::RwLockReadGuard<'a, &'static str>,
            _: &'b str,
        ) -> sync::RwLockReadGuard<'a, &'b str> {
            guard
        }
        traits::<sync::RwLock<i32>>();
        shared::<sync::RwLockReadGuard<'static, std::sync::MutexGuard<'static, i32>>>();
        shared::<sync::RwLockWriteGuard<'static, std::sync::MutexGuard<'static, i32>>>();
        static SHARED: sync::RwLock<&'static str> = sync::RwLock::new("static");
        let made: sync::RwLock<i32> = sync::RwLock::default();
        let unsized_: Box<sync::RwLock<[i32]>> = Box::new(sync::RwLock::from([1, 2]));
        unsized_.write().unwrap()[0] = 5;
        format!("{made:?} {unsized_:?} {}", covariant(SHARED.read().unwrap(), "b"))
    }
}
