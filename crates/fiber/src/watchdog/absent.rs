//! Where there are no signals, nobody watches.

use std::sync::Arc;

use super::Watch;

pub(crate) const CAN_LEAVE: bool = false;

pub(crate) fn catch_aborts() {}

pub(crate) fn watch() -> Arc<Watch> {
    Arc::new(Watch::new())
}
