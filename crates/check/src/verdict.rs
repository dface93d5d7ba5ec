//! What a checker answers, and what it may spend to find out.

use std::fmt;

/// The answer of a checker: `W` is what proves that the history is fine, `V` what proves that it is not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict<W, V> {
    /// The history is explained by the witness.
    Ok(W),
    /// Nothing explains the history.
    Illegal(V),
    /// The budget ran out first. Never a guess either way.
    Unknown(Unknown),
}

impl<W, V> Verdict<W, V> {
    /// Whether the history was shown to be fine.
    pub fn is_ok(&self) -> bool {
        matches!(self, Verdict::Ok(_))
    }

    /// Whether the history was shown to be wrong.
    pub fn is_illegal(&self) -> bool {
        matches!(self, Verdict::Illegal(_))
    }

    /// Whether the budget ran out.
    pub fn is_unknown(&self) -> bool {
        matches!(self, Verdict::Unknown(_))
    }

    /// The word of the verdict in files: `ok`, `illegal` or `unknown`.
    pub fn word(&self) -> &'static str {
        match self {
            Verdict::Ok(_) => "ok",
            Verdict::Illegal(_) => "illegal",
            Verdict::Unknown(_) => "unknown",
        }
    }

    /// The same verdict without its proof.
    pub fn bare(&self) -> Verdict<(), ()> {
        match self {
            Verdict::Ok(_) => Verdict::Ok(()),
            Verdict::Illegal(_) => Verdict::Illegal(()),
            Verdict::Unknown(unknown) => Verdict::Unknown(*unknown),
        }
    }
}

/// How much a check may cost. Steps and bytes instead of seconds, so that a verdict is the same on every machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Steps of the search: one for every attempt to place an operation.
    pub steps: u64,
    /// Bytes of what the search remembers.
    pub bytes: u64,
}

impl Budget {
    /// No limit but the machine's.
    pub const UNLIMITED: Budget = Budget { steps: u64::MAX, bytes: u64::MAX };

    /// This budget with another number of steps.
    pub fn steps(self, steps: u64) -> Budget {
        Budget { steps, ..self }
    }

    /// This budget with another number of bytes.
    pub fn bytes(self, bytes: u64) -> Budget {
        Budget { bytes, ..self }
    }
}

impl Default for Budget {
    /// A hundred million steps and a gigabyte: seconds to a minute, on any machine that builds software.
    fn default() -> Budget {
        Budget { steps: 100_000_000, bytes: 1 << 30 }
    }
}

/// How far a search came before its budget ran out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unknown {
    /// The budget that ran out.
    pub reason: Reason,
    /// Steps that were made.
    pub steps: u64,
    /// The most operations that were placed at once.
    pub placed: usize,
    /// How many operations had to be placed.
    pub of: usize,
}

/// The budget that ran out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// The budget's steps; the number is the limit.
    Steps(u64),
    /// The budget's bytes; the number is the limit.
    Bytes(u64),
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Steps(limit) => write!(f, "the budget of {limit} steps ran out"),
            Reason::Bytes(limit) => write!(f, "the budget of {limit} bytes ran out"),
        }
    }
}

impl fmt::Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Unknown { reason, steps, placed, of } = self;
        write!(f, "{reason} after {steps} steps; at most {placed} of {of} operations were placed")
    }
}
