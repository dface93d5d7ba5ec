//! A pipe: bytes in one direction, each read and write one step.

use std::collections::VecDeque;
use std::io;
use std::panic::Location;
use std::task::{Context, Poll, Waker};

use drawloom::object::Object;
use real_tokio::io::ReadBuf;

use crate::sync::permits::Place;
use crate::waiting::Wakers;

pub(super) struct Pipe {
    state: Object<State>,
    capacity: usize,
    made_at: Place,
}

struct State {
    bytes: VecDeque<u8>,
    closed: bool,
    reader: Option<Waker>,
    writer: Option<Waker>,
}

impl Pipe {
    #[track_caller]
    pub(super) fn new(capacity: usize) -> Self {
        let state = State { bytes: VecDeque::new(), closed: false, reader: None, writer: None };
        Pipe { state: Object::new(state), capacity, made_at: Location::caller() }
    }

    pub(super) fn poll_read(&self, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let (poll, writer) = self.state.update_from(self.made_at, |state| {
            let count = state.bytes.len().min(buffer.remaining());
            if count > 0 {
                let (front, back) = state.bytes.as_slices();
                let from_front = count.min(front.len());
                buffer.put_slice(&front[..from_front]);
                buffer.put_slice(&back[..count - from_front]);
                state.bytes.drain(..count);
                return (Poll::Ready(Ok(())), state.writer.take());
            }
            if state.closed || buffer.remaining() == 0 {
                return (Poll::Ready(Ok(())), None);
            }
            state.reader = Some(context.waker().clone());
            (Poll::Pending, None)
        });
        Wakers::from(writer).wake();
        poll
    }

    pub(super) fn poll_write(&self, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let (poll, reader) = self.state.update_from(self.made_at, |state| {
            if state.closed {
                return (Poll::Ready(Err(io::ErrorKind::BrokenPipe.into())), None);
            }
            let count = bytes.len().min(self.capacity - state.bytes.len());
            if count == 0 && !bytes.is_empty() {
                state.writer = Some(context.waker().clone());
                return (Poll::Pending, None);
            }
            state.bytes.extend(&bytes[..count]);
            (Poll::Ready(Ok(count)), state.reader.take())
        });
        Wakers::from(reader).wake();
        poll
    }

    /// No byte comes any more; those that are there can still be read.
    pub(super) fn close(&self) {
        let (reader, writer) = self.state.update_from(self.made_at, |state| {
            state.closed = true;
            (state.reader.take(), state.writer.take())
        });
        Wakers::from(reader).wake();
        Wakers::from(writer).wake();
    }
}
