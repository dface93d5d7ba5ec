//! Programs of tokio's tasks.

mod life;
mod state;

use crate::asynchronous::run;
use crate::judge::Fresh;

pub const PROGRAMS: &[Fresh] = &[
    Fresh {
        name: "async_refreshed_token",
        body: || run(state::refreshed_token()),
        classes: "toctou|atomicity-gap",
        blames: &["token"],
        observers: &["issued"],
        lines: &["= *self.token.read().await", "*self.token.write().await = Some("],
        mentions: &[],
    },
    Fresh {
        name: "async_wiki_page",
        body: || run(state::wiki_page()),
        classes: "toctou|atomicity-gap",
        blames: &["version"],
        observers: &[],
        lines: &["*self.version.lock().await != base", "*self.version.lock().await += 1"],
        mentions: &[],
    },
    Fresh {
        name: "async_search_box",
        body: || run(state::search_box()),
        classes: "order-violation|atomicity-gap|stale-reference",
        blames: &["shown"],
        observers: &["requests"],
        lines: &["*self.shown.lock().await = results"],
        mentions: &[],
    },
    Fresh {
        name: "async_heartbeat",
        body: || run(state::heartbeat()),
        classes: "toctou|atomicity-gap",
        blames: &["last_seen", "alive"],
        observers: &["warnings"],
        lines: &["- *self.last_seen.lock().await|*self.last_seen.lock().await = now", "self.alive.store(false"],
        mentions: &[],
    },
    Fresh {
        name: "async_closed_log",
        body: || run(state::closed_log()),
        classes: "order-violation|atomicity-gap|toctou",
        blames: &["buffer", "disk"],
        observers: &[],
        lines: &["&mut *self.buffer.lock().await", "self.disk.lock().await.extend(lines)"],
        mentions: &[],
    },
    Fresh {
        name: "async_aborted_transfer",
        body: || run(life::aborted_transfer()),
        classes: "atomicity-gap|order-violation|none",
        blames: &["wallet", "savings"],
        observers: &["receipts"],
        lines: &["*self.wallet.lock().await -= coins"],
        mentions: &["abort|cancel|dropped"],
    },
    Fresh {
        name: "async_early_answer",
        body: || run(life::early_answer()),
        classes: "order-violation|lost-wakeup",
        blames: &["waiters"],
        observers: &["unexpected"],
        lines: &["self.waiters.lock().await.remove(", "self.waiters.lock().await.insert("],
        mentions: &[],
    },
    Fresh {
        name: "async_drained_gateway",
        body: || run(life::drained_gateway()),
        classes: "toctou|atomicity-gap|order-violation",
        blames: &["closing", "active"],
        observers: &["served"],
        lines: &["if self.closing.load(", "self.closing.store(true|self.active.load("],
        mentions: &[],
    },
    Fresh {
        name: "async_two_actors",
        body: || run(life::two_actors()),
        classes: "deadlock|starvation",
        blames: &["answer", "reply", "peer", "inbox"],
        observers: &[],
        lines: &["answer.await"],
        mentions: &[],
    },
];
