//! `std::thread::scope`.

parity! {
    scoped_threads_borrow covers [
        "thread::scope", "thread::Scope::spawn", "thread::ScopedJoinHandle::join", "thread::ScopedJoinHandle::thread",
    ] {
        let numbers = [1, 2, 3];
        let mut sum = 0;
        let length = thread::scope(|s| {
            s.spawn(|| sum = numbers.iter().sum::<i32>());
            let handle: thread::ScopedJoinHandle<'_, usize> = s.spawn(|| numbers.len());
            let nameless = handle.thread().name().is_none();
            (handle.join().unwrap(), nameless)
        });
        format!("{sum} {length:?}")
    }

    a_scope_waits_for_threads_of_threads covers ["thread::Scope::spawn"] {
        let count = sync::atomic::AtomicU32::new(0);
        thread::scope(|s| {
            for _ in 0..2 {
                s.spawn(|| {
                    s.spawn(|| count.fetch_add(1, sync::atomic::Ordering::SeqCst));
                    count.fetch_add(10, sync::atomic::Ordering::SeqCst);
                });
            }
        });
        format!("{}", count.into_inner())
    }

    spawn_scoped_names covers ["thread::Builder::spawn_scoped"] {
        let word = "warp".to_owned();
        let said = thread::scope(|s| {
            let builder = thread::Builder::new().name(word.clone());
            let handle = builder.spawn_scoped(s, || thread::current().name() == Some(&word)).unwrap();
            (handle.thread().name().map(str::to_owned), handle.join().unwrap())
        });
        format!("{said:?}")
    }

    an_unjoined_panic_leaves_the_scope covers ["thread::scope"] {
        let left = std::panic::catch_unwind(|| {
            thread::scope(|s| {
                s.spawn(|| std::panic::resume_unwind(Box::new(())));
            });
        });
        let payload = left.unwrap_err();
        format!("{:?}", payload.downcast_ref::<&str>())
    }

    a_joined_panic_does_not covers ["thread::ScopedJoinHandle::join"] {
        let joined: thread::Result<()> = thread::scope(|s| s.spawn(|| std::panic::resume_unwind(Box::new(3_u8))).join());
        format!("{:?}", joined.unwrap_err().downcast_ref::<u8>())
    }

    a_panic_of_the_closure_still_waits covers ["thread::scope"] {
        let mut value = 0;
        let left = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            thread::scope(|s| {
                s.spawn(|| {
                    thread::yield_now();
                    value = 1;
                });
                std::panic::resume_unwind(Box::new("closure"));
            });
        }));
        let message = left.unwrap_err().downcast_ref::<&str>().copied();
        format!("{message:?} {value}")
    }

    is_finished_and_debug covers ["thread::ScopedJoinHandle::is_finished", "thread::{ScopedJoinHandle,Scope}: Debug"] {
        thread::scope(|s| {
            let handle = s.spawn(|| ());
            while !handle.is_finished() {
                thread::yield_now();
            }
            let shown = format!("{handle:?}");
            handle.join().unwrap();
            format!("{shown} {}", format!("{s:?}").starts_with("Scope { num_running_threads: 0, a_thread_panicked: false, main_thread: Thread {"))
        })
    }

    handles_can_be_sent covers ["thread::ScopedJoinHandle", "thread::Scope"] {
        fn is<T: Send + Sync>() {}
        is::<thread::ScopedJoinHandle<'static, std::cell::Cell<()>>>();
        is::<thread::Scope<'static, 'static>>();
        thread::scope(|s| {
            let inner = s.spawn(|| 4);
            format!("{}", s.spawn(move || inner.join().unwrap()).join().unwrap())
        })
    }
}
