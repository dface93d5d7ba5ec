//! The tests that README and book show. `build.rs` takes them from the pages.
#![allow(unused, clippy::all, clippy::pedantic, reason = "code that is written to be read")]

include!(concat!(env!("OUT_DIR"), "/pages.rs"));
