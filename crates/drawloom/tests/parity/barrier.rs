//! `std::sync::Barrier`.

parity! {
    one_of_all_leads covers ["sync::Barrier::new", "sync::Barrier::wait", "sync::BarrierWaitResult::is_leader"] {
        let barrier = sync::Arc::new(sync::Barrier::new(3));
        let tasks: Vec<_> = (0..3)
            .map(|_| {
                let barrier = barrier.clone();
                thread::spawn(move || [barrier.wait(), barrier.wait()].map(|result| result.is_leader()))
            })
            .collect();
        let leads: Vec<_> = tasks.into_iter().map(|task| task.join().unwrap()).collect();
        let leaders = |round: usize| leads.iter().filter(|led| led[round]).count();
        format!("{} {}", leaders(0), leaders(1))
    }

    a_barrier_for_nobody_or_one_never_waits covers [
        "sync::Barrier: Debug",
        "sync::BarrierWaitResult: Debug",
        "sync::Barrier: RefUnwindSafe",
    ] {
        fn traits<T: Send + Sync + std::panic::UnwindSafe + std::panic::RefUnwindSafe + Unpin>() {}
        traits::<sync::Barrier>();
        traits::<sync::BarrierWaitResult>();
        static NOBODY: sync::Barrier = sync::Barrier::new(0);
        let one = sync::Barrier::new(1);
        format!("{:?} {:?} {:?} {one:?}", NOBODY.wait(), one.wait(), one.wait())
    }
}
