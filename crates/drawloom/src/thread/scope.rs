//! `std::thread`: scope, under control.
