//! Actors in explorations, against what OTP does.

mod costs;
mod documented;
mod fresh;
mod limited_calls;
mod otp;
mod programs;
mod rules;
mod servers;
mod term;
