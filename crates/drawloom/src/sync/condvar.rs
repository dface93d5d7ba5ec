//! `std::sync`: condvar, under control.
