//! `std::sync::atomic`.
//!
//! `{int}` in a list of items stands for the ten integer types.
#![allow(deprecated)]

/// What `$run` comes to for each integer type.
macro_rules! for_each_integer {
    ($run:ident) => {
        [
            $run!(AtomicU8 u8),
            $run!(AtomicU16 u16),
            $run!(AtomicU32 u32),
            $run!(AtomicU64 u64),
            $run!(AtomicUsize usize),
            $run!(AtomicI8 i8),
            $run!(AtomicI16 i16),
            $run!(AtomicI32 i32),
            $run!(AtomicI64 i64),
            $run!(AtomicIsize isize),
        ]
        .join("\n")
    };
}

parity! {
    integers_are_read_and_written covers [
        "sync::atomic::Atomic{int}", "sync::atomic::Atomic{int}::{new,load,store,swap}",
        "sync::atomic::Ordering", "sync::atomic::Ordering::{Relaxed,Acquire,Release,AcqRel,SeqCst}",
    ] {
        use sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
        macro_rules! run {
            ($Name:ident $value:ty) => {{
                static SHARED: sync::atomic::$Name = sync::atomic::$Name::new(7);
                SHARED.store(7, SeqCst);
                let before = SHARED.load(Relaxed);
                SHARED.store(<$value>::MAX, Release);
                let (stored, old) = (SHARED.load(Acquire), SHARED.swap(<$value>::MIN, AcqRel));
                format!("{before} {stored} {old} {}", SHARED.load(SeqCst))
            }};
        }
        for_each_integer!(run)
    }

    integers_are_compared_and_exchanged covers [
        "sync::atomic::Atomic{int}::{compare_and_swap,compare_exchange,compare_exchange_weak,fetch_update}",
    ] {
        use sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, SeqCst};
        macro_rules! run {
            ($Name:ident $value:ty) => {{
                let a = sync::atomic::$Name::new(1);
                let swapped = (a.compare_and_swap(1, 2, SeqCst), a.compare_and_swap(1, 3, SeqCst));
                let exchanged = (a.compare_exchange(2, 4, AcqRel, Acquire), a.compare_exchange(2, 5, SeqCst, Relaxed));
                let refused = a.compare_exchange_weak(9, 6, SeqCst, SeqCst);
                while a.compare_exchange_weak(4, 6, SeqCst, SeqCst).is_err() {}
                let updated = a.fetch_update(SeqCst, SeqCst, |x| x.checked_add(1));
                let stopped = a.fetch_update(SeqCst, SeqCst, |_| None);
                format!("{swapped:?} {exchanged:?} {refused:?} {updated:?} {stopped:?} {a:?}")
            }};
        }
        for_each_integer!(run)
    }

    integers_are_calculated_with covers [
        "sync::atomic::Atomic{int}::{fetch_add,fetch_sub,fetch_and,fetch_nand,fetch_or,fetch_xor,fetch_max,fetch_min}",
    ] {
        use sync::atomic::Ordering::SeqCst;
        macro_rules! run {
            ($Name:ident $value:ty) => {{
                let a = sync::atomic::$Name::new(<$value>::MAX);
                let olds = [
                    a.fetch_add(6, SeqCst),
                    a.fetch_sub(7, SeqCst),
                    a.fetch_and(0x5a, SeqCst),
                    a.fetch_nand(0x0f, SeqCst),
                    a.fetch_or(0x11, SeqCst),
                    a.fetch_xor(0x33, SeqCst),
                    a.fetch_max(0x44, SeqCst),
                    a.fetch_min(0x22, SeqCst),
                    a.load(SeqCst),
                ];
                format!("{olds:?}")
            }};
        }
        for_each_integer!(run)
    }

    integers_are_owned covers [
        "sync::atomic::Atomic{int}::{get_mut,into_inner,as_ptr}", "sync::atomic::Atomic{int}: {Debug,Default,From}",
    ] {
        macro_rules! run {
            ($Name:ident $value:ty) => {{
                let inner: $value = sync::atomic::$Name::new(8).into_inner();
                let mut a = sync::atomic::$Name::from(3);
                *a.get_mut() += 1;
                // SAFETY: nobody else has the atomic.
                unsafe { *a.as_ptr() += 1 };
                let shown = format!("{a:?} {:?}", sync::atomic::$Name::default());
                format!("{inner} {shown} {}", a.into_inner())
            }};
        }
        for_each_integer!(run)
    }

    increments_are_not_lost covers [] {
        let count = sync::Arc::new(sync::atomic::AtomicUsize::new(0));
        let adders: Vec<_> = (0..3)
            .map(|_| {
                let count = count.clone();
                thread::spawn(move || {
                    count.fetch_add(1, sync::atomic::Ordering::Relaxed);
                    sync::atomic::fence(sync::atomic::Ordering::SeqCst);
                })
            })
            .collect();
        adders.into_iter().for_each(|a| a.join().unwrap());
        format!("{count:?}")
    }

    booleans_are_read_and_written covers [
        "sync::atomic::AtomicBool",
        "sync::atomic::AtomicBool::{new,load,store,swap,compare_and_swap,compare_exchange,compare_exchange_weak}",
        "sync::atomic::AtomicBool::{fetch_and,fetch_nand,fetch_or,fetch_xor,fetch_not,fetch_update}",
        "sync::atomic::AtomicBool::{get_mut,into_inner,as_ptr}", "sync::atomic::AtomicBool: {Debug,Default,From}",
    ] {
        use sync::atomic::Ordering::SeqCst;
        let inner: bool = sync::atomic::AtomicBool::new(true).into_inner();
        let mut a = sync::atomic::AtomicBool::from(inner);
        let read = (a.load(SeqCst), a.swap(false, SeqCst));
        a.store(true, SeqCst);
        let swapped = (a.compare_and_swap(true, false, SeqCst), a.compare_and_swap(true, false, SeqCst));
        let exchanged = (a.compare_exchange(true, false, SeqCst, SeqCst), a.compare_exchange(false, true, SeqCst, SeqCst));
        let refused = a.compare_exchange_weak(false, true, SeqCst, SeqCst);
        let mut fetched = Vec::new();
        for value in [true, false] {
            fetched.push(a.fetch_and(value, SeqCst));
            fetched.push(a.fetch_nand(value, SeqCst));
            fetched.push(a.fetch_or(value, SeqCst));
            fetched.push(a.fetch_xor(value, SeqCst));
            fetched.push(a.fetch_not(SeqCst));
        }
        let updated = (a.fetch_update(SeqCst, SeqCst, |x| Some(!x)), a.fetch_update(SeqCst, SeqCst, |_| None));
        *a.get_mut() ^= true;
        // SAFETY: nobody else has the atomic.
        unsafe { *a.as_ptr() ^= true };
        let shown = format!("{a:?} {:?}", sync::atomic::AtomicBool::default());
        format!("{} {read:?} {swapped:?} {exchanged:?} {refused:?} {fetched:?} {updated:?} {shown}", a.into_inner())
    }

    pointers_are_read_and_written covers [
        "sync::atomic::AtomicPtr",
        "sync::atomic::AtomicPtr::{new,load,store,swap,compare_and_swap,compare_exchange,compare_exchange_weak}",
        "sync::atomic::AtomicPtr::{fetch_update,get_mut,into_inner,as_ptr}",
        "sync::atomic::AtomicPtr: {Debug,Default,From,Pointer}",
    ] {
        use sync::atomic::Ordering::SeqCst;
        let mut values = [0u32, 1, 2];
        let base = values.as_mut_ptr();
        let nth = |i: usize| base.wrapping_add(i);
        let place = |p: *mut u32| (p.addr().wrapping_sub(base.addr())) / 4;
        let mut a = sync::atomic::AtomicPtr::from(nth(0));
        let mut places = vec![place(a.load(SeqCst)), place(a.swap(nth(1), SeqCst))];
        a.store(nth(2), SeqCst);
        let swapped = a.compare_and_swap(nth(2), nth(0), SeqCst);
        places.push(place(swapped));
        places.push(a.compare_exchange(nth(0), nth(1), SeqCst, SeqCst).map_or(9, place));
        places.push(a.compare_exchange(nth(0), nth(1), SeqCst, SeqCst).map_or_else(place, |_| 9));
        places.push(a.compare_exchange_weak(nth(0), nth(1), SeqCst, SeqCst).map_or_else(place, |_| 9));
        let updated = a.fetch_update(SeqCst, SeqCst, |p| Some(p.wrapping_add(1)));
        places.push(updated.map_or(9, place));
        *a.get_mut() = nth(1);
        // SAFETY: nobody else has the atomic.
        places.push(place(unsafe { *a.as_ptr() }));
        let same_text = format!("{a:?} {a:p}") == format!("{:?} {:p}", nth(1), nth(1));
        let null = sync::atomic::AtomicPtr::<u32>::default().into_inner().is_null();
        let nowhere: *mut u8 = sync::atomic::AtomicPtr::new(std::ptr::null_mut()).into_inner();
        format!("{places:?} {same_text} {null} {} {}", nowhere.is_null(), place(a.into_inner()))
    }

    fences_take_the_orderings_of_std covers ["sync::atomic::fence", "sync::atomic::compiler_fence"] {
        use sync::atomic::Ordering::{AcqRel, Acquire, Release, SeqCst};
        for order in [Acquire, Release, AcqRel, SeqCst] {
            sync::atomic::fence(order);
            sync::atomic::compiler_fence(order);
        }
        String::new()
    }

    deprecated_names_still_work covers [
        "sync::atomic::spin_loop_hint", "sync::atomic::ATOMIC_{BOOL,ISIZE,USIZE}_INIT",
    ] {
        let flag = sync::Arc::new(sync::atomic::ATOMIC_BOOL_INIT);
        let theirs = flag.clone();
        let waiter = thread::spawn(move || {
            while !theirs.load(sync::atomic::Ordering::Acquire) {
                sync::atomic::spin_loop_hint();
            }
        });
        flag.store(true, sync::atomic::Ordering::Release);
        waiter.join().unwrap();
        format!("{flag:?} {:?} {:?}", sync::atomic::ATOMIC_ISIZE_INIT, sync::atomic::ATOMIC_USIZE_INIT)
    }

    atomics_can_be_shared_as_in_std covers [
        "sync::atomic::Atomic{int}: {RefUnwindSafe,Sync}", "sync::atomic::AtomicBool: {RefUnwindSafe,Sync}",
        "sync::atomic::AtomicPtr: {RefUnwindSafe,Send,Sync}",
    ] {
        fn checked<T: Send + Sync + std::panic::RefUnwindSafe + std::panic::UnwindSafe>() -> String {
            size_of::<T>().min(1).to_string()
        }
        macro_rules! run {
            ($Name:ident $value:ty) => {
                checked::<sync::atomic::$Name>()
            };
        }
        checked::<sync::atomic::AtomicBool>();
        checked::<sync::atomic::AtomicPtr<u8>>();
        for_each_integer!(run)
    }
}
