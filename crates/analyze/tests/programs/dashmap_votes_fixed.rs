// expect: clean
use dashmap::DashMap;
use std::sync::Arc;
use std::thread;

pub fn vote(votes: &DashMap<String, u32>, name: &str) {
    *votes.entry(name.to_string()).or_insert(0) += 1;
}

fn main() {
    let votes: Arc<DashMap<String, u32>> = Arc::new(DashMap::new());
    let mut all = Vec::new();
    for _ in 0..4 {
        let votes = votes.clone();
        all.push(thread::spawn(move || vote(&votes, "ann")));
    }
    for one in all {
        one.join().unwrap();
    }
}
