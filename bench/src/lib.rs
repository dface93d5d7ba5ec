//! drawloom beside its peers and beside the cheapest scheduler one can write.
//!
//! Only ratios taken in one process on one machine mean anything here, so everything is
//! built around alternation: [`programs`] holds each program once, [`contestant`] runs a
//! program under each library, [`measure`] reads CPU time and allocations, and the
//! binaries put the contestants next to each other. [`cases`], `texts` and [`exhaust`] are the
//! same for exhaustive exploration, [`suite_on_shuttle`] for finding bugs.

pub mod cases;
pub mod contestant;
pub mod exhaust;
pub mod floor;
pub mod measure;
pub mod page;
pub mod programs;
pub mod suite_on_shuttle;
pub mod table;
#[cfg(feature = "drawloom-side")]
pub mod texts;
