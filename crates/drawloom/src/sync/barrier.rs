//! `std::sync`: barrier, under control.
