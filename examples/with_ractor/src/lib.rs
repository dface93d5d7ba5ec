//! A bank account that is an actor of ractor.

use ractor::{Actor, ActorProcessingErr, ActorRef, RpcReplyPort, call};

/// The account; its state is the balance.
pub struct Account;

/// What an account is asked.
pub enum Request {
    /// How much there is.
    Balance(RpcReplyPort<u64>),
    /// From now on there is so much.
    Set(u64),
    /// So much more.
    Deposit(u64),
}

impl Actor for Account {
    type Msg = Request;
    type State = u64;
    type Arguments = ();

    async fn pre_start(&self, _: ActorRef<Request>, (): ()) -> Result<u64, ActorProcessingErr> {
        Ok(0)
    }

    async fn handle(&self, _: ActorRef<Request>, request: Request, balance: &mut u64) -> Result<(), ActorProcessingErr> {
        match request {
            Request::Balance(reply) => reply.send(*balance)?,
            Request::Set(amount) => *balance = amount,
            Request::Deposit(amount) => *balance += amount,
        }
        Ok(())
    }
}

/// Pays in, by two messages: another client's may come between them.
pub async fn read_and_set(account: ActorRef<Request>, amount: u64) {
    let balance = call!(account, Request::Balance).expect("an answer");
    account.cast(Request::Set(balance + amount)).expect("it is alive");
}

/// Pays in, by one message.
pub async fn deposit(account: ActorRef<Request>, amount: u64) {
    account.cast(Request::Deposit(amount)).expect("it is alive");
}

/// What is asked of an account that was stopped gets no answer: the caller has to cope with that.
pub async fn last_balance(account: ActorRef<Request>) -> Option<u64> {
    call!(account, Request::Balance).ok()
}
