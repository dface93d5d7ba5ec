//! The floor: the least a random scheduler over fibers can cost.
//!
//! It knows no locks, atomics, spawns or findings: an op is one random choice, one schedule
//! byte, a switch through the executor if another fiber was chosen, and one addition. What a
//! library costs beyond this is its bookkeeping; nobody gets below it without giving up the
//! choice or the record of it.

use std::cell::Cell;
use std::ptr;

use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult, Yielder};

type Fiber = Coroutine<(), (), (), DefaultStack>;

const STACK_BYTES: usize = 64 * 1024;

struct Scheduler {
    random: u64,
    current: u8,
    runnable: Vec<u8>,
    schedule: Vec<u8>,
    counter: u64,
}

thread_local! {
    static SCHEDULER: Cell<*mut Scheduler> = const { Cell::new(ptr::null_mut()) };
}

impl Scheduler {
    fn choose(&mut self) -> u8 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        // Multiply-shift instead of a remainder: a division would cost more than the switch.
        let index = ((self.random >> 32) * self.runnable.len() as u64) >> 32;
        let next = self.runnable[index as usize];
        self.schedule.push(next);
        next
    }
}

/// One op of a fiber. Inlined, because as a call it takes 22 more instructions and two thirds
/// more time; most likely each frame between program and switch is one more return that the
/// processor mispredicts after the switch.
#[inline(always)]
fn op(yielder: &Yielder<(), ()>) {
    // SAFETY: `run` sets the pointer before it resumes any fiber, and the scheduler outlives
    // them all. One OS thread runs the fibers and the executor in turn, and no reference is
    // held across a switch, so this one is unique while it lives.
    let scheduler = unsafe { &mut *SCHEDULER.get() };
    let next = scheduler.choose();
    if next != scheduler.current {
        scheduler.current = next;
        yielder.suspend(());
    }
    // SAFETY: as above; read anew because other fibers ran during the switch.
    unsafe { (*SCHEDULER.get()).counter += 1 };
}

/// Runs `executions` executions of `tasks` fibers that do `ops_per_task` ops each; returns
/// the number of choices made. Stacks are reused, so only the first execution allocates.
pub fn run(tasks: usize, ops_per_task: usize, executions: u64) -> u64 {
    let tasks = u8::try_from(tasks).expect("the floor's schedule holds a task in a byte");
    let mut scheduler = Scheduler {
        random: 0x9E37_79B9_7F4A_7C15,
        current: 0,
        runnable: Vec::with_capacity(tasks.into()),
        schedule: Vec::with_capacity(usize::from(tasks) * (ops_per_task + 1)),
        counter: 0,
    };
    let scheduler: *mut Scheduler = &mut scheduler;
    SCHEDULER.set(scheduler);
    let mut stacks: Vec<DefaultStack> =
        (0..tasks).map(|_| DefaultStack::new(STACK_BYTES).expect("memory for a stack")).collect();
    let mut fibers: Vec<Fiber> = Vec::with_capacity(tasks.into());
    let mut choices = 0;
    for _ in 0..executions {
        fibers.extend(stacks.drain(..).map(|stack| {
            Fiber::with_stack(stack, move |yielder, ()| {
                for _ in 0..ops_per_task {
                    op(yielder);
                }
            })
        }));
        choices += execution(scheduler, &mut fibers);
        stacks.extend(fibers.drain(..).map(Fiber::into_stack));
    }
    SCHEDULER.set(ptr::null_mut());
    // SAFETY: the scheduler is a local of this function, and no fiber is left that uses it.
    let counted = unsafe { (*scheduler).counter };
    assert_eq!(counted, executions * u64::from(tasks) * ops_per_task as u64, "ops were lost");
    choices
}

/// The executor: resumes whichever fiber was chosen until none is left.
fn execution(scheduler: *mut Scheduler, fibers: &mut [Fiber]) -> u64 {
    // SAFETY: `run` owns the scheduler and no fiber has started.
    let fresh = unsafe { &mut *scheduler };
    fresh.schedule.clear();
    fresh.runnable.extend(0..fibers.len() as u8);
    fresh.current = fresh.choose();
    loop {
        // SAFETY: every fiber is suspended here, so no other reference lives.
        let current = unsafe { (*scheduler).current };
        match fibers[usize::from(current)].resume(()) {
            CoroutineResult::Yield(()) => {}
            CoroutineResult::Return(()) => {
                // SAFETY: as above.
                let scheduler = unsafe { &mut *scheduler };
                scheduler.runnable.retain(|&task| task != current);
                if scheduler.runnable.is_empty() {
                    return scheduler.schedule.len() as u64;
                }
                scheduler.current = scheduler.choose();
            }
        }
    }
}
