//! Iterators over what is received.

use super::Receiver;

crate::received::iterators_over_received!(Receiver, "std::sync::mpsc");
