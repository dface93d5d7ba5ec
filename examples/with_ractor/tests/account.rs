//! What is true of an account whatever the order of messages.

use ractor::{Actor, call};
use with_ractor::{Account, Request, deposit, last_balance, read_and_set};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_lost_by_two_messages() {
    let (account, ended) = Actor::spawn(None, Account, ()).await.expect("it starts");
    let other = tokio::spawn(read_and_set(account.clone(), 5));
    read_and_set(account.clone(), 3).await;
    other.await.expect("it returns");
    assert_eq!(call!(account, Request::Balance).expect("an answer"), 8);
    account.stop(None);
    ended.await.expect("it ends");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_lost_by_one_message() {
    let (account, ended) = Actor::spawn(None, Account, ()).await.expect("it starts");
    let other = tokio::spawn(deposit(account.clone(), 5));
    deposit(account.clone(), 3).await;
    other.await.expect("it returns");
    assert_eq!(call!(account, Request::Balance).expect("an answer"), 8);
    account.stop(None);
    ended.await.expect("it ends");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_account_that_is_stopped_answers_or_refuses() {
    let (account, ended) = Actor::spawn(None, Account, ()).await.expect("it starts");
    let asked = tokio::spawn(last_balance(account.clone()));
    account.stop(None);
    assert!(matches!(asked.await.expect("it returns"), None | Some(0)));
    ended.await.expect("it ends");
}
