//! djc/bb8#122: a pool of connections stalls.
//!
//! `get` looks for an idle connection, finds none, and only then joins the queue of those who wait. A connection
//! that is put back in between finds an empty queue, becomes idle, and nobody tells the one who waits. The fix looks
//! and joins under one lock.

use std::collections::VecDeque;
use std::sync::Arc;

use drawloom::sync::Mutex;
use drawloom_tokio::spawn;
use drawloom_tokio::sync::oneshot;

use crate::explored::{clean, found};

#[derive(Default)]
struct Inner {
    idle: Vec<u32>,
    waiting: VecDeque<oneshot::Sender<u32>>,
}

#[derive(Default)]
struct Pool(Mutex<Inner>);

impl Pool {
    async fn get(&self) -> u32 {
        if let Some(connection) = self.0.lock().unwrap().idle.pop() {
            return connection;
        }
        let (sender, receiver) = oneshot::channel();
        self.0.lock().unwrap().waiting.push_back(sender);
        receiver.await.expect("the pool is there")
    }

    async fn get_fixed(&self) -> u32 {
        let receiver = {
            let mut inner = self.0.lock().unwrap();
            if let Some(connection) = inner.idle.pop() {
                return connection;
            }
            let (sender, receiver) = oneshot::channel();
            inner.waiting.push_back(sender);
            receiver
        };
        receiver.await.expect("the pool is there")
    }

    fn put_back(&self, connection: u32) {
        let mut inner = self.0.lock().unwrap();
        match inner.waiting.pop_front() {
            // Who waits no longer has dropped its end.
            Some(waiting) => {
                if let Err(connection) = waiting.send(connection) {
                    inner.idle.push(connection);
                }
            }
            None => inner.idle.push(connection),
        }
    }
}

async fn one_connection_for_two(fixed: bool) {
    let pool = Arc::new(Pool::default());
    pool.put_back(1);
    let users: Vec<_> = (0..2)
        .map(|_| {
            let pool = pool.clone();
            spawn(async move {
                let connection = if fixed { pool.get_fixed().await } else { pool.get().await };
                pool.put_back(connection);
            })
        })
        .collect();
    for user in users {
        user.await.unwrap();
    }
}

#[test]
fn a_connection_comes_back_between_looking_and_queueing() {
    found("starvation", || one_connection_for_two(false));
}

#[test]
fn looking_and_queueing_at_once_stalls_nobody() {
    clean(|| one_connection_for_two(true));
}
