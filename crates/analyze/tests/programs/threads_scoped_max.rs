// expect: atomicity-gap lost-update
use std::sync::RwLock;
use std::thread;

fn main() {
    let best = RwLock::new(0_u32);
    thread::scope(|scope| {
        for n in 0..4 {
            let best = &best;
            scope.spawn(move || {
                let seen = *best.read().unwrap();
                let next = seen.max(n);
                *best.write().unwrap() = next; // HERE
            });
        }
    });
    println!("{}", best.read().unwrap());
}
