//! tokio's channels, exhaustively: what is run is every class that brute force finds, once, with the same outcomes.

#[allow(dead_code, reason = "the oracle is that of the facades for std, which need more of it")]
#[path = "../../../drawloom/tests/exhaustive/brute.rs"]
mod brute;
mod mpsc;
mod random;
mod random_turns;
mod select;
mod turns;
