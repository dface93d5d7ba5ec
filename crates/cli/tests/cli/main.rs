//! The command line, end to end, on the project in `sample`.

mod checking;
mod ci;
mod docs;
mod findings;
mod fixing;
mod hostile;
#[cfg(unix)]
mod interrupts;
mod refusals;
mod running;
mod sample;
#[cfg(feature = "mcp")]
mod server;
mod testing;
mod tokio;
