//! Ports in which a timer comes too early.

use std::time::Duration;

use drawloom::actor::{self, Ctx, Pid, ReplyTo, Table};
use drawloom::receive;

use crate::{all, worker};

const LEASE: Duration = Duration::from_millis(10);

#[derive(Debug)]
enum Lock {
    Acquire(ReplyTo<u32>),
    Release(u32),
    Expire(u32),
}

async fn lease_server(mut ctx: Ctx<Lock>) {
    let (mut holder, mut tokens, mut waiting) = (None, 0, Vec::new());
    loop {
        match ctx.recv_message().await {
            Lock::Acquire(reply) => waiting.push(reply),
            Lock::Release(token) | Lock::Expire(token) if holder == Some(token) => holder = None,
            Lock::Release(_) | Lock::Expire(_) => {}
        }
        if holder.is_none() && !waiting.is_empty() {
            tokens += 1;
            holder = Some(tokens);
            ctx.send_after(LEASE, &ctx.me().clone(), Lock::Expire(tokens));
            waiting.remove(0).send(tokens);
        }
    }
}

/// A lease expires while its holder is in the middle of a write.
pub fn expired_lease<const FIXED: bool>() {
    actor::run(async |mut ctx: Ctx<()>| {
        let lock = ctx.spawn(lease_server);
        // The value, and the highest token that was seen.
        let (store, written): (Table<(), (u32, u32)>, Table<(), u32>) = (Table::new(), Table::new());
        store.insert((), (0, 0));
        let clients = [0; 2].map(|_| {
            let (lock, store, written) = (lock.clone(), store.clone(), written.clone());
            worker(&ctx, async move |mut ctx: Ctx<()>| {
                let token = ctx.call(&lock, Lock::Acquire, None).await.unwrap();
                let read = store.update_element(&(), |(value, seen)| {
                    *seen = token.max(*seen);
                    *value
                });
                let new = read.unwrap() + 1;
                let is_written = store.update_element(&(), |(value, seen)| {
                    let fenced = FIXED && token < *seen;
                    if !fenced {
                        *value = new;
                    }
                    !fenced
                });
                if is_written == Some(true) {
                    written.update_counter((), 1, 0);
                }
                ctx.send(&lock, Lock::Release(token));
            })
        });
        all(&mut ctx, clients).await;
        let (value, _) = store.lookup(&()).unwrap();
        assert_eq!(Some(value), written.lookup(&()), "a write was lost");
    });
}

/// A call times out, and its late reply is taken for that of the next one.
pub fn late_reply<const FIXED: bool>() {
    actor::run(async |mut ctx: Ctx<(u32, u32)>| {
        let server = ctx.spawn(|mut ctx: Ctx<(u32, Pid<(u32, u32)>)>| async move {
            loop {
                let (n, whom) = ctx.recv_message().await;
                ctx.send(&whom, (n, 10 * n));
            }
        });
        for n in 1..=2 {
            ctx.send(&server, (n, ctx.me().clone()));
            let answer = receive!(ctx;
                (of, answer) if !FIXED || *of == n => { let _ = of; Some(answer) }
                after LEASE => None,
            );
            assert!(answer.is_none_or(|answer| answer == 10 * n), "this is the answer to another question");
        }
    });
}

#[derive(Clone, PartialEq, Debug)]
enum Decision {
    Commit,
    Abort,
}

#[derive(Debug)]
enum Participant {
    Prepare(Pid<Pid<Participant>>),
    Decide(Decision),
}

/// A coordinator times out and aborts; a late vote makes it commit all the same.
pub fn late_vote<const FIXED: bool>() {
    actor::run(async |mut ctx: Ctx<Decision>| {
        let me = ctx.me().clone();
        let coordinator = ctx.spawn(|mut ctx: Ctx<Pid<Participant>>| async move {
            let participants = [0; 2].map(|_| {
                let me = me.clone();
                ctx.spawn(move |mut ctx: Ctx<Participant>| async move {
                    let Participant::Prepare(coordinator) = ctx.recv_message().await else { return };
                    ctx.send(&coordinator, ctx.me().clone());
                    let Participant::Decide(decision) = ctx.recv_message().await else { return };
                    ctx.send(&me, decision);
                })
            });
            for participant in &participants {
                ctx.send(participant, Participant::Prepare(ctx.me().clone()));
            }
            let (mut votes, mut is_aborted) = (Vec::new(), false);
            while votes.len() < 2 {
                receive!(ctx;
                    voter => {
                        votes.push(voter.clone());
                        if is_aborted {
                            let late = if FIXED { Decision::Abort } else { Decision::Commit };
                            ctx.send(&voter, Participant::Decide(late));
                        }
                    }
                    after if is_aborted { Duration::MAX } else { LEASE } => {
                        is_aborted = true;
                        for voter in &votes {
                            ctx.send(voter, Participant::Decide(Decision::Abort));
                        }
                    },
                );
            }
            for voter in votes.iter().filter(|_| !is_aborted) {
                ctx.send(voter, Participant::Decide(Decision::Commit));
            }
        });
        drop(coordinator);
        let decisions = [ctx.recv_message().await, ctx.recv_message().await];
        assert_eq!(decisions[0], decisions[1], "one commits and the other aborts");
    });
}

#[derive(Debug)]
enum Member {
    Follow(Pid<Member>),
    Vote(Pid<Member>),
    Granted,
    Heartbeat,
    Write(ReplyTo<bool>),
}

/// An old leader grants a vote, and stays a leader.
pub fn deposed_leader<const FIXED: bool>() {
    actor::run(async |mut ctx: Ctx<()>| {
        // Who has acknowledged writes, in order.
        let acknowledged: Table<u32, bool> = Table::new();
        let acks = acknowledged.clone();
        let old = ctx.spawn(|mut ctx: Ctx<Member>| async move {
            let mut is_leader = true;
            loop {
                match ctx.recv_message().await {
                    Member::Follow(whom) => ctx.send(&whom, Member::Heartbeat),
                    Member::Vote(whom) => {
                        is_leader = is_leader && !FIXED;
                        ctx.send(&whom, Member::Granted);
                    }
                    Member::Write(reply) => {
                        if is_leader {
                            let key = acks.len() as u32;
                            acks.insert(key, true);
                        }
                        reply.send(is_leader);
                    }
                    Member::Granted | Member::Heartbeat => {}
                }
            }
        });
        let (leader, acks) = (old.clone(), acknowledged.clone());
        let new = ctx.spawn(|mut ctx: Ctx<Member>| async move {
            ctx.send(&leader, Member::Follow(ctx.me().clone()));
            let mut is_leader = false;
            loop {
                let limit = if is_leader { Duration::MAX } else { LEASE };
                receive!(ctx;
                    Member::Granted => is_leader = true,
                    Member::Write(reply) => {
                        if is_leader {
                            let key = acks.len() as u32;
                            acks.insert(key, false);
                        }
                        reply.send(is_leader);
                    }
                    Member::Heartbeat => {}
                    after limit => {
                        let me = ctx.me().clone();
                        ctx.send(&leader, Member::Vote(me));
                    },
                );
            }
        });
        let clients = [old, new].map(|node| {
            worker(&ctx, async move |mut ctx: Ctx<()>| {
                for _ in 0..2 {
                    ctx.call(&node, Member::Write, None).await.unwrap();
                }
            })
        });
        all(&mut ctx, clients).await;
        let acks: Vec<bool> = acknowledged.to_vec().into_iter().map(|(_, by_old)| by_old).collect();
        let is_new = acks.iter().position(|by_old| !by_old);
        assert!(is_new.is_none_or(|at| !acks[at..].contains(&true)), "two leaders acknowledge writes");
    });
}
