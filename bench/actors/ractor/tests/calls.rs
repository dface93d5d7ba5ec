//! So many calls (`CALLS`), one after the other.

use ractor::{Actor, ActorProcessingErr, ActorRef, RpcReplyPort, call};

struct Counter;

enum Count {
    Up(u64, RpcReplyPort<u64>),
}

impl Actor for Counter {
    type Msg = Count;
    type State = u64;
    type Arguments = ();

    async fn pre_start(&self, _: ActorRef<Count>, (): ()) -> Result<u64, ActorProcessingErr> {
        Ok(0)
    }

    async fn handle(&self, _: ActorRef<Count>, Count::Up(by, reply): Count, count: &mut u64) -> Result<(), ActorProcessingErr> {
        *count += by;
        Ok(reply.send(*count)?)
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls() {
    let calls: u64 = std::env::var("CALLS").map_or(10, |calls| calls.parse().expect("a number"));
    let (counter, ended) = Actor::spawn(None, Counter, ()).await.expect("it starts");
    for n in 1..=calls {
        assert_eq!(call!(counter, |reply| Count::Up(1, reply)).expect("an answer"), n);
    }
    counter.stop(None);
    ended.await.expect("it ends");
}
