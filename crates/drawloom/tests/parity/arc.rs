//! `std::sync::{Arc, Weak}`: std's own, so that values can be shared with code that knows nothing of
//! drawloom.

parity! {
    an_arc_is_std_s_own covers ["sync::Arc", "sync::Weak"] {
        fn identity(arc: std::sync::Arc<str>) -> std::sync::Weak<str> {
            sync::Arc::downgrade(&arc)
        }
        let arc: sync::Arc<str> = "shared".into();
        let weak: sync::Weak<str> = identity(arc.clone());
        let alive = weak.upgrade();
        format!("{alive:?} {} {}", sync::Arc::strong_count(&arc), sync::Arc::weak_count(&arc))
    }

    an_arc_coerces_to_a_trait_object covers [] {
        let arc: sync::Arc<dyn Fn(u8) -> u8 + Send + Sync> = sync::Arc::new(|x| x + 1);
        let theirs = arc.clone();
        let joined = thread::spawn(move || theirs(1)).join();
        format!("{:?} {}", joined.ok(), arc(2))
    }
}
