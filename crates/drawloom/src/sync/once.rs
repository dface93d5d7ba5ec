//! `std::sync`: once, under control.
