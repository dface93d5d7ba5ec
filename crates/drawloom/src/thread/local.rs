//! `std::thread`: local, under control.
