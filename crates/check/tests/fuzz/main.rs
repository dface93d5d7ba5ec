//! Random small histories against brute force, model by model. The quick ones run with every test, a hundred thousand
//! for each model with `cargo test --release -p drawloom-check --test fuzz -- --ignored`.

mod explanations;
mod histories;
mod linearizable;
mod oracle;
#[path = "../support/rng.rs"]
mod rng;
mod sequential;
mod special;
mod subjects;
