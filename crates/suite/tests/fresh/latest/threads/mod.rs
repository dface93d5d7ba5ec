//! Programs of threads.

mod life;
mod state;
mod waits;

use crate::judge::Fresh;

pub const PROGRAMS: &[Fresh] = &[
    Fresh {
        name: "retried_payment",
        body: state::retried_payment,
        classes: "toctou|atomicity-gap",
        blames: &["handled"],
        observers: &["charged"],
        lines: &["self.handled.lock().unwrap().contains(", "self.handled.lock().unwrap().insert("],
        mentions: &[],
    },
    Fresh {
        name: "quote_feed",
        body: state::quote_feed,
        classes: "atomicity-gap|order-violation",
        blames: &["bid", "ask", "version"],
        observers: &[],
        lines: &["self.bid.store(|self.ask.store(", "let quote = (self.bid.load("],
        mentions: &[],
    },
    Fresh {
        name: "newsletter",
        body: state::newsletter,
        classes: "atomicity-gap|toctou|stale-reference",
        blames: &["members"],
        observers: &["posted"],
        lines: &["self.members.lock().unwrap().get(|self.member(index)", "self.members.lock().unwrap().retain("],
        mentions: &[],
    },
    Fresh {
        name: "stocktaking",
        body: state::stocktaking,
        classes: "atomicity-gap",
        blames: &["north", "south"],
        observers: &["moves"],
        lines: &[
            "*self.north.lock().unwrap() -= boxes|*self.south.lock().unwrap() += boxes",
            "let north = self.north.lock()|let south = self.south.lock()",
        ],
        mentions: &[],
    },
    Fresh {
        name: "reused_slot",
        body: state::reused_slot,
        classes: "stale-reference|toctou|atomicity-gap",
        blames: &["slots", "names"],
        observers: &[],
        lines: &["self.names.lock().unwrap().get(|world.find(", "self.slots.lock().unwrap()[slot].take()"],
        mentions: &[],
    },
    Fresh {
        name: "smoothing",
        body: state::smoothing,
        classes: "order-violation",
        blames: &["cells"],
        observers: &["smooth"],
        lines: &["self.cells[index].store(", "self.cells[1 - index].load("],
        mentions: &[],
    },
    Fresh {
        name: "session_token",
        body: life::session_token,
        classes: "order-violation|atomicity-gap",
        blames: &["started", "token"],
        observers: &["logins"],
        lines: &["self.token.store(token|self.started.swap(", "self.token.load("],
        mentions: &[],
    },
    Fresh {
        name: "tape_close",
        body: life::tape_close,
        classes: "toctou|atomicity-gap",
        blames: &["device"],
        observers: &["ejected"],
        lines: &["let open = *self.device.lock()", "*self.device.lock().unwrap() = None"],
        mentions: &[],
    },
    Fresh {
        name: "late_answer",
        body: life::late_answer,
        classes: "toctou|atomicity-gap",
        blames: &["pending"],
        observers: &["answered"],
        lines: &[
            "self.pending.lock().unwrap().contains_key(|self.is_pending(id)",
            "self.pending.lock().unwrap().remove(",
        ],
        mentions: &[],
    },
    Fresh {
        name: "wait_group",
        body: life::wait_group,
        classes: "order-violation",
        blames: &["running"],
        observers: &[],
        lines: &["self.running.load(", "self.running.fetch_add("],
        mentions: &[],
    },
    Fresh {
        name: "sleeping_worker",
        body: waits::sleeping_worker,
        classes: "lost-wakeup",
        blames: &["asleep", "jobs"],
        observers: &["done"],
        lines: &["self.asleep.load(|thread.unpark()", "self.asleep.store(true|thread::park()"],
        mentions: &[],
    },
    Fresh {
        name: "plugged_device",
        body: waits::plugged_device,
        classes: "deadlock",
        blames: &["registry"],
        observers: &[],
        lines: &[
            "let registry = self.registry.lock()",
            "events = self.filled.wait(events)",
            "let mut registry = self.registry.lock()",
        ],
        mentions: &[],
    },
];
