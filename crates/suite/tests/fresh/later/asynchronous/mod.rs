//! Programs of tokio's tasks.

mod dropped;
mod state;
mod waits;

use crate::asynchronous::run;
use crate::judge::Fresh;

pub const PROGRAMS: &[Fresh] = &[
    Fresh {
        name: "async_lease",
        body: || run(state::lease()),
        classes: "toctou|atomicity-gap|stale-reference",
        blames: &["holder"],
        observers: &["takeovers"],
        lines: &["*self.holder.lock().await == node|self.lease.is_held_by(", "*self.holder.lock().await = node"],
        mentions: &[],
    },
    Fresh {
        name: "async_autosave",
        body: || run(state::autosave()),
        classes: "atomicity-gap|toctou|stale-reference",
        blames: &["text", "edits", "saved"],
        observers: &[],
        lines: &["self.text.lock().await.clone()", "self.edits.load(|self.edits.fetch_add(|push_str("],
        mentions: &[],
    },
    Fresh {
        name: "async_stages",
        body: || run(state::stages()),
        classes: "order-violation|lost-wakeup",
        blames: &["stage", "stages"],
        observers: &["hosts"],
        lines: &["self.stage.send_replace(Stage::Done)", "stages.changed()|stages.borrow_and_update()"],
        mentions: &[],
    },
    Fresh {
        name: "async_export_slots",
        body: || run(waits::export_slots()),
        classes: "starvation",
        blames: &["slots"],
        observers: &["exported"],
        lines: &["self.slots.acquire().await"],
        mentions: &[],
    },
    Fresh {
        name: "async_flag_rules",
        body: || run(waits::flag_rules()),
        classes: "deadlock",
        blames: &["rules"],
        observers: &["lookups"],
        lines: &["let rules = self.rules.read().await", "self.rules.write().await"],
        mentions: &[],
    },
    Fresh {
        name: "async_job_permits",
        body: || run(waits::job_permits()),
        classes: "lost-wakeup|starvation",
        blames: &["ready"],
        observers: &["finished"],
        lines: &["self.ready.notified().await", "self.ready.notify_one()"],
        mentions: &[],
    },
    Fresh {
        name: "async_booking",
        body: || run(dropped::booking()),
        classes: "atomicity-gap|order-violation|none",
        blames: &["held", "booked"],
        observers: &[],
        lines: &["*self.held.lock().await += 1"],
        mentions: &["timeout|timed out", "dropped|cancelled"],
    },
    Fresh {
        name: "async_collector",
        body: || run(dropped::collector()),
        classes: "atomicity-gap|order-violation|none",
        blames: &["lines", "store"],
        observers: &[],
        lines: &["self.lines.recv().await"],
        mentions: &["dropped|cancelled"],
    },
];
