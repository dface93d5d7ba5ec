//! Streams: connections whose chunks arrive in the order in which they were sent, or not at all.
//!
//! Each direction is a queue of its own, of which only the first chunk can arrive. A link that is cut, or a node that pauses, holds it up; nothing
//! is ever missing in between. What ends a stream is a close, a reset, or a crash, of which the other end learns only when it sends: until then the
//! stream is half open.

use std::collections::VecDeque;
use std::fmt::Debug;
use std::panic::Location;

use crate::ctx::Ctx;
use crate::event::Event;
use crate::host::{Host, Place, QueueId};
use crate::id::NodeId;
use crate::log::What;
use crate::partition::Mode;
use crate::world::{World, nodes_of};

/// One end of a stream.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct StreamId(u32);

/// An event of a stream.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum StreamEvent<M> {
    /// A node has connected to a port that this one listens to: this is its end.
    Accepted {
        /// Who.
        from: NodeId,
        /// To which port.
        port: u16,
    },
    /// The other node has accepted.
    Connected,
    /// The other node does not listen to that port: there is no stream.
    Refused,
    /// The next chunk.
    Data(M),
    /// The other end sends nothing more.
    Closed,
    /// The stream is gone: the other end has aborted it, or does not know it any more.
    Reset,
}

/// What is sent over a stream.
#[derive(Clone, Debug)]
pub(crate) enum Chunk<M> {
    Connect(u16),
    Accept,
    Refuse,
    Data(M),
    Close,
    Reset,
}

/// One end, as its node knows it.
#[derive(Clone, Copy)]
struct End {
    node: NodeId,
    /// Since which start of the node; none if it has no such stream (any more).
    since: Option<u32>,
}

/// One direction.
struct Pipe<M> {
    chunks: VecDeque<Chunk<M>>,
    queue: QueueId,
    /// Arrivals that something was in the way of.
    owed: u32,
}

/// A connection: pipe `i` leads from end `i` to the other.
pub(crate) struct Connection<M> {
    ends: [End; 2],
    pipes: [Pipe<M>; 2],
}

impl StreamId {
    /// That of a node that is gone.
    const NONE: StreamId = StreamId(u32::MAX);

    fn of(connection: usize, end: usize) -> StreamId {
        StreamId((connection * 2 + end) as u32)
    }

    fn parts(self) -> (usize, usize) {
        (self.0 as usize / 2, self.0 as usize % 2)
    }
}

impl<M> Ctx<'_, M> {
    /// From now on others can [connect](Self::connect) to this port. A crash ends it.
    ///
    /// # Panics
    ///
    /// If this node listens to it already.
    #[track_caller]
    pub fn listen(&mut self, port: u16) {
        let state = &mut self.world.nodes[self.me.index()];
        if let Some((_, at)) = state.listens.iter().find(|(taken, _)| *taken == port) {
            let (at, name) = (format!("{}:{}", at.file(), at.line()), self.world.name(self.me));
            panic!("`{name}` listens to port {port} twice: already since {at}");
        }
        state.listens.push((port, Location::caller()));
    }

    /// Opens a stream. What becomes of it [`on_stream`](crate::Node::on_stream) is told: it is accepted, refused, or nobody answers.
    ///
    /// # Panics
    ///
    /// If the cluster has no such node.
    #[track_caller]
    pub fn connect(&mut self, to: NodeId, port: u16) -> StreamId {
        let (me, many) = (self.me, self.world.nodes.len());
        if to.index() >= many {
            panic!("`{}` connects to node {to}, but the cluster has only {}", self.world.name(me), nodes_of(many));
        }
        if !self.does() {
            return StreamId::NONE;
        }
        let mut pipe = || Pipe { chunks: VecDeque::new(), queue: self.host.queue(me), owed: 0 };
        let pipes = [pipe(), pipe()];
        let since = Some(self.starts());
        let ends = [End { node: me, since }, End { node: to, since: None }];
        self.world.connections.push(Connection { ends, pipes });
        let stream = StreamId::of(self.world.connections.len() - 1, 0);
        self.world.put(stream, Chunk::Connect(port), self.host, Some(Location::caller()));
        stream
    }

    /// Sends the next chunk, and says whether this node has the stream: if it was reset, refused or aborted, nothing is sent.
    #[track_caller]
    pub fn push(&mut self, stream: StreamId, message: M) -> bool {
        let knows = self.world.knows(stream);
        if knows && self.does() {
            self.world.put(stream, Chunk::Data(message), self.host, Some(Location::caller()));
        }
        knows
    }

    /// Says that this end sends nothing more.
    #[track_caller]
    pub fn close(&mut self, stream: StreamId) {
        if self.world.knows(stream) && self.does() {
            self.world.put(stream, Chunk::Close, self.host, Some(Location::caller()));
        }
    }

    /// Gives the stream up: the other end is told that it was reset.
    #[track_caller]
    pub fn abort(&mut self, stream: StreamId) {
        if self.world.knows(stream) && self.does() {
            self.world.forget(stream);
            self.world.put(stream, Chunk::Reset, self.host, Some(Location::caller()));
        }
    }
}

impl<M> World<M> {
    fn end(&mut self, stream: StreamId) -> &mut End {
        let (connection, end) = stream.parts();
        &mut self.connections[connection].ends[end]
    }

    /// Whether the node of this end has the stream, as it runs now.
    fn knows(&self, stream: StreamId) -> bool {
        let (connection, end) = stream.parts();
        let Some(End { node, since }) = self.connections.get(connection).map(|known| known.ends[end]) else {
            return false;
        };
        since == Some(self.nodes[node.index()].starts)
    }

    fn forget(&mut self, stream: StreamId) {
        self.end(stream).since = None;
    }

    /// Sends a chunk from this end.
    fn put(&mut self, stream: StreamId, chunk: Chunk<M>, host: &mut dyn Host, place: Place) {
        let (connection, end) = stream.parts();
        let Connection { ends, pipes } = &mut self.connections[connection];
        pipes[end].chunks.push_back(chunk);
        host.post_in_turn(pipes[end].queue, ends[1 - end].node, Event::Chunk(stream.0), place);
    }

    /// Whether something is in the way of what this end sends.
    fn waits(&self, stream: StreamId) -> bool {
        let (connection, end) = stream.parts();
        let ends = self.connections[connection].ends;
        let receiver = &self.nodes[ends[1 - end].node.index()];
        let is_cut = |(node, mode): &(NodeId, Mode)| *node == ends[end].node && *mode != Mode::Reject;
        receiver.is_up && (receiver.is_paused || receiver.deaf_to.iter().any(is_cut))
    }

    /// What nothing is in the way of any more arrives, in its order.
    pub(crate) fn release_streams(&mut self, node: NodeId, host: &mut dyn Host) {
        for at in 0..self.connections.len() * 2 {
            let (connection, end) = StreamId(at as u32).parts();
            let is_owed = self.connections[connection].pipes[end].owed > 0;
            if is_owed && self.connections[connection].ends[1 - end].node == node && !self.waits(StreamId(at as u32)) {
                let pipe = &mut self.connections[connection].pipes[end];
                for _ in 0..std::mem::take(&mut pipe.owed) {
                    // Not in its turn: what is sent meanwhile may arrive before the release as well, and that must not wait for it.
                    host.post(node, node, Event::Chunk(at as u32), None);
                }
            }
        }
    }

    /// A node ends in good order: its streams are closed.
    pub(crate) fn close_streams(&mut self, node: NodeId, host: &mut dyn Host) {
        for at in 0..self.connections.len() * 2 {
            let stream = StreamId(at as u32);
            if self.end(stream).node == node && self.knows(stream) {
                self.put(stream, Chunk::Close, host, None);
            }
        }
    }
}

impl<M: Clone + Debug + 'static> World<M> {
    /// The first chunk that this end has sent arrives.
    pub(crate) fn chunk_arrives(&mut self, number: u32, host: &mut dyn Host) {
        let sent_by = StreamId(number);
        let (connection, end) = sent_by.parts();
        let stream = StreamId::of(connection, 1 - end);
        let (from, to) = (self.end(sent_by).node, self.end(stream).node);
        if self.waits(sent_by) {
            self.connections[connection].pipes[end].owed += 1;
            return self.note(host, to, || What::Held { from });
        }
        let Some(chunk) = self.connections[connection].pipes[end].chunks.pop_front() else { return };
        let state = &mut self.nodes[to.index()];
        let is_rejected = state.deaf_to.iter().any(|(node, _)| *node == from);
        let lost = match state.is_up {
            false => Some("the node is down"),
            true if is_rejected => Some("it is rejected"),
            true => None,
        };
        let told = chunk.clone();
        self.note(host, to, || What::Chunk { from, chunk: told, lost });
        if lost.is_some() {
            if is_rejected && !matches!(chunk, Chunk::Reset) {
                self.put(stream, Chunk::Reset, host, None);
            }
            return;
        }
        let knows = self.knows(stream);
        let event = match chunk {
            Chunk::Connect(port) if self.nodes[to.index()].listens.iter().any(|(listens, _)| *listens == port) => {
                self.end(stream).since = Some(self.nodes[to.index()].starts);
                self.put(stream, Chunk::Accept, host, None);
                StreamEvent::Accepted { from, port }
            }
            Chunk::Connect(_) => return self.put(stream, Chunk::Refuse, host, None),
            Chunk::Refuse | Chunk::Reset | Chunk::Close if !knows => return,
            // Who does not know the stream says so.
            Chunk::Accept | Chunk::Data(_) if !knows => return self.put(stream, Chunk::Reset, host, None),
            Chunk::Accept => StreamEvent::Connected,
            Chunk::Data(_) if self.nodes[to.index()].resets > 0 => {
                self.nodes[to.index()].resets -= 1;
                self.forget(stream);
                self.put(stream, Chunk::Reset, host, None);
                StreamEvent::Reset
            }
            Chunk::Data(message) => StreamEvent::Data(message),
            Chunk::Close => StreamEvent::Closed,
            Chunk::Refuse | Chunk::Reset => {
                self.forget(stream);
                if matches!(chunk, Chunk::Refuse) { StreamEvent::Refused } else { StreamEvent::Reset }
            }
        };
        self.with_code(to, host, |code, cx| code.on_stream(stream, event, cx));
    }
}
