//! Programs with actors that fail, each in a way of its own.

#![allow(dead_code)]

use std::time::Duration;

use drawloom::actor::{
    self, ChildSpec, Ctx, ExitReason, Flow, GenServer, MonitorRef, Pid, Received, ReplyTo, ServerCtx, ServerRef,
    Strategy, Supervisor,
};
use drawloom::receive;

#[derive(Debug)]
pub enum Count {
    Get(ReplyTo<u32>),
    Put(u32, ReplyTo<()>),
}

async fn counter(mut ctx: Ctx<Count>) {
    let mut count = 0;
    loop {
        match ctx.recv_message().await {
            Count::Get(reply) => reply.send(count),
            Count::Put(new, reply) => {
                count = new;
                reply.send(());
            }
        }
    }
}

async fn worker(mut ctx: Ctx<()>, server: Pid<Count>) {
    let count = ctx.call(&server, Count::Get, None).await.unwrap();
    ctx.call(&server, |reply| Count::Put(count + 1, reply), None).await.unwrap();
}

/// Two workers ask for a number and put a new one.
pub fn lost_update() {
    let count = actor::run(async |mut ctx: Ctx<()>| {
        let server = ctx.spawn(counter);
        let workers: [MonitorRef; 2] = [(); 2].map(|()| {
            let server = server.clone();
            ctx.spawn_monitor(move |ctx| worker(ctx, server)).1
        });
        for worker in workers {
            ctx.recv_down(worker).await;
        }
        ctx.call(&server, Count::Get, None).await.unwrap()
    });
    assert_eq!(count, 2, "an update was lost");
}

/// An account that asks the other one for what it lacks.
pub struct Account {
    balance: u32,
    other: Option<ServerRef<Account>>,
}

#[derive(Debug)]
pub enum Bank {
    Meet(ServerRef<Account>, ReplyTo<()>),
    Pay(u32, ReplyTo<bool>),
}

impl GenServer for Account {
    type Args = u32;
    type Call = Bank;
    type Cast = ();
    type Info = ();

    async fn init(balance: u32, _: &mut ServerCtx<Self>) -> Result<Self, ExitReason> {
        Ok(Account { balance, other: None })
    }

    async fn handle_call(&mut self, call: Bank, ctx: &mut ServerCtx<Self>) -> Flow {
        match call {
            Bank::Meet(other, reply) => {
                self.other = Some(other);
                reply.send(());
            }
            Bank::Pay(amount, reply) => {
                let lacking = amount.saturating_sub(self.balance);
                let other = self.other.clone().filter(|_| lacking > 0);
                let helped = match other {
                    Some(other) => other.call(ctx, |reply| Bank::Pay(lacking, reply), None).await.unwrap(),
                    None => true,
                };
                reply.send(helped);
            }
        }
        Flow::Continue
    }
}

/// Two servers call each other.
pub fn calls_in_a_circle() {
    actor::run(async |mut ctx: Ctx<()>| {
        let alice = Account::start(&mut ctx, 10).await.unwrap();
        let bob = Account::start(&mut ctx, 10).await.unwrap();
        for (one, other) in [(&alice, &bob), (&bob, &alice)] {
            let other = other.clone();
            one.call(&mut ctx, move |reply| Bank::Meet(other, reply), None).await.unwrap();
        }
        let payers = [alice, bob].map(|account| {
            ctx.spawn_monitor(async move |mut ctx: Ctx<()>| {
                account.call(&mut ctx, |reply| Bank::Pay(15, reply), None).await.unwrap();
            })
            .1
        });
        for payer in payers {
            ctx.recv_down(payer).await;
        }
    });
}

#[derive(Debug)]
pub enum Job {
    Run(u32),
    Stop,
}

/// What is asked for after the end is lost, and its result is waited for.
pub fn lost_message() {
    actor::run(async |mut ctx: Ctx<u32>| {
        let whom = ctx.me().clone();
        let pool = ctx.spawn(async move |mut ctx: Ctx<Job>| {
            while let Job::Run(job) = ctx.recv_message().await {
                ctx.send(&whom, job * 10);
            }
        });
        let stopper = pool.clone();
        ctx.spawn(async move |ctx: Ctx<()>| ctx.send(&stopper, Job::Stop));
        ctx.send(&pool, Job::Run(7));
        assert_eq!(ctx.recv_message().await, 70);
    });
}

/// A server that answers only the first of two who ask.
pub fn lost_reply() {
    actor::run(async |mut ctx: Ctx<()>| {
        let server = ctx.spawn(async |mut ctx: Ctx<Count>| {
            let mut is_taken = false;
            loop {
                if let Count::Put(_, reply) = ctx.recv_message().await {
                    if !is_taken {
                        is_taken = true;
                        reply.send(());
                    }
                }
            }
        });
        let askers = [1, 2].map(|n| {
            let server = server.clone();
            ctx.spawn_monitor(async move |mut ctx: Ctx<()>| {
                let _ = ctx.call(&server, |reply| Count::Put(n, reply), None).await;
            })
            .1
        });
        for asker in askers {
            ctx.recv_down(asker).await;
        }
    });
}

/// A process that is linked to one that fails ends with it, before it has said what it knows.
pub fn exit_over_links() {
    let said = actor::run(async |mut ctx: Ctx<&'static str>| {
        let whom = ctx.me().clone();
        let (_, monitor) = ctx.spawn_monitor(async move |mut ctx: Ctx<()>| {
            ctx.spawn_link(async |_: Ctx<()>| ExitReason::because("disk full"));
            ctx.send(&whom, "saved");
            ctx.recv().await;
        });
        ctx.recv_down(monitor).await;
        ctx.recv_timeout(Duration::ZERO).await.and_then(Received::message)
    });
    assert_eq!(said, Some("saved"));
}

// ── twelve processes ─────────────────────────────────────────────────────────────────────────────────────────────

/// What the shop's stock is asked and told.
#[derive(Debug)]
pub enum Stock {
    Available(&'static str, ReplyTo<u32>),
    Take(&'static str, ReplyTo<()>),
}

pub struct Warehouse {
    books: u32,
}

impl GenServer for Warehouse {
    type Args = u32;
    type Call = Stock;
    type Cast = ();
    type Info = ();

    async fn init(books: u32, _: &mut ServerCtx<Self>) -> Result<Self, ExitReason> {
        Ok(Warehouse { books })
    }

    async fn handle_call(&mut self, call: Stock, _: &mut ServerCtx<Self>) -> Flow {
        match call {
            Stock::Available(_, reply) => reply.send(self.books),
            Stock::Take(item, reply) => {
                assert!(self.books > 0, "sold a {item} that is not there");
                self.books -= 1;
                reply.send(());
            }
        }
        Flow::Continue
    }
}

/// What goes through the shop.
#[derive(Clone, Debug)]
pub enum Order {
    Buy { customer: &'static str, item: &'static str },
    Paid { customer: &'static str },
    Refused { customer: &'static str },
}

async fn cashier(mut ctx: Ctx<Order>, ledger: Pid<Order>) {
    while let Order::Buy { customer, item } = ctx.recv_message().await {
        let order = match ServerRef::<Warehouse>::call_name(&mut ctx, "warehouse", |r| Stock::Available(item, r), None)
            .await
        {
            Ok(0) | Err(_) => Order::Refused { customer },
            Ok(_) => {
                let taken = ServerRef::<Warehouse>::call_name(&mut ctx, "warehouse", |r| Stock::Take(item, r), None);
                if taken.await.is_ok() { Order::Paid { customer } } else { Order::Refused { customer } }
            }
        };
        ctx.send(&ledger, order);
    }
}

/// A shop of twelve processes: the last book is sold twice, the warehouse fails by it, and its supervisor starts a new one.
pub fn a_shop() {
    actor::run(async |mut ctx: Ctx<&'static str>| {
        let warehouse = ChildSpec::named_server::<Warehouse>("warehouse", 1);
        let _shop = Supervisor::new(Strategy::OneForOne).child(warehouse).start(&mut ctx).await.unwrap();
        let me = ctx.me().clone();
        let auditor = ctx.spawn(async move |mut ctx: Ctx<u32>| {
            let sold = ctx.recv_message().await;
            ctx.send(&me, if sold == 1 { "in order" } else { "a book was sold that is not there" });
        });
        ctx.register("auditor", &auditor).unwrap();
        let ledger = ctx.spawn(async move |mut ctx: Ctx<Order>| {
            let (mut paid, mut refused) = (0, 0);
            while paid + refused < 3 {
                receive!(ctx;
                    Order::Paid { .. } => paid += 1,
                    Order::Refused { .. } => refused += 1,
                );
            }
            ctx.send(&auditor, paid);
        });
        ctx.register("ledger", &ledger).unwrap();
        let cashiers = ["cashier 1", "cashier 2"].map(|name| {
            let ledger = ledger.clone();
            let cashier = ctx.spawn(move |ctx| cashier(ctx, ledger));
            ctx.register(name, &cashier).unwrap();
            cashier
        });
        let clock = ctx.spawn(async |mut ctx: Ctx<()>| ctx.sleep(Duration::from_secs(3600)).await);
        ctx.register("closing time", &clock).unwrap();
        for (n, customer) in ["ann", "ben", "eve"].into_iter().enumerate() {
            let cashier = cashiers[n % 2].clone();
            let process = ctx.spawn(async move |ctx: Ctx<()>| {
                ctx.send(&cashier, Order::Buy { customer, item: "book" });
            });
            ctx.register(customer, &process).ok();
        }
        let verdict = ctx.recv_message().await;
        assert_eq!(verdict, "in order");
    });
}
