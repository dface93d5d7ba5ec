//! Deterministic concurrency testing.
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "controlled")]
pub mod cell;
#[cfg(feature = "controlled")]
pub mod explore;
#[cfg(feature = "controlled")]
pub mod hint;
#[cfg(feature = "controlled")]
pub mod random;
#[cfg(feature = "controlled")]
mod rt;
#[cfg(feature = "controlled")]
pub mod sync;
#[cfg(feature = "controlled")]
pub mod thread;
#[cfg(feature = "controlled")]
pub mod time;

#[cfg(feature = "controlled")]
pub use drawloom_engine::config::Config;
#[cfg(feature = "controlled")]
pub use explore::{Exploration, Failure, check, explore};
