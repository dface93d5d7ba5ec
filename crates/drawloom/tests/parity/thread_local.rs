//! `std::thread_local!` and `std::thread::LocalKey`.

parity! {
    each_thread_has_its_own covers ["thread_local!", "thread::LocalKey::with", "thread::LocalKey::get", "thread::LocalKey::set"] {
        face::thread_local! {
            /// Counts.
            static COUNT: std::cell::Cell<u32> = const { std::cell::Cell::new(1) };
            pub(crate) static NAMES: std::cell::RefCell<Vec<u32>> = std::cell::RefCell::new(vec![0]);
        }
        COUNT.set(10);
        NAMES.with(|names| names.borrow_mut().push(1));
        let theirs = thread::spawn(|| {
            COUNT.set(COUNT.get() + 1);
            (COUNT.get(), NAMES.with(|names| names.borrow().clone()))
        });
        let theirs = theirs.join().unwrap();
        format!("{theirs:?} {} {:?}", COUNT.get(), NAMES.with(|names| names.borrow().clone()))
    }

    cells covers ["thread::LocalKey::take", "thread::LocalKey::replace", "thread::LocalKey::set", "thread::LocalKey::get"] {
        face::thread_local!(static CELL: std::cell::Cell<u32> = panic!("set comes first"));
        let seen = thread::spawn(|| {
            CELL.set(1);
            let old = CELL.replace(2);
            (old, CELL.take(), CELL.get())
        });
        format!("{:?}", seen.join().unwrap())
    }

    ref_cells covers [
        "thread::LocalKey::with_borrow", "thread::LocalKey::with_borrow_mut", "thread::LocalKey::set",
        "thread::LocalKey::take", "thread::LocalKey::replace",
    ] {
        face::thread_local!(static CELL: std::cell::RefCell<String> = panic!("set comes first"));
        let seen = thread::spawn(|| {
            CELL.set("a".to_owned());
            CELL.with_borrow_mut(|s| s.push('b'));
            CELL.set(CELL.with_borrow(|s| format!("{s}c")));
            let old = CELL.replace("d".to_owned());
            (old, CELL.take(), CELL.with_borrow(String::len))
        });
        format!("{:?}", seen.join().unwrap())
    }

    destructors_run_in_std_s_order_and_see_what_is_gone covers [
        "thread::LocalKey::try_with", "thread::AccessError", "thread::AccessError: {Debug,Display}", "thread::LocalKey::with",
    ] {
        type Log = sync::Arc<sync::Mutex<Vec<String>>>;
        struct Noisy(&'static str, Log);
        impl Drop for Noisy {
            fn drop(&mut self) {
                let own = FIRST.try_with(|_| ()).map_err(|e: thread::AccessError| format!("{e:?} {e}"));
                let plain = PLAIN.try_with(|p| p.get()).is_ok();
                let line = format!("{}: first {own:?}, plain {plain}", self.0);
                self.1.lock().unwrap().push(line);
            }
        }
        face::thread_local! {
            static FIRST: std::cell::RefCell<Option<Noisy>> = const { std::cell::RefCell::new(None) };
            static SECOND: std::cell::RefCell<Option<Noisy>> = std::cell::RefCell::default();
            static PLAIN: std::cell::Cell<u32> = std::cell::Cell::from(3);
        }
        let log = Log::default();
        let theirs = log.clone();
        let handle = thread::spawn(move || {
            FIRST.with(|slot| *slot.borrow_mut() = Some(Noisy("first", theirs.clone())));
            SECOND.with(|slot| *slot.borrow_mut() = Some(Noisy("second", theirs)));
        });
        handle.join().unwrap();
        format!("{:?}", log.lock().unwrap())
    }

    an_access_error_is_an_error covers ["thread::AccessError: {Clone,Copy,Eq,PartialEq,Error}"] {
        fn is<T: Clone + Copy + Eq + PartialEq + std::error::Error + Send + Sync>() {}
        is::<thread::AccessError>();
        String::new()
    }

    initialised_on_first_use covers ["thread::LocalKey::with"] {
        static MADE: std::sync::Mutex<u32> = std::sync::Mutex::new(0);
        face::thread_local!(static LAZY: u32 = { *MADE.lock().unwrap() += 1; 7 });
        let before = *MADE.lock().unwrap();
        thread::spawn(|| ()).join().unwrap();
        let unused = *MADE.lock().unwrap() - before;
        let read = thread::spawn(|| LAZY.with(|x| *x) + LAZY.with(|x| *x)).join().unwrap();
        format!("{unused} {read} {}", *MADE.lock().unwrap() - before)
    }

    an_initialiser_may_use_itself covers ["thread::LocalKey::with", "thread::LocalKey: Debug"] {
        face::thread_local!(static NESTED: std::cell::Cell<u32> = std::cell::Cell::new(nested()));
        fn nested() -> u32 {
            std::thread_local!(static DEPTH: std::cell::Cell<u32> = const { std::cell::Cell::new(0) });
            DEPTH.set(DEPTH.get() + 1);
            let value = if DEPTH.get() == 1 { NESTED.with(|n| n.get()) + 1 } else { 10 };
            DEPTH.set(DEPTH.get() - 1);
            value
        }
        format!("{} {NESTED:?}", thread::spawn(|| NESTED.with(|n| n.get())).join().unwrap())
    }
}
