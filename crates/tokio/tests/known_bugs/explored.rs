//! What is asked of a bug and of its fix.

use std::future::Future;

use drawloom::{Config, explore};
use drawloom_tokio::runtime::Builder;

fn on_a_runtime<F: Future<Output = ()> + 'static>(body: fn() -> F) -> impl Fn() + Send + Sync + 'static {
    move || Builder::new_multi_thread().enable_all().build().expect("a runtime").block_on(body())
}

/// `auto` finds something of this kind within 1,000 executions.
pub fn found<F: Future<Output = ()> + 'static>(kind: &str, body: fn() -> F) {
    let exploration = explore(Config::new().iterations(1_000), on_a_runtime(body));
    let found = exploration.findings().first().expect("the bug is to be found");
    assert_eq!(found.kind(), kind, "{}", found.report());
    assert!(exploration.executions() <= 1_000);
    println!("{}: {} in execution {}", std::any::type_name::<F>(), found.kind(), exploration.executions());
}

/// Nothing is found, and nothing is left to be explored.
pub fn clean<F: Future<Output = ()> + 'static>(body: fn() -> F) {
    let exploration = explore("exhaustive".parse().expect("a strategy"), on_a_runtime(body));
    assert!(exploration.findings().is_empty(), "{}", exploration.findings()[0].report());
    assert!(exploration.exhausted());
    println!("{}: {} behaviours", std::any::type_name::<F>(), exploration.executions());
}
