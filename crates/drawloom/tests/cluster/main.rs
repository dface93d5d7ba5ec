//! Clusters: nodes, networks, clocks and faults as choices.

mod basics;
mod brute;
mod classes;
mod liveness;
mod mistakes;
mod named;
mod programs;
mod shrinking;
mod streams;
