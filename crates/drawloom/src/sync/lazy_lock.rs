//! `std::sync`: lazy_lock, under control.
