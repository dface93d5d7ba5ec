//! The same body under real tokio and under control: what is seen for real is among what is explored.
//!
//! book/src/reference/tokio-parity.md names the test of each row of its table.

mod compare;
mod io;
mod locks;
mod macros;
mod mpsc;
mod notify;
mod oneshot;
mod random;
mod runtime;
mod shared_values;
mod tasks;
mod time;
