//! Three philosophers at a round table: whoever reaches for the left fork first, as all the others
//! do, may wait for the right one for ever.

use drawloom::sync::{Arc, Mutex};
use drawloom::thread;

const SEATS: usize = 3;

/// Which two forks a philosopher takes, in this order.
pub type Order = fn(seat: usize) -> (usize, usize);

/// The left fork, then the right one: the last philosopher closes the circle.
pub fn left_first(seat: usize) -> (usize, usize) {
    (seat, (seat + 1) % SEATS)
}

/// The fork with the lower number first: nobody can close a circle.
pub fn lower_first(seat: usize) -> (usize, usize) {
    let (left, right) = left_first(seat);
    (left.min(right), left.max(right))
}

/// Everybody eats once.
pub fn dinner(order: Order) {
    let forks: Arc<[Mutex<u32>; SEATS]> = Arc::new(std::array::from_fn(|_| Mutex::new(0)));
    for (i, fork) in forks.iter().enumerate() {
        drawloom::label(fork, &format!("fork {i}"));
    }
    let philosophers: Vec<_> = (0..SEATS)
        .map(|seat| {
            let forks = forks.clone();
            let eat = move || {
                let (first, second) = order(seat);
                let mut first = forks[first].lock().unwrap();
                let mut second = forks[second].lock().unwrap();
                *first += 1;
                *second += 1;
            };
            let builder = thread::Builder::new().name(format!("philosopher {seat}"));
            builder.spawn(eat).expect("a chair for everybody")
        })
        .collect();
    for philosopher in philosophers {
        philosopher.join().unwrap();
    }
    assert!(forks.iter().all(|fork| *fork.lock().unwrap() == 2), "every fork is used twice");
}
