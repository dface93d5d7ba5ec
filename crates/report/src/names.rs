//! What reports call things: tasks by path and role, resources by name or birthplace.

use std::collections::HashMap;

use crate::record::{Record, TaskRecord};

/// The names of everything in one record.
pub(crate) struct Names<'a> {
    record: &'a Record,
    resources: Vec<String>,
}

impl<'a> Names<'a> {
    pub(crate) fn of(record: &'a Record) -> Names<'a> {
        let base: Vec<String> = record
            .resources
            .iter()
            .map(|r| match (&r.name, record.place(r.created_at)) {
                (Some(name), _) => format!("{} `{name}`", r.kind),
                (None, Some(place)) => format!("{} `{place}`", r.kind),
                (None, None) => r.id.clone(),
            })
            .collect();
        // Several may come from one line: `vec![Mutex::new(0), Mutex::new(0)]`.
        let mut count: HashMap<&str, usize> = HashMap::new();
        for name in &base {
            *count.entry(name).or_default() += 1;
        }
        let mut seen: HashMap<&str, usize> = HashMap::new();
        let number = |name: &'_ str, nth: usize| {
            if nth == 0 { name.to_owned() } else { format!("{name} #{nth}") }
        };
        let resources = base
            .iter()
            .map(|name| {
                let nth = seen.entry(name).or_default();
                *nth += 1;
                number(name, if count[name.as_str()] > 1 { *nth } else { 0 })
            })
            .collect();
        Names { record, resources }
    }

    pub(crate) fn resource(&self, index: Option<u32>) -> Option<&str> {
        self.resources.get(index? as usize).map(String::as_str)
    }

    /// Its path: `0.1`.
    pub(crate) fn path(&self, task: u32) -> &'a str {
        self.task(task).map_or("?", |t| t.path.as_str())
    }

    /// Its path and name: `0.1 (deposit)`, `0 (main)`, `0.2`.
    pub(crate) fn tag(&self, task: u32) -> String {
        match self.task(task).and_then(given_name) {
            Some(name) => format!("{} ({name})", self.path(task)),
            None => self.path(task).to_owned(),
        }
    }

    /// Its path and where it comes from: `Task 0.1 (spawn at src/x.rs:12)`.
    pub(crate) fn full(&self, task: u32) -> String {
        let record = self.task(task);
        let name = record.and_then(given_name).map(str::to_owned);
        let place = self.record.place(record.and_then(|t| t.spawned_at));
        let spawn = place.map(|place| format!("spawn at {place}"));
        match [name, spawn].into_iter().flatten().collect::<Vec<_>>().join(", ") {
            role if role.is_empty() => format!("Task {}", self.path(task)),
            role => format!("Task {} ({role})", self.path(task)),
        }
    }

    /// The task that an operation's second operand names.
    pub(crate) fn target(&self, argument: Option<u64>) -> Option<u32> {
        let index = u32::try_from(argument?).ok()?;
        self.task(index).map(|_| index)
    }

    fn task(&self, task: u32) -> Option<&'a TaskRecord> {
        self.record.tasks.get(task as usize)
    }
}

fn given_name(task: &TaskRecord) -> Option<&str> {
    match &task.name {
        Some(name) => Some(name),
        None if task.path == "0" => Some("main"),
        None => None,
    }
}

/// `1 step`, `2 steps`.
pub(crate) fn count(number: u64, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}
