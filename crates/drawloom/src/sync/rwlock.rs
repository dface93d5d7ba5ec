//! `std::sync`: rwlock, under control.
