//! A stock of tickets that is an actor of kameo.

use kameo::prelude::*;

/// So many tickets are left.
#[derive(Actor)]
pub struct Tickets {
    left: i64,
}

impl Tickets {
    /// A stock of so many.
    pub fn new(left: i64) -> Tickets {
        Tickets { left }
    }
}

/// How many are left?
pub struct Left;

/// One less, whoever asks.
pub struct Take;

/// One less, if there is one.
pub struct TakeIfLeft;

impl Message<Left> for Tickets {
    type Reply = i64;

    async fn handle(&mut self, _: Left, _: &mut Context<Self, Self::Reply>) -> i64 {
        self.left
    }
}

impl Message<Take> for Tickets {
    type Reply = ();

    async fn handle(&mut self, _: Take, _: &mut Context<Self, Self::Reply>) {
        self.left -= 1;
    }
}

impl Message<TakeIfLeft> for Tickets {
    type Reply = bool;

    async fn handle(&mut self, _: TakeIfLeft, _: &mut Context<Self, Self::Reply>) -> bool {
        let is_left = self.left > 0;
        self.left -= i64::from(is_left);
        is_left
    }
}

/// Buys by two messages: the ticket may be gone in between.
pub async fn look_and_take(tickets: ActorRef<Tickets>) -> bool {
    let is_left = tickets.ask(Left).await.expect("an answer") > 0;
    if is_left {
        tickets.tell(Take).await.expect("it is alive");
    }
    is_left
}

/// Buys by one message.
pub async fn take_if_left(tickets: ActorRef<Tickets>) -> bool {
    tickets.ask(TakeIfLeft).await.expect("an answer")
}
