//! Faults: what may go wrong in a run, and how often.

use crate::files::{DiskFault, image};
use crate::id::NodeId;
use crate::partition::{Mode, Shape};

/// The effect of a crash on storage.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Loss {
    /// Nothing is lost: everything that was written has reached the disk.
    #[default]
    Nothing,
    /// Unsynced data may be lost: all of it, all but the first write or the first two, or nothing.
    Unsynced,
    /// As `Unsynced`, and for [files](crate::Ctx::write_file) also: names without data, data without names, the last operation without those before,
    /// half of the last write.
    AnyImage,
    /// Everything is lost.
    Everything,
}

/// The faults that may strike in a run, with a limit for each kind.
///
/// Which nodes are hit is chosen when a run begins, so that faults do not compete for a common budget. *When* one strikes is a choice like
/// the delivery of a message; one that comes after everything else did not happen.
///
/// ```
/// use drawloom_sim::{Faults, Shape};
///
/// let faults = Faults::none().crashes(1).restarts().duplicates(1).partitions(1, Shape::IsolateOne);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Faults {
    pub(crate) crashes: u32,
    pub(crate) crash_targets: Option<Vec<NodeId>>,
    pub(crate) restarts: bool,
    pub(crate) loss: Loss,
    pub(crate) reboots: u32,
    pub(crate) pauses: u32,
    pub(crate) stops: u32,
    pub(crate) duplicates: u32,
    pub(crate) losses: u32,
    pub(crate) corruptions: u32,
    pub(crate) resets: u32,
    pub(crate) disk_errors: u32,
    pub(crate) partitions: u32,
    pub(crate) shapes: Vec<Shape>,
    pub(crate) mode: Mode,
    pub(crate) jumps: u32,
    pub(crate) jump_by: Vec<i64>,
    pub(crate) certain: bool,
    pub(crate) midway: bool,
}

impl Faults {
    /// Nothing goes wrong.
    pub fn none() -> Faults {
        Faults::default()
    }

    /// At most `most` nodes crash: of all but the clients, or of those that [`crash_only`](Self::crash_only) names.
    #[must_use]
    pub fn crashes(self, most: u32) -> Faults {
        Faults { crashes: most, ..self }
    }

    /// As many as there may be of each kind there are, in every run. Nothing is lost where invariants and histories decide, since a fault
    /// that comes after everything else is as good as none; what is left in the end is then never that of a run without faults.
    #[must_use]
    pub fn certain(self) -> Faults {
        Faults { certain: true, ..self }
    }

    /// Only these crash, reboot, pause or stop.
    #[must_use]
    pub fn crash_only(self, nodes: impl IntoIterator<Item = NodeId>) -> Faults {
        Faults { crash_targets: Some(nodes.into_iter().collect()), ..self }
    }

    /// A node that has crashed or stopped may restart, at any time after.
    #[must_use]
    pub fn restarts(self) -> Faults {
        Faults { restarts: true, ..self }
    }

    /// At most `most` times a node crashes and restarts at once: it loses its memory, but no message.
    #[must_use]
    pub fn reboots(self, most: u32) -> Faults {
        Faults { reboots: most, ..self }
    }

    /// A crash or reboot may also strike in the midst of an event: after the first, the first two or the first three of the messages that
    /// the node sends and of its uses of storage in that event. Without this an event and all that the node does about it is one step.
    #[must_use]
    pub fn midway(self) -> Faults {
        Faults { midway: true, ..self }
    }

    /// The effect of a crash on storage.
    #[must_use]
    pub fn loses(self, loss: Loss) -> Faults {
        Faults { loss, ..self }
    }

    /// At most `most` nodes pause, and resume at any later time: until then nothing happens to them, and messages wait.
    #[must_use]
    pub fn pauses(self, most: u32) -> Faults {
        Faults { pauses: most, ..self }
    }

    /// At most `most` nodes are asked to [stop](crate::Node::on_stop).
    #[must_use]
    pub fn stops(self, most: u32) -> Faults {
        Faults { stops: most, ..self }
    }

    /// At most `most` messages arrive twice.
    #[must_use]
    pub fn duplicates(self, most: u32) -> Faults {
        Faults { duplicates: most, ..self }
    }

    /// At most `most` messages are lost. Safety does not need it: a message that arrives after everything else counts as lost. What is
    /// to happen in the end does.
    #[must_use]
    pub fn losses(self, most: u32) -> Faults {
        Faults { losses: most, ..self }
    }

    /// At most `most` messages are corrupted, as [`Cluster::corrupts`](crate::Cluster::corrupts) says.
    #[must_use]
    pub fn corruptions(self, most: u32) -> Faults {
        Faults { corruptions: most, ..self }
    }

    /// At most `most` streams are reset, when a chunk of them arrives.
    #[must_use]
    pub fn resets(self, most: u32) -> Faults {
        Faults { resets: most, ..self }
    }

    /// At most `most` times the disk of a node fails at its next use: it is full, cannot be read or written, or makes a short read.
    #[must_use]
    pub fn disk_errors(self, most: u32) -> Faults {
        Faults { disk_errors: most, ..self }
    }

    /// There may be so many partitions, of this shape (and of others, if this is called again); each may heal at any time after it began.
    #[must_use]
    pub fn partitions(mut self, most: u32, shape: Shape) -> Faults {
        self.partitions = self.partitions.max(most);
        self.shapes.push(shape);
        self
    }

    /// Sets the treatment of messages over cut links.
    #[must_use]
    pub fn mode(self, mode: Mode) -> Faults {
        Faults { mode, ..self }
    }

    /// At most `most` times the wall clock of a node jumps by one of these, in milliseconds.
    #[must_use]
    pub fn clock_jumps(mut self, most: u32, by_millis: impl IntoIterator<Item = i64>) -> Faults {
        self.jumps = self.jumps.max(most);
        self.jump_by.extend(by_millis);
        self
    }
}

/// What a step of a fault does at a node.
#[doc(hidden)]
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Action {
    /// With how many of the writes that were not synced left, if it loses any.
    Crash(Loss, usize),
    /// As a crash, and a restart at once.
    Reboot(Loss, usize),
    /// One of these, in the midst of the next event in which the node does more than so many things, after these.
    Midway(u32, Box<Action>),
    Restart,
    Stop,
    Pause,
    Resume,
    Duplicate,
    Lose,
    Corrupt,
    Reset,
    Disk(DiskFault),
    Cut(Vec<NodeId>, Mode),
    Heal(Vec<NodeId>),
    Jump(i64),
}

impl Action {
    pub fn tell(&self, name: &dyn Fn(NodeId) -> String) -> String {
        let names = |nodes: &[NodeId]| nodes.iter().map(|node| name(*node)).collect::<Vec<_>>().join(", ");
        let loses = |loss: &Loss, kept: &usize| match (loss, kept) {
            (Loss::Nothing, _) | (Loss::Unsynced | Loss::AnyImage, &usize::MAX) => String::new(),
            (Loss::AnyImage, &image::TORN) => ", and loses half of the last unsynced write".to_owned(),
            (Loss::AnyImage, &image::NAMES) => ", and loses unsynced data, but no names".to_owned(),
            (Loss::AnyImage, &image::DATA) => ", and loses unsynced names, but no data".to_owned(),
            (Loss::AnyImage, &image::LAST) => ", and loses all unsynced data except the last".to_owned(),
            (Loss::Unsynced | Loss::AnyImage, 0) => ", and loses all unsynced data".to_owned(),
            (Loss::Unsynced | Loss::AnyImage, kept) => {
                format!(", and loses all unsynced data except the first {kept}")
            }
            (Loss::Everything, _) => ", and loses its storage".to_owned(),
        };
        match self {
            Action::Crash(loss, kept) => format!("crashes{}", loses(loss, kept)),
            Action::Reboot(loss, kept) => format!("crashes and restarts{}", loses(loss, kept)),
            Action::Midway(after, then) => {
                format!("will break off in the midst of an event, after {after}: {}", then.tell(name))
            }
            Action::Restart => "restarts".to_owned(),
            Action::Stop => "is asked to stop".to_owned(),
            Action::Pause => "pauses".to_owned(),
            Action::Resume => "resumes".to_owned(),
            Action::Duplicate => "its next message will arrive twice".to_owned(),
            Action::Lose => "its next message will be lost".to_owned(),
            Action::Corrupt => "its next message will be corrupted".to_owned(),
            Action::Disk(fault) => fault.tell(),
            Action::Reset => "its next stream that something arrives on will be reset".to_owned(),
            Action::Cut(from, _) => format!("does not hear {} any more", names(from)),
            Action::Heal(from) => format!("hears {} again", names(from)),
            Action::Jump(by) => format!("its wall clock jumps by {by} ms"),
        }
    }
}

/// How much of what was not synced a crash leaves, if it does not lose all of it.
const LEFT: [usize; 3] = [1, 2, usize::MAX];
const ANY_LEFT: [usize; 7] = [1, 2, usize::MAX, image::TORN, image::NAMES, image::DATA, image::LAST];

impl Loss {
    /// What may be left, if not all that was not synced is lost.
    pub(crate) fn left(self) -> &'static [usize] {
        match self {
            Loss::Nothing | Loss::Everything => &[],
            Loss::Unsynced => &LEFT,
            Loss::AnyImage => &ANY_LEFT,
        }
    }
}

/// One fault: what it does where, one after the other.
#[doc(hidden)]
pub type Fault = Vec<(NodeId, Action)>;

/// So many faults of one kind, each of which may be any of these.
pub(crate) struct Kind {
    /// What it is called.
    pub(crate) what: &'static str,
    /// Why it may be that there is nobody whom it can hit.
    pub(crate) why_nobody: &'static str,
    pub(crate) most: u32,
    pub(crate) options: Vec<Fault>,
}

impl Faults {
    /// What may go wrong, kind by kind, among all nodes and those that are no clients.
    pub(crate) fn kinds(&self, all: &[NodeId], servers: &[NodeId]) -> Vec<Kind> {
        let targets = self.crash_targets.as_deref().unwrap_or(servers);
        let of_each = |nodes: &[NodeId], steps: &dyn Fn() -> Vec<Action>| -> Vec<Fault> {
            nodes.iter().map(|node| steps().into_iter().map(|step| (*node, step)).collect()).collect()
        };
        let back = |action: Action| if self.restarts { vec![action, Action::Restart] } else { vec![action] };
        let partition = |cut: Vec<(NodeId, Vec<NodeId>)>| -> Fault {
            let begins = cut.iter().map(|(node, from)| (*node, Action::Cut(from.clone(), self.mode)));
            let heals = cut.iter().map(|(node, from)| (*node, Action::Heal(from.clone())));
            begins.chain(heals).collect()
        };
        let cuts = self.shapes.iter().flat_map(|shape| {
            shape.cuts(match shape {
                Shape::Links(_) | Shape::Between(..) => all,
                _ => servers,
            })
        });
        let disk = all.iter().flat_map(|node| DiskFault::ALL.iter().map(|fault| vec![(*node, Action::Disk(*fault))]));
        let jumps = servers.iter().flat_map(|node| self.jump_by.iter().map(|by| vec![(*node, Action::Jump(*by))]));
        const NO_NODES: &str = "there are only clients, or `crash_only` names nobody";
        const NO_LINKS: &str = "its shape cuts no link between these nodes";
        let kinds = [
            (self.crashes, "a crash", NO_NODES, of_each(targets, &|| back(Action::Crash(self.loss, 0)))),
            (self.reboots, "a reboot", NO_NODES, of_each(targets, &|| vec![Action::Reboot(self.loss, 0)])),
            (self.stops, "a stop", NO_NODES, of_each(targets, &|| back(Action::Stop))),
            (self.pauses, "a pause", NO_NODES, of_each(targets, &|| vec![Action::Pause, Action::Resume])),
            (self.duplicates, "a duplicate", NO_NODES, of_each(all, &|| vec![Action::Duplicate])),
            (self.losses, "a loss", NO_NODES, of_each(all, &|| vec![Action::Lose])),
            (self.corruptions, "a corruption", NO_NODES, of_each(all, &|| vec![Action::Corrupt])),
            (self.resets, "a reset", NO_NODES, of_each(all, &|| vec![Action::Reset])),
            (self.disk_errors, "an error of a disk", NO_NODES, disk.collect()),
            (self.partitions, "a partition", NO_LINKS, cuts.map(partition).collect()),
            (self.jumps, "a jump of a clock", "no jumps are given, or there are only clients", jumps.collect()),
        ];
        let kinds = kinds.into_iter().filter(|(most, ..)| *most > 0);
        kinds.map(|(most, what, why_nobody, options)| Kind { what, why_nobody, most, options }).collect()
    }
}
