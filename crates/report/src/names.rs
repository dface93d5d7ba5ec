//! What reports call things: tasks by path and role, resources by name or birthplace.

use drawloom_engine::sorted::{Map, Set, sort_by_key};

use crate::processes::Mail;
use crate::record::{Place, Record, ResourceRecord, TaskRecord};
use crate::source::Sources;

/// What reports call the resources of `record`, each with its kind: ``mutex `account` ``.
pub fn resource_names(record: &Record, sources: &dyn Fn(&str) -> Option<String>) -> Vec<String> {
    Names::of(record, &Sources::of(record, sources)).resources
}

/// The names of everything in one record.
pub(crate) struct Names<'a> {
    record: &'a Record,
    resources: Vec<String>,
    /// Without their kinds.
    short: Vec<String>,
    tasks: Vec<Option<String>>,
    /// As given or found, if they are.
    found: Vec<Option<String>>,
    mail: Mail,
    /// Whether several may be made where it is, though only one of them was used: `#[derive(Default)]`.
    of_several: Vec<bool>,
}

impl<'a> Names<'a> {
    /// What the user has named is called so; the rest as the source calls it, or after its birthplace.
    pub(crate) fn of(record: &'a Record, sources: &Sources<'_>) -> Names<'a> {
        let language = record.meta.language;
        let inside = |r: &ResourceRecord| r.name.as_deref().and_then(|name| language.made_of_locks(name));
        let kind = |r: &ResourceRecord| inside(r).map_or_else(|| language.kind(&r.kind).to_owned(), str::to_owned);
        let own = |name: String| language.own_name(&name).to_owned();
        let names: Vec<Option<String>> =
            given_or_found(record, sources).into_iter().map(|name| name.map(own)).collect();
        let base: Vec<String> = record
            .resources
            .iter()
            .zip(&names)
            .map(|(r, name)| match name {
                Some(name) => match language.event_loop_called(name).filter(|_| r.kind != "object") {
                    Some(called) => called.to_owned(),
                    None => format!("{} `{name}`", kind(r)),
                },
                None => r.id.clone(),
            })
            .collect();
        // Several may come from one line: `vec![Mutex::new(0), Mutex::new(0)]`.
        let mut count: Map<&str, usize> = Map::default();
        for name in &base {
            *count.at(name) += 1;
        }
        // They are numbered as they stand in the source, and then in the order of first use.
        let mut order: Vec<usize> = (0..base.len()).collect();
        sort_by_key(&mut order, |i| record.place(record.resources[*i].created_at).map(|p| (p.line, p.column)));
        let mut seen: Map<&str, usize> = Map::default();
        let mut resources = vec![String::new(); base.len()];
        for i in order {
            let name = base[i].as_str();
            let nth = seen.at(name);
            *nth += 1;
            // The lock and the condition of one event are that event.
            let several = count[name] > 1 && inside(&record.resources[i]).is_none();
            resources[i] = if several { format!("{name} #{nth}") } else { name.to_owned() };
        }
        let mut short: Vec<String> = resources
            .iter()
            .zip(&record.resources)
            .map(|(name, r)| match inside(r) {
                Some(_) => name.clone(),
                None => name.strip_prefix(&format!("{} ", kind(r))).unwrap_or(name).to_owned(),
            })
            .collect();
        // A lock and what it guards may have one name: then the kind tells them apart.
        let mut count: Map<String, usize> = Map::default();
        for name in &short {
            *count.at(name.clone()) += 1;
        }
        for (name, whole) in short.iter_mut().zip(&resources) {
            // The last of them keeps it.
            if count[name] > 1 && name != whole {
                *count.at(name.clone()) -= 1;
                *count.at(whole.clone()) += 1;
                name.clone_from(whole);
            }
        }
        // Thousands may be spawned at one place.
        let mut roles: Map<u32, Option<String>> = Map::default();
        let mut spawned = |task: &TaskRecord| {
            let place = task.spawned_at?;
            let found = || sources.task_at(record.place(Some(place))?);
            // `_server` is one that is not used.
            let plain = |name: String| Some(name.trim_start_matches('_').to_owned()).filter(|name| !name.is_empty());
            roles.get_or_insert_with(place, || found().and_then(plain)).clone()
        };
        let tasks = record.tasks.iter().map(|t| given_name(t).map(str::to_owned).or_else(|| spawned(t))).collect();
        let made = |r: &ResourceRecord| record.place(r.created_at).and_then(|place| sources.after(place));
        let several = |text: String| text.to_lowercase().starts_with("default");
        let of_several = record.resources.iter().map(|r| made(r).is_some_and(several)).collect();
        let mail = Mail::of(record);
        let mut names = Names { record, resources, short, tasks, found: names, of_several, mail };
        names.name_processes();
        names
    }

    /// A mailbox is called as whose it is.
    fn name_processes(&mut self) {
        for (at, resource) in self.record.resources.iter().enumerate().filter(|(_, r)| r.kind == "process") {
            let name = match self.mail.owner(Some(at as u32)) {
                Some(task) => format!("mailbox of {}", self.tag(task)),
                None => format!("`{}`", resource.name.as_deref().unwrap_or(&resource.id)),
            };
            self.short[at].clone_from(&name);
            self.resources[at] = name;
        }
    }

    /// Who received what was sent.
    pub(crate) fn mail(&self) -> &Mail {
        &self.mail
    }

    /// What each resource is called in every execution, as far as that can be told: its birthplace, if nothing else of
    /// its kind comes from there; if something does, or may, with its name, if it has one of its own. (Its `id` depends on who
    /// used it first.)
    pub(crate) fn keys(&self) -> Vec<String> {
        let all = || self.record.resources.iter().zip(&self.found).zip(&self.of_several);
        let mut born: Map<(&str, Option<u32>), u32> = Map::default();
        let mut called: Map<(&str, Option<u32>, &str), u32> = Map::default();
        for ((resource, name), _) in all() {
            *born.at((&resource.kind, resource.created_at)) += 1;
            if let Some(name) = name {
                *called.at((&resource.kind, resource.created_at, name)) += 1;
            }
        }
        let key = |((resource, name), several): ((&ResourceRecord, &Option<String>), &bool)| {
            let (kind, made) = (resource.kind.as_str(), resource.created_at);
            let name = name.as_deref().filter(|name| called[&(kind, made, *name)] == 1);
            match (self.record.place(made), name) {
                (Some(place), Some(name)) if *several || born[&(kind, made)] > 1 => {
                    format!("{kind} {place}:{} {name}", place.column)
                }
                (Some(place), _) if born[&(kind, made)] == 1 => format!("{kind} {place}:{}", place.column),
                _ => resource.id.clone(),
            }
        };
        all().map(key).collect()
    }

    /// Its name without its kind: `` `balance` ``.
    pub(crate) fn short(&self, index: u32) -> &str {
        self.short.get(index as usize).map_or("?", String::as_str)
    }

    /// Whether its name says something to who has written the program: more than the types of what a library keeps.
    pub(crate) fn tells(&self, index: u32) -> bool {
        const PLAIN: [&str; 4] = ["deque", "dict", "list", "set"];
        let name = self.short(index);
        let mut words = name.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty());
        words.any(|word| !PLAIN.contains(&word) && !word.starts_with(char::is_uppercase))
    }

    /// What code would call it: without its kind, quotes and number.
    pub(crate) fn bare(&self, index: u32) -> &str {
        let name = self.short(index);
        name.split('`').nth(1).unwrap_or(name)
    }

    /// A task in running text: `` `0.1` (deposit) ``.
    pub(crate) fn quoted(&self, task: u32) -> String {
        match self.role(task) {
            Some(role) => format!("`{}` ({role})", self.path(task)),
            None => format!("`{}`", self.path(task)),
        }
    }

    /// What the task is called, or does.
    pub(crate) fn role(&self, task: u32) -> Option<&str> {
        self.tasks.get(task as usize)?.as_deref()
    }

    pub(crate) fn resource(&self, index: Option<u32>) -> Option<&str> {
        self.resources.get(index? as usize).map(String::as_str)
    }

    /// Its path: `0.1`.
    pub(crate) fn path(&self, task: u32) -> &'a str {
        self.task(task).map_or("?", |t| t.path.as_str())
    }

    /// Its path and name: `0.1 (deposit)`, `0 (main)`, `0.2`.
    ///
    /// A node of a cluster is called by its name alone.
    pub(crate) fn tag(&self, task: u32) -> String {
        match self.role(task) {
            Some(name) if self.record.processes.nodes.contains(&task) => name.to_owned(),
            Some(name) => format!("{} ({name})", self.path(task)),
            None => self.path(task).to_owned(),
        }
    }

    /// Its path and where it comes from: `Task 0.1 (spawn at src/x.rs:12)`.
    pub(crate) fn full(&self, task: u32) -> String {
        let record = self.task(task);
        let name = self.role(task).map(str::to_owned);
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

/// What each resource is called: by the user, where it is made, or where it is used; else by its birthplace.
fn given_or_found(record: &Record, sources: &Sources<'_>) -> Vec<Option<String>> {
    // The one resource of each place. Where several are used, as by a wait with its lock, a name is that of either.
    let mut used: Map<Option<u32>, Option<u32>> = Map::default();
    for step in record.steps.iter().filter(|step| step.resource.is_some()) {
        let resource = used.get_or_insert_with(step.place, || step.resource);
        *resource = resource.filter(|known| Some(*known) == step.resource);
    }
    // Each place once, however often a loop comes by.
    let mut places_of: Vec<Vec<u32>> = vec![Vec::new(); record.resources.len()];
    let mut known: Set<(u32, u32)> = Set::default();
    for step in &record.steps {
        let (Some(resource), Some(place)) = (step.resource, step.place) else { continue };
        if known.insert((resource, place)) {
            places_of[resource as usize].push(place);
        }
    }
    // Elements of one container are made at one place, and used at the same ones: a name is that of all of them.
    let mut made_of: Map<u32, Option<u32>> = Map::default();
    for step in &record.steps {
        let Some(place) = step.place else { continue };
        let made = step.resource.and_then(|resource| record.resources[resource as usize].created_at);
        let known = made_of.get_or_insert_with(place, || made);
        *known = known.filter(|known| Some(*known) == made);
    }
    let mut used_of: Map<u32, Vec<u32>> = Map::default();
    for (place, made) in made_of {
        made.into_iter().for_each(|made| used_of.at(made).push(place));
    }
    let of_a_place = |made: Option<u32>| {
        let places = made.and_then(|made| used_of.get(&made)).into_iter().flatten();
        sources.used_at(places.filter_map(|place| record.place(Some(*place))))
    };
    // The same of elements whose birthplace is that of other containers, too: where each of them is used, all are alike.
    let mut alike: Map<u32, Option<(&str, Option<u32>)>> = Map::default();
    for step in &record.steps {
        let Some(place) = step.place else { continue };
        let made = step.resource.map(|resource| &record.resources[resource as usize]);
        let made = made.map(|made| (made.kind.as_str(), made.created_at));
        let known = alike.get_or_insert_with(place, || made);
        *known = known.filter(|known| Some(*known) == made);
    }
    let of_elements = |index: u32| {
        let of_one_kind = |place: &&u32| alike.get(*place).is_some_and(Option::is_some);
        let places = places_of[index as usize].iter().filter(of_one_kind);
        sources.used_at(places.filter_map(|place| record.place(Some(*place))))
    };
    let name = |(r, index): (&ResourceRecord, u32)| {
        let made_at = record.place(r.created_at);
        let places = || places_of[index as usize].iter().copied();
        let touched_at = || places().filter_map(|place| record.place(Some(place)));
        // The method at which a lock is given back and taken again is that of a condition variable.
        let waits =
            |place: &Place| r.kind == "mutex" && sources.after(place).is_some_and(|after| after.starts_with("wait"));
        let alone = || {
            let of_one = places().filter(|place| used[&Some(*place)] == Some(index));
            of_one.filter_map(|place| record.place(Some(place))).filter(move |place| !waits(place))
        };
        let given = r.name.as_ref().map(|name| sources.container_at(name, touched_at()).unwrap_or(name.clone()));
        // The two ends of a channel have names of their own where it is made; a field says what it is for.
        let has_ends = matches!(r.kind.as_str(), "channel" | "object");
        let field = || sources.field_at(alone());
        given
            .or_else(|| if has_ends { field() } else { None })
            .or_else(|| sources.name_at(made_at?))
            .or_else(|| sources.used_at(alone()))
            .or_else(|| of_a_place(r.created_at))
            .or_else(|| of_elements(index))
            .or_else(|| made_at.filter(|place| place.is_the_users()).map(of_birthplace))
    };
    record.resources.iter().zip(0..).map(name).collect()
}

/// What has no other name is named after the place where it was made: of a library, `pool.rs:48` says as much as the whole path.
fn of_birthplace(place: &Place) -> String {
    match std::path::Path::new(&place.file) {
        file if file.is_absolute() => {
            format!("{}:{}", file.file_name().unwrap_or_default().to_string_lossy(), place.line)
        }
        _ => place.to_string(),
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
