//! Actors in explorations, against what OTP does.

mod costs;
mod fresh;
mod otp;
mod programs;
mod servers;
mod term;
