//! `std::sync`: mpsc, under control.
