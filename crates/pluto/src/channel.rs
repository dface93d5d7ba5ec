//! Channels: objects of Pluto's heap. Messages lie in the ring that the collector looks at.
//!
//! The layout is Pluto's, of 8 words. The collector frees the first two, and reads the next three; the last are ours.

use drawloom_capi as capi;

use crate::cancel::{self, Waited};
use crate::ending;
use crate::foreign::{CHANNEL, Word, allocate, raise, words};
use crate::owners::{self, Manner};
use crate::state::{self, is_inline};

use capi::drawloom_status;

const RING: usize = 1;
const CAPACITY: usize = 2;
const COUNT: usize = 3;
const HEAD: usize = 4;
const TAIL: usize = 5;
/// Inline: whether it is closed. Of fibers, the handle.
const STATE: usize = 6;
/// Inline: those that send.
const SENDERS: usize = 7;

pub(crate) const CLOSED: &str = "channel closed";
const FULL: &str = "channel full";
const EMPTY: &str = "channel empty";

/// A channel, by its object.
#[derive(Clone, Copy)]
pub(crate) struct Channel(*mut Word);

impl Channel {
    pub(crate) fn at(address: Word) -> Channel {
        Channel(address as *mut Word)
    }

    pub(crate) fn address(self) -> Word {
        self.0 as Word
    }

    fn slot(self, index: usize) -> Word {
        // SAFETY: generated code hands over channels that `create` has made, of eight words.
        unsafe { *self.0.add(index) }
    }

    fn set(self, index: usize, value: Word) {
        // SAFETY: as above; one task runs at a time.
        unsafe { *self.0.add(index) = value }
    }

    pub(crate) fn handle(self) -> u64 {
        self.slot(STATE) as u64
    }

    /// The place in the ring that `index` is the position of; and the position after it.
    fn ring(self, index: usize) -> (*mut Word, Word) {
        let at = self.slot(index);
        // SAFETY: positions are below the capacity, and the ring has as many words.
        (unsafe { (self.slot(RING) as *mut Word).add(at as usize) }, (at + 1) % self.slot(CAPACITY))
    }

    pub(crate) fn is_closed_inline(self) -> bool {
        self.slot(STATE) != 0
    }

    pub(crate) fn push_inline(self, message: Word) -> bool {
        if self.slot(COUNT) == self.slot(CAPACITY) {
            return false;
        }
        let (place, next) = self.ring(TAIL);
        // SAFETY: as `ring` says.
        unsafe { *place = message };
        self.set(TAIL, next);
        self.set(COUNT, self.slot(COUNT) + 1);
        true
    }

    pub(crate) fn pop_inline(self) -> Option<Word> {
        if self.slot(COUNT) == 0 {
            return None;
        }
        let (place, next) = self.ring(HEAD);
        self.set(HEAD, next);
        self.set(COUNT, self.slot(COUNT) - 1);
        // SAFETY: as `ring` says.
        Some(unsafe { *place })
    }
}

fn refused(why: &str) -> Word {
    raise(why);
    0
}

pub(crate) extern "C" fn create(capacity: Word, returns_to: usize) -> Word {
    let capacity = capacity.max(1);
    let channel = Channel(allocate(8, CHANNEL, 0));
    let ring = words(capacity as usize);
    channel.set(RING, ring as Word);
    channel.set(CAPACITY, capacity);
    if is_inline() {
        channel.set(SENDERS, 1);
        return channel.address();
    }
    // SAFETY: all of them are words of the object, which never moves and lives as long as somebody can use the channel.
    let word = |index: usize| unsafe { channel.0.add(index) }.cast::<u64>();
    let ring = capi::drawloom_ring {
        size: size_of::<capi::drawloom_ring>(),
        slots: ring.cast(),
        count: word(COUNT),
        head: word(HEAD),
        tail: word(TAIL),
    };
    let handle = capi::drawloom_chan_new(capacity as u64, &raw const ring, capi::place::loc_of_address(returns_to));
    channel.set(STATE, handle as Word);
    owners::create(channel.address());
    channel.address()
}

pub(crate) extern "C" fn send(channel: Word, message: Word, returns_to: usize) -> Word {
    let channel = Channel::at(channel);
    if is_inline() {
        return match channel {
            _ if channel.is_closed_inline() => refused(CLOSED),
            _ if channel.push_inline(message) => message,
            _ => ending::stuck("channel send on full buffer", returns_to),
        };
    }
    let at = capi::place::loc_of_address(returns_to);
    owners::send(channel.address());
    if cancel::is_over(at) {
        return 0;
    }
    let (handle, word) = (channel.handle(), message as u64);
    match cancel::wait(|nanos| match nanos {
        u64::MAX => capi::drawloom_chan_send(handle, word, at),
        nanos => capi::drawloom_chan_send_for(handle, word, nanos, at),
    }) {
        Waited::Cancelled => 0,
        Waited::Done(drawloom_status::DRAWLOOM_OK) => {
            state::progress();
            message
        }
        Waited::Done(_) => refused(CLOSED),
    }
}

pub(crate) extern "C" fn receive(channel: Word, returns_to: usize) -> Word {
    let channel = Channel::at(channel);
    if is_inline() {
        return match channel.pop_inline() {
            Some(message) => message,
            None if channel.is_closed_inline() => refused(CLOSED),
            None => ending::stuck("channel recv on empty buffer", returns_to),
        };
    }
    let at = capi::place::loc_of_address(returns_to);
    if cancel::is_over(at) {
        return 0;
    }
    let handle = channel.handle();
    let mut message = 0;
    let place = &raw mut message;
    match cancel::wait(|nanos| match nanos {
        u64::MAX => capi::drawloom_chan_recv(handle, place, at),
        nanos => capi::drawloom_chan_recv_for(handle, place, nanos, at),
    }) {
        Waited::Cancelled => 0,
        Waited::Done(drawloom_status::DRAWLOOM_OK) => {
            state::progress();
            message as Word
        }
        Waited::Done(_) => refused(CLOSED),
    }
}

pub(crate) extern "C" fn try_send(channel: Word, message: Word, returns_to: usize) -> Word {
    let channel = Channel::at(channel);
    if is_inline() {
        return match channel {
            _ if channel.is_closed_inline() => refused(CLOSED),
            _ if channel.push_inline(message) => message,
            _ => refused(FULL),
        };
    }
    let at = capi::place::loc_of_address(returns_to);
    owners::send(channel.address());
    if cancel::is_over(at) {
        return 0;
    }
    match capi::drawloom_chan_try_send(channel.handle(), message as u64, at) {
        drawloom_status::DRAWLOOM_OK => {
            state::progress();
            message
        }
        drawloom_status::DRAWLOOM_FULL => {
            ending::looked_in_vain(at);
            refused(FULL)
        }
        _ => refused(CLOSED),
    }
}

pub(crate) extern "C" fn try_receive(channel: Word, returns_to: usize) -> Word {
    let channel = Channel::at(channel);
    if is_inline() {
        return match channel.pop_inline() {
            Some(message) => message,
            None => refused(if channel.is_closed_inline() { CLOSED } else { EMPTY }),
        };
    }
    let at = capi::place::loc_of_address(returns_to);
    if cancel::is_over(at) {
        return 0;
    }
    let mut message = 0;
    match capi::drawloom_chan_try_recv(channel.handle(), &raw mut message, at) {
        drawloom_status::DRAWLOOM_OK => {
            state::progress();
            message as Word
        }
        drawloom_status::DRAWLOOM_EMPTY => {
            ending::looked_in_vain(at);
            refused(EMPTY)
        }
        _ => refused(CLOSED),
    }
}

pub(crate) extern "C" fn close(channel: Word, returns_to: usize) {
    let channel = Channel::at(channel);
    if is_inline() {
        channel.set(STATE, 1);
    } else {
        owners::close();
        capi::drawloom_chan_close(channel.handle(), capi::place::loc_of_address(returns_to));
    }
}

/// One more sends.
pub(crate) extern "C" fn add_sender(channel: Word, returns_to: usize) {
    if channel == 0 {
        return;
    }
    let at = capi::place::loc_of_address(returns_to);
    match (Channel::at(channel), owners::manner()) {
        (channel, _) if is_inline() => channel.set(SENDERS, channel.slot(SENDERS) + 1),
        (channel, Manner::Unowned) => {
            capi::drawloom_chan_adopt(channel.handle(), at);
        }
        (known, Manner::Owned) => {
            // No step: it comes before the spawn of who will send.
            owners::pass(channel);
            capi::drawloom_chan_acquire(known.handle());
        }
    }
}

/// One less: the last one closes the channel. One too many does nothing.
pub(crate) extern "C" fn drop_sender(channel: Word, returns_to: usize) {
    if channel == 0 {
        return;
    }
    let at = capi::place::loc_of_address(returns_to);
    match (Channel::at(channel), owners::manner()) {
        (channel, _) if is_inline() => match channel.slot(SENDERS) {
            ..=0 => {}
            1 => {
                channel.set(SENDERS, 0);
                channel.set(STATE, 1);
            }
            senders => channel.set(SENDERS, senders - 1),
        },
        (channel, Manner::Unowned) => {
            capi::drawloom_chan_disown(channel.handle(), at);
        }
        (known, Manner::Owned) => {
            if owners::give_back(channel) {
                capi::drawloom_chan_release(known.handle(), at);
            }
        }
    }
}
