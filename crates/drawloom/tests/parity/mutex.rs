//! `std::sync::Mutex`.

parity! {
    lock_gives_access covers ["sync::Mutex::new", "sync::Mutex::lock", "sync::MutexGuard", "sync::Mutex: Debug"] {
        let mutex = sync::Mutex::new(1);
        *mutex.lock().unwrap() += 1;
        format!("{mutex:?} {:?}", mutex.lock().unwrap())
    }

    a_panic_poisons covers [
        "sync::Mutex::is_poisoned",
        "sync::Mutex::clear_poison",
        "sync::PoisonError",
        "thread::JoinHandle::join",
    ] {
        let mutex = sync::Arc::new(sync::Mutex::new(1));
        let theirs = mutex.clone();
        let joined = thread::spawn(move || {
            let _guard = theirs.lock();
            std::panic::resume_unwind(Box::new("deliberate"));
        })
        .join();
        let poisoned = (joined.is_err(), mutex.is_poisoned(), format!("{mutex:?}"));
        let told = mutex.lock().is_err();
        let anyway = *mutex.lock().unwrap_or_else(sync::PoisonError::into_inner);
        let tried = matches!(mutex.try_lock(), Err(sync::TryLockError::Poisoned(_)));
        mutex.clear_poison();
        format!("{poisoned:?} {told} {anyway} {tried} {:?}", mutex.lock().is_ok())
    }

    a_panic_that_is_caught_poisons covers ["sync::Mutex::get_mut", "sync::Mutex::into_inner"] {
        let mut mutex = sync::Mutex::new(1);
        let caught = std::panic::catch_unwind(|| {
            let mut guard = mutex.lock().unwrap();
            *guard = 2;
            std::panic::resume_unwind(Box::new("deliberate"));
        });
        let poisoned = (caught.is_err(), mutex.get_mut().is_err());
        mutex.clear_poison();
        *mutex.get_mut().unwrap() += 1;
        format!("{poisoned:?} {:?}", mutex.into_inner())
    }

    a_lock_taken_while_unwinding_is_not_poisoned covers ["sync::Mutex::lock"] {
        struct Locks<'a>(&'a sync::Mutex<i32>);
        impl Drop for Locks<'_> {
            fn drop(&mut self) {
                *self.0.lock().unwrap() += 1;
            }
        }
        let mutex = sync::Mutex::new(1);
        let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let _locks = Locks(&mutex);
            std::panic::resume_unwind(Box::new("deliberate"));
        }));
        format!("{} {mutex:?}", caught.is_err())
    }

    try_lock_refuses_a_held_lock covers [
        "sync::Mutex::try_lock",
        "sync::TryLockError::WouldBlock",
        "sync::TryLockError::Poisoned",
    ] {
        let mutex = sync::Mutex::new(());
        let free = mutex.try_lock().is_ok();
        let guard = mutex.lock();
        let held = matches!(mutex.try_lock(), Err(sync::TryLockError::WouldBlock));
        let shown = format!("{mutex:?}");
        drop(guard);
        format!("{free} {held} {shown}")
    }

    a_mutex_is_made_in_std_s_ways covers [
        "sync::Mutex: Default",
        "sync::Mutex: From",
        "sync::MutexGuard: Debug",
        "sync::MutexGuard: Display",
        "sync::MutexGuard: DerefMut",
    ] {
        let made: sync::Mutex<i32> = sync::Mutex::default();
        let from = sync::Mutex::from("a");
        let unsized_: Box<sync::Mutex<[i32]>> = Box::new(sync::Mutex::new([1, 2]));
        unsized_.lock().unwrap()[0] = 5;
        let guard = from.lock().unwrap();
        format!("{made:?} {guard:?} {guard} {unsized_:?}")
    }

    a_mutex_has_std_s_auto_traits covers [
        "sync::Mutex: Send",
        "sync::Mutex: Sync",
        "sync::Mutex: UnwindSafe",
        "sync::Mutex: RefUnwindSafe",
        "sync::MutexGuard: Sync",
    ] {
        fn traits<T: Send + Sync + std::panic::UnwindSafe + std::panic::RefUnwindSafe + Unpin>() {}
        fn shared<T: Sync + std::panic::UnwindSafe>() {}
        traits::<sync::Mutex<std::cell::Cell<i32>>>();
        shared::<sync::MutexGuard<'static, std::sync::MutexGuard<'static, i32>>>();
        static SHARED: sync::Mutex<i32> = sync::Mutex::new(3);
        format!("{}", SHARED.lock().unwrap())
    }

    increments_are_not_lost covers ["sync::Mutex::lock"] {
        let counter = sync::Arc::new(sync::Mutex::new(0));
        let tasks: Vec<_> = (0..3)
            .map(|_| {
                let counter = counter.clone();
                thread::spawn(move || *counter.lock().unwrap() += 1)
            })
            .collect();
        tasks.into_iter().for_each(|task| task.join().unwrap());
        format!("{:?}", sync::Arc::into_inner(counter).unwrap().into_inner())
    }
}
