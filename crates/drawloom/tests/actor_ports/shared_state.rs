//! Ports whose state is in one server or in one table.

use drawloom::actor::{self, Ctx, ReplyTo, Table};

use crate::{all, worker};

#[derive(Debug)]
enum Count {
    Get(ReplyTo<u32>),
    Put(u32, ReplyTo<()>),
    Add(ReplyTo<()>),
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
            Count::Add(reply) => {
                count += 1;
                reply.send(());
            }
        }
    }
}

/// Two workers count by asking for the number and putting a new one.
pub fn lost_update<const FIXED: bool>() {
    let count = actor::run(async |mut ctx: Ctx<()>| {
        let server = ctx.spawn(counter);
        let workers = [0; 2].map(|_| {
            let server = server.clone();
            worker(&ctx, async move |mut ctx: Ctx<()>| {
                if FIXED {
                    ctx.call(&server, Count::Add, None).await.unwrap();
                } else {
                    let count = ctx.call(&server, Count::Get, None).await.unwrap();
                    ctx.call(&server, |reply| Count::Put(count + 1, reply), None).await.unwrap();
                }
            })
        });
        all(&mut ctx, workers).await;
        ctx.call(&server, Count::Get, None).await.unwrap()
    });
    assert_eq!(count, 2, "an update was lost");
}

/// A rate limiter counts in a table: of its two ways to count, one replaces what the other has inserted.
pub fn replaced_cell<const FIXED: bool>() {
    let count = actor::run(async |mut ctx: Ctx<()>| {
        let cells: Table<&'static str, u32> = Table::new();
        let (inc, hit) = (cells.clone(), cells.clone());
        let inc = worker(&ctx, async move |_: Ctx<()>| {
            if FIXED {
                inc.update_counter("key", 1, 0);
            } else if inc.update_element(&"key", |count| *count += 1).is_none() {
                inc.insert("key", 1);
            }
        });
        let hit = worker(&ctx, async move |_: Ctx<()>| {
            if hit.update_element(&"key", |count| *count += 1).is_none() && !hit.insert_new("key", 1) {
                hit.update_element(&"key", |count| *count += 1);
            }
        });
        all(&mut ctx, [inc, hit]).await;
        cells.lookup(&"key")
    });
    assert_eq!(count, Some(2), "a counted cell was replaced");
}

/// Whether a process lives is asked before it is called.
pub fn alive_then_call<const FIXED: bool>() {
    actor::run(async |mut ctx: Ctx<()>| {
        let server = ctx.spawn(|mut ctx: Ctx<Option<ReplyTo<u32>>>| async move {
            while let Some(reply) = ctx.recv_message().await {
                reply.send(1);
            }
        });
        let stops = server.clone();
        ctx.spawn(|_: Ctx<()>| async move { stops.send(None) });
        if FIXED {
            let _ = ctx.call(&server, Some, None).await;
        } else if ctx.is_alive(&server) {
            ctx.call(&server, Some, None).await.expect("it was alive");
        }
    });
}

/// Three workers look for an owner, and become it if there is none.
pub fn two_owners<const FIXED: bool>() {
    let owners = actor::run(async |mut ctx: Ctx<()>| {
        let (owner, owners): (Table<(), u32>, Table<u32, ()>) = (Table::new(), Table::new());
        let workers = [0, 1, 2].map(|n| {
            let (owner, owners) = (owner.clone(), owners.clone());
            worker(&ctx, async move |_: Ctx<()>| {
                let mine = if FIXED {
                    owner.insert_new((), n)
                } else {
                    owner.lookup(&()).is_none() && {
                        owner.insert((), n);
                        true
                    }
                };
                if mine {
                    owners.insert(n, ());
                }
            })
        });
        all(&mut ctx, workers).await;
        owners.len()
    });
    assert_eq!(owners, 1, "there is one owner");
}

/// A session is updated by deleting and inserting it, while somebody looks.
pub fn missing_session<const FIXED: bool>() {
    actor::run(async |mut ctx: Ctx<()>| {
        let sessions: Table<&'static str, u32> = Table::new();
        sessions.insert("session", 1);
        let theirs = sessions.clone();
        let updates = worker(&ctx, async move |_: Ctx<()>| {
            if !FIXED {
                theirs.delete(&"session");
            }
            theirs.insert("session", 2);
        });
        let theirs = sessions.clone();
        let reads = worker(&ctx, async move |_: Ctx<()>| {
            assert!(theirs.lookup(&"session").is_some(), "the session was missing");
        });
        all(&mut ctx, [updates, reads]).await;
    });
}
