//! What a task that awaits a value has seen of it.

/// Whether what is waited for holds, and when it held: the second operand of an [`OpKind::Await`](crate::OpKind::Await).
///
/// A task that looks in vain makes no step; so who wants to know whether it could have gone on earlier has to be told.
/// The front end, whose code the condition is, looks at the values that the atomic has had ([`Look::back`]).
///
/// Bit 0: it holds now. Bit k: it held before the k-th write, counted from the last one. If it held at none of these
/// times but before, the highest bit is set, bit 62 says whether it holds now, and the rest when it held last.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Look(u64);

/// So many answers are kept, that of now included.
const KEPT: u64 = 63;
const LONG_AGO: u64 = 1 << 63;

impl Look {
    /// Now, and at no time before.
    pub fn now(holds: bool) -> Look {
        Look(u64::from(holds))
    }

    /// Now, and before every write. `earlier` says which is the last one before a position, and whether it held then.
    pub fn back(holds: bool, made: usize, mut earlier: impl FnMut(usize) -> Option<(usize, bool)>) -> Look {
        let mut held = u64::from(holds);
        let mut end = made;
        for k in 1.. {
            if k >= KEPT && held > 1 {
                break;
            }
            let Some((write, held_then)) = earlier(end) else { break };
            end = write;
            match held_then {
                true if k >= KEPT => return Look(LONG_AGO | held << (KEPT - 1) | k),
                true => held |= 1 << k,
                false => {}
            }
        }
        Look(held)
    }

    /// What an operand says.
    pub fn of(arg: u64) -> Look {
        Look(arg)
    }

    /// The operand that says so.
    pub fn operand(self) -> u64 {
        self.0
    }

    /// Whether it holds now.
    pub fn holds(self) -> bool {
        self.held(0) == Some(true)
    }

    /// Whether it held before the k-th write, counted from the last one; now, if that is 0. `None` if nobody knows: it held
    /// at some time since.
    pub fn held(self, k: usize) -> Option<bool> {
        let k = k as u64;
        if self.0 & LONG_AGO == 0 {
            return (k < KEPT).then(|| self.0 >> k & 1 == 1);
        }
        let last = self.0 & !(LONG_AGO | 1 << (KEPT - 1));
        match k {
            0 => Some(self.0 >> (KEPT - 1) & 1 == 1),
            _ => (k <= last).then_some(k == last),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Look;

    /// Of an atomic with as many writes as there are answers, the oldest first; the last answer is that of now.
    fn look(answers: &[bool]) -> Look {
        let (now, before) = answers.split_last().expect("an answer");
        Look::back(*now, before.len(), |end| end.checked_sub(1).map(|write| (write, before[write])))
    }

    #[test]
    fn it_is_known_when_it_held_last() {
        for writes in [0, 1, 2, 61, 62, 63, 64, 200] {
            for last in 0..writes {
                for now in [false, true] {
                    let mut answers = vec![false; writes];
                    answers[last] = true;
                    answers.push(now);
                    let look = look(&answers);
                    assert_eq!(look, Look::of(look.operand()));
                    assert_eq!(look.holds(), now);
                    for k in 1..=writes - last {
                        assert_eq!(look.held(k), Some(k == writes - last), "{writes} writes, {last}, {k}");
                    }
                }
            }
        }
    }

    #[test]
    fn what_nobody_has_looked_at_is_not_known() {
        let mut answers = vec![true; 200];
        answers[50] = false;
        assert_eq!([1, 62, 63, 199].map(|k| look(&answers).held(k)), [Some(true), Some(true), None, None]);
        let never = look(&[false; 70]);
        assert_eq!([0, 1, 62].map(|k| never.held(k)), [Some(false); 3]);
    }
}
