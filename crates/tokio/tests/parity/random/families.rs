//! The calls of each type, written once and compiled against both.

macro_rules! families {
    ($name:ident, $tokio:ident) => {
        pub(super) mod $name {
            use std::sync::Arc;
            use std::task::{Context, Waker};

            use $tokio::sync::*;

            use super::super::{Given, Run, gives, keeps, run};

            fn leak<T>(value: T) -> &'static T {
                Box::leak(Box::new(value))
            }

            /// Pending once, so that somebody can come in between.
            async fn later() {
                let mut before = false;
                std::future::poll_fn(|_| {
                    if std::mem::replace(&mut before, true) {
                        std::task::Poll::Ready(())
                    } else {
                        std::task::Poll::Pending
                    }
                })
                .await;
            }

            pub(in super::super) fn semaphore(seed: u64) -> Vec<String> {
                let new = |run: &mut Run| leak(Semaphore::new(run.numbers.below(4)));
                run(seed, new, |semaphore: &mut &'static Semaphore, run| {
                    let semaphore: &'static Semaphore = semaphore;
                    let n = run.numbers.below(3) as u32;
                    match run.numbers.below(12) {
                        0..=3 => run.begins(&format!("acquire {n}"), async move {
                            match semaphore.acquire_many(n).await {
                                Ok(permit) => keeps("permit", permit),
                                Err(error) => gives(error),
                            }
                        }),
                        4 => match semaphore.try_acquire_many(n) {
                            Ok(permit) => {
                                run.says("try_acquire", n);
                                run.kept.push(Box::new(permit));
                            }
                            Err(error) => run.says("try_acquire", error),
                        },
                        5 => {
                            if let Some(permit) = run.takes::<SemaphorePermit<'static>>() {
                                run.says("forget", permit.num_permits());
                                permit.forget();
                            }
                        }
                        6 => {
                            if let Some(mut permit) = run.takes::<SemaphorePermit<'static>>() {
                                let part = permit.split(1);
                                run.says("split", part.is_some());
                                run.kept.extend(part.map(|part| Box::new(part) as Box<dyn std::any::Any>));
                                run.kept.push(Box::new(permit));
                            }
                        }
                        7 => semaphore.add_permits(n as usize),
                        8 => run.says("forget_permits", semaphore.forget_permits(n as usize)),
                        9 if run.numbers.below(4) == 0 => semaphore.close(),
                        10 => run.says("closed", semaphore.is_closed()),
                        _ => run.says("available", semaphore.available_permits()),
                    }
                })
            }

            pub(in super::super) fn notify(seed: u64) -> Vec<String> {
                let new = |_: &mut Run| Arc::new(Notify::new());
                run(seed, new, |notify: &mut Arc<Notify>, run| match run.numbers.below(8) {
                    0..=2 => {
                        let notified = notify.clone().notified_owned();
                        run.begins("notified", async move {
                            notified.await;
                            gives(())
                        });
                    }
                    3 => {
                        let mut notified = Box::pin(notify.clone().notified_owned());
                        let already = notified.as_mut().enable();
                        run.says("enable", already);
                        run.begins("enabled", async move {
                            notified.await;
                            gives(())
                        });
                    }
                    4 | 5 => notify.notify_one(),
                    6 => notify.notify_last(),
                    _ => notify.notify_waiters(),
                })
            }

            pub(in super::super) fn mutex(seed: u64) -> Vec<String> {
                let new = |_: &mut Run| leak(Mutex::new(0));
                run(seed, new, |mutex: &mut &'static Mutex<u32>, run| {
                    let mutex: &'static Mutex<u32> = mutex;
                    match run.numbers.below(5) {
                        0..=2 => run.begins("lock", async move {
                            let mut guard = mutex.lock().await;
                            *guard += 1;
                            keeps(&format!("guard {guard}"), guard)
                        }),
                        3 => match mutex.try_lock() {
                            Ok(guard) => {
                                run.says("try_lock", *guard);
                                run.kept.push(Box::new(guard));
                            }
                            Err(error) => run.says("try_lock", error),
                        },
                        _ => run.says("mutex", mutex),
                    }
                })
            }

            pub(in super::super) fn rwlock(seed: u64) -> Vec<String> {
                let new = |run: &mut Run| leak(RwLock::with_max_readers(0, 1 + run.numbers.below(3) as u32));
                run(seed, new, |lock: &mut &'static RwLock<u32>, run| {
                    let lock: &'static RwLock<u32> = lock;
                    match run.numbers.below(9) {
                        0..=2 => run.begins("read", async move {
                            let guard = lock.read().await;
                            keeps(&format!("read {guard}"), guard)
                        }),
                        3 | 4 => run.begins("write", async move {
                            let mut guard = lock.write().await;
                            *guard += 1;
                            keeps(&format!("write {guard}"), guard)
                        }),
                        5 => match lock.try_read() {
                            Ok(guard) => {
                                run.says("try_read", *guard);
                                run.kept.push(Box::new(guard));
                            }
                            Err(error) => run.says("try_read", error),
                        },
                        6 => match lock.try_write() {
                            Ok(guard) => {
                                run.says("try_write", *guard);
                                run.kept.push(Box::new(guard));
                            }
                            Err(error) => run.says("try_write", error),
                        },
                        7 => {
                            if let Some(guard) = run.takes::<RwLockWriteGuard<'static, u32>>() {
                                run.says("downgrade", *guard);
                                run.kept.push(Box::new(guard.downgrade()));
                            }
                        }
                        _ => run.says("lock", lock),
                    }
                })
            }

            struct Channel<S, R> {
                senders: Vec<S>,
                receiver: Option<R>,
                sent: u32,
            }

            pub(in super::super) fn bounded(seed: u64) -> Vec<String> {
                type Ends = Channel<mpsc::Sender<u32>, mpsc::Receiver<u32>>;
                let new = |run: &mut Run| {
                    let (sender, receiver) = mpsc::channel(1 + run.numbers.below(3));
                    Ends { senders: vec![sender], receiver: Some(receiver), sent: 0 }
                };
                run(seed, new, |ends: &mut Ends, run| {
                    ends.sent += 1;
                    let value = ends.sent;
                    let n = run.numbers.below(3);
                    let some = (!ends.senders.is_empty()).then(|| run.numbers.below(ends.senders.len()));
                    let sender = some.map(|at| ends.senders[at].clone());
                    match (run.numbers.below(22), sender) {
                        (0..=2, Some(sender)) => {
                            run.begins("send", async move { gives(sender.send(value).await) });
                        }
                        (3, Some(sender)) => run.begins("reserve", async move {
                            match sender.reserve_owned().await {
                                Ok(permit) => keeps("permit", permit),
                                Err(error) => gives(error),
                            }
                        }),
                        // Who borrows a sender keeps it for ever here, so not in every sequence.
                        (4, Some(sender)) if run.may_leak => {
                            let sender = leak(sender);
                            run.begins(&format!("reserve_many {n}"), async move {
                                match sender.reserve_many(n).await {
                                    Ok(permits) => keeps(&format!("{} permits", permits.len()), permits),
                                    Err(error) => gives(error),
                                }
                            });
                        }
                        (5, Some(sender)) => run.begins("closed", async move {
                            sender.closed().await;
                            gives(())
                        }),
                        (6, Some(sender)) => run.says("try_send", sender.try_send(value)),
                        (7, Some(sender)) if run.may_leak => match leak(sender).try_reserve() {
                            Ok(permit) => {
                                run.says("try_reserve", ());
                                run.kept.push(Box::new(permit));
                            }
                            Err(error) => run.says("try_reserve", error),
                        },
                        (8, Some(sender)) => run.says("sender", (sender.capacity(), sender.is_closed())),
                        (9, _) => {
                            if let Some(permit) = run.takes::<mpsc::OwnedPermit<u32>>() {
                                run.says("permit sends", value);
                                drop(permit.send(value));
                            }
                        }
                        (10, _) => {
                            if let Some(permit) = run.takes::<mpsc::Permit<'static, u32>>() {
                                run.says("permit sends", value);
                                permit.send(value);
                            }
                        }
                        (11, _) => {
                            if let Some(mut permits) = run.takes::<mpsc::PermitIterator<'static, u32>>() {
                                run.says("permits", permits.len());
                                if let Some(permit) = permits.next() {
                                    permit.send(value);
                                }
                                run.kept.push(Box::new(permits));
                            }
                        }
                        (12, _) => {
                            let capacity = ends.receiver.as_ref().map(|receiver| (receiver.len(), receiver.capacity()));
                            run.says("receiver", capacity);
                        }
                        (13, _) => {
                            let received = ends.receiver.as_mut().map(mpsc::Receiver::try_recv);
                            run.says("try_recv", received);
                        }
                        (14 | 15, _) => {
                            if let Some(mut receiver) = ends.receiver.take() {
                                run.begins("recv", async move {
                                    let received = receiver.recv().await;
                                    keeps(&format!("{received:?}"), receiver)
                                });
                            }
                        }
                        (16, _) => {
                            if let Some(mut receiver) = ends.receiver.take() {
                                run.begins("recv_many", async move {
                                    let mut all = Vec::new();
                                    let received = receiver.recv_many(&mut all, n).await;
                                    keeps(&format!("{received:?} {all:?}"), receiver)
                                });
                            }
                        }
                        (17 | 18, _) => {
                            if let Some(receiver) = run.takes::<mpsc::Receiver<u32>>() {
                                ends.receiver = Some(receiver);
                            }
                        }
                        (19, _) if n == 0 => {
                            if let Some(receiver) = &mut ends.receiver {
                                receiver.close();
                            }
                        }
                        (20, Some(sender)) => {
                            run.says("weak", sender.downgrade().upgrade().is_some());
                            ends.senders.push(sender.clone());
                        }
                        _ => {
                            run.says("drop sender", ends.senders.pop().is_some());
                        }
                    }
                })
            }

            pub(in super::super) fn unbounded(seed: u64) -> Vec<String> {
                type Ends = Channel<mpsc::UnboundedSender<u32>, mpsc::UnboundedReceiver<u32>>;
                let new = |_: &mut Run| {
                    let (sender, receiver) = mpsc::unbounded_channel();
                    Ends { senders: vec![sender], receiver: Some(receiver), sent: 0 }
                };
                run(seed, new, |ends: &mut Ends, run| {
                    ends.sent += 1;
                    let value = ends.sent;
                    match (run.numbers.below(12), ends.senders.last().cloned()) {
                        (0..=2, Some(sender)) => run.says("send", sender.send(value)),
                        (3, Some(sender)) => run.begins("closed", async move {
                            sender.closed().await;
                            gives(())
                        }),
                        (4, Some(sender)) => ends.senders.push(sender),
                        (5, _) => drop(ends.senders.pop()),
                        (6, _) => {
                            let received = ends.receiver.as_mut().map(mpsc::UnboundedReceiver::try_recv);
                            run.says("try_recv", received);
                        }
                        (7 | 8, _) => {
                            if let Some(mut receiver) = ends.receiver.take() {
                                run.begins("recv", async move {
                                    let received = receiver.recv().await;
                                    keeps(&format!("{received:?}"), receiver)
                                });
                            }
                        }
                        (9, _) => {
                            if let Some(receiver) = run.takes::<mpsc::UnboundedReceiver<u32>>() {
                                ends.receiver = Some(receiver);
                            }
                        }
                        (10, _) => {
                            if let Some(receiver) = &mut ends.receiver {
                                receiver.close();
                            }
                        }
                        (_, sender) => {
                            run.says("sender", sender.map(|sender| (sender.is_closed(), sender.strong_count())))
                        }
                    }
                })
            }

            struct Once {
                sender: Option<oneshot::Sender<u32>>,
                receiver: Option<oneshot::Receiver<u32>>,
            }

            pub(in super::super) fn oneshot(seed: u64) -> Vec<String> {
                let new = |_: &mut Run| {
                    let (sender, receiver) = oneshot::channel();
                    Once { sender: Some(sender), receiver: Some(receiver) }
                };
                run(seed, new, |once: &mut Once, run| match run.numbers.below(9) {
                    0 => run.says("send", once.sender.take().map(|sender| sender.send(1))),
                    1 => {
                        if let Some(mut sender) = once.sender.take() {
                            run.begins("closed", async move {
                                sender.closed().await;
                                keeps("closed", sender)
                            });
                        }
                    }
                    2 => once.sender = run.takes().or(once.sender.take()),
                    3 => run.says("is_closed", once.sender.as_ref().map(oneshot::Sender::is_closed)),
                    4 => {
                        if let Some(receiver) = once.receiver.take() {
                            run.begins("recv", async move { gives(receiver.await) });
                        }
                    }
                    5 => run.says("try_recv", once.receiver.as_mut().map(oneshot::Receiver::try_recv)),
                    6 => run.says("empty", once.receiver.as_ref().map(|r| (r.is_empty(), r.is_terminated()))),
                    7 if run.numbers.below(3) == 0 => {
                        if let Some(receiver) = &mut once.receiver {
                            receiver.close();
                        }
                    }
                    _ => {
                        if let Some(sender) = &mut once.sender {
                            let polled = sender.poll_closed(&mut Context::from_waker(Waker::noop()));
                            run.says("poll_closed", polled);
                        }
                    }
                })
            }

            struct Watched {
                sender: Option<watch::Sender<u32>>,
                receiver: Option<watch::Receiver<u32>>,
                sent: u32,
            }

            pub(in super::super) fn watch(seed: u64) -> Vec<String> {
                let new = |_: &mut Run| {
                    let (sender, receiver) = watch::channel(0);
                    Watched { sender: Some(sender), receiver: Some(receiver), sent: 0 }
                };
                run(seed, new, |watched: &mut Watched, run| {
                    watched.sent += 1;
                    let value = watched.sent;
                    match (run.numbers.below(17), &watched.sender, &mut watched.receiver) {
                        (0 | 1, Some(sender), _) => run.says("send", sender.send(value)),
                        (2, Some(sender), _) => run.says("replace", sender.send_replace(value)),
                        (3, Some(sender), _) => {
                            let modified = sender.send_if_modified(|seen| {
                                *seen += 1;
                                value % 2 == 0
                            });
                            run.says("if_modified", modified);
                        }
                        (4, Some(sender), _) => {
                            run.says("sender", (*sender.borrow(), sender.is_closed(), sender.receiver_count()));
                        }
                        (5, Some(sender), _) => run.kept.push(Box::new(sender.subscribe())),
                        (6, Some(sender), _) => {
                            let sender = sender.clone();
                            run.begins("closed", async move {
                                sender.closed().await;
                                gives(())
                            });
                        }
                        (7, _, Some(receiver)) => {
                            let seen = receiver.borrow();
                            run.says("borrow", (*seen, seen.has_changed()));
                        }
                        (8, _, Some(receiver)) => {
                            let seen = receiver.borrow_and_update();
                            run.says("update", (*seen, seen.has_changed()));
                        }
                        (9, _, Some(receiver)) => run.says("has_changed", receiver.has_changed()),
                        (10, _, Some(receiver)) => receiver.mark_changed(),
                        (11, _, Some(receiver)) => receiver.mark_unchanged(),
                        (12, _, Some(receiver)) => run.kept.push(Box::new(receiver.clone())),
                        (13, _, receiver) => {
                            if let Some(mut receiver) = receiver.take() {
                                run.begins("changed", async move {
                                    let changed = receiver.changed().await;
                                    keeps(&format!("{changed:?}"), receiver)
                                });
                            }
                        }
                        (14, _, receiver) => {
                            if let Some(mut receiver) = receiver.take() {
                                run.begins("wait_for", async move {
                                    let seen = receiver.wait_for(|seen| seen % 3 == 0).await.map(|seen| *seen);
                                    keeps(&format!("{seen:?}"), receiver)
                                });
                            }
                        }
                        (15, _, receiver) => *receiver = run.takes().or(receiver.take()),
                        (16, _, _) if value % 4 == 0 => watched.sender = None,
                        _ => {}
                    }
                })
            }

            struct Broadcast {
                sender: Option<broadcast::Sender<u32>>,
                receiver: Option<broadcast::Receiver<u32>>,
                sent: u32,
            }

            pub(in super::super) fn broadcast(seed: u64) -> Vec<String> {
                let new = |run: &mut Run| {
                    let (sender, receiver) = broadcast::channel(1 + run.numbers.below(4));
                    Broadcast { sender: Some(sender), receiver: Some(receiver), sent: 0 }
                };
                run(seed, new, |all: &mut Broadcast, run| {
                    all.sent += 1;
                    let value = all.sent;
                    match (run.numbers.below(14), &all.sender, &mut all.receiver) {
                        (0..=3, Some(sender), _) => run.says("send", sender.send(value)),
                        (4, Some(sender), _) => {
                            run.says("sender", (sender.len(), sender.is_empty(), sender.receiver_count()));
                        }
                        (5, Some(sender), _) => run.kept.push(Box::new(sender.subscribe())),
                        (6, Some(sender), _) => {
                            let sender = sender.clone();
                            run.begins("closed", async move {
                                sender.closed().await;
                                gives(())
                            });
                        }
                        (7, _, Some(receiver)) => run.says("try_recv", receiver.try_recv()),
                        (8, _, Some(receiver)) => {
                            run.says("receiver", (receiver.len(), receiver.is_empty(), receiver.is_closed()));
                        }
                        (9, _, Some(receiver)) => run.kept.push(Box::new(receiver.resubscribe())),
                        (10 | 11, _, receiver) => {
                            if let Some(mut receiver) = receiver.take() {
                                run.begins("recv", async move {
                                    let received = receiver.recv().await;
                                    keeps(&format!("{received:?}"), receiver)
                                });
                            }
                        }
                        (12, _, receiver) => *receiver = run.takes().or(receiver.take()),
                        (13, _, _) if value % 5 == 0 => all.sender = None,
                        _ => {}
                    }
                })
            }

            pub(in super::super) fn once_cell(seed: u64) -> Vec<String> {
                let new = |run: &mut Run| leak(OnceCell::new_with((run.numbers.below(9) == 0).then_some(0)));
                run(seed, new, |cell: &mut &'static OnceCell<u32>, run| {
                    let cell: &'static OnceCell<u32> = cell;
                    let value = run.numbers.below(100) as u32;
                    match run.numbers.below(8) {
                        0 | 1 => run.begins("init", async move {
                            let made = cell.get_or_init(|| async move {
                                later().await;
                                value
                            });
                            gives(made.await)
                        }),
                        2..=4 => run.begins("try_init", async move {
                            let made = cell.get_or_try_init(|| async move {
                                later().await;
                                if value < 80 { Err(value) } else { Ok(value) }
                            });
                            gives(made.await)
                        }),
                        5 if value < 30 => run.says("set", cell.set(value)),
                        6 => run.says("get", cell.get()),
                        _ => run.says("initialized", (cell.initialized(), cell)),
                    }
                })
            }

            pub(in super::super) fn barrier(seed: u64) -> Vec<String> {
                let new = |run: &mut Run| leak(Barrier::new(run.numbers.below(4)));
                run(seed, new, |barrier: &mut &'static Barrier, run| {
                    let barrier: &'static Barrier = barrier;
                    run.begins("wait", async move { gives(barrier.wait().await.is_leader()) });
                })
            }

            pub(in super::super) fn set_once(seed: u64) -> Vec<String> {
                let new = |_: &mut Run| leak(SetOnce::new());
                run(seed, new, |once: &mut &'static SetOnce<u32>, run| {
                    let once: &'static SetOnce<u32> = once;
                    match run.numbers.below(8) {
                        0..=3 => run.begins("wait", async move { gives(once.wait().await) }),
                        4 => run.says("set", once.set(1)),
                        5 => run.says("initialized", once.initialized()),
                        _ => run.says("get", once.get()),
                    }
                })
            }

            #[allow(dead_code)]
            fn unused(_: Given) {}
        }
    };
}

families!(real, real_tokio);
families!(ours, drawloom_tokio);
