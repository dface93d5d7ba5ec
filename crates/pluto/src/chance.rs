//! Random numbers: a stream for each task, the same in every execution, so that no order of tasks changes what one of them draws.

use std::cell::{Cell, RefCell};

use drawloom_capi as capi;

use crate::foreign::Word;

#[derive(Clone, Copy, Default)]
struct Stream {
    /// What the streams of its children are made of.
    root: u64,
    children: u64,
    state: u64,
}

thread_local! {
    /// By the number of the task.
    static STREAMS: RefCell<Vec<Stream>> = const { RefCell::new(Vec::new()) };
    /// What all streams are made of.
    static SEED: Cell<u64> = const { Cell::new(0) };
}

/// The finalizer of SplitMix64 (Steele, Lea, Flood 2014).
fn mix(value: u64) -> u64 {
    let bits = value.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^ (bits >> 31)
}

impl Stream {
    fn new(root: u64) -> Stream {
        Stream { root, children: 0, state: mix(root).max(1) }
    }
}

pub(crate) fn set_seed(seed: u64) {
    SEED.set(seed);
}

pub(crate) fn begin_execution() {
    STREAMS.with_borrow_mut(|streams| {
        streams.clear();
        streams.push(Stream::new(mix(SEED.get())));
    });
}

fn with_own<R>(act: impl FnOnce(&mut Stream) -> R) -> R {
    let me = capi::drawloom_task_number(capi::drawloom_task_self()) as usize;
    STREAMS.with_borrow_mut(|streams| {
        if streams.len() <= me {
            streams.resize(me + 1, Stream::new(mix(SEED.get())));
        }
        act(&mut streams[me])
    })
}

/// The running task has spawned another.
pub(crate) fn spawned(task: u64) {
    let root = with_own(|own| {
        own.children += 1;
        mix(own.root ^ own.children)
    });
    let number = capi::drawloom_task_number(task) as usize;
    STREAMS.with_borrow_mut(|streams| {
        if streams.len() <= number {
            streams.resize(number + 1, Stream::default());
        }
        streams[number] = Stream::new(root);
    });
}

/// Pluto's generator: xorshift64*.
fn draw() -> u64 {
    with_own(|own| {
        let mut state = own.state;
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        own.state = state;
        state.wrapping_mul(0x2545_F491_4F6C_DD1D)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn __pluto_random_seed(seed: Word) {
    with_own(|own| own.state = (seed as u64).max(1));
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn __pluto_random_int() -> Word {
    draw() as Word
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn __pluto_random_float() -> f64 {
    (draw() >> 11) as f64 / (1u64 << 53) as f64
}
