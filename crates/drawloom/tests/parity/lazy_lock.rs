//! `std::sync::LazyLock`.

parity! {
    it_is_made_on_first_use covers [
        "sync::LazyLock::new",
        "sync::LazyLock::force",
        "sync::LazyLock: Deref",
        "sync::LazyLock: Debug",
    ] {
        let made = std::cell::Cell::new(0);
        let lazy = sync::LazyLock::new(|| {
            made.set(made.get() + 1);
            7
        });
        let before = (made.get(), format!("{lazy:?}"));
        let values = (*lazy, *sync::LazyLock::force(&lazy));
        format!("{before:?} {values:?} {} {lazy:?}", made.get())
    }

    a_static_is_shared covers ["sync::LazyLock::force", "sync::LazyLock: Sync"] {
        static SHARED: sync::LazyLock<sync::Mutex<Vec<i32>>> = sync::LazyLock::new(|| sync::Mutex::new(vec![1]));
        let task = thread::spawn(|| SHARED.lock().unwrap().push(2));
        SHARED.lock().unwrap().push(2);
        task.join().unwrap();
        let seen = format!("{:?}", SHARED.lock().unwrap());
        SHARED.lock().unwrap().truncate(1);
        seen
    }

    one_task_makes_it covers ["sync::LazyLock::force"] {
        let lazy = sync::Arc::new(sync::LazyLock::new(|| {
            thread::yield_now();
            sync::Mutex::new(0)
        }));
        let tasks: Vec<_> = (0..3)
            .map(|_| {
                let lazy = lazy.clone();
                thread::spawn(move || *lazy.lock().unwrap() += 1)
            })
            .collect();
        tasks.into_iter().for_each(|task| task.join().unwrap());
        let total = *lazy.lock().unwrap();
        format!("{total}")
    }

    a_default_is_made_on_first_use covers ["sync::LazyLock: Default"] {
        let lazy: sync::LazyLock<String> = sync::LazyLock::default();
        let before = format!("{lazy:?}");
        format!("{before} {:?} {lazy:?}", lazy.len())
    }

    a_panic_poisons_it_for_good covers ["sync::LazyLock::force"] {
        let message = |f: &dyn Fn() -> i32| {
            let payload = std::panic::catch_unwind(std::panic::AssertUnwindSafe(f)).unwrap_err();
            payload.downcast_ref::<&str>().map(|text| text.to_string())
        };
        let closure = {
            let text = String::from("deliberate");
            sync::LazyLock::new(move || -> i32 {
                drop(text);
                std::panic::resume_unwind(Box::new("deliberate"))
            })
        };
        let function: sync::LazyLock<i32> = sync::LazyLock::new(|| std::panic::resume_unwind(Box::new("deliberate")));
        let first = (message(&|| *closure), message(&|| *function));
        let second = (message(&|| *closure), message(&|| *function));
        format!("{first:?} {second:?} {closure:?} {function:?}")
    }

    a_lazy_lock_has_std_s_auto_traits covers ["sync::LazyLock: UnwindSafe", "sync::LazyLock: RefUnwindSafe"] {
        fn traits<T: Send + Sync + std::panic::UnwindSafe + std::panic::RefUnwindSafe + Unpin>() {}
        traits::<sync::LazyLock<i32>>();
        let value = sync::Arc::new(());
        let (used, unused) = {
            let (one, other) = (value.clone(), value.clone());
            (sync::LazyLock::new(move || one), sync::LazyLock::new(move || other))
        };
        sync::LazyLock::force(&used);
        let alive = sync::Arc::strong_count(&value);
        drop((used, unused));
        format!("{alive} {}", sync::Arc::strong_count(&value))
    }
}
