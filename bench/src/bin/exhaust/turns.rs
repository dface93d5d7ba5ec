//! Turns: everybody explores in short turns, and each one's best counts.

use std::time::Duration;

use drawloom_bench::measure::cpu_time;

/// The least CPU time of one turn; the clock's resolution vanishes in it.
const TURN: Duration = Duration::from_millis(10);
/// Who takes longer than this has only one turn.
const LONG: Duration = Duration::from_secs(1);

/// One contestant's turns at one program.
pub struct Turns<F> {
    explore: F,
    pub executions: u64,
    /// Explorations of a turn.
    repeated: u32,
    /// The least time of an exploration.
    pub best: Duration,
    is_long: bool,
}

impl<F: Fn() -> u64> Turns<F> {
    /// Takes the first turn, and finds out how many explorations make one.
    pub fn of(explore: F) -> Self {
        let (mut took, executions) = cpu_time(&explore);
        let mut turns = Turns { explore, executions, repeated: 1, best: took, is_long: took > LONG };
        while took < TURN {
            turns.repeated *= 2;
            took = turns.turn();
        }
        turns
    }

    fn turn(&mut self) -> Duration {
        let (took, ()) = cpu_time(|| {
            for _ in 0..self.repeated {
                assert_eq!((self.explore)(), self.executions, "an exploration is the same each time");
            }
        });
        self.best = self.best.min(took / self.repeated);
        took
    }

    pub fn take(&mut self) {
        if !self.is_long {
            self.turn();
        }
    }
}
