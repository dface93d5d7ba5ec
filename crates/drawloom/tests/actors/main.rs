//! Actors in explorations, against what OTP does.

mod costs;
mod fresh;
mod otp;
mod programs;
mod rules;
mod servers;
mod term;
