//! Means of schedules to first bug, of which some were never reached.

/// What came of all trials of one program with one strategy.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trials {
    /// Trials in which the program failed.
    pub found: u64,
    /// Trials in all.
    pub trials: u64,
    /// Executions of all of them together.
    pub executions: u64,
}

impl Trials {
    /// Adds a trial that was cut after `cut` executions if it had not failed before.
    pub fn add(&mut self, found: Option<u64>, cut: u64) {
        self.trials += 1;
        self.found += u64::from(found.is_some());
        self.executions += found.unwrap_or(cut);
    }

    /// The mean number of executions to the first failure, by maximum likelihood: executions per failure. Where
    /// every trial failed this is the plain mean. None if none did.
    pub fn mean(&self) -> Option<f64> {
        (self.found > 0).then(|| self.executions as f64 / self.found as f64)
    }
}

/// The geometric mean.
pub fn geometric_mean(values: impl IntoIterator<Item = f64>) -> f64 {
    let (sum, count) = values.into_iter().fold((0.0, 0_u32), |(sum, count), value| (sum + value.ln(), count + 1));
    (sum / f64::from(count.max(1))).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trial_without_failure_counts_with_all_its_executions() {
        let mut trials = Trials::default();
        for found in [Some(3), None, Some(5)] {
            trials.add(found, 100);
        }
        assert_eq!(trials, Trials { found: 2, trials: 3, executions: 108 });
        assert_eq!(trials.mean(), Some(54.0));
    }

    #[test]
    fn what_never_failed_has_no_mean() {
        let mut trials = Trials::default();
        trials.add(None, 10);
        assert_eq!(trials.mean(), None);
    }

    #[test]
    fn the_geometric_mean_of_two_and_eight_is_four() {
        assert!((geometric_mean([2.0, 8.0]) - 4.0).abs() < 1e-9);
    }
}
