//! Requests that begin, end, and are given up.

use std::collections::HashMap;
use std::time::Duration;

use drawloom::sync::Arc;
use drawloom::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use drawloom_tokio as tokio;
use tokio::sync::{Mutex, mpsc, oneshot};
use tokio::time::sleep;

#[derive(Default)]
struct Purse {
    wallet: Mutex<u32>,
    savings: Mutex<u32>,
    receipts: AtomicUsize,
}

impl Purse {
    async fn save(&self, coins: u32) {
        *self.wallet.lock().await -= coins;
        sleep(Duration::from_millis(2)).await;
        *self.savings.lock().await += coins;
        self.receipts.fetch_add(1, Ordering::Relaxed);
    }
}

/// The task is aborted with the coins in its hand.
pub async fn aborted_transfer() {
    let purse = Arc::new(Purse::default());
    *purse.wallet.lock().await = 10;
    let theirs = purse.clone();
    let saving = tokio::spawn(async move { theirs.save(4).await });
    sleep(Duration::from_millis(1)).await;
    saving.abort();
    let _ = saving.await;
    let total = *purse.wallet.lock().await + *purse.savings.lock().await;
    assert_eq!(total, 10, "{} receipts", purse.receipts.load(Ordering::Relaxed));
}

struct Link {
    requests: mpsc::Sender<u32>,
    waiters: Mutex<HashMap<u32, oneshot::Sender<&'static str>>>,
    unexpected: AtomicUsize,
}

impl Link {
    async fn ask(&self, id: u32) -> &'static str {
        let (reply, answer) = oneshot::channel();
        self.requests.send(id).await.unwrap();
        self.waiters.lock().await.insert(id, reply);
        answer.await.unwrap()
    }

    async fn dispatch(&self, id: u32) {
        match self.waiters.lock().await.remove(&id) {
            Some(reply) => reply.send("pong").unwrap(),
            None => _ = self.unexpected.fetch_add(1, Ordering::Relaxed),
        }
    }
}

/// The answer is there before anybody is noted down to wait for it.
pub async fn early_answer() {
    let (requests, mut server) = mpsc::channel(4);
    let link = Arc::new(Link { requests, waiters: Mutex::default(), unexpected: AtomicUsize::new(0) });
    let theirs = link.clone();
    let server = tokio::spawn(async move {
        let id = server.recv().await.unwrap();
        theirs.dispatch(id).await;
    });
    assert_eq!(link.ask(1).await, "pong");
    server.await.unwrap();
}

#[derive(Default)]
struct Gateway {
    closing: AtomicBool,
    active: AtomicUsize,
    database: Mutex<Option<&'static str>>,
    served: AtomicUsize,
}

impl Gateway {
    async fn serve(&self) {
        if self.closing.load(Ordering::SeqCst) {
            return;
        }
        self.active.fetch_add(1, Ordering::SeqCst);
        let database = self.database.lock().await.expect("the database is open");
        assert_eq!(database, "users");
        self.served.fetch_add(1, Ordering::Relaxed);
        self.active.fetch_sub(1, Ordering::SeqCst);
    }

    async fn shut_down(&self) {
        self.closing.store(true, Ordering::SeqCst);
        while self.active.load(Ordering::SeqCst) > 0 {
            tokio::task::yield_now().await;
        }
        *self.database.lock().await = None;
    }
}

/// A request that has been let in is not counted yet when the last one is waited for.
pub async fn drained_gateway() {
    let gateway = Arc::new(Gateway::default());
    *gateway.database.lock().await = Some("users");
    let theirs = gateway.clone();
    let request = tokio::spawn(async move { theirs.serve().await });
    gateway.shut_down().await;
    request.await.unwrap();
}

enum Message {
    Value(oneshot::Sender<u32>),
    Update(oneshot::Sender<()>),
}

struct Actor {
    inbox: mpsc::Receiver<Message>,
    peer: mpsc::Sender<Message>,
    value: u32,
}

impl Actor {
    async fn ask_peer(&self) -> u32 {
        let (reply, answer) = oneshot::channel();
        let _ = self.peer.send(Message::Value(reply)).await;
        answer.await.expect("an answer")
    }

    async fn run(mut self) {
        while let Some(message) = self.inbox.recv().await {
            match message {
                Message::Value(reply) => _ = reply.send(self.value),
                Message::Update(done) => {
                    self.value += self.ask_peer().await;
                    let _ = done.send(());
                }
            }
        }
    }
}

async fn update(actor: &mpsc::Sender<Message>) -> oneshot::Receiver<()> {
    let (done, updated) = oneshot::channel();
    let _ = actor.send(Message::Update(done)).await;
    updated
}

/// Each of the two waits for the other's answer, and answers nobody meanwhile.
pub async fn two_actors() {
    let (shop, shop_inbox) = mpsc::channel(4);
    let (depot, depot_inbox) = mpsc::channel(4);
    let actors = [
        tokio::spawn(Actor { inbox: shop_inbox, peer: depot.clone(), value: 3 }.run()),
        tokio::spawn(Actor { inbox: depot_inbox, peer: shop.clone(), value: 2 }.run()),
    ];
    let (sold, restocked) = (update(&shop).await, update(&depot).await);
    sold.await.unwrap();
    restocked.await.unwrap();
    actors.iter().for_each(|actor| actor.abort());
}
