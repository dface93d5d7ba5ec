//! `std::sync::Once`.

parity! {
    it_runs_once covers ["sync::Once::new", "sync::Once::call_once", "sync::Once::is_completed"] {
        let once = sync::Arc::new((sync::Once::new(), sync::Mutex::new(0)));
        let before = once.0.is_completed();
        let tasks: Vec<_> = (0..3)
            .map(|_| {
                let once = once.clone();
                thread::spawn(move || {
                    once.0.call_once(|| *once.1.lock().unwrap() += 1);
                    once.0.is_completed()
                })
            })
            .collect();
        let after: Vec<_> = tasks.into_iter().map(|task| task.join().unwrap()).collect();
        let runs = *once.1.lock().unwrap();
        format!("{before} {after:?} {runs}")
    }

    a_panic_poisons_it_until_forced covers [
        "sync::Once::call_once_force",
        "sync::OnceState",
        "sync::OnceState::is_poisoned",
        "sync::OnceState: Debug",
    ] {
        let once = sync::Once::new();
        let fails = |f: &dyn Fn()| std::panic::catch_unwind(std::panic::AssertUnwindSafe(f)).is_err();
        let panicked = fails(&|| once.call_once(|| std::panic::resume_unwind(Box::new("deliberate"))));
        let mut seen = Vec::new();
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            once.call_once_force(|state| {
                seen.push(format!("{state:?}"));
                std::panic::resume_unwind(Box::new("deliberate"));
            });
        }))
        .unwrap_err();
        let completed = once.is_completed();
        once.call_once_force(|state| seen.push(format!("{} {state:?}", state.is_poisoned())));
        once.call_once_force(|_| seen.push("again".into()));
        once.call_once(|| unreachable!());
        format!("{panicked} {completed} {seen:?} {}", once.is_completed())
    }

    a_poisoned_one_panics covers ["sync::Once::call_once"] {
        let message = |result: std::thread::Result<()>| {
            let payload = result.unwrap_err();
            let text = payload.downcast_ref::<&str>().map(|text| text.to_string());
            text.or_else(|| payload.downcast_ref::<String>().cloned())
        };
        let once = sync::Arc::new(sync::Once::new());
        let run = |f: fn(&sync::Once)| {
            let once = once.clone();
            message(thread::spawn(move || f(&once)).join())
        };
        let first = run(|once| once.call_once(|| std::panic::resume_unwind(Box::new("deliberate"))));
        let second = run(|once| once.call_once(|| ()));
        format!("{first:?} {second:?}")
    }

    a_once_has_std_s_auto_traits covers [
        "sync::ONCE_INIT", "sync::Once: {Debug,UnwindSafe,RefUnwindSafe}",
    ] {
        fn traits<T: Send + Sync + std::panic::UnwindSafe + std::panic::RefUnwindSafe + Unpin>() {}
        fn sent<T: Send + std::panic::UnwindSafe + Unpin>() {}
        traits::<sync::Once>();
        sent::<sync::OnceState>();
        #[allow(deprecated)]
        let once = sync::ONCE_INIT;
        once.call_once(|| ());
        format!("{once:?} {}", once.is_completed())
    }
}
