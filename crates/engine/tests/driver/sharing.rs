//! One worker has all to itself.

use std::sync::{Arc, Mutex};

use drawloom_engine::exhaustive::{Board, Commons, Desk, Kept, Sharing, Then};

/// For explorations by one worker: nobody else would ever end a wait.
pub const ALONE: Sharing =
    Sharing { commons: |board| Arc::new(Alone(Mutex::new(board))), desk: |kept| Arc::new(Alone(Mutex::new(kept))) };

struct Alone<T>(Mutex<T>);

impl Commons for Alone<Board> {
    fn change(&self, act: &mut dyn FnMut(&mut Board) -> Then) {
        let then = act(&mut self.0.lock().unwrap());
        assert_ne!(then, Then::Wait, "nobody would end the wait");
    }

    fn read(&self, look: &mut dyn FnMut(&Board) -> bool) {
        while look(&self.0.lock().unwrap()) {}
    }

    fn board(&mut self) -> &mut Board {
        self.0.get_mut().unwrap()
    }
}

impl Desk for Alone<Kept> {
    fn with(&self, act: &mut dyn FnMut(&mut Kept)) {
        act(&mut self.0.lock().unwrap());
    }
}
