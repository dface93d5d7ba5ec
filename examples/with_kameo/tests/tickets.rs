//! What is true of a stock whatever the order of messages.

use kameo::prelude::*;
use with_kameo::{Left, Tickets, look_and_take, take_if_left};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_sold_twice_by_two_messages() {
    let tickets = Tickets::spawn(Tickets::new(1));
    let other = tokio::spawn(look_and_take(tickets.clone()));
    look_and_take(tickets.clone()).await;
    other.await.expect("it returns");
    assert_eq!(tickets.ask(Left).await.expect("an answer"), 0);
    tickets.stop_gracefully().await.expect("it was alive");
    tickets.wait_for_shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_sold_twice_by_one_message() {
    let tickets = Tickets::spawn(Tickets::new(1));
    let other = tokio::spawn(take_if_left(tickets.clone()));
    let mine = take_if_left(tickets.clone()).await;
    assert_ne!(mine, other.await.expect("it returns"));
    assert_eq!(tickets.ask(Left).await.expect("an answer"), 0);
    tickets.stop_gracefully().await.expect("it was alive");
    tickets.wait_for_shutdown().await;
}
