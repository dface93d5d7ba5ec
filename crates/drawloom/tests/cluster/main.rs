//! Clusters: nodes, networks, clocks and faults as choices.

mod basics;
mod brute;
mod classes;
mod disks;
mod leaks;
mod liveness;
mod mistakes;
mod named;
mod programs;
mod shrinking;
mod streams;
