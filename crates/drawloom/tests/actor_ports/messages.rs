//! Ports in which it matters which message comes first.

use drawloom::actor::{self, Ctx, Pid, Received, ReplyTo, Table};

use crate::{all, worker};

#[derive(Debug)]
enum Store {
    Write(u32, ReplyTo<u32>),
    Replicate(u32, ReplyTo<()>),
    Replicated(u32),
    Read(ReplyTo<u32>),
}

async fn follower(mut ctx: Ctx<Store>) {
    let mut version = 0;
    loop {
        match ctx.recv_message().await {
            Store::Replicate(new, reply) => {
                version = new;
                reply.send(());
            }
            Store::Replicated(new) => version = new,
            Store::Read(reply) => reply.send(version),
            Store::Write(..) => unreachable!("only the leader is written to"),
        }
    }
}

async fn leader<const FIXED: bool>(mut ctx: Ctx<Store>, followers: Vec<Pid<Store>>) {
    let mut version = 0;
    loop {
        let Store::Write(more, reply) = ctx.recv_message().await else { continue };
        version += more;
        if FIXED {
            for follower in &followers {
                ctx.call(follower, |reply| Store::Replicate(version, reply), None).await.unwrap();
            }
            reply.send(version);
        } else {
            reply.send(version);
            for follower in &followers {
                ctx.send(follower, Store::Replicated(version));
            }
        }
    }
}

fn stale<const FIXED: bool>(followers: usize, clients: usize, writes: usize) {
    actor::run(async move |mut ctx: Ctx<()>| {
        let followers: Vec<Pid<Store>> = (0..followers).map(|_| ctx.spawn(follower)).collect();
        let theirs = followers.clone();
        let leader = ctx.spawn(move |ctx| leader::<FIXED>(ctx, theirs));
        let clients: Vec<_> = (0..clients)
            .map(|n| {
                let (leader, follower) = (leader.clone(), followers[n % followers.len()].clone());
                worker(&ctx, async move |mut ctx: Ctx<()>| {
                    for _ in 0..writes {
                        let written = ctx.call(&leader, |reply| Store::Write(1, reply), None).await.unwrap();
                        let read = ctx.call(&follower, Store::Read, None).await.unwrap();
                        assert!(read >= written, "a client does not read its own write");
                    }
                })
            })
            .collect();
        all(&mut ctx, clients).await;
    });
}

/// A leader acknowledges a write before it replicates it.
pub fn stale_read<const FIXED: bool>() {
    stale::<FIXED>(1, 1, 1);
}

/// The same with two followers and two clients that write twice.
pub fn stale_reads<const FIXED: bool>() {
    stale::<FIXED>(2, 2, 2);
}

#[derive(Clone, Debug)]
enum Raft {
    Peers(Vec<Pid<Raft>>),
    Elect,
    Vote(Pid<Raft>),
    Granted,
}

async fn node<const FIXED: bool>(mut ctx: Ctx<Raft>, elected: Pid<u32>) {
    let Raft::Peers(peers) = ctx.recv_where(|message| matches!(message, Raft::Peers(_))).await else { return };
    let (mut has_voted, mut votes, mut is_candidate) = (false, 0, false);
    loop {
        match ctx.recv_message().await {
            Raft::Elect => {
                // Whoever has voted is no candidate of this term: what is forgotten is not looked at, either.
                if FIXED && has_voted {
                    continue;
                }
                (is_candidate, votes, has_voted) = (true, 1, FIXED);
                for peer in &peers {
                    ctx.send(peer, Raft::Vote(ctx.me().clone()));
                }
            }
            Raft::Vote(candidate) if !has_voted => {
                has_voted = true;
                ctx.send(&candidate, Raft::Granted);
            }
            Raft::Granted => {
                votes += 1;
                if is_candidate && votes == 2 {
                    ctx.send(&elected, 1);
                }
            }
            Raft::Vote(_) | Raft::Peers(_) => {}
        }
    }
}

/// Three nodes are to elect a leader; one that votes for itself does not remember that.
pub fn two_leaders<const FIXED: bool>() {
    actor::run(async |mut ctx: Ctx<u32>| {
        let me = ctx.me().clone();
        let nodes = [0; 3].map(|_| {
            let me = me.clone();
            ctx.spawn(move |ctx| node::<FIXED>(ctx, me))
        });
        for node in &nodes {
            let peers = nodes.iter().filter(|peer| *peer != node).cloned().collect();
            ctx.send(node, Raft::Peers(peers));
        }
        for node in nodes {
            ctx.spawn(|_: Ctx<()>| async move { node.send(Raft::Elect) });
        }
        ctx.settle().await;
        let mut leaders = 0;
        while ctx.recv_timeout(std::time::Duration::ZERO).await.is_some() {
            leaders += 1;
        }
        assert!(leaders <= 1, "there are two leaders in one term");
    });
}

#[derive(Debug)]
enum Peer {
    Reply,
    Lost,
    View(ReplyTo<bool>),
}

/// A reply of a peer arrives after the news that it is gone, and makes it a neighbour.
pub fn dead_neighbour<const FIXED: bool>() {
    let is_neighbour = actor::run(async |mut ctx: Ctx<()>| {
        let node = ctx.spawn(|mut ctx: Ctx<Peer>| async move {
            let (mut is_neighbour, mut is_gone) = (false, false);
            loop {
                match ctx.recv_message().await {
                    Peer::Reply => is_neighbour = !(FIXED && is_gone),
                    Peer::Lost => (is_neighbour, is_gone) = (false, true),
                    Peer::View(reply) => reply.send(is_neighbour),
                }
            }
        });
        let (replies, loses) = (node.clone(), node.clone());
        let connections = worker(&ctx, async move |_: Ctx<()>| loses.send(Peer::Lost));
        let peer = worker(&ctx, async move |_: Ctx<()>| replies.send(Peer::Reply));
        all(&mut ctx, [peer, connections]).await;
        ctx.call(&node, Peer::View, None).await.unwrap()
    });
    assert!(!is_neighbour, "a dead peer is a neighbour");
}

/// A follower behind a relay is to be at most five writes behind.
pub fn starved_follower<const FIXED: bool>() {
    actor::run(async |mut ctx: Ctx<u32>| {
        let seen: Table<(), u32> = Table::new();
        seen.insert((), 0);
        let (theirs, writer) = (seen.clone(), ctx.me().clone());
        let follower = ctx.spawn(move |mut ctx: Ctx<u32>| async move {
            loop {
                let version = ctx.recv_message().await;
                theirs.insert((), version);
                if FIXED {
                    ctx.send(&writer, version);
                }
            }
        });
        let relay = ctx.spawn(move |mut ctx: Ctx<u32>| async move {
            loop {
                let version = ctx.recv_message().await;
                ctx.send(&follower, version);
            }
        });
        for version in 1..=12_u32 {
            ctx.send(&relay, version);
            if FIXED && version % 4 == 0 {
                ctx.recv_where(move |seen| *seen == version).await;
            }
            let behind = version - seen.lookup(&()).unwrap();
            assert!(behind < 6, "the follower is {behind} writes behind");
        }
    });
}

/// Four senders, and one order of their messages that is fatal.
pub fn fatal_order<const FIXED: bool>() {
    let order = actor::run(async |mut ctx: Ctx<u32>| {
        for n in 0..4 {
            let me = ctx.me().clone();
            ctx.spawn(move |_: Ctx<()>| async move { me.send(n) });
        }
        let mut order = Vec::new();
        for _ in 0..4 {
            match ctx.recv().await {
                Received::Message(n) => order.push(n),
                Received::Down(_) | Received::Exit(_) => {}
            }
        }
        order
    });
    assert!(FIXED || order != [3, 1, 0, 2], "the fatal order");
}
