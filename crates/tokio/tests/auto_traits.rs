//! Every type has the auto traits that tokio's has, and `Debug`, and so has every future: checked by the compiler, against tokio.

use std::cell::Cell;
use std::fmt::Debug;
use std::marker::PhantomData;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::rc::Rc;
use std::sync::Arc;

use drawloom_tokio as ours;
use real_tokio as theirs;

/// Asks for auto traits of `T`. An inherent method comes before that of [`Without`], where its bounds hold.
struct Probe<T>(PhantomData<T>);

fn of<T>(_: &impl Fn() -> T) -> Probe<T> {
    Probe(PhantomData)
}

macro_rules! probes {
    ($($method:ident: $auto:path;)*) => {
        trait Without {
            $(fn $method(&self) -> bool {
                false
            })*
        }

        impl<T> Without for Probe<T> {}

        $(impl<T: $auto> Probe<T> {
            #[allow(dead_code)]
            fn $method(&self) -> bool {
                true
            }
        })*
    };
}

probes! {
    is_send: Send;
    is_sync: Sync;
    is_unpin: Unpin;
    is_unwind_safe: UnwindSafe;
    is_ref_unwind_safe: RefUnwindSafe;
    is_debug: Debug;
}

macro_rules! traits {
    ($value:expr) => {{
        let probe = of(&$value);
        let answers = [
            ("Send", probe.is_send()),
            ("Sync", probe.is_sync()),
            ("Unpin", probe.is_unpin()),
            ("UnwindSafe", probe.is_unwind_safe()),
            ("RefUnwindSafe", probe.is_ref_unwind_safe()),
            ("Debug", probe.is_debug()),
        ];
        answers.into_iter().filter(|(_, has)| *has).map(|(name, _)| name).collect::<Vec<_>>()
    }};
}

fn never<T>() -> T {
    unreachable!("it is only asked what it would return")
}

/// Whether both are `Send`, `Sync` and `Unpin` alike, and whatever is safe to unwind, or can be shown, there is here.
fn is_as_tokio(ours: &[&'static str], tokio: &[&'static str]) -> bool {
    let may_have_more = |name: &&&str| name.ends_with("UnwindSafe") || **name == "Debug";
    let others =
        |traits: &[&'static str]| traits.iter().filter(|name| !may_have_more(name)).copied().collect::<Vec<_>>();
    others(ours) == others(tokio) && tokio.iter().filter(may_have_more).all(|name| ours.contains(name))
}

/// Both have the same.
macro_rules! same {
    ($differences:ident: $($t:ty;)*) => {
        $({
            let mine = {
                #[allow(unused_imports)]
                use ours::*;
                traits!(|| never::<$t>())
            };
            let real = {
                #[allow(unused_imports)]
                use theirs::*;
                traits!(|| never::<$t>())
            };
            if !is_as_tokio(&mine, &real) {
                $differences.push(format!("{}: {mine:?}, and tokio's {real:?}", stringify!($t)));
            }
        })*
    };
}

/// As [`same`], of what an expression returns.
macro_rules! same_of {
    ($differences:ident: $($value:expr;)*) => {
        $({
            let mine = {
                #[allow(unused_imports)]
                use ours::*;
                traits!(|| $value)
            };
            let real = {
                #[allow(unused_imports)]
                use theirs::*;
                traits!(|| $value)
            };
            // Whether a future of an `async fn` is safe to unwind is no promise of tokio's; and it cannot be shown.
            let promised = |traits: Vec<&'static str>| -> Vec<_> {
                traits.into_iter().filter(|name| !name.ends_with("UnwindSafe") && *name != "Debug").collect()
            };
            let (mine, real) = (promised(mine), promised(real));
            if mine != real {
                $differences.push(format!("{}: {mine:?}, and tokio's {real:?}", stringify!($value)));
            }
        })*
    };
}

/// `Send` and `Sync`, only `Send`, neither.
type Both = u8;
type Sends = Cell<u8>;
type Neither = Rc<u8>;

#[test]
fn types_have_the_auto_traits_of_tokio() {
    let mut differences: Vec<String> = Vec::new();
    same! { differences:
        sync::Mutex<Both>; sync::Mutex<Sends>; sync::Mutex<Neither>;
        sync::MutexGuard<'static, Both>; sync::MutexGuard<'static, Sends>; sync::MutexGuard<'static, Neither>;
        sync::OwnedMutexGuard<Both>; sync::OwnedMutexGuard<Sends>; sync::OwnedMutexGuard<Neither>;
        sync::MappedMutexGuard<'static, Both>; sync::MappedMutexGuard<'static, Sends>;
        sync::RwLock<Both>; sync::RwLock<Sends>; sync::RwLock<Neither>;
        sync::RwLockReadGuard<'static, Both>; sync::RwLockReadGuard<'static, Sends>;
        sync::RwLockWriteGuard<'static, Both>; sync::RwLockWriteGuard<'static, Sends>;
        sync::OwnedRwLockReadGuard<Both>; sync::OwnedRwLockReadGuard<Sends>;
        sync::OwnedRwLockWriteGuard<Both>; sync::OwnedRwLockWriteGuard<Sends>;
        sync::RwLockMappedWriteGuard<'static, Both>; sync::RwLockMappedWriteGuard<'static, Sends>;
        sync::OwnedMappedMutexGuard<Both, Both>; sync::OwnedMappedMutexGuard<Sends, Sends>;
        sync::OwnedRwLockMappedWriteGuard<Both>; sync::OwnedRwLockMappedWriteGuard<Sends>;
        sync::TryLockError; sync::AcquireError; sync::TryAcquireError; sync::SetError<Both>; sync::SetOnceError<Both>;
        sync::OnceCell<Both>; sync::OnceCell<Sends>; sync::OnceCell<Neither>;
        sync::SetOnce<Both>; sync::SetOnce<Sends>; sync::SetOnce<Neither>;
        sync::Semaphore; sync::SemaphorePermit<'static>; sync::OwnedSemaphorePermit;
        sync::Barrier; sync::BarrierWaitResult; sync::Notify; sync::futures::Notified<'static>;
        sync::futures::OwnedNotified;
        sync::mpsc::Sender<Both>; sync::mpsc::Sender<Sends>; sync::mpsc::Sender<Neither>;
        sync::mpsc::Receiver<Both>; sync::mpsc::Receiver<Sends>; sync::mpsc::Receiver<Neither>;
        sync::mpsc::UnboundedSender<Both>; sync::mpsc::UnboundedSender<Sends>;
        sync::mpsc::UnboundedReceiver<Both>; sync::mpsc::UnboundedReceiver<Sends>;
        sync::mpsc::WeakSender<Both>; sync::mpsc::WeakSender<Sends>;
        sync::mpsc::Permit<'static, Both>; sync::mpsc::OwnedPermit<Both>;
        sync::mpsc::PermitIterator<'static, Both>; sync::mpsc::WeakUnboundedSender<Both>;
        sync::mpsc::error::SendError<Both>; sync::mpsc::error::SendError<Neither>; sync::mpsc::error::TryRecvError;
        sync::mpsc::error::TrySendError<Both>; sync::mpsc::error::SendTimeoutError<Both>;
        sync::oneshot::error::RecvError; sync::oneshot::error::TryRecvError;
        sync::watch::error::SendError<Both>; sync::watch::error::RecvError;
        sync::broadcast::error::SendError<Both>; sync::broadcast::error::RecvError;
        sync::broadcast::error::TryRecvError;
        sync::oneshot::Sender<Both>; sync::oneshot::Sender<Sends>; sync::oneshot::Sender<Neither>;
        sync::oneshot::Receiver<Both>; sync::oneshot::Receiver<Sends>; sync::oneshot::Receiver<Neither>;
        sync::watch::Sender<Both>; sync::watch::Sender<Sends>; sync::watch::Sender<Neither>;
        sync::watch::Receiver<Both>; sync::watch::Receiver<Sends>; sync::watch::Ref<'static, Both>;
        sync::watch::Ref<'static, Sends>;
        sync::broadcast::Sender<Both>; sync::broadcast::Sender<Sends>; sync::broadcast::Sender<Neither>;
        sync::broadcast::Receiver<Both>; sync::broadcast::Receiver<Sends>; sync::broadcast::WeakSender<Both>;
        task::JoinHandle<Both>; task::JoinHandle<Sends>; task::JoinHandle<Neither>;
        task::JoinSet<Both>; task::JoinSet<Sends>; task::JoinSet<Neither>;
        task::AbortHandle; task::JoinError; task::LocalSet; task::LocalEnterGuard; task::Id;
        task::LocalKey<Both>; task::LocalKey<Sends>; task::Unconstrained<std::future::Ready<Both>>;
        task::coop::Unconstrained<std::future::Ready<Both>>; task::coop::Coop<std::future::Ready<Both>>;
        task::coop::RestoreOnPending;
        task::futures::TaskLocalFuture<Both, std::future::Ready<Both>>;
        runtime::Runtime; runtime::Handle; runtime::Builder; runtime::EnterGuard<'static>; runtime::LocalRuntime;
        runtime::RuntimeMetrics; runtime::RuntimeFlavor; runtime::TryCurrentError; runtime::Id;
        runtime::LocalOptions;
        time::Sleep; time::Interval; time::Instant; time::Timeout<std::future::Ready<Both>>;
        time::Timeout<std::future::Ready<Neither>>; time::error::Elapsed; time::error::Error;
        time::MissedTickBehavior;
        io::DuplexStream; io::SimplexStream; io::ReadHalf<io::DuplexStream>; io::WriteHalf<io::DuplexStream>;
        io::Interest; signal::unix::Signal; signal::unix::SignalKind;
        net::TcpStream; net::TcpListener; net::TcpSocket; net::UdpSocket;
        net::UnixStream; net::UnixListener; net::UnixDatagram;
    }
    assert!(differences.is_empty(), "{} differences:\n{}", differences.len(), differences.join("\n"));
}

#[test]
fn futures_have_the_auto_traits_of_tokio() {
    let mut differences: Vec<String> = Vec::new();
    same_of! { differences:
        never::<&'static sync::Mutex<Both>>().lock();
        never::<&'static sync::Mutex<Sends>>().lock();
        never::<&'static sync::Mutex<Neither>>().lock();
        never::<Arc<sync::Mutex<Both>>>().lock_owned();
        never::<&'static sync::RwLock<Both>>().read();
        never::<&'static sync::RwLock<Both>>().write();
        never::<&'static sync::RwLock<Sends>>().read();
        never::<&'static sync::Semaphore>().acquire();
        never::<&'static sync::Semaphore>().acquire_many(1);
        never::<Arc<sync::Semaphore>>().acquire_owned();
        never::<Arc<sync::Semaphore>>().acquire_many_owned(1);
        never::<Arc<sync::RwLock<Both>>>().read_owned();
        never::<Arc<sync::RwLock<Both>>>().write_owned();
        never::<Arc<sync::Notify>>().notified_owned();
        never::<&'static sync::mpsc::Sender<Both>>().reserve_many(1);
        never::<sync::mpsc::Sender<Both>>().reserve_owned();
        never::<&'static sync::mpsc::Sender<Both>>().send_timeout(1, never());
        never::<&'static mut sync::mpsc::Receiver<Both>>().recv_many(never(), 1);
        never::<&'static mut sync::watch::Receiver<Both>>().wait_for(never::<fn(&Both) -> bool>());
        never::<&'static sync::broadcast::Sender<Both>>().closed();
        never::<&'static mut task::JoinSet<Both>>().shutdown();
        never::<task::JoinSet<Both>>().join_all();
        never::<&'static sync::Barrier>().wait();
        never::<&'static sync::Notify>().notified();
        never::<&'static sync::mpsc::Sender<Both>>().send(1);
        never::<&'static sync::mpsc::Sender<Sends>>().send(never());
        never::<&'static sync::mpsc::Sender<Neither>>().send(never());
        never::<&'static sync::mpsc::Sender<Both>>().reserve();
        never::<&'static sync::mpsc::Sender<Both>>().closed();
        never::<&'static mut sync::mpsc::Receiver<Both>>().recv();
        never::<&'static mut sync::mpsc::Receiver<Sends>>().recv();
        never::<&'static mut sync::mpsc::UnboundedReceiver<Both>>().recv();
        never::<&'static mut sync::oneshot::Sender<Both>>().closed();
        never::<&'static mut sync::watch::Receiver<Both>>().changed();
        never::<&'static sync::watch::Sender<Both>>().closed();
        never::<&'static mut sync::broadcast::Receiver<Both>>().recv();
        never::<&'static sync::OnceCell<Both>>().get_or_init(never::<fn() -> std::future::Ready<Both>>());
        never::<&'static sync::SetOnce<Both>>().wait();
        never::<&'static mut task::JoinSet<Both>>().join_next();
        never::<&'static mut task::JoinSet<Sends>>().join_next();
        never::<&'static mut time::Interval>().tick();
        never::<&'static task::LocalSet>().run_until(std::future::ready(1));
        time::advance(never());
        task::yield_now();
        task::consume_budget();
        signal::ctrl_c();
        never::<&'static mut signal::unix::Signal>().recv();
    }
    assert!(differences.is_empty(), "{} differences:\n{}", differences.len(), differences.join("\n"));
}
