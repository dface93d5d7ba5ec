//! `std::thread`: sleep, under control.
