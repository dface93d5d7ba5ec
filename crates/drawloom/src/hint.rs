//! `std::hint`, under control.
