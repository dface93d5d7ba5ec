//! Items that std has not had for as long as our minimum version: not every std that we are built
//! with could be compared with, so what std's documentation says is written out.

use drawloom::sync::atomic;
use drawloom::sync::atomic::Ordering::SeqCst;
use drawloom::{sync, thread};

macro_rules! newer {
    ($($name:ident covers [$($item:literal),* $(,)?] $body:block)*) => {
        $(
            #[test]
            fn $name() {
                let body = || $body;
                body();
                let config = "random(iterations = 10), threads = 1, leaks = false";
                let exploration = drawloom::explore(config.parse().expect("a valid configuration"), body);
                crate::nothing_wrong(stringify!($name), &exploration);
            }
        )*
        /// The items that each test of this file exercises.
        pub(crate) const COVERS: &[(&str, &[&str])] = &[$((stringify!($name), &[$($item),*])),*];
    };
}

newer! {
    cells_are_updated_and_taken_apart covers [
        "cell::Cell::{update,as_array_of_cells}", "cell::Cell: AsRef",
    ] {
        let cell = drawloom::cell::Cell::new(2);
        cell.update(|x| x * 5);
        assert_eq!(cell.get(), 10);

        let array = drawloom::cell::Cell::new([1, 2]);
        array.as_array_of_cells()[1].set(5);
        let parts: &[std::cell::Cell<i32>; 2] = array.as_ref();
        let slice: &[std::cell::Cell<i32>] = array.as_ref();
        assert_eq!((parts[0].get(), slice[1].get()), (1, 5));
        let unsized_array: &drawloom::cell::Cell<[i32]> = &array;
        let slice: &[std::cell::Cell<i32>] = unsized_array.as_ref();
        assert_eq!(slice.len(), 2);
    }

    hints_are_only_hints covers ["hint::{select_unpredictable,cold_path}"] {
        assert_eq!(drawloom::hint::select_unpredictable(true, 1, 2), 1);
        assert_eq!(drawloom::hint::select_unpredictable(false, 1, 2), 2);
        drawloom::hint::cold_path();
    }

    atomics_are_updated covers ["sync::atomic::Atomic{int}::{update,try_update}"] {
        macro_rules! run {
            ($($Name:ident)*) => {$(
                let a = atomic::$Name::new(1);
                assert_eq!(a.update(SeqCst, SeqCst, |x| x + 1), 1);
                assert_eq!(a.try_update(SeqCst, SeqCst, |x| Some(x * 2)), Ok(2));
                assert_eq!(a.try_update(SeqCst, SeqCst, |_| None), Err(4));
                assert_eq!(a.load(SeqCst), 4);
            )*};
        }
        run!(AtomicU8 AtomicU16 AtomicU32 AtomicU64 AtomicUsize AtomicI8 AtomicI16 AtomicI32 AtomicI64 AtomicIsize);
    }

    booleans_and_pointers_are_updated covers [
        "sync::atomic::AtomicBool::{update,try_update}", "sync::atomic::AtomicPtr::{update,try_update}",
    ] {
        let a = atomic::AtomicBool::new(false);
        assert!(!a.update(SeqCst, SeqCst, |x| !x));
        assert_eq!(a.try_update(SeqCst, SeqCst, |x| Some(!x)), Ok(true));
        assert_eq!(a.try_update(SeqCst, SeqCst, |_| None), Err(false));

        let mut values = [1, 2];
        let first = values.as_mut_ptr();
        let p = atomic::AtomicPtr::new(first);
        assert_eq!(p.update(SeqCst, SeqCst, |x| x.wrapping_add(1)), first);
        assert_eq!(p.try_update(SeqCst, SeqCst, |_| None), Err(first.wrapping_add(1)));
    }

    pointers_are_calculated_with covers [
        "sync::atomic::AtomicPtr::{fetch_ptr_add,fetch_ptr_sub,fetch_byte_add,fetch_byte_sub}",
        "sync::atomic::AtomicPtr::{fetch_or,fetch_and,fetch_xor}",
    ] {
        let mut values = [10u32, 20, 30];
        let base = values.as_mut_ptr();
        let p = atomic::AtomicPtr::new(base);
        assert_eq!(p.fetch_ptr_add(2, SeqCst), base);
        assert_eq!(p.fetch_ptr_sub(1, SeqCst), base.wrapping_add(2));
        assert_eq!(p.fetch_byte_add(4, SeqCst), base.wrapping_add(1));
        assert_eq!(p.fetch_byte_sub(8, SeqCst), base.wrapping_add(2));
        assert_eq!(p.fetch_or(1, SeqCst), base);
        assert_eq!(p.fetch_and(!1, SeqCst).addr(), base.addr() | 1);
        assert_eq!(p.fetch_xor(2, SeqCst), base);
        assert_eq!(p.fetch_xor(2, SeqCst).addr(), base.addr() ^ 2);
        // SAFETY: it is the first element again, with the provenance of the array.
        assert_eq!(unsafe { *p.load(SeqCst) }, 10);
    }

    a_write_lock_is_downgraded covers ["sync::RwLockWriteGuard::downgrade"] {
        let lock = sync::Arc::new(sync::RwLock::new(0));
        let mut writing = lock.write().unwrap();
        *writing = 1;
        let others: Vec<_> = (0..2)
            .map(|_| {
                let lock = lock.clone();
                thread::spawn(move || *lock.write().unwrap() += 10)
            })
            .collect();
        let reading = sync::RwLockWriteGuard::downgrade(writing);
        assert_eq!(*reading, 1, "no writer comes in between");
        assert!(lock.try_write().is_err());
        drop(reading);
        others.into_iter().for_each(|other| other.join().unwrap());
        assert_eq!(*lock.read().unwrap(), 21);
        assert!(!lock.is_poisoned());
    }

    a_wait_for_a_once_ends_when_it_has_run covers ["sync::Once::{wait,wait_force}"] {
        let once = sync::Arc::new((sync::Once::new(), sync::Mutex::new(0)));
        let waiting = [true, false].map(|force| {
            let once = once.clone();
            thread::spawn(move || {
                if force {
                    once.0.wait_force();
                } else {
                    once.0.wait();
                }
                *once.1.lock().unwrap()
            })
        });
        once.0.call_once(|| *once.1.lock().unwrap() = 5);
        once.0.wait();
        assert_eq!(waiting.map(|task| task.join().unwrap()), [5, 5]);
    }

    only_a_forced_wait_outlasts_a_panic covers ["sync::Once::{wait,wait_force}"] {
        let once = sync::Arc::new(sync::Once::new());
        let in_a_task = |act: fn(&sync::Once)| {
            let once = once.clone();
            thread::spawn(move || act(&once))
        };
        let forced = in_a_task(sync::Once::wait_force);
        let failed = in_a_task(|once| once.call_once_force(|_| std::panic::resume_unwind(Box::new("deliberate"))));
        let other = in_a_task(sync::Once::wait);
        assert!(failed.join().is_err());
        assert!(other.join().is_err(), "it was poisoned before it waited or while it did");
        once.call_once_force(|_| ());
        forced.join().unwrap();
    }

    a_wait_for_a_value_ends_when_it_is_set covers ["sync::OnceLock::wait"] {
        let cell = sync::Arc::new(sync::OnceLock::new());
        let theirs = cell.clone();
        let waiting = thread::spawn(move || *theirs.wait());
        assert_eq!(cell.set(3), Ok(()));
        assert_eq!((waiting.join().unwrap(), *cell.wait()), (3, 3));
    }

    the_owner_of_a_lazy_value_can_change_it covers [
        "sync::LazyLock::{get,get_mut,force_mut}", "sync::LazyLock: DerefMut",
    ] {
        let text = String::from("a");
        let mut closure = sync::LazyLock::new(move || text);
        let mut function: sync::LazyLock<String> = sync::LazyLock::default();
        assert_eq!((sync::LazyLock::get(&closure), sync::LazyLock::get(&function)), (None, None));
        assert_eq!(sync::LazyLock::get_mut(&mut closure), None);
        assert_eq!(sync::LazyLock::get_mut(&mut function), None);
        sync::LazyLock::force_mut(&mut closure).push('b');
        closure.push('c');
        function.push('d');
        sync::LazyLock::get_mut(&mut function).unwrap().push('e');
        assert_eq!(sync::LazyLock::get(&closure).map(String::as_str), Some("abc"));
        assert_eq!(*function, "de");
    }
}
