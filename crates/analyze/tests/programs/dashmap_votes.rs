// expect: atomicity-gap lost-update
use dashmap::DashMap;
use std::sync::Arc;
use std::thread;

pub fn vote(votes: &DashMap<String, u32>, name: &str) {
    let before = votes.get(name).map(|it| *it).unwrap_or(0);
    votes.insert(name.to_string(), before + 1); // HERE
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
