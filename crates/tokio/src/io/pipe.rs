//! A pipe: bytes in one direction, each read and write one step.

use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::panic::Location;
use std::task::{Context, Poll, Waker, ready};

use drawloom::object::Object;
use real_tokio::io::ReadBuf;

use crate::sync::permits::Place;
use crate::task::coop;
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
        let budget = ready!(coop::poll_proceed(context));
        // The waker that was there is dropped after the step: that may take one.
        let (poll, writer, _replaced) = self.state.update_from(self.made_at, |state| {
            let count = state.bytes.len().min(buffer.remaining());
            if count > 0 {
                let (front, back) = state.bytes.as_slices();
                let from_front = count.min(front.len());
                buffer.put_slice(&front[..from_front]);
                buffer.put_slice(&back[..count - from_front]);
                state.bytes.drain(..count);
                return (Poll::Ready(Ok(())), state.writer.take(), None);
            }
            if state.closed || buffer.remaining() == 0 {
                return (Poll::Ready(Ok(())), None, None);
            }
            (Poll::Pending, None, state.reader.replace(context.waker().clone()))
        });
        Wakers::from(writer).wake();
        budget.after(poll)
    }

    pub(super) fn poll_write(&self, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.poll_write_vectored(context, &[IoSlice::new(bytes)])
    }

    pub(super) fn poll_write_vectored(
        &self,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let budget = ready!(coop::poll_proceed(context));
        let (poll, reader, _replaced) = self.state.update_from(self.made_at, |state| {
            if state.closed {
                return (Poll::Ready(Err(io::ErrorKind::BrokenPipe.into())), None, None);
            }
            let room = self.capacity - state.bytes.len();
            if room == 0 && slices.iter().any(|slice| !slice.is_empty()) {
                return (Poll::Pending, None, state.writer.replace(context.waker().clone()));
            }
            let mut left = room;
            for slice in slices {
                let count = left.min(slice.len());
                state.bytes.extend(&slice[..count]);
                left -= count;
            }
            (Poll::Ready(Ok(room - left)), state.reader.take(), None)
        });
        Wakers::from(reader).wake();
        budget.after(poll)
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
