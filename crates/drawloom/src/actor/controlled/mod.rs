//! Processes in explorations: each call is a step of the engine.

use std::sync::Arc;

use super::backend::Backend;
use super::system::Delivery;

/// The processes of one system in one execution.
pub(crate) struct World;

impl World {
    pub(crate) fn begin(_delivery: Delivery) -> Arc<dyn Backend> {
        panic!("processes do not run in explorations yet")
    }
}
