//! Transactional histories: anomalies, levels, files.

mod anomalies;
mod brute;
mod files;
mod isolation;
mod lists;
mod registers;
mod stores;
mod support;
