//! Workloads: clients and a nemesis that do what a [generator](crate::history::generate) says, as in Jepsen.
//!
//! ```
//! use drawloom::cluster::workload::{Operations, Workload, clients, nemesis, together};
//! use drawloom::cluster::{Cluster, Ctx, Harm, Mode, Node, NodeId, Shape};
//! use drawloom::history::generate::phases;
//! use drawloom::history::model::{Register, RegisterOp, RegisterRet};
//!
//! #[derive(Clone, Debug)]
//! enum Message {
//!     Ask(u64, RegisterOp<u32>),
//!     Answer(u64, RegisterRet<u32>),
//! }
//!
//! #[derive(Default)]
//! struct Server(u32);
//!
//! impl Node<Message> for Server {
//!     fn on_message(&mut self, from: NodeId, message: Message, cx: &mut Ctx<'_, Message>) {
//!         let Message::Ask(number, op) = message else { return };
//!         let answer = match op {
//!             RegisterOp::Write(value) => {
//!                 self.0 = value;
//!                 RegisterRet::Written
//!             }
//!             _ => RegisterRet::Value(self.0),
//!         };
//!         cx.send(from, Message::Answer(number, answer));
//!     }
//! }
//!
//! drawloom::check(|| {
//!     let mut cluster = Cluster::new();
//!     let server = cluster.node("server", Server::default);
//!     let client = cluster.next_id();
//!     // Two clients write while the network breaks; then it heals, and each reads.
//!     let cut = Harm::Partition(Shape::Between(vec![server], vec![client]), Mode::Drop);
//!     let all: [Operations<Register<u32>>; 3] = [
//!         Box::new(together(clients(2, [RegisterOp::Write(1), RegisterOp::Write(2)]), nemesis([cut]))),
//!         Box::new(nemesis([Harm::Heal])),
//!         Box::new(clients(2, [RegisterOp::Read])),
//!     ];
//!     Workload::new(Register::new(0), phases(all)).clients(2).add_to(
//!         &mut cluster,
//!         move |number, op, cx| cx.send(server, Message::Ask(number, op)),
//!         |message| match message {
//!             Message::Answer(number, ret) => Some((number, ret)),
//!             Message::Ask(..) => None,
//!         },
//!     );
//!     cluster.run();
//! });
//! ```
//!
//! What is generated is a function of the schedule: it replays, and is minimised with it. All events are [ordered](super::Cluster), since clients
//! choose in the midst of them.

use std::cell::RefCell;
use std::fmt::Debug;
use std::rc::Rc;
use std::time::Duration;

use super::{Cluster, Ctx, Harm, Isolate, Node, NodeId, Timer};
use crate::history::generate::{Draw, Generator, Next};
use crate::history::{Client, Model, Outcome, Process, Watch};

/// Who the nemesis is, for generators.
pub const NEMESIS: Process = Process(u64::MAX);

/// What a generator of a workload asks for.
///
/// ```
/// use drawloom::cluster::Harm;
/// use drawloom::cluster::workload::Op;
/// use drawloom::history::model::RegisterOp;
///
/// let write = Op::Client(RegisterOp::Write(1));
/// assert_ne!(write, Op::Nemesis(Harm::Heal));
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Op<O> {
    /// An operation of a client.
    Client(O),
    /// What the nemesis does.
    Nemesis(Harm),
}

/// The nemesis does these, one after the other. Clients wait meanwhile, unless they have [something to do](together).
///
/// ```
/// use drawloom::cluster::Harm;
/// use drawloom::cluster::workload::nemesis;
///
/// let heals = nemesis([Harm::Heal]);
/// ```
pub fn nemesis(harms: impl IntoIterator<Item = Harm>) -> Harms {
    Harms { left: harms.into_iter().collect() }
}

/// What a nemesis does: see [`nemesis`].
///
/// ```
/// use drawloom::cluster::Harm;
/// use drawloom::cluster::workload::{Harms, nemesis};
///
/// let heals: Harms = nemesis([Harm::Heal]);
/// ```
#[derive(Clone, Debug)]
pub struct Harms {
    left: std::collections::VecDeque<Harm>,
}

impl<O, R> Generator<Op<O>, R> for Harms {
    fn next(&mut self, process: Process, _: &mut dyn Draw) -> Next<Op<O>> {
        match process {
            _ if self.left.is_empty() => Next::Done,
            NEMESIS => self.left.pop_front().map_or(Next::Done, |harm| Next::Call(Op::Nemesis(harm))),
            _ => Next::Wait,
        }
    }
}

/// Clients do so many of these in all, each time one of them, all equally likely. The nemesis does nothing of it.
///
/// ```
/// use drawloom::cluster::workload::clients;
/// use drawloom::history::model::RegisterOp;
///
/// let reads = clients(3, [RegisterOp::<u32>::Read]);
/// ```
pub fn clients<O: Clone>(operations: usize, among: impl IntoIterator<Item = O>) -> Calls<O> {
    Calls { left: operations, among: among.into_iter().collect() }
}

/// What clients do: see [`clients`].
///
/// ```
/// use drawloom::cluster::workload::{Calls, clients};
/// use drawloom::history::model::RegisterOp;
///
/// let reads: Calls<RegisterOp<u32>> = clients(3, [RegisterOp::Read]);
/// ```
#[derive(Clone, Debug)]
pub struct Calls<O> {
    left: usize,
    among: Vec<O>,
}

impl<O: Clone, R> Generator<Op<O>, R> for Calls<O> {
    fn next(&mut self, process: Process, draw: &mut dyn Draw) -> Next<Op<O>> {
        if self.left == 0 || self.among.is_empty() {
            return Next::Done;
        }
        if process == NEMESIS {
            return Next::Wait;
        }
        self.left -= 1;
        Next::Call(Op::Client(self.among[draw.below(self.among.len() as u64) as usize].clone()))
    }
}

/// What clients do, and the nemesis meanwhile, until both are done.
///
/// ```
/// use drawloom::cluster::Harm;
/// use drawloom::cluster::workload::{Operations, clients, nemesis, together};
/// use drawloom::history::model::{Register, RegisterOp};
///
/// // Five operations, while the nemesis heals the network.
/// let operations: Operations<Register<u32>> =
///     Box::new(together(clients(5, [RegisterOp::Write(1), RegisterOp::Read]), nemesis([Harm::Heal])));
/// ```
pub fn together<C, N>(clients: C, nemesis: N) -> Together<C, N> {
    Together { clients, nemesis, done: [false; 2] }
}

/// Clients and the nemesis: see [`together`].
///
/// ```
/// use drawloom::cluster::Harm;
/// use drawloom::cluster::workload::{Calls, Harms, Together, clients, nemesis, together};
/// use drawloom::history::model::RegisterOp;
///
/// // Five operations, while the nemesis heals the network.
/// let operations: Together<Calls<RegisterOp<u32>>, Harms> =
///     together(clients(5, [RegisterOp::Write(1), RegisterOp::Read]), nemesis([Harm::Heal]));
/// ```
#[derive(Clone, Debug)]
pub struct Together<C, N> {
    clients: C,
    nemesis: N,
    /// Clients, and the nemesis.
    done: [bool; 2],
}

impl<O, R, C: Generator<Op<O>, R>, N: Generator<Op<O>, R>> Generator<Op<O>, R> for Together<C, N> {
    fn next(&mut self, process: Process, draw: &mut dyn Draw) -> Next<Op<O>> {
        let is_nemesis = process == NEMESIS;
        let next = if is_nemesis { self.nemesis.next(process, draw) } else { self.clients.next(process, draw) };
        if !matches!(next, Next::Done) {
            return next;
        }
        self.done[usize::from(is_nemesis)] = true;
        if self.done == [true; 2] { Next::Done } else { Next::Wait }
    }

    fn ended(&mut self, process: Process, op: &Op<O>, outcome: &Outcome<R>) {
        if process == NEMESIS {
            self.nemesis.ended(process, op, outcome);
        } else {
            self.clients.ended(process, op, outcome);
        }
    }
}

/// A generator for the clients of an object and the nemesis, whatever it is made of.
///
/// ```
/// use drawloom::cluster::Harm;
/// use drawloom::cluster::workload::{Operations, clients, nemesis, together};
/// use drawloom::history::model::{Register, RegisterOp};
///
/// // Five operations, while the nemesis heals the network.
/// let operations: Operations<Register<u32>> =
///     Box::new(together(clients(5, [RegisterOp::Write(1), RegisterOp::Read]), nemesis([Harm::Heal])));
/// ```
pub type Operations<H> = Box<dyn Generator<Op<<H as Model>::Op>, <H as Model>::Ret>>;

/// Clients of an object, and a nemesis, that do what a generator says. A [watch](Watch) checks what the clients see. The [module](self) has a whole test.
///
/// ```
/// use drawloom::cluster::workload::{Workload, clients};
/// use drawloom::history::model::{Register, RegisterOp};
///
/// let workload = Workload::new(Register::new(0u32), clients(4, [RegisterOp::Write(1), RegisterOp::Read])).clients(2);
/// ```
pub struct Workload<H: Model> {
    model: H,
    source: Source<H::Op, H::Ret>,
    clients: usize,
    limit: Duration,
}

/// The one generator of all clients. It is the test's, and no node's.
struct Source<O, R>(Rc<RefCell<dyn Generator<Op<O>, R>>>);

impl<O, R> Clone for Source<O, R> {
    fn clone(&self) -> Self {
        Source(Rc::clone(&self.0))
    }
}

impl<O: 'static, R: 'static> Isolate for Source<O, R> {
    fn isolate(&self) -> Self {
        self.clone()
    }
}

impl<H> Workload<H>
where
    H: Model + Clone + 'static,
    H::Op: Clone + Debug + 'static,
    H::Ret: Clone + Debug + 'static,
{
    /// One client, of an object that behaves as the model; and a nemesis.
    pub fn new(model: H, generator: impl Generator<Op<H::Op>, H::Ret> + 'static) -> Workload<H> {
        let source = Source(Rc::new(RefCell::new(generator)));
        Workload { model, source, clients: 1, limit: Duration::from_secs(10) }
    }

    /// So many clients.
    #[must_use]
    pub fn clients(self, clients: usize) -> Workload<H> {
        Workload { clients, ..self }
    }

    /// A client waits so long for an answer, 10 s by default. Then nobody knows whether the operation took effect
    /// ([`Outcome::Info`]), and the client goes on as another process.
    #[must_use]
    pub fn limit(self, limit: Duration) -> Workload<H> {
        Workload { limit, ..self }
    }

    /// Adds the clients and the nemesis to a cluster. `send` sends a request with this number, and `receive` says which request a message answers, and
    /// how.
    #[track_caller]
    pub fn add_to<M: Clone + Debug + 'static>(
        self,
        cluster: &mut Cluster<M>,
        send: impl Fn(u64, H::Op, &mut Ctx<'_, M>) + Copy + 'static,
        receive: impl Fn(M) -> Option<(u64, H::Ret)> + Copy + 'static,
    ) {
        let Workload { model, source, clients, limit } = self;
        let watch = cluster.history(model);
        cluster.ordered();
        for number in 0..clients {
            let config = (watch.clone(), source.clone());
            cluster.client_with(format!("client {number}"), config, move |(watch, source)| {
                let process = watch.client();
                Worker {
                    watch,
                    source,
                    limit,
                    number: 0,
                    open: None,
                    process,
                    patience: Patience::default(),
                    send,
                    receive,
                }
            });
        }
        cluster.client_with("nemesis", source, |source| Nemesis { source, patience: Patience::default() });
    }
}

/// Timers: ask the generator, or give an operation up.
const ASK: u64 = u64::MAX;
/// How long one waits before one asks again: ever longer, as long as there is nothing to do.
#[derive(Default)]
struct Patience(u32);

impl Patience {
    fn wait<M>(&mut self, cx: &mut Ctx<'_, M>) {
        cx.set_timer(Duration::from_millis(1 << self.0), ASK);
        self.0 = (self.0 + 1).min(12);
    }
}

/// What the generator says next.
fn next<O: 'static, R: 'static, M>(source: &Source<O, R>, process: Process, cx: &mut Ctx<'_, M>) -> Next<Op<O>> {
    source
        .0
        .borrow_mut()
        .next(process, &mut |below: u64| cx.choose(usize::try_from(below).unwrap_or(usize::MAX)) as u64)
}

struct Worker<H: Model, S, A> {
    watch: Watch<H>,
    source: Source<H::Op, H::Ret>,
    limit: Duration,
    /// Of the last operation.
    number: u64,
    open: Option<H::Op>,
    process: Client<H>,
    patience: Patience,
    send: S,
    receive: A,
}

impl<H, S, A> Worker<H, S, A>
where
    H: Model + Clone + 'static,
    H::Op: Clone + Debug + 'static,
    H::Ret: Clone + Debug + 'static,
{
    fn ask<M>(&mut self, cx: &mut Ctx<'_, M>)
    where
        S: Fn(u64, H::Op, &mut Ctx<'_, M>),
    {
        match next(&self.source, self.process.process(), cx) {
            Next::Call(Op::Client(op)) => {
                (self.number, self.patience) = (self.number + 1, Patience::default());
                self.process.invoke(op.clone());
                self.open = Some(op.clone());
                (self.send)(self.number, op, cx);
                cx.set_timer(self.limit, self.number);
            }
            Next::Call(Op::Nemesis(harm)) => {
                panic!("a generator wants a client to do what only the nemesis does: {harm:?}")
            }
            Next::Wait => self.patience.wait(cx),
            Next::Done => {}
        }
    }

    fn ended(&mut self, outcome: &Outcome<H::Ret>) {
        if let Some(op) = self.open.take() {
            self.source.0.borrow_mut().ended(self.process.process(), &Op::Client(op), outcome);
        }
    }
}

impl<H, M, S, A> Node<M> for Worker<H, S, A>
where
    H: Model + Clone + 'static,
    H::Op: Clone + Debug + 'static,
    H::Ret: Clone + Debug + 'static,
    M: Clone + Debug + 'static,
    S: Fn(u64, H::Op, &mut Ctx<'_, M>) + 'static,
    A: Fn(M) -> Option<(u64, H::Ret)> + 'static,
{
    fn on_start(&mut self, cx: &mut Ctx<'_, M>) {
        self.ask(cx);
    }

    fn on_message(&mut self, _: NodeId, message: M, cx: &mut Ctx<'_, M>) {
        let Some((number, ret)) = (self.receive)(message) else { return };
        // An answer that comes too late, or twice, is nothing new.
        if number == self.number && self.open.is_some() {
            self.process.ok(ret.clone());
            self.ended(&Outcome::Ok(ret));
            self.ask(cx);
        }
    }

    fn on_timer(&mut self, timer: Timer, cx: &mut Ctx<'_, M>) {
        if timer.tag == ASK {
            self.ask(cx);
        } else if timer.tag == self.number && self.open.is_some() {
            self.process.info();
            self.ended(&Outcome::Info);
            self.process = self.watch.client();
            self.ask(cx);
        }
    }
}

struct Nemesis<O, R> {
    source: Source<O, R>,
    patience: Patience,
}

impl<O: Debug + 'static, R: 'static> Nemesis<O, R> {
    fn ask<M>(&mut self, cx: &mut Ctx<'_, M>) {
        match next(&self.source, NEMESIS, cx) {
            Next::Call(Op::Nemesis(harm)) => {
                cx.inflict(harm.clone());
                self.source.0.borrow_mut().ended(NEMESIS, &Op::Nemesis(harm), &Outcome::Info);
                self.patience = Patience::default();
                self.patience.wait(cx);
            }
            Next::Call(Op::Client(op)) => panic!("a generator wants the nemesis to do what clients do: {op:?}"),
            Next::Wait => self.patience.wait(cx),
            Next::Done => {}
        }
    }
}

impl<O: Debug + 'static, R: 'static, M: 'static> Node<M> for Nemesis<O, R> {
    fn on_start(&mut self, cx: &mut Ctx<'_, M>) {
        self.ask(cx);
    }
    fn on_message(&mut self, _: NodeId, _: M, _: &mut Ctx<'_, M>) {}
    fn on_timer(&mut self, _: Timer, cx: &mut Ctx<'_, M>) {
        self.ask(cx);
    }
}
