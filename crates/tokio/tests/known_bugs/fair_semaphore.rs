//! embassy-rs/embassy#6964: who waits behind a cancelled `acquire` of a fair semaphore waits for ever.
//!
//! Permits go out in the order of the queue. When the first one in it is dropped, the next one could go on with
//! what is there, but nobody wakes it. The fix wakes the new first one.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use drawloom::object::Object;
use drawloom_tokio::spawn;

use crate::explored::{clean, found};

#[derive(Default)]
struct State {
    permits: usize,
    queue: VecDeque<(u64, Waker)>,
    tickets: u64,
}

struct FairSemaphore {
    state: Object<State>,
    wakes_next: bool,
}

struct Acquire<'a> {
    semaphore: &'a FairSemaphore,
    wanted: usize,
    ticket: Option<u64>,
}

impl Future for Acquire<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let (wanted, mut ticket) = (self.wanted, self.ticket);
        let taken = self.semaphore.state.update(|state| {
            let first = state.queue.front().is_none_or(|(first, _)| Some(*first) == ticket);
            if first && state.permits >= wanted {
                state.permits -= wanted;
                if ticket.take().is_some() {
                    state.queue.pop_front();
                }
                return true;
            }
            match state.queue.iter_mut().find(|(queued, _)| Some(*queued) == ticket) {
                Some((_, waker)) => waker.clone_from(context.waker()),
                None => {
                    state.tickets += 1;
                    ticket = Some(state.tickets);
                    state.queue.push_back((state.tickets, context.waker().clone()));
                }
            }
            false
        });
        self.ticket = ticket;
        if !taken {
            return Poll::Pending;
        }
        self.semaphore.wake_first();
        Poll::Ready(())
    }
}

impl Drop for Acquire<'_> {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket {
            self.semaphore.state.update(|state| state.queue.retain(|(queued, _)| *queued != ticket));
            if self.semaphore.wakes_next {
                self.semaphore.wake_first();
            }
        }
    }
}

impl FairSemaphore {
    fn acquire(&self, wanted: usize) -> Acquire<'_> {
        Acquire { semaphore: self, wanted, ticket: None }
    }

    fn wake_first(&self) {
        if let Some(waker) = self.state.look(|state| state.queue.front().map(|(_, waker)| waker.clone())) {
            waker.wake();
        }
    }
}

async fn a_cancelled_wait_in_front(wakes_next: bool) {
    let state = Object::new(State { permits: 1, ..State::default() });
    let semaphore = Arc::new(FairSemaphore { state, wakes_next });
    let theirs = semaphore.clone();
    let greedy = spawn(async move { theirs.acquire(2).await });
    let theirs = semaphore.clone();
    let modest = spawn(async move { theirs.acquire(1).await });
    greedy.abort();
    modest.await.unwrap();
}

#[test]
fn nobody_wakes_who_is_next() {
    found("starvation", || a_cancelled_wait_in_front(false));
}

#[test]
fn who_leaves_wakes_who_is_next() {
    clean(|| a_cancelled_wait_in_front(true));
}
