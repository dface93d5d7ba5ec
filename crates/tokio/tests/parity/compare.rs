//! Runs a body both ways.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use drawloom::{Config, explore};

/// Enough to see what is common; what is rare is what exploration is for.
const REAL_RUNS: usize = 30;

fn explored(body: fn() -> String) -> BTreeSet<String> {
    let seen = Arc::new(Mutex::new(BTreeSet::new()));
    let theirs = seen.clone();
    let config: Config = "exhaustive".parse().expect("a strategy");
    let exploration = explore(config, move || {
        let outcome = body();
        theirs.lock().unwrap().insert(outcome);
    });
    for found in exploration.findings() {
        assert_eq!(found.kind(), "nothing explored", "{}", found.report());
    }
    assert!(exploration.exhausted() || !exploration.findings().is_empty());
    std::mem::take(&mut *seen.lock().unwrap())
}

/// All outcomes are as expected, and real ones are among them.
pub fn compare(expected: &[&str], real: fn() -> String, controlled: fn() -> String) {
    let explored = explored(controlled);
    let expected: BTreeSet<String> = expected.iter().map(ToString::to_string).collect();
    assert_eq!(explored, expected, "what is explored, and what is to be");
    for _ in 0..REAL_RUNS {
        let outcome = real();
        assert!(explored.contains(&outcome), "seen for real and not explored: {outcome}\nexplored: {explored:?}");
    }
}

/// `parity!(name => ["outcome", …] { body })` is a test on runtimes of several threads; with `paused` in front on
/// one with a paused clock, and with `single` on one of one thread.
macro_rules! parity {
    ($name:ident => [$($expected:expr),* $(,)?] $body:block) => {
        parity!(@ $name, [$($expected),*], $body,
            real_tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build(),
            drawloom_tokio::runtime::Builder::new_multi_thread().enable_all().build());
    };
    (paused $name:ident => [$($expected:expr),* $(,)?] $body:block) => {
        parity!(@ $name, [$($expected),*], $body,
            real_tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build(),
            drawloom_tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build());
    };
    (single $name:ident => [$($expected:expr),* $(,)?] $body:block) => {
        parity!(@ $name, [$($expected),*], $body,
            real_tokio::runtime::Builder::new_current_thread().enable_all().build(),
            drawloom_tokio::runtime::Builder::new_current_thread().enable_all().build());
    };
    (@ $name:ident, [$($expected:expr),*], $body:block, $real:expr, $controlled:expr) => {
        #[test]
        fn $name() {
            mod real {
                #[allow(unused_imports)]
                use real_tokio as tokio;
                #[allow(unused_imports)]
                use super::*;
                pub(super) async fn body() -> String {
                    let value = async $body.await;
                    format!("{value:?}")
                }
            }
            mod controlled {
                #[allow(unused_imports)]
                use drawloom_tokio as tokio;
                #[allow(unused_imports)]
                use super::*;
                pub(super) async fn body() -> String {
                    let value = async $body.await;
                    format!("{value:?}")
                }
            }
            crate::compare::compare(
                &[$($expected),*],
                || $real.expect("a runtime").block_on(real::body()),
                || $controlled.expect("a runtime").block_on(controlled::body()),
            );
        }
    };
}

pub(crate) use parity;
