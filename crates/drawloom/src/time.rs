//! `std::time`, under control.
