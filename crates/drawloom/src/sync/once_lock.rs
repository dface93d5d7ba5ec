//! `std::sync`: once_lock, under control.
