//! Clusters: nodes, networks, clocks and faults as choices.

mod basics;
mod brute;
mod classes;
mod disks;
mod drift;
mod fresh;
mod leaks;
mod liveness;
mod midway;
mod mistakes;
mod named;
mod nodes;
mod pods;
mod programs;
mod scripted;
mod shrinking;
mod streams;
mod workload;
