//! Traits: what std's types implement, ours do.

/// Compiles only if each type implements the traits beside it.
macro_rules! implement {
    ($($type:ty: $($bound:path),+;)*) => {
        $($({
            fn check<T: ?Sized + $bound>() {}
            check::<$type>();
        })+)*
    };
}

parity! {
    of_locks covers [
        "sync::Mutex: {Debug,Default,From,RefUnwindSafe,Send,Sync,UnwindSafe}",
        "sync::MutexGuard: {Debug,Deref,DerefMut,Display,Sync}",
        "sync::RwLock: {Debug,Default,From,RefUnwindSafe,Send,Sync,UnwindSafe}",
        "sync::RwLockReadGuard: {Debug,Deref,Display,Sync}",
        "sync::RwLockWriteGuard: {Debug,Deref,DerefMut,Display,Sync}",
        "sync::Condvar: {Debug,Default,RefUnwindSafe,UnwindSafe}",
        "sync::WaitTimeoutResult: {Clone,Copy,Debug,Eq,PartialEq}",
        "sync::Barrier: {Debug,RefUnwindSafe}", "sync::BarrierWaitResult: Debug",
    ] {
        use std::fmt::{Debug, Display};
        use std::ops::{Deref, DerefMut};
        use std::panic::{RefUnwindSafe, UnwindSafe};
        implement! {
            sync::Mutex<u8>: Debug, Default, From<u8>;
            sync::Mutex<std::cell::Cell<u8>>: Send, Sync, UnwindSafe, RefUnwindSafe;
            sync::MutexGuard<'static, u8>: Debug, Deref<Target = u8>, DerefMut, Display, Sync;
            sync::RwLock<u8>: Debug, Default, From<u8>, Send, Sync;
            sync::RwLock<std::cell::Cell<u8>>: Send, UnwindSafe, RefUnwindSafe;
            sync::RwLockReadGuard<'static, u8>: Debug, Deref<Target = u8>, Display, Sync;
            sync::RwLockWriteGuard<'static, u8>: Debug, Deref<Target = u8>, DerefMut, Display, Sync;
            sync::Condvar: Debug, Default, Send, Sync, UnwindSafe, RefUnwindSafe;
            sync::WaitTimeoutResult: Clone, Copy, Debug, Eq, PartialEq, Send, Sync;
            sync::Barrier: Debug, Send, Sync, UnwindSafe, RefUnwindSafe;
            sync::BarrierWaitResult: Debug, Send, Sync;
        }
        String::new()
    }

    of_initialisers covers [
        "sync::Once: {Debug,RefUnwindSafe,UnwindSafe}", "sync::OnceState: Debug",
        "sync::OnceLock: {Clone,Debug,Default,Eq,From,PartialEq,RefUnwindSafe,Send,Sync,UnwindSafe}",
        "sync::LazyLock: {Debug,Default,Deref,RefUnwindSafe,Sync,UnwindSafe}",
    ] {
        use std::fmt::Debug;
        use std::ops::Deref;
        use std::panic::{RefUnwindSafe, UnwindSafe};
        implement! {
            sync::Once: Debug, Send, Sync, UnwindSafe, RefUnwindSafe;
            sync::OnceState: Debug;
            sync::OnceLock<u8>: Clone, Debug, Default, Eq, From<u8>, PartialEq, Send, Sync, UnwindSafe, RefUnwindSafe;
            sync::LazyLock<u8>: Debug, Default, Deref<Target = u8>, Send, Sync, UnwindSafe, RefUnwindSafe;
        }
        String::new()
    }

    of_threads covers [
        "thread::AccessError: {Clone,Copy,Debug,Display,Eq,Error,PartialEq}", "thread::Builder: Debug",
        "thread::JoinHandle: {Debug,Send,Sync}", "thread::LocalKey: Debug", "thread::Scope: Debug",
        "thread::ScopedJoinHandle: Debug", "thread::Thread: {Clone,Debug}",
        "thread::ThreadId: {Clone,Copy,Debug,Eq,Hash,PartialEq}",
    ] {
        use std::error::Error;
        use std::fmt::{Debug, Display};
        use std::hash::Hash;
        implement! {
            thread::AccessError: Clone, Copy, Debug, Display, Eq, Error, PartialEq, Send, Sync;
            thread::Builder: Debug, Send, Sync;
            thread::JoinHandle<std::rc::Rc<u8>>: Debug, Send, Sync;
            thread::LocalKey<u8>: Debug, Send, Sync;
            thread::Scope<'static, 'static>: Debug, Send, Sync;
            thread::ScopedJoinHandle<'static, u8>: Debug, Send, Sync;
            thread::Thread: Clone, Debug, Send, Sync;
            thread::ThreadId: Clone, Copy, Debug, Eq, Hash, PartialEq, Send, Sync;
        }
        String::new()
    }

    of_cells covers [
        "cell::Cell: {Clone,Debug,Default,Eq,From,Ord,PartialEq,PartialOrd,Send}",
        "cell::UnsafeCell: {Debug,Default,From}",
    ] {
        use std::fmt::Debug;
        implement! {
            cell::Cell<u8>: Clone, Debug, Default, Eq, From<u8>, Ord, PartialEq, PartialOrd, Send;
            cell::UnsafeCell<u8>: Debug, Default, From<u8>, Send;
        }
        String::new()
    }

    of_clocks covers [
        "time::{Instant,SystemTime}: {Add,AddAssign,Clone,Copy,Debug,Eq,Hash,Ord,PartialEq,PartialOrd,Sub,SubAssign}",
    ] {
        use std::fmt::Debug;
        use std::hash::Hash;
        use std::ops::{Add, AddAssign, Sub, SubAssign};
        use std::time::Duration;
        implement! {
            time::Instant: Add<Duration>, AddAssign<Duration>, Sub<Duration>, SubAssign<Duration>, Sub<time::Instant>;
            time::Instant: Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd, Send, Sync;
            time::SystemTime: Add<Duration>, AddAssign<Duration>, Sub<Duration>, SubAssign<Duration>;
            time::SystemTime: Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd, Send, Sync;
        }
        String::new()
    }
}
