//! `std::sync::OnceLock`.

parity! {
    it_is_set_once covers ["sync::OnceLock::new", "sync::OnceLock::get", "sync::OnceLock::set"] {
        let cell = sync::OnceLock::new();
        let before = cell.get().copied();
        let set = (cell.set(1), cell.set(2));
        format!("{before:?} {set:?} {:?} {}", cell.get(), cell.get_or_init(|| 3))
    }

    one_initialiser_runs covers ["sync::OnceLock::get_or_init"] {
        let cell = sync::Arc::new((sync::OnceLock::new(), sync::Mutex::new(0)));
        let tasks: Vec<_> = (0..3)
            .map(|_| {
                let cell = cell.clone();
                thread::spawn(move || {
                    *cell.0.get_or_init(|| {
                        *cell.1.lock().unwrap() += 1;
                        7
                    })
                })
            })
            .collect();
        let values: Vec<_> = tasks.into_iter().map(|task| task.join().unwrap()).collect();
        let runs = *cell.1.lock().unwrap();
        format!("{values:?} {runs}")
    }

    a_panic_leaves_it_empty covers ["sync::OnceLock::get_or_init"] {
        let cell = sync::OnceLock::new();
        let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            cell.get_or_init(|| std::panic::resume_unwind(Box::new("deliberate")));
        }));
        let (failed, empty) = (caught.is_err(), cell.get().is_none());
        format!("{failed} {empty} {}", cell.get_or_init(|| 1))
    }

    its_owner_needs_no_lock covers ["sync::OnceLock::get_mut", "sync::OnceLock::take", "sync::OnceLock::into_inner"] {
        let mut cell = sync::OnceLock::new();
        let empty = (cell.get_mut().copied(), cell.take());
        cell.set(1).unwrap();
        *cell.get_mut().unwrap() += 1;
        let taken = (cell.take(), cell.get().copied());
        cell.set(5).unwrap();
        format!("{empty:?} {taken:?} {:?} {:?}", cell.into_inner(), sync::OnceLock::<i32>::new().into_inner())
    }

    a_once_lock_has_std_s_traits covers [
        "sync::OnceLock: Clone",
        "sync::OnceLock: Debug",
        "sync::OnceLock: Default",
        "sync::OnceLock: From",
        "sync::OnceLock: PartialEq",
        "sync::OnceLock: Eq",
        "sync::OnceLock: Send",
        "sync::OnceLock: Sync",
        "sync::OnceLock: UnwindSafe",
        "sync::OnceLock: RefUnwindSafe",
    ] {
        fn traits<T: Send + Sync + std::panic::UnwindSafe + std::panic::RefUnwindSafe + Unpin + Eq>() {}
        fn sent<T: Send>() {}
        traits::<sync::OnceLock<i32>>();
        sent::<sync::OnceLock<std::cell::Cell<i32>>>();
        let empty = sync::OnceLock::<i32>::default();
        let mut given = sync::OnceLock::from(1);
        let copy = given.clone();
        let shown = format!("{empty:?} {given:?} {:?}", empty.clone());
        let equal = (copy == given, copy == empty);
        *given.get_mut().unwrap() = 2;
        let taken = given.take();
        format!("{shown} {equal:?} {taken:?} {given:?} {:?}", copy.into_inner())
    }

    a_value_is_dropped_with_its_cell covers ["sync::OnceLock::set"] {
        let value = sync::Arc::new(());
        let cell = sync::OnceLock::new();
        cell.set(value.clone()).unwrap();
        let given = sync::OnceLock::from(value.clone());
        let alive = sync::Arc::strong_count(&value);
        drop((cell, given));
        let cell = sync::OnceLock::new();
        let later = 5;
        cell.set(&later).unwrap();
        format!("{alive} {} {cell:?}", sync::Arc::strong_count(&value))
    }
}
