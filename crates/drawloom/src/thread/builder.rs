//! `std::thread`: builder, under control.
