//! A pipeline that does not end: its last stage waits for messages as long as there is a sender, and
//! one of them is forgotten in a variable that nobody uses.

use drawloom::sync::mpsc;
use drawloom::thread;

/// Two sources, and a stage that adds up the squares of what they send.
///
/// Each source has a sender of its own, cloned from the first; `keep_first` forgets to drop that one.
pub fn sum_of_squares(keep_first: bool) -> u32 {
    let (first, numbers) = mpsc::channel();
    let stage = thread::spawn(move || {
        let mut sum = 0u32;
        for number in numbers {
            sum += number * number;
        }
        sum
    });
    for number in [3u32, 4] {
        let source = first.clone();
        thread::spawn(move || source.send(number).expect("the stage takes all there is"));
    }
    let _kept = keep_first.then_some(first);
    stage.join().unwrap()
}
