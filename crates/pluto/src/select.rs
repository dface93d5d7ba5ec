//! Select: one object with the channels, then what is done with each, then the messages.

use drawloom_capi as capi;

use crate::cancel::{self, Waited};
use crate::channel::{CLOSED, Channel};
use crate::ending;
use crate::foreign::{Word, raise};
use crate::owners;
use crate::state::{self, is_inline};

use capi::{drawloom_case, drawloom_status};

/// Arms that are looked at.
const MOST_ARMS: usize = 64;

const DEFAULT: Word = -1;
const ALL_CLOSED: Word = -2;

/// The object that generated code hands over, of `3 * arms` words.
#[derive(Clone, Copy)]
struct Arms {
    words: *mut Word,
    arms: usize,
}

impl Arms {
    fn word(self, part: usize, arm: usize) -> *mut Word {
        // SAFETY: as many words as that are there, as generated code vouches.
        unsafe { self.words.add(part * self.arms + arm) }
    }

    fn channel(self, arm: usize) -> Channel {
        // SAFETY: as above.
        Channel::at(unsafe { *self.word(0, arm) })
    }

    fn sends(self, arm: usize) -> bool {
        // SAFETY: as above.
        unsafe { *self.word(1, arm) != 0 }
    }

    fn message(self, arm: usize) -> Word {
        // SAFETY: as above.
        unsafe { *self.word(2, arm) }
    }

    fn set_message(self, arm: usize, message: Word) {
        // SAFETY: as above.
        unsafe { *self.word(2, arm) = message }
    }

    /// The first arm that can be carried out is; else whether all are closed.
    fn try_inline(self) -> Result<usize, bool> {
        let mut closed = true;
        for arm in 0..self.arms.min(MOST_ARMS) {
            let channel = self.channel(arm);
            let is_closed = channel.is_closed_inline();
            if self.sends(arm) {
                if !is_closed && channel.push_inline(self.message(arm)) {
                    return Ok(arm);
                }
            } else if let Some(message) = channel.pop_inline() {
                self.set_message(arm, message);
                return Ok(arm);
            }
            closed &= is_closed;
        }
        Err(closed)
    }
}

fn all_closed() -> Word {
    raise(CLOSED);
    ALL_CLOSED
}

pub(crate) extern "C" fn select(buffer: Word, count: Word, has_default: Word, returns_to: usize) -> Word {
    let arms = Arms { words: buffer as *mut Word, arms: usize::try_from(count).unwrap_or_default() };
    let waits = has_default == 0;
    if is_inline() {
        return match arms.try_inline() {
            Ok(arm) => arm as Word,
            Err(_) if !waits => DEFAULT,
            Err(true) => all_closed(),
            Err(false) => ending::stuck("select with no ready channels", returns_to),
        };
    }
    let at = capi::place::loc_of_address(returns_to);
    if cancel::is_over(at) {
        return ALL_CLOSED;
    }
    let looked_at = arms.arms.min(MOST_ARMS);
    let none = drawloom_case { size: size_of::<drawloom_case>(), handle: 0, op: 0, status: 0, value: 0 };
    let mut cases = [none; MOST_ARMS];
    for (arm, case) in cases.iter_mut().enumerate().take(looked_at) {
        case.handle = arms.channel(arm).handle();
        case.op = if arms.sends(arm) { capi::DRAWLOOM_SEND } else { capi::DRAWLOOM_RECV };
        if arms.sends(arm) {
            owners::send(arms.channel(arm).address());
        }
        case.value = arms.message(arm) as u64;
    }
    let flags = capi::DRAWLOOM_SELECT_SKIP_CLOSED | if waits { 0 } else { capi::DRAWLOOM_SELECT_DEFAULT };
    let (places, mut chosen) = (cases.as_mut_ptr(), 0);
    let chosen_at = &raw mut chosen;
    let select = |nanos| capi::drawloom_select(places, looked_at, flags, nanos, chosen_at, at);
    let waited = if waits { cancel::wait(select) } else { Waited::Done(select(u64::MAX)) };
    match waited {
        Waited::Cancelled => ALL_CLOSED,
        Waited::Done(drawloom_status::DRAWLOOM_OK) => {
            state::progress();
            if !arms.sends(chosen) {
                arms.set_message(chosen, cases[chosen].value as Word);
            }
            chosen as Word
        }
        Waited::Done(drawloom_status::DRAWLOOM_DEFAULT) => {
            ending::looked_in_vain(at);
            DEFAULT
        }
        Waited::Done(_) => all_closed(),
    }
}
