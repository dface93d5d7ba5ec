// expect: clean
use std::sync::RwLock;
use std::thread;

fn main() {
    let best = RwLock::new(0_u32);
    thread::scope(|scope| {
        for n in 0..4 {
            let best = &best;
            scope.spawn(move || {
                let mut best = best.write().unwrap();
                *best = (*best).max(n);
            });
        }
    });
    println!("{}", best.read().unwrap());
}
