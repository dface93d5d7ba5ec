//! The monitor: looks at every watched thread, and decides when a task is stuck.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use drawloom_engine::finding::Frame;

use super::registry::{self, Thread};
use super::signal::{CAN_LEAVE, FORBIDDEN, SIGNAL, answer, install, question, verdict};
use super::stack::{self, Standing};
use super::{BEGINNING, Left, NEVER, Watch, lock};
use crate::overflow::print_at_once;

/// How often it looks.
const TICK: Duration = Duration::from_millis(100);
/// An execution that is shorter than this is never disturbed.
const DISTURBED_AFTER: Duration = Duration::from_millis(500);
/// So long it waits for an answer.
const ANSWER: Duration = Duration::from_secs(5);
/// If the question was heard and there is still no answer after this, the handler waits for what it has interrupted.
const LONGEST_ANSWER: Duration = Duration::from_secs(60);
/// How often a task is looked at that cannot be left where it is, before it is given up.
const LOOKS: u32 = 60;
/// Looks that do not count, since they met the task in the C library: a loop that prints is nearly always there.
const MOST_FORBIDDEN: u32 = 2_000;
/// After so many looks a task may be left in a front end's code, too.
const STRICT_LOOKS: u32 = 20;
/// The time between two of them.
const BETWEEN_LOOKS: Duration = Duration::from_millis(5);
/// How many times its patience without a step an engine may take for itself when the user's strategy is to blame.
const GIVEN_UP_AFTER: u32 = 2;
/// A task that has not made a step since the time was over counts as stuck after this much of it, at most.
const LONGEST_AFTER_DEADLINE: Duration = Duration::from_secs(10);

/// An execution that has had less time than this is not cut: on a busy machine nothing would come to an end.
const LEAST_LIFE: Duration = Duration::from_millis(500);

/// What was seen of one thread.
struct Seen {
    watch: Arc<Watch>,
    execution: u64,
    since: Instant,
    steps: u64,
    /// The last step was made before this.
    still_since: Instant,
    /// Time that was the thread's own meanwhile: it slept, or had a processor. On a busy machine that is less.
    own: Duration,
    slept: Duration,
    /// The same since the execution began.
    lived: Duration,
    processor: Duration,
    looked_at: Instant,
    /// Where the task was met since its last step, if it could be told.
    met: Option<(Vec<Frame>, Standing)>,
}

/// Never returns.
pub(super) fn run() {
    install();
    let mut all: Vec<Seen> = Vec::new();
    loop {
        std::thread::sleep(TICK);
        let watched = registry::all();
        all.retain(|seen| watched.iter().any(|watch| Arc::ptr_eq(watch, &seen.watch)));
        for watch in watched {
            match all.iter_mut().find(|seen| Arc::ptr_eq(&seen.watch, &watch)) {
                Some(seen) => seen.look(),
                None => all.push(Seen::new(watch)),
            }
        }
    }
}

impl Seen {
    fn new(watch: Arc<Watch>) -> Seen {
        let (now, execution) = (Instant::now(), watch.execution.load(Ordering::Acquire));
        Seen {
            watch,
            execution,
            since: now,
            steps: 0,
            still_since: now,
            own: Duration::ZERO,
            slept: Duration::ZERO,
            lived: Duration::ZERO,
            processor: Duration::ZERO,
            looked_at: now,
            met: None,
        }
    }

    fn look(&mut self) {
        let now = Instant::now();
        let execution = self.watch.execution.load(Ordering::Acquire);
        if execution != self.execution || execution % 2 == 0 {
            *self = Seen::new(Arc::clone(&self.watch));
            return;
        }
        let deadline = self.watch.deadline.load(Ordering::Relaxed);
        self.account(now);
        let is_over = deadline != NEVER && now >= *BEGINNING + Duration::from_nanos(deadline);
        if is_over && self.lived >= LEAST_LIFE {
            self.watch.over.store(execution, Ordering::Relaxed);
        } else if now - self.since < DISTURBED_AFTER {
            return;
        }
        if self.ask(question::COUNT) == answer::COUNTED {
            let steps = self.watch.steps.load(Ordering::Relaxed);
            if steps != self.steps {
                self.steps = steps;
                self.stirs(now);
            }
        }
        let patience = Duration::from_nanos(self.watch.patience.load(Ordering::Relaxed));
        let patience = if is_over { patience.min(LONGEST_AFTER_DEADLINE) } else { patience };
        let still = now - self.still_since;
        if still >= patience && self.own >= patience / 4 {
            self.examine(still);
        }
    }

    /// A step was made, or nobody knows.
    fn stirs(&mut self, now: Instant) {
        self.still_since = now;
        (self.own, self.slept) = (Duration::ZERO, Duration::ZERO);
        self.met = None;
    }

    /// Adds up how the thread has spent its time.
    fn account(&mut self, now: Instant) {
        let passed = now - self.looked_at;
        self.looked_at = now;
        let Some(thread) = *lock(&self.watch.thread) else { return };
        let own = match thread.processor_time() {
            _ if thread.sleeps() => {
                self.slept += passed;
                passed
            }
            Some(processor) => processor.saturating_sub(std::mem::replace(&mut self.processor, processor)).min(passed),
            None => passed,
        };
        self.own += own;
        self.lived += own;
    }

    /// Sends a question and waits for the answer; `answer::NONE` if there is none.
    fn ask(&self, asked: u8) -> u8 {
        let watch = &self.watch;
        watch.answer.store(answer::NONE, Ordering::Relaxed);
        watch.verdict.store(verdict::NONE, Ordering::Relaxed);
        watch.question.store(asked, Ordering::Release);
        if !send(watch) {
            return answer::NONE;
        }
        let began = Instant::now();
        loop {
            let said = watch.answer.load(Ordering::Acquire);
            if said != answer::NONE {
                return said;
            }
            // Who has heard the question is about to answer it.
            if began.elapsed() > LONGEST_ANSWER {
                return answer::NONE;
            }
            if began.elapsed() > ANSWER && watch.question.swap(question::NONE, Ordering::AcqRel) != question::NONE {
                return answer::NONE;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Finds out where the task stands, and has it left there if that can be done.
    fn examine(&mut self, still: Duration) {
        forbid_the_c_library();
        let sleeps = self.slept > still / 2;
        let (mut unanswered, mut forbidden) = (0, 0);
        let mut look = 0;
        while look < LOOKS {
            look += 1;
            let sleeps_now = lock(&self.watch.thread).is_some_and(Thread::sleeps);
            self.watch.sleeps.store(sleeps_now, Ordering::Relaxed);
            match self.ask(question::CAPTURE) {
                answer::CAPTURED => {}
                answer::ELSEWHERE if CAN_LEAVE => return self.stirs(Instant::now()),
                answer::NONE => {
                    unanswered += 1;
                    if unanswered > 2 {
                        break;
                    }
                    continue;
                }
                // It is in the C library, where it is not even looked at: that costs little, so it is tried often.
                _ => {
                    forbidden += 1;
                    look -= u32::from(forbidden < MOST_FORBIDDEN);
                    std::thread::sleep(Duration::from_micros(500 + u64::from(forbidden % 7) * 300));
                    continue;
                }
            }
            let captured = self.watch.captured.swap(std::ptr::null_mut(), Ordering::AcqRel);
            // SAFETY: the handler has made it of a box, and nobody else takes it.
            let captured = unsafe { Box::from_raw(captured) };
            let (stack, standing) = stack::read(&format!("{captured:#}"), CAN_LEAVE);
            if self.watch.steps.load(Ordering::Relaxed) != self.steps {
                self.decide(verdict::GO_ON);
                return self.stirs(Instant::now());
            }
            let leave = match standing {
                Standing::Users => true,
                Standing::FrontEnd => look >= STRICT_LOOKS,
                Standing::Busy | Standing::Engine | Standing::EngineForUser => false,
            };
            if leave && CAN_LEAVE {
                lock(&self.watch.left).push(Left { stack, sleeps, still });
                if self.decide(verdict::LEAVE) {
                    return self.stirs(Instant::now());
                }
                lock(&self.watch.left).pop();
                continue;
            }
            self.decide(verdict::GO_ON);
            self.met = Some((stack, standing));
            std::thread::sleep(BETWEEN_LOOKS);
        }
        let patience = Duration::from_nanos(self.watch.patience.load(Ordering::Relaxed));
        match &self.met {
            // The engine takes its time, or the task has never been met where it can be left: later, perhaps.
            Some((_, Standing::Engine)) => self.stirs(Instant::now()),
            _ if still < patience * GIVEN_UP_AFTER => {}
            met => end_the_process(still, met.as_ref().map_or(&[], |(stack, _)| stack)),
        }
    }

    /// Whether the thread has heard it, and does as it says: on a busy machine that takes a while, and a verdict that is
    /// overwritten by the next question would have it wait for ever.
    fn decide(&self, verdict: u8) -> bool {
        let verdicts = &self.watch.verdict;
        if verdicts.compare_exchange(verdict::NONE, verdict, Ordering::AcqRel, Ordering::Acquire).is_err() {
            return false;
        }
        while verdicts.load(Ordering::Acquire) != verdict::HEARD {
            std::thread::sleep(Duration::from_millis(1));
        }
        true
    }
}

/// Whether the signal was sent: the thread was alive.
fn send(watch: &Watch) -> bool {
    // While this is locked, the thread cannot end.
    let thread = lock(&watch.thread);
    // SAFETY: the thread is alive, see above.
    thread.is_some_and(|thread| unsafe { libc::pthread_kill(thread.handle, SIGNAL) } == 0)
}

/// The last resort.
fn end_the_process(still: Duration, stack: &[Frame]) -> ! {
    let mut text = format!(
        "\ndrawloom: a task has not made a step for {} seconds, in code that drawloom does not control, and \
             cannot be abandoned. The process ends.\n",
        still.as_secs()
    );
    if stack.is_empty() {
        text.push_str("    its stack could not be read\n");
    }
    for frame in stack {
        let _ = writeln!(text, "    {} at {}", frame.function, frame.location);
    }
    print_at_once(&text);
    // SAFETY: ending the process is always allowed; handlers at exit might need what the task holds.
    unsafe { libc::_exit(101) }
}

/// Tells handlers where the C library is, whose allocator must not be interrupted by an allocation.
fn forbid_the_c_library() {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let is_c =
        |name: &str| ["libc.so", "libc-", "ld-linux", "ld-musl", "malloc"].iter().any(|part| name.contains(part));
    let ranges = maps.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        let (range, rights) = (words.next()?, words.next()?);
        let name = line.rsplit_once('/').map_or("", |(_, name)| name);
        let (from, to) = range.split_once('-').filter(|_| rights.contains('x') && is_c(name))?;
        Some((usize::from_str_radix(from, 16).ok()?, usize::from_str_radix(to, 16).ok()?))
    });
    for ((from, to), range) in FORBIDDEN.iter().zip(ranges) {
        from.store(range.0, Ordering::Relaxed);
        to.store(range.1, Ordering::Relaxed);
    }
}

impl Thread {
    /// Whether it waits for something in the kernel. Elsewhere than on Linux nobody knows.
    fn sleeps(self) -> bool {
        #[cfg(target_os = "linux")]
        {
            let stat = std::fs::read_to_string(format!("/proc/self/task/{}/stat", self.number)).unwrap_or_default();
            let state = stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
            matches!(state, Some('S' | 'D'))
        }
        #[cfg(not(target_os = "linux"))]
        false
    }

    /// The time for which it has had a processor.
    fn processor_time(self) -> Option<Duration> {
        #[cfg(target_os = "linux")]
        {
            let stat = std::fs::read_to_string(format!("/proc/self/task/{}/schedstat", self.number)).ok()?;
            stat.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
        }
        #[cfg(not(target_os = "linux"))]
        None
    }
}
