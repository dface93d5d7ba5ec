//! `std::hint`.

parity! {
    hints_change_nothing covers ["hint::black_box", "hint::assert_unchecked", "hint::unreachable_unchecked"] {
        let value = hint::black_box(3);
        // SAFETY: it is 3.
        unsafe { hint::assert_unchecked(value == 3) };
        let chosen = match value {
            3 => 4,
            // SAFETY: it is 3.
            _ => unsafe { hint::unreachable_unchecked() },
        };
        format!("{chosen}")
    }

    a_spinning_thread_sees_the_flag covers ["hint::spin_loop"] {
        let flag = sync::Arc::new(sync::atomic::AtomicBool::new(false));
        let theirs = flag.clone();
        let spinner = thread::spawn(move || {
            while !theirs.load(sync::atomic::Ordering::SeqCst) {
                hint::spin_loop();
            }
        });
        flag.store(true, sync::atomic::Ordering::SeqCst);
        format!("{:?}", spinner.join())
    }
}
