//! What somebody waits for of something outside: nothing here can be waited for so, so these are values alone.

use std::fmt;
use std::ops::BitOr;

const READABLE: u8 = 1;
const WRITABLE: u8 = 2;

/// What to wait for, as `tokio::io::Interest`.
#[derive(Clone, Copy, Eq, PartialEq)]
pub struct Interest(u8);

impl Interest {
    /// Until it can be read from.
    pub const READABLE: Interest = Interest(READABLE);
    /// Until it can be written to.
    pub const WRITABLE: Interest = Interest(WRITABLE);

    /// Whether reading is among it.
    #[must_use]
    pub const fn is_readable(self) -> bool {
        self.0 & READABLE != 0
    }

    /// Whether writing is among it.
    #[must_use]
    pub const fn is_writable(self) -> bool {
        self.0 & WRITABLE != 0
    }

    /// Both together.
    #[must_use]
    pub const fn add(self, other: Interest) -> Interest {
        Interest(self.0 | other.0)
    }
}

impl BitOr for Interest {
    type Output = Interest;

    fn bitor(self, other: Interest) -> Interest {
        self.add(other)
    }
}

impl fmt::Debug for Interest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match (self.is_readable(), self.is_writable()) {
            (true, true) => "READABLE | WRITABLE",
            (true, false) => "READABLE",
            (false, true) => "WRITABLE",
            (false, false) => "()",
        })
    }
}
