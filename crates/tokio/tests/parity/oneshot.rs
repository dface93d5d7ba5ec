//! `tokio::sync::oneshot`.

use crate::compare::parity;

parity!(one_value_arrives => ["Ok(7)"] {
    let (sender, receiver) = tokio::sync::oneshot::channel();
    tokio::spawn(async move { sender.send(7) });
    receiver.await
});

parity!(a_sender_that_goes_is_an_error => [r#"(RecvError(()), "channel closed")"#] {
    let (sender, receiver) = tokio::sync::oneshot::channel::<u32>();
    tokio::spawn(async move { drop(sender) });
    let error = receiver.await.unwrap_err();
    let text = error.to_string();
    (error, text)
});

parity!(a_closed_receiver_refuses_or_has_got_it => ["(Err(7), Err(Closed))", "(Ok(()), Ok(7))"] {
    let (sender, mut receiver) = tokio::sync::oneshot::channel();
    let task = tokio::spawn(async move { sender.send(7) });
    receiver.close();
    let sent = task.await.unwrap();
    (sent, receiver.try_recv())
});

parity!(a_sender_waits_for_its_receiver_to_go => ["true"] {
    let (mut sender, receiver) = tokio::sync::oneshot::channel::<u32>();
    tokio::spawn(async move { drop(receiver) });
    sender.closed().await;
    sender.is_closed()
});

parity!(trying_does_not_wait => ["(Err(Empty), true, Ok(1), Err(Closed))"] {
    let (sender, mut receiver) = tokio::sync::oneshot::channel();
    let empty = receiver.try_recv();
    let nothing = receiver.is_empty();
    sender.send(1).unwrap();
    (empty, nothing, receiver.try_recv(), receiver.try_recv())
});

parity!(a_thread_may_wait => ["Ok(3)"] {
    let (sender, receiver) = tokio::sync::oneshot::channel();
    let thread = tokio::task::spawn_blocking(move || receiver.blocking_recv());
    sender.send(3).unwrap();
    thread.await.unwrap()
});
