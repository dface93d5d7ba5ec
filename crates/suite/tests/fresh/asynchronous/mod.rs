//! Programs of tokio's tasks.

mod dropped;
mod second;
mod state;
mod waits;

use std::future::Future;

use drawloom_tokio::runtime::Builder;

use crate::judge::Fresh;

/// Runs it as `#[tokio::test(flavor = "multi_thread")]` does.
pub fn run(body: impl Future<Output = ()>) {
    Builder::new_multi_thread().enable_all().build().expect("a runtime").block_on(body);
}

pub const PROGRAMS: &[Fresh] = &[
    Fresh {
        name: "async_cache",
        body: || run(state::cache()),
        classes: "toctou|atomicity-gap",
        blames: &["entries"],
        observers: &["logins"],
        lines: &["self.entries.lock().await.get(", "self.entries.lock().await.insert("],
        mentions: &[],
    },
    Fresh {
        name: "async_balance",
        body: || run(state::balance()),
        classes: "atomicity-gap|toctou",
        blames: &["balance"],
        observers: &["audits"],
        lines: &["let before = *self.balance.lock().await", "*self.balance.lock().await = before"],
        mentions: &[],
    },
    Fresh {
        name: "async_permits",
        body: || run(state::permits()),
        classes: "toctou|atomicity-gap",
        blames: &["permits"],
        observers: &["entered"],
        lines: &["self.permits.available_permits()", "self.permits.try_acquire()"],
        mentions: &[],
    },
    Fresh {
        name: "async_server_shutdown",
        body: || run(state::server_shutdown()),
        classes: "toctou|atomicity-gap",
        blames: &["draining", "active", "database_open"],
        observers: &["answers"],
        lines: &["if self.draining.load(", "self.database_open.store(false"],
        mentions: &[],
    },
    Fresh {
        name: "async_timeout",
        body: || run(dropped::timeout()),
        classes: "atomicity-gap|order-violation|none",
        blames: &["stock", "shipped"],
        observers: &[],
        lines: &["*self.stock.lock().await -= 1"],
        mentions: &["timeout|timed out", "dropped|cancelled"],
    },
    Fresh {
        name: "async_select",
        body: || run(dropped::select()),
        classes: "atomicity-gap|order-violation|none",
        blames: &["frames"],
        observers: &[],
        lines: &["self.frames.recv().await"],
        mentions: &["dropped|cancelled"],
    },
    Fresh {
        name: "async_notify",
        body: || run(waits::notify()),
        classes: "lost-wakeup|starvation",
        blames: &["changed"],
        observers: &["waits"],
        lines: &["self.changed.notify_waiters()", "self.changed.notified().await"],
        mentions: &[],
    },
    Fresh {
        name: "async_subscription",
        body: || run(waits::subscription()),
        classes: "order-violation|lost-wakeup|starvation",
        blames: &["events"],
        observers: &["published"],
        lines: &["self.events.send(", "self.events.subscribe()"],
        mentions: &[],
    },
    Fresh {
        name: "async_opposite_locks",
        body: || run(second::opposite_locks()),
        classes: "deadlock|starvation",
        blames: &["savings", "checking"],
        observers: &["made"],
        lines: &["let mut savings = self.savings.lock().await", "let mut checking = self.checking.lock().await"],
        mentions: &[],
    },
    Fresh {
        name: "async_full_room",
        body: || run(second::full_room()),
        classes: "toctou|atomicity-gap",
        blames: &["members"],
        observers: &["joined"],
        lines: &["self.members.read().await.get(room)", "*self.members.write().await.entry(room)"],
        mentions: &[],
    },
    Fresh {
        name: "async_sent_twice",
        body: || run(second::sent_twice()),
        classes: "toctou|atomicity-gap",
        blames: &["in_flight"],
        observers: &["sent", "attempts"],
        lines: &["if self.in_flight.load(", "self.in_flight.store(true"],
        mentions: &[],
    },
    Fresh {
        name: "async_nested_permits",
        body: || run(second::nested_permits()),
        classes: "starvation|deadlock",
        blames: &["permits"],
        observers: &[],
        lines: &["theirs.acquire().await"],
        mentions: &[],
    },
    Fresh {
        name: "async_abandoned_booking",
        body: || run(second::abandoned_booking()),
        classes: "atomicity-gap|none",
        blames: &["reserved"],
        observers: &["booked"],
        lines: &["*self.reserved.lock().await += 1", "let _approved = self.approvals.lock().await"],
        mentions: &["timeout|timed out", "dropped|cancelled"],
    },
];
