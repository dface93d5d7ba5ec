//! `std::random`, under control.
