//! The kinds of mistakes, with the words for them.

/// What kind of mistake it is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Class {
    /// State changes between a check and the action that rests on it.
    Toctou,
    /// A task goes on using what another one has replaced or taken away.
    StaleReference,
    /// A lock does not live as long as what it protects: two tasks hold two locks for one object.
    LifetimeMismatch,
    /// Shared state is used without the lock that others hold for it.
    MissingGuard,
    /// Steps that belong together are torn apart by a step of another task.
    AtomicityGap,
    /// Tasks wait for each other.
    Deadlock,
    /// Steps come in an order that was not thought of, though nothing is torn apart.
    OrderViolation,
    /// A notification comes before the wait that it was meant for.
    LostWakeup,
    /// Tasks are busy for ever without getting anywhere.
    Livelock,
    /// Accesses to plain memory that nothing orders.
    DataRace,
    /// A task waits for what nobody will bring about.
    Starvation,
    /// It fails whatever the order is.
    AnyOrder,
}

impl Class {
    /// Every class.
    pub const ALL: [Class; 12] = [
        Class::Toctou,
        Class::StaleReference,
        Class::LifetimeMismatch,
        Class::MissingGuard,
        Class::AtomicityGap,
        Class::Deadlock,
        Class::OrderViolation,
        Class::LostWakeup,
        Class::Livelock,
        Class::DataRace,
        Class::Starvation,
        Class::AnyOrder,
    ];

    /// The word of files and tables: `atomicity-gap`.
    pub fn word(self) -> &'static str {
        match self {
            Class::Toctou => "toctou",
            Class::StaleReference => "stale-reference",
            Class::LifetimeMismatch => "lifetime-mismatch",
            Class::MissingGuard => "missing-guard",
            Class::AtomicityGap => "atomicity-gap",
            Class::Deadlock => "deadlock",
            Class::OrderViolation => "order-violation",
            Class::LostWakeup => "lost-wakeup",
            Class::Livelock => "livelock",
            Class::DataRace => "data-race",
            Class::Starvation => "starvation",
            Class::AnyOrder => "any-order",
        }
    }

    /// As a person writes it: `Atomicity gap`.
    pub fn title(self) -> &'static str {
        match self {
            Class::Toctou => "TOCTOU",
            Class::StaleReference => "Stale reference",
            Class::LifetimeMismatch => "Lifetime mismatch",
            Class::MissingGuard => "Missing guard",
            Class::AtomicityGap => "Atomicity gap",
            Class::Deadlock => "Deadlock",
            Class::OrderViolation => "Order violation",
            Class::LostWakeup => "Lost wake-up",
            Class::Livelock => "Livelock",
            Class::DataRace => "Data race",
            Class::Starvation => "Starvation",
            Class::AnyOrder => "Any order",
        }
    }

    /// What that means.
    pub fn meaning(self) -> &'static str {
        match self {
            Class::Toctou => "state changes between a check and the action that relies on it",
            Class::StaleReference => "a task keeps using a value that another task has replaced or removed",
            Class::LifetimeMismatch => "a lock does not live as long as the state that it protects",
            Class::MissingGuard => "shared state is used without the lock that others hold for it",
            Class::AtomicityGap => "another task runs between steps that belong together",
            Class::Deadlock => "tasks wait for each other",
            Class::OrderViolation => "every step is whole, but they run in an order that the program does not expect",
            Class::LostWakeup => "a notification does not reach the task that it was meant for",
            Class::Livelock => "tasks run for ever without making progress",
            Class::DataRace => "nothing orders accesses to plain memory",
            Class::Starvation => "a task waits for an event that no running task can produce",
            Class::AnyOrder => "it fails in every schedule that was tried",
        }
    }
}

crate::json::words! {
    Class { Toctou = "toctou", StaleReference = "stale-reference", LifetimeMismatch = "lifetime-mismatch", MissingGuard = "missing-guard", AtomicityGap = "atomicity-gap", Deadlock = "deadlock", OrderViolation = "order-violation", LostWakeup = "lost-wakeup", Livelock = "livelock", DataRace = "data-race", Starvation = "starvation", AnyOrder = "any-order" }
}
