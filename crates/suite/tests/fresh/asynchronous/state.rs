//! State that is looked at, left, and changed.

use std::collections::HashMap;
use std::time::Duration;

use drawloom::sync::Arc;
use drawloom::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use drawloom_tokio as tokio;
use tokio::sync::{Mutex, Semaphore};
use tokio::time::sleep;

#[derive(Default)]
struct Sessions {
    entries: Mutex<HashMap<u32, String>>,
    logins: AtomicUsize,
}

impl Sessions {
    async fn token(&self, user: u32) -> String {
        if let Some(token) = self.entries.lock().await.get(&user) {
            return token.clone();
        }
        let token = self.log_in(user).await;
        self.entries.lock().await.insert(user, token.clone());
        token
    }

    async fn log_in(&self, user: u32) -> String {
        let number = self.logins.fetch_add(1, Ordering::Relaxed);
        sleep(Duration::from_millis(20)).await;
        format!("{user}-{number}")
    }
}

/// Two requests of one user log in twice.
pub async fn cache() {
    let sessions = Arc::new(Sessions::default());
    let theirs = sessions.clone();
    let request = tokio::spawn(async move { theirs.token(7).await });
    let mine = sessions.token(7).await;
    assert_eq!(mine, request.await.unwrap(), "one user, one session");
}

struct Account {
    balance: Mutex<i64>,
    audits: AtomicUsize,
}

impl Account {
    async fn deposit(&self, amount: i64) {
        let before = *self.balance.lock().await;
        self.audit(before).await;
        *self.balance.lock().await = before + amount;
    }

    async fn audit(&self, balance: i64) {
        assert!(balance >= 0);
        tokio::task::yield_now().await;
        self.audits.fetch_add(1, Ordering::Relaxed);
    }
}

/// A lock that is given back over an `await`.
pub async fn balance() {
    let account = Arc::new(Account { balance: Mutex::new(0), audits: AtomicUsize::new(0) });
    let deposits: Vec<_> = [10, 20]
        .map(|amount| {
            let account = account.clone();
            tokio::spawn(async move { account.deposit(amount).await })
        })
        .into();
    for deposit in deposits {
        deposit.await.unwrap();
    }
    assert_eq!(*account.balance.lock().await, 30);
}

struct Gate {
    permits: Semaphore,
    entered: AtomicUsize,
}

impl Gate {
    fn is_open(&self) -> bool {
        self.permits.available_permits() > 0
    }

    async fn enter(&self) -> bool {
        if !self.is_open() {
            return false;
        }
        let permit = self.permits.try_acquire().expect("the gate is open");
        self.entered.fetch_add(1, Ordering::Relaxed);
        permit.forget();
        true
    }
}

/// A permit that was seen may be gone.
pub async fn permits() {
    let gate = Arc::new(Gate { permits: Semaphore::new(1), entered: AtomicUsize::new(0) });
    let theirs = gate.clone();
    let visitor = tokio::spawn(async move { theirs.enter().await });
    let mine = gate.enter().await;
    let theirs = visitor.await.expect("the visitor is let in or sent away");
    assert!(mine != theirs);
}

struct Server {
    draining: AtomicBool,
    active: AtomicUsize,
    database_open: AtomicBool,
    answers: AtomicUsize,
}

impl Server {
    async fn handle(&self) {
        if self.draining.load(Ordering::SeqCst) {
            return;
        }
        self.active.fetch_add(1, Ordering::SeqCst);
        self.query().await;
        self.active.fetch_sub(1, Ordering::SeqCst);
    }

    async fn query(&self) {
        assert!(self.database_open.load(Ordering::SeqCst), "a query of a closed database");
        self.answers.fetch_add(1, Ordering::Relaxed);
    }

    async fn shut_down(&self) {
        self.draining.store(true, Ordering::SeqCst);
        while self.active.load(Ordering::SeqCst) > 0 {
            sleep(Duration::from_millis(10)).await;
        }
        self.database_open.store(false, Ordering::SeqCst);
    }
}

/// A request that was let in and is not counted yet.
pub async fn server_shutdown() {
    let server = Arc::new(Server {
        draining: AtomicBool::new(false),
        active: AtomicUsize::new(0),
        database_open: AtomicBool::new(true),
        answers: AtomicUsize::new(0),
    });
    let theirs = server.clone();
    let request = tokio::spawn(async move { theirs.handle().await });
    server.shut_down().await;
    request.await.unwrap();
}
