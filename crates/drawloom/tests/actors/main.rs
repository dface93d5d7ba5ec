//! Actors in explorations, against what OTP does.

mod otp;
mod programs;
mod term;
