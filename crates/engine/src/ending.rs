//! What an execution comes to.
//!
//! Most come to their end, and some show what is wrong with the program: a [`Finding`]. Others are ended for a reason
//! that says nothing of the program. These are no findings: nobody counts, records, minimises or shows them.

use crate::finding::Finding;

/// What an execution comes to.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Ending {
    /// Its end, with nothing found.
    #[default]
    Done,
    /// The program has failed.
    Failed(Finding),
    /// It is given up, and made again at once: the exploration goes on.
    Abandoned(Abandoned),
    /// It is given up, and the exploration ends.
    Stopped(Stop),
}

/// Why an execution is made again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Abandoned {
    /// It met a static that another one, on another OS thread, was using. It is made with the others held back.
    Interference,
}

/// Why an exploration ends in the midst of an execution.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Stop {
    /// Its time was over.
    OutOfTime,
    /// The user has interrupted it.
    Interrupted,
    /// A thread does not come back from code that is not under control: where it is.
    Stuck(Box<str>),
    /// The program does what the front end cannot model: what that is.
    Unsupported(Box<str>),
    /// More is known of the program than when it began: who has begun it begins anew.
    KnowsMore,
    /// Who has begun it has seen enough.
    Enough,
}

impl Ending {
    /// Whether it has come to its end, with nothing found.
    pub fn is_done(&self) -> bool {
        matches!(self, Ending::Done)
    }

    /// What was found, if the program has failed.
    pub fn finding(&self) -> Option<&Finding> {
        match self {
            Ending::Failed(finding) => Some(finding),
            Ending::Done | Ending::Abandoned(_) | Ending::Stopped(_) => None,
        }
    }

    /// One word for it; the kind of what was found.
    pub fn word(&self) -> &'static str {
        match self {
            Ending::Done => "done",
            Ending::Failed(finding) => finding.kind.word(),
            Ending::Abandoned(Abandoned::Interference) => "interference",
            Ending::Stopped(stop) => stop.word(),
        }
    }
}

impl Stop {
    /// One word for it.
    pub fn word(&self) -> &'static str {
        match self {
            Stop::OutOfTime => "out of time",
            Stop::Interrupted => "interrupted",
            Stop::Stuck(_) => "stuck",
            Stop::Unsupported(_) => "unsupported",
            Stop::KnowsMore => "knows more",
            Stop::Enough => "enough",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::FindingKind;
    use crate::id::TaskId;

    #[test]
    fn only_what_has_failed_has_a_finding() {
        let finding = Finding { kind: FindingKind::Livelock, task: TaskId::MAIN, step: 3 };
        let endings = [
            (Ending::Done, "done"),
            (Ending::Failed(finding), "livelock"),
            (Ending::Abandoned(Abandoned::Interference), "interference"),
            (Ending::Stopped(Stop::Interrupted), "interrupted"),
            (Ending::Stopped(Stop::Unsupported("a fork".into())), "unsupported"),
        ];
        for (ending, word) in &endings {
            assert_eq!(ending.word(), *word);
            assert_eq!(ending.finding().is_some(), *word == "livelock");
            assert_eq!(ending.is_done(), *word == "done");
        }
    }

    #[test]
    fn an_ending_takes_no_more_room_than_a_finding_that_may_be_missing() {
        assert_eq!(size_of::<Ending>(), size_of::<Option<Finding>>());
    }
}
