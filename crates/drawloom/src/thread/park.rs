//! `std::thread`: park, under control.
