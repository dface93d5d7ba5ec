//! `std::sync::Condvar`.

parity! {
    a_waiter_is_woken covers ["sync::Condvar::new", "sync::Condvar::wait", "sync::Condvar::notify_one"] {
        let pair = sync::Arc::new((sync::Mutex::new(false), sync::Condvar::new()));
        let theirs = pair.clone();
        let other = thread::spawn(move || {
            *theirs.0.lock().unwrap() = true;
            theirs.1.notify_one();
        });
        let mut ready = pair.0.lock().unwrap();
        while !*ready {
            ready = pair.1.wait(ready).unwrap();
        }
        let ready = *ready;
        other.join().unwrap();
        format!("{ready} {:?} {:?}", pair.1, pair.0)
    }

    everybody_is_woken covers ["sync::Condvar::wait_while", "sync::Condvar::notify_all", "sync::Condvar: Default"] {
        let pair = sync::Arc::new((sync::Mutex::new(0), sync::Condvar::default()));
        let tasks: Vec<_> = (0..3)
            .map(|_| {
                let pair = pair.clone();
                thread::spawn(move || *pair.1.wait_while(pair.0.lock().unwrap(), |go| *go == 0).unwrap())
            })
            .collect();
        *pair.0.lock().unwrap() = 7;
        pair.1.notify_all();
        format!("{:?}", tasks.into_iter().map(|task| task.join().unwrap()).collect::<Vec<_>>())
    }

    a_wait_without_a_notification_times_out covers [
        "sync::Condvar::wait_timeout",
        "sync::Condvar::wait_timeout_while",
        "sync::Condvar::wait_timeout_ms",
        "sync::WaitTimeoutResult::timed_out",
    ] {
        let (mutex, condvar) = (sync::Mutex::new(1), sync::Condvar::new());
        let short = std::time::Duration::from_millis(2);
        let (guard, first) = condvar.wait_timeout(mutex.lock().unwrap(), short).unwrap();
        let (guard, second) = condvar.wait_timeout_while(guard, short, |value| *value == 1).unwrap();
        let (guard, satisfied) = condvar.wait_timeout_while(guard, short, |value| *value == 2).unwrap();
        #[allow(deprecated)]
        let (guard, woken) = condvar.wait_timeout_ms(guard, 1).unwrap();
        let copy = first;
        format!("{first:?} {} {} {woken} {} {}", second.timed_out(), satisfied.timed_out(), copy == second, *guard)
    }

    a_wait_with_a_timeout_can_be_woken covers ["sync::Condvar::wait_timeout", "sync::Condvar::wait_timeout_while"] {
        let pair = sync::Arc::new((sync::Mutex::new(0), sync::Condvar::new()));
        let long = std::time::Duration::from_secs(3600);
        let theirs = pair.clone();
        let other = thread::spawn(move || {
            let guard = theirs.0.lock().unwrap();
            let (mut guard, result) = theirs.1.wait_timeout_while(guard, long, |value| *value == 0).unwrap();
            *guard = 2;
            theirs.1.notify_all();
            result.timed_out()
        });
        let mut guard = pair.0.lock().unwrap();
        *guard = 1;
        pair.1.notify_all();
        while *guard == 1 {
            guard = pair.1.wait_timeout(guard, std::time::Duration::MAX).unwrap().0;
        }
        let value = *guard;
        drop(guard);
        format!("{value} {:?}", other.join().unwrap())
    }

    a_wait_tells_that_the_mutex_is_poisoned covers ["sync::Condvar::wait", "sync::Condvar::wait_timeout"] {
        let pair = sync::Arc::new((sync::Mutex::new(0), sync::Condvar::new()));
        let guard = pair.0.lock().unwrap();
        let theirs = pair.clone();
        let other = thread::spawn(move || {
            let mut guard = theirs.0.lock().unwrap();
            *guard = 1;
            theirs.1.notify_one();
            std::panic::resume_unwind(Box::new("deliberate"));
        });
        let waited = pair.1.wait_while(guard, |value| *value == 0);
        let error = waited.map(|guard| *guard).map_err(|error| **error.get_ref());
        let guard = pair.0.lock().unwrap_or_else(sync::PoisonError::into_inner);
        let timed = pair.1.wait_timeout(guard, std::time::Duration::from_millis(1));
        let timed = timed.map(|_| ()).map_err(|error| error.into_inner().1);
        format!("{error:?} {timed:?} {}", other.join().is_err())
    }

    a_condvar_has_std_s_auto_traits covers [
        "sync::Condvar: Debug",
        "sync::Condvar: UnwindSafe",
        "sync::Condvar: RefUnwindSafe",
    ] {
        fn traits<T: Send + Sync + std::panic::UnwindSafe + std::panic::RefUnwindSafe + Unpin>() {}
        traits::<sync::Condvar>();
        traits::<sync::WaitTimeoutResult>();
        static SHARED: sync::Condvar = sync::Condvar::new();
        SHARED.notify_one();
        SHARED.notify_all();
        format!("{SHARED:?}")
    }
}
