//! The crate `once_cell` under control.
//!
//! In production these names are that crate's own. Under control the cells of [`sync`] are those of
//! [`drawloom::sync`](crate::sync), so a static one starts again in each execution; [`unsync`] needs none. What is not
//! there: `race`, and `get_unchecked`.

pub mod sync;

pub use ::once_cell::unsync;
