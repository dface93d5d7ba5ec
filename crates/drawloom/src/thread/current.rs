//! `std::thread`: current, under control.
