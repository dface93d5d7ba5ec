//! `std::cell`, with the accesses to shared cells tracked.
