//! Two tasks that take two locks in opposite orders, while a third one spins: the program never comes
//! to a standstill, and yet two of its tasks will never go on.

use drawloom::sync::atomic::{AtomicBool, Ordering::SeqCst};
use drawloom::sync::{Arc, Mutex};
use drawloom::{hint, thread};

#[derive(Default)]
struct Shared {
    a: Mutex<u32>,
    b: Mutex<u32>,
    done: AtomicBool,
}

/// The second worker takes `b` and then `a`; the first one takes `a` and then `b`.
pub fn two_orders() {
    work(|shared| {
        let mut b = shared.b.lock().unwrap();
        let mut a = shared.a.lock().unwrap();
        *a += 1;
        *b += 1;
    });
}

/// Both workers take `a` and then `b`.
pub fn one_order() {
    work(a_then_b);
}

fn a_then_b(shared: &Shared) {
    let mut a = shared.a.lock().unwrap();
    let mut b = shared.b.lock().unwrap();
    *a += 1;
    *b += 1;
}

fn work(second: fn(&Shared)) {
    let shared = Arc::new(Shared::default());
    drawloom::label(&shared.a, "a");
    drawloom::label(&shared.b, "b");
    let spawn = |name: &str, body: fn(&Shared)| {
        let shared = shared.clone();
        thread::Builder::new().name(name.to_owned()).spawn(move || body(&shared)).expect("another task")
    };
    let spinner = spawn("spinner", |shared| {
        while !shared.done.load(SeqCst) {
            hint::spin_loop();
        }
    });
    let workers = [spawn("first", a_then_b), spawn("second", second)];
    for worker in workers {
        worker.join().unwrap();
    }
    shared.done.store(true, SeqCst);
    spinner.join().unwrap();
}
