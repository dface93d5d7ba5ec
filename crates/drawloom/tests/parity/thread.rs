//! `std::thread`: spawning, joining, parking, sleeping.

parity! {
    spawn_and_join covers ["thread::spawn", "thread::JoinHandle::join", "thread::Result"] {
        let mut total = 1;
        let handle = thread::spawn(move || { total += 1; total });
        let joined: thread::Result<i32> = handle.join();
        format!("{:?}", joined.unwrap())
    }

    a_panic_is_received_by_join covers ["thread::JoinHandle::join"] {
        let joined: thread::Result<()> = thread::spawn(|| std::panic::resume_unwind(Box::new(7_u8))).join();
        let payload = joined.unwrap_err();
        format!("{:?}", payload.downcast_ref::<u8>())
    }

    builder_names covers [
        "thread::Builder::new", "thread::Builder::name", "thread::Builder::stack_size", "thread::Builder::spawn",
        "thread::Thread::name", "thread::current", "thread::JoinHandle::thread",
    ] {
        let builder = thread::Builder::new().name("weaver".into()).stack_size(256 * 1024);
        let handle = builder.spawn(|| thread::current().name().map(str::to_owned)).unwrap();
        let outside = handle.thread().name().map(str::to_owned);
        let nameless = thread::spawn(|| thread::current().name().map(str::to_owned)).join().unwrap();
        format!("{outside:?} {:?} {nameless:?}", handle.join().unwrap())
    }

    a_name_with_a_null_byte_is_refused covers ["thread::Builder::name"] {
        let spawned = std::panic::catch_unwind(|| {
            thread::Builder::new().name("a\0b".into()).spawn(|| ()).map(|handle| handle.join().is_ok())
        });
        format!("{}", spawned.is_err())
    }

    spawn_unchecked_borrows covers ["thread::Builder::spawn_unchecked"] {
        let mut value = 1;
        let borrowed = &mut value;
        // SAFETY: the thread is joined before `value` goes.
        let handle = unsafe { thread::Builder::new().spawn_unchecked(move || *borrowed += 1) };
        handle.unwrap().join().unwrap();
        format!("{value}")
    }

    ids_tell_threads_apart covers ["thread::Thread::id", "thread::ThreadId", "thread::ThreadId: {Clone,Copy,Eq,Hash,PartialEq}"] {
        let mine: thread::ThreadId = thread::current().id();
        let handle = thread::spawn(|| thread::current().id());
        let seen_from_here = handle.thread().id();
        let theirs = handle.join().unwrap();
        let set: std::collections::HashSet<_> = [mine, theirs, seen_from_here, thread::current().id()].into();
        let copied = mine;
        format!("{} {} {}", theirs == seen_from_here, mine == copied, set.len())
    }

    debug_forms covers ["thread::{JoinHandle,Thread,ThreadId,Builder}: Debug", "thread::Thread: Clone"] {
        let builder = thread::Builder::new().name("n".into());
        let is_builder = format!("{builder:?}").starts_with("Builder { name: Some(\"n\"), stack_size: None");
        let handle = builder.spawn(|| ()).unwrap();
        let thread: thread::Thread = handle.thread().clone();
        let id = format!("{:?}", thread.id());
        let is_number = id.strip_prefix("ThreadId(").and_then(|s| s.strip_suffix(")")).is_some_and(|n| n.parse::<u64>().is_ok());
        let shown = format!("{thread:?}").replace(&id, "ID");
        let handle_shown = format!("{handle:?}");
        handle.join().unwrap();
        format!("{is_number} {is_builder} {shown} {handle_shown}")
    }

    is_finished_after_the_end covers ["thread::JoinHandle::is_finished"] {
        let handle = thread::spawn(|| ());
        while !handle.is_finished() {
            thread::yield_now();
        }
        format!("{:?}", handle.join())
    }

    unpark_before_park_is_remembered_once covers [
        "thread::park", "thread::Thread::unpark", "thread::park_timeout",
    ] {
        let me = thread::current();
        me.unpark();
        me.unpark();
        thread::park();
        thread::park_timeout(time::Duration::from_millis(1));
        thread::park_timeout(time::Duration::ZERO);
        "returned".to_owned()
    }

    unpark_wakes_another covers ["thread::park", "thread::Thread::unpark"] {
        let flag = sync::Arc::new(sync::atomic::AtomicBool::new(false));
        let theirs = flag.clone();
        let sleeper = thread::spawn(move || {
            while !theirs.load(sync::atomic::Ordering::SeqCst) {
                thread::park();
            }
        });
        flag.store(true, sync::atomic::Ordering::SeqCst);
        sleeper.thread().unpark();
        format!("{:?}", sleeper.join())
    }

    #[allow(deprecated)]
    time_passes_in_sleep covers ["thread::sleep", "thread::sleep_ms", "thread::park_timeout_ms", "thread::yield_now"] {
        let before = time::Instant::now();
        thread::sleep(time::Duration::from_millis(2));
        thread::sleep(time::Duration::ZERO);
        #[allow(deprecated)]
        thread::sleep_ms(1);
        #[allow(deprecated)]
        thread::park_timeout_ms(1);
        thread::yield_now();
        format!("{}", before.elapsed() >= time::Duration::from_millis(3))
    }

    panicking_is_seen_by_destructors covers ["thread::panicking"] {
        struct Witness(sync::mpsc::Sender<bool>);
        impl Drop for Witness {
            fn drop(&mut self) {
                let _ = self.0.send(thread::panicking());
            }
        }
        let (sender, receiver) = sync::mpsc::channel();
        let witness = Witness(sender);
        let joined: thread::Result<()> = thread::spawn(move || {
            let _witness = witness;
            std::panic::resume_unwind(Box::new(()));
        })
        .join();
        format!("{} {:?} {}", thread::panicking(), receiver.recv(), joined.is_err())
    }

    parallelism_is_known covers ["thread::available_parallelism"] {
        format!("{}", thread::available_parallelism().is_ok())
    }

    a_handle_can_be_sent covers ["thread::JoinHandle: {Send,Sync}"] {
        fn is<T: Send + Sync>() {}
        is::<thread::JoinHandle<std::rc::Rc<()>>>();
        is::<thread::Thread>();
        is::<thread::ThreadId>();
        let inner = thread::spawn(|| 5);
        format!("{:?}", thread::spawn(move || inner.join().unwrap()).join().unwrap())
    }
}
