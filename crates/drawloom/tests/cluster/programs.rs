//! Small programs of clusters, made from a seed.

use std::time::Duration;

use drawloom::cluster::{
    Clock, Ctx, Faults, Loss, Mode, Node, NodeId, Probe, Shape, StreamEvent, StreamId, Timer, TimerId, Verdict,
};

/// A message: what it is about, and how much may follow from it.
pub type Message = (u32, u32);

/// What each node has seen.
pub type Seen = Vec<Vec<(u32, u32, u32)>>;

/// What a program is made of.
#[derive(Clone, Copy, Debug)]
pub struct Program {
    pub seed: u64,
    pub nodes: usize,
    /// How much may follow from what is sent at first.
    pub depth: u32,
    pub faults: u32,
    /// Nodes choose in the midst of events: then all events are ordered.
    pub chooses: bool,
}

fn mixed(parts: &[u64]) -> u64 {
    parts.iter().fold(0x243F_6A88_85A3_08D3, |hash, part| {
        let product = u128::from(hash ^ part ^ 0x9E37_79B9_7F4A_7C15) * 0xD6E8_FEB8_6659_FD93;
        (product as u64) ^ (product >> 64) as u64
    })
}

/// Does what the seed says, depending on all that it has seen so far.
struct Scripted {
    program: Program,
    seen: u64,
    timer: Option<TimerId>,
    probe: Probe<Seen>,
}

impl Scripted {
    fn act(&mut self, what: (u32, u32, u32), left: u32, cx: &mut Ctx<'_, Message>) {
        let me = cx.me().index();
        self.probe.note()[me].push(what);
        self.seen = mixed(&[self.seen, u64::from(what.0), u64::from(what.1), u64::from(what.2)]);
        let mut dice = mixed(&[self.program.seed, me as u64, self.seen]);
        let mut roll = |sides: u64| {
            let rolled = dice % sides;
            dice /= sides;
            rolled
        };
        let peer = |roll: u64| NodeId::from_index((me + 1 + roll as usize) % self.program.nodes);
        if left == 0 {
            return;
        }
        match roll(8) {
            0 | 1 => cx.send(peer(roll(self.program.nodes as u64)), (roll(4) as u32, left - 1)),
            2 => {
                cx.send(peer(roll(self.program.nodes as u64)), (roll(4) as u32, left - 1));
                cx.send(peer(roll(self.program.nodes as u64)), (roll(4) as u32, 0));
            }
            3 => self.timer = Some(cx.set_timer(Duration::from_millis(roll(4)), u64::from(left - 1))),
            4 => {
                if let Some(timer) = self.timer.take() {
                    cx.cancel_timer(timer);
                }
            }
            5 => {
                let chosen = if self.program.chooses { cx.choose(2) as u32 } else { 0 };
                cx.send(peer(roll(self.program.nodes as u64)), (8 + chosen, left - 1));
            }
            6 => {
                let stored = cx.load::<u32>("count").unwrap_or(0);
                cx.write("count", stored + 1);
                if roll(2) == 0 {
                    cx.sync();
                }
            }
            // A stream, and something on it.
            _ => {
                let stream = cx.connect(peer(roll(self.program.nodes as u64)), PORT);
                cx.push(stream, (roll(4) as u32, left - 1));
                if roll(3) == 0 {
                    cx.close(stream);
                }
            }
        }
    }
}

const PORT: u16 = 1;

impl Node<Message> for Scripted {
    fn on_start(&mut self, cx: &mut Ctx<'_, Message>) {
        if mixed(&[self.program.seed, 4, cx.me().index() as u64]) % 3 > 0 {
            cx.listen(PORT);
        }
        let stored = cx.load::<u32>("count").unwrap_or(0);
        self.act((1, cx.starts(), stored), self.program.depth, cx);
    }

    fn on_message(&mut self, from: NodeId, (about, left): Message, cx: &mut Ctx<'_, Message>) {
        self.act((2, from.index() as u32, about * 16 + left), left, cx);
    }

    fn on_timer(&mut self, timer: Timer, cx: &mut Ctx<'_, Message>) {
        self.act((3, timer.tag as u32, cx.now().as_millis() as u32), timer.tag as u32, cx);
    }

    fn on_rejected(&mut self, to: NodeId, (about, left): Message, cx: &mut Ctx<'_, Message>) {
        self.act((4, to.index() as u32, about), left.saturating_sub(1), cx);
    }

    fn on_stream(&mut self, _: StreamId, event: StreamEvent<Message>, cx: &mut Ctx<'_, Message>) {
        let (what, left) = match event {
            StreamEvent::Accepted { .. } => (1, 0),
            StreamEvent::Connected => (2, 1),
            StreamEvent::Refused => (3, 0),
            StreamEvent::Data((about, left)) => (8 + about, left),
            StreamEvent::Closed => (4, 0),
            StreamEvent::Reset => (5, 1),
        };
        self.act((6, what, left), left, cx);
    }

    fn on_stop(&mut self, cx: &mut Ctx<'_, Message>) {
        self.act((5, 0, 0), 1, cx);
    }
}

fn held(to: NodeId, (about, _): Message) -> Verdict {
    match (to.index(), about % 4) {
        (0, 0 | 1) => Verdict::Hold,
        (0, 2) | (1, 0 | 1) => Verdict::Release(NodeId::from_index(0)),
        _ => Verdict::Deliver,
    }
}

impl Program {
    /// Of faults.
    pub const KINDS: u32 = 20;

    /// A program of another kind: crashes in the midst of events, bounded drift, messages that are held.
    pub fn with(kind: u32, seed: u64) -> Program {
        Program { faults: Self::KINDS + kind, chooses: false, ..Program::of(seed) }
    }

    /// Whether all events are ordered.
    pub fn is_ordered(self) -> bool {
        self.chooses || matches!(self.faults, 23..=25)
    }

    pub fn of(seed: u64) -> Program {
        let nodes = 2 + (mixed(&[seed, 1]) % 2) as usize;
        let depth = 1 + (mixed(&[seed, 2]) % 3) as u32;
        Program {
            seed,
            nodes,
            depth,
            faults: (mixed(&[seed, 3]) % u64::from(Self::KINDS)) as u32,
            chooses: seed % 5 == 0,
        }
    }

    pub fn build(self, cluster: &mut drawloom_sim::Cluster<Message>, probe: &Probe<Seen>) {
        *probe.note() = vec![Vec::new(); self.nodes];
        for node in 0..self.nodes {
            cluster.node_with(format!("n{node}"), probe.clone(), move |probe| Scripted {
                program: self,
                seen: 0,
                timer: None,
                probe,
            });
        }
        if self.chooses {
            cluster.ordered();
        }
        let one = [NodeId::from_index(0)];
        let faults = Faults::none();
        cluster.faults(match self.faults {
            0 => faults.crashes(1),
            1 => faults.crashes(1).crash_only(one).restarts(),
            2 => faults.crashes(1).crash_only(one).restarts().loses(Loss::Unsynced),
            3 => faults.duplicates(1),
            4 => faults.losses(1),
            5 => faults.partitions(1, Shape::OneLink),
            6 => faults.partitions(1, Shape::IsolateOne),
            7 => faults.partitions(1, Shape::DeafOne).mode(Mode::Defer),
            8 => faults.partitions(1, Shape::MuteOne).mode(Mode::Reject),
            9 => faults.pauses(1).crash_only(one),
            10 => faults.stops(1).crash_only(one).restarts(),
            11 => faults.crashes(1).crash_only(one).duplicates(1),
            12 => faults.reboots(1),
            13 => faults.reboots(1).crash_only(one).loses(Loss::Unsynced).certain(),
            14 => faults.resets(1),
            15 => faults.partitions(1, Shape::Halves).certain(),
            16 => faults.partitions(1, Shape::OneLink).mode(Mode::Reject).certain(),
            17 => faults.reboots(1).crash_only(one).duplicates(1).certain(),
            20 => faults.reboots(1).crash_only(one).midway(),
            21 => faults.crashes(1).crash_only(one).restarts().midway().loses(Loss::Unsynced),
            22 => faults.reboots(1).crash_only(one).midway().duplicates(1).certain(),
            25 => faults.pauses(1).crash_only(one),
            _ => faults,
        });
        match self.faults {
            23 | 25 => _ = cluster.clock(Clock::Bounded { drift_ppm: 100_000 }),
            24 => _ = cluster.clock(Clock::Bounded { drift_ppm: 0 }),
            26 => _ = cluster.rule(|_, to, message| held(to, *message)),
            _ => {}
        }
    }
}
