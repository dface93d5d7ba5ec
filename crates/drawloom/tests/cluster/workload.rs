//! Generators drive clients and a nemesis.

use drawloom::Exploration;
use drawloom::cluster::workload::{Operations, Workload, clients, nemesis, together};
use drawloom::cluster::{Clock, Cluster, Ctx, Harm, Loss, Mode, Node, NodeId, Shape};
use drawloom::history::generate::{phases, stagger};
use drawloom::history::model::{Register, RegisterOp, RegisterRet};

#[derive(Clone, Debug)]
enum Message {
    Ask(u64, RegisterOp<u32>),
    Answer(u64, RegisterRet<u32>),
    Copy(u32),
}

/// A register that is copied to a peer, on disk or not.
struct Server {
    peer: NodeId,
    is_stored: bool,
    value: u32,
}

impl Node<Message> for Server {
    fn on_start(&mut self, cx: &mut Ctx<'_, Message>) {
        self.value = cx.load("value").unwrap_or(0);
    }
    fn on_message(&mut self, from: NodeId, message: Message, cx: &mut Ctx<'_, Message>) {
        match message {
            Message::Ask(number, RegisterOp::Write(value)) => {
                self.value = value;
                if self.is_stored {
                    cx.save("value", value);
                }
                cx.send(self.peer, Message::Copy(value));
                cx.send(from, Message::Answer(number, RegisterRet::Written));
            }
            Message::Ask(number, _) => cx.send(from, Message::Answer(number, RegisterRet::Value(self.value))),
            Message::Copy(value) => self.value = value,
            Message::Answer(..) => {}
        }
    }
}

fn explored(config: &str, is_stored: bool, harm: fn(NodeId) -> (Vec<Harm>, Vec<Harm>)) -> Exploration {
    drawloom::explore(config.parse().unwrap(), move || {
        let mut cluster = Cluster::new();
        let [a, b] = [0, 1].map(NodeId::from_index);
        cluster.node("a", move || Server { peer: b, is_stored, value: 0 });
        cluster.node("b", move || Server { peer: a, is_stored, value: 0 });
        let (breaks, mends) = harm(a);
        let writes = stagger(2, clients(2, [RegisterOp::Write(1), RegisterOp::Write(2)]));
        let all: [Operations<Register<u32>>; 3] = [
            Box::new(together(writes, nemesis(breaks))),
            Box::new(nemesis(mends)),
            Box::new(clients(2, [RegisterOp::Read])),
        ];
        Workload::new(Register::new(0), phases(all)).clients(2).add_to(
            &mut cluster,
            move |number, op, cx| cx.send(a, Message::Ask(number, op)),
            |message| match message {
                Message::Answer(number, ret) => Some((number, ret)),
                _ => None,
            },
        );
        cluster.clock(Clock::Virtual);
        cluster.run();
    })
}

#[test]
fn a_nemesis_that_kills_finds_what_is_not_stored() {
    let kill = |a| (vec![Harm::Kill(vec![a], Loss::Nothing)], vec![Harm::Restart]);
    let found = explored("auto(iterations = 10000)", false, kill);
    let first = found.findings().first().expect("a write is lost");
    assert!(first.message().contains("not linearizable"), "{}", first.report());
    assert!(found.executions() <= 1_000, "{}", found.summary());
    let clean = explored("auto(iterations = 1000)", true, kill);
    assert!(clean.findings().is_empty(), "{}", clean.findings()[0].report());
}

#[test]
fn after_all_links_have_healed_the_last_phase_is_answered() {
    let cut = |a: NodeId| {
        let theirs = [2, 3].map(NodeId::from_index).to_vec();
        let partition = Shape::Between(vec![a], theirs);
        (vec![Harm::Partition(partition, Mode::Drop)], vec![Harm::Heal])
    };
    let clean = explored("auto(iterations = 1000)", true, cut);
    assert!(clean.findings().is_empty(), "{}", clean.findings()[0].report());
}

#[test]
fn harm_to_nobody_names_its_place() {
    let found = explored("random(iterations = 3), shrink = false", true, |_| {
        (vec![Harm::Kill(vec![NodeId::from_index(9)], Loss::Nothing)], Vec::new())
    });
    let first = found.findings().first().expect("an error");
    assert!(
        first.message().contains("`nemesis` wants to harm node n9, but the cluster has only"),
        "{}",
        first.message()
    );
}
