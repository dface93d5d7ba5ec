//! What is shown of a long exploration while it lasts: a bar on a terminal, else a line now and then. It listens to the
//! [events](Event) of the exploration.
//!
//! Both go to stderr, past the harness that keeps what tests print, since they are for whoever waits. Real
//! time is read for this alone, and reaches nothing but what is shown; it is read so seldom that it costs
//! nothing.

use std::fs::File;
use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

use drawloom_report::printable;

use super::events::{Event, Listener};
use super::exploration::{about, grouped};
use super::output;

/// What takes no longer than this shows no bar.
const BAR_AFTER: Duration = Duration::from_secs(1);
/// What takes no longer than this prints no line.
const LINE_AFTER: Duration = Duration::from_secs(5);
/// How long it takes from one line to the next.
const LINE_EVERY: Duration = Duration::from_secs(10);
/// How often the time is looked at, more or less.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// The columns of a bar.
const BAR: usize = 24;
/// More seconds than anybody waits, and fewer than a duration can have.
const LONGEST_LEFT: f64 = 1e12;
/// Goes to the beginning of the line and clears it.
const CLEAR: &str = "\r\x1b[2K";

/// Shows how far an exploration has come.
pub(super) struct Progress {
    made: AtomicU64,
    failing: AtomicU64,
    /// The number of executions at which to look at the time again.
    look_at: AtomicU64,
    display: Mutex<Display>,
}

struct Display {
    test: String,
    /// Executions to make; `None` if that is to be estimated.
    planned: Option<u64>,
    began: Instant,
    on: Shown,
}

/// Where it is shown.
enum Shown {
    /// In the last line of the terminal, which tests that run at the same time share; whether it is there.
    Bar {
        to: Box<dyn Write + Send>,
        there: bool,
    },
    Lines {
        to: Box<dyn Write + Send>,
        next: Duration,
    },
}

/// How far it has come.
struct Status {
    made: u64,
    failing: u64,
    elapsed: Duration,
    /// Executions that there are to be made; none if nothing is known but that there are more.
    whole: Option<u64>,
    is_estimate: bool,
}

impl Progress {
    pub(super) fn new() -> Progress {
        Progress::on(Shown::here())
    }

    fn on(on: Shown) -> Progress {
        let display = Display { test: String::new(), planned: None, began: Instant::now(), on };
        let (made, failing, look_at) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
        Progress { made, failing, look_at, display: Mutex::new(display) }
    }

    fn start(&self, test: &str, planned: Option<u64>) {
        let mut display = self.display.lock().unwrap_or_else(|e| e.into_inner());
        display.on.start();
        *display = Display {
            test: printable(test).into_owned(),
            planned,
            began: Instant::now(),
            on: std::mem::replace(&mut display.on, Shown::Bar { to: Box::new(std::io::sink()), there: false }),
        };
        [&self.made, &self.failing, &self.look_at].into_iter().for_each(|number| number.store(0, Ordering::Relaxed));
    }

    /// Whether something is to be shown now. Sets the number of executions at which that is to be asked again.
    fn is_due(&self, display: &Display, made: u64, elapsed: Duration) -> bool {
        let until_next = made as f64 * LOOK_EVERY.as_secs_f64() / elapsed.as_secs_f64().max(1e-6);
        self.look_at.store(made + until_next as u64, Ordering::Relaxed);
        match &display.on {
            Shown::Bar { there, .. } => *there || elapsed >= BAR_AFTER,
            Shown::Lines { next, .. } => elapsed >= *next,
        }
    }

    /// Shows how far it has come, of so many executions if that is an estimate.
    fn show(&self, display: &mut Display, made: u64, elapsed: Duration, estimate: u64) {
        let Display { test, planned, on, .. } = display;
        // An estimate that what was made has reached says nothing any more.
        let estimated = || Some(about(estimate, 0)).filter(|whole| *whole > made);
        let status = Status {
            made,
            failing: self.failing.load(Ordering::Relaxed),
            elapsed,
            whole: planned.map(|planned| planned.max(made)).or_else(estimated),
            is_estimate: planned.is_none(),
        };
        match on {
            Shown::Bar { to, there } => {
                *there = true;
                let line = bar(status.part().unwrap_or(0.0), &format!("{test} {}", status.text()), output::width());
                let _ = write!(to, "{CLEAR}{line}").and_then(|()| to.flush());
            }
            Shown::Lines { to, next } => {
                *next = elapsed + LINE_EVERY;
                // If nobody can read it, nobody waits for it.
                let _ = writeln!(to, "drawloom: {test} {}", status.text());
            }
        }
    }
}

impl Listener for Progress {
    fn hear(&self, event: &Event) {
        match event {
            Event::Started { test, planned } => self.start(test, *planned),
            Event::Ran { executions } => drop(self.made.fetch_add(*executions, Ordering::Relaxed)),
            Event::Found { .. } => drop(self.failing.fetch_add(1, Ordering::Relaxed)),
            Event::Progress { estimate } => {
                // Another worker that is at it does it for all.
                let Ok(mut display) = self.display.try_lock() else { return };
                let (made, elapsed) = (self.made.load(Ordering::Relaxed), display.began.elapsed());
                self.show(&mut display, made, elapsed, *estimate);
            }
            Event::Ended { .. } => self.display.lock().unwrap_or_else(|e| e.into_inner()).on.clear(),
        }
    }

    fn wants_progress(&self) -> bool {
        let made = self.made.load(Ordering::Relaxed);
        if made < self.look_at.load(Ordering::Relaxed) {
            return false;
        }
        self.display.try_lock().is_ok_and(|display| self.is_due(&display, made, display.began.elapsed()))
    }
}

impl Shown {
    /// Where whoever waits for this process looks.
    fn here() -> Shown {
        let aside = ASIDE.lock().unwrap_or_else(|e| e.into_inner()).as_ref().and_then(|file| file.try_clone().ok());
        let (is_terminal, to): (bool, Box<dyn Write + Send>) = match aside {
            Some(file) => (can_show_bars(&file), Box::new(Below { file, has_begun: false })),
            None => (on_terminal(), Box::new(std::io::stderr())),
        };
        match is_terminal {
            true => Shown::Bar { to, there: false },
            false => Shown::Lines { to, next: LINE_AFTER },
        }
    }

    /// Another exploration begins.
    fn start(&mut self) {
        match self {
            Shown::Bar { .. } => {}
            Shown::Lines { next, .. } => *next = LINE_AFTER,
        }
    }

    /// Takes away a bar.
    fn clear(&mut self) {
        if let Shown::Bar { to, there: there @ true } = self {
            *there = false;
            let _ = write!(to, "{CLEAR}").and_then(|()| to.flush());
        }
    }
}

/// Also where an exploration panics.
impl Drop for Progress {
    fn drop(&mut self) {
        self.display.get_mut().unwrap_or_else(|e| e.into_inner()).on.clear();
    }
}

impl Status {
    /// The part of all executions that has been made. It follows the estimate, and becomes less where that has grown: a number
    /// that cannot go back stands at 99 % for as long as the first estimate was too low. All is done when it is over, and
    /// not before.
    fn part(&self) -> Option<f64> {
        self.whole.map(|whole| (self.made as f64 / whole.max(1) as f64).min(0.99))
    }

    fn text(&self) -> String {
        let seconds = self.elapsed.as_secs_f64().max(1e-3);
        let rate = grouped((self.made as f64 / seconds) as u64);
        let failing = match self.failing {
            0 => String::new(),
            n => format!(", {} failing", grouped(n)),
        };
        let made = grouped(self.made);
        let (Some(whole), Some(part)) = (self.whole.map(grouped), self.part()) else {
            return format!("{made} executions, {rate} per second{failing}; total not known yet");
        };
        let percent = (part * 100.0) as u64;
        let left = time(Duration::from_secs_f64((seconds * (1.0 - part) / part.max(1e-9)).min(LONGEST_LEFT)));
        match self.is_estimate {
            false => format!("{made} of {whole} executions, {rate} per second, {percent} %, {left} left{failing}"),
            true => format!(
                "{made} executions, {rate} per second{failing}; about {whole} classes, {percent} %, {left} left (estimate)"
            ),
        }
    }
}

/// Roughly how long.
fn time(duration: Duration) -> String {
    match duration.as_secs() {
        0..=1 => "1 s".to_owned(),
        seconds @ 2..=99 => format!("{seconds} s"),
        seconds @ 100..=5999 => format!("{} min", seconds / 60),
        seconds @ 6000..=3_599_999 => format!("{} h", seconds / 3600),
        _ => "more than 1000 h".to_owned(),
    }
}

/// Whether somebody looks at a terminal that can show a bar.
fn on_terminal() -> bool {
    static ON_TERMINAL: OnceLock<bool> = OnceLock::new();
    *ON_TERMINAL.get_or_init(|| can_show_bars(&std::io::stderr()))
}

fn can_show_bars(to: &impl IsTerminal) -> bool {
    let is = |variable: &str, value: &str| std::env::var_os(variable).is_some_and(|v| v == value);
    to.is_terminal() && std::env::var_os("CI").is_none() && !is("TERM", "dumb")
}

static ASIDE: Mutex<Option<File>> = Mutex::new(None);

/// From now on progress is shown there, and not on stderr: a harness such as pytest keeps what tests write to that.
pub fn show_progress_on(file: Option<File>) {
    *ASIDE.lock().unwrap_or_else(|e| e.into_inner()) = file;
}

/// Whoever runs the tests is in the midst of a line: what is shown begins with one of its own.
struct Below {
    file: File,
    has_begun: bool,
}

impl Write for Below {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if !std::mem::replace(&mut self.has_begun, true) {
            self.file.write_all(b"\n")?;
        }
        self.file.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.file.flush()
    }
}

/// A bar and what it is of, in one line of so many columns.
fn bar(part: f64, text: &str, columns: usize) -> String {
    let full = (part * BAR as f64) as usize;
    let line = format!("{}{} {text}", "━".repeat(full), " ".repeat(BAR - full.min(BAR)));
    line.chars().take(columns.saturating_sub(1)).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    #[derive(Clone, Default)]
    struct Page(Arc<Mutex<Vec<u8>>>);

    impl Write for Page {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    impl Page {
        fn lines(&self) -> Vec<String> {
            String::from_utf8_lossy(&self.0.lock().unwrap()).lines().map(str::to_owned).collect()
        }
    }

    fn progress(planned: Option<u64>) -> (Progress, Page) {
        let page = Page::default();
        let progress = Progress::on(Shown::Lines { to: Box::new(page.clone()), next: LINE_AFTER });
        progress.hear(&Event::Started { test: "bank::deposits".to_owned(), planned });
        (progress, page)
    }

    /// So many executions were made within that time, and an estimate is asked for if it is time to show something.
    fn look(progress: &Progress, made: u64, elapsed: Duration, estimate: impl FnOnce() -> u64) {
        let mut display = progress.display.lock().unwrap();
        if progress.is_due(&display, made, elapsed) {
            progress.show(&mut display, made, elapsed, estimate());
        }
    }

    #[test]
    fn what_is_over_soon_prints_nothing() {
        let (progress, page) = progress(Some(1000));
        look(&progress, 500, Duration::from_secs(4), || unreachable!("nothing is shown"));
        assert!(page.lines().is_empty());
    }

    #[test]
    fn a_line_after_five_seconds_and_then_every_ten() {
        let (progress, page) = progress(Some(100_000));
        for second in 0..30 {
            look(&progress, second * 1000, Duration::from_secs(second), || 0);
        }
        assert_eq!(
            page.lines(),
            [
                "drawloom: bank::deposits 5000 of 100,000 executions, 1000 per second, 5 %, 95 s left",
                "drawloom: bank::deposits 15,000 of 100,000 executions, 1000 per second, 15 %, 85 s left",
                "drawloom: bank::deposits 25,000 of 100,000 executions, 1000 per second, 25 %, 75 s left",
            ]
        );
    }

    #[test]
    fn an_estimate_is_called_one_is_followed_where_it_grows_and_never_is_all() {
        let (progress, page) = progress(None);
        (1..=2).for_each(|iteration| progress.hear(&Event::Found { kind: "panic", iteration }));
        look(&progress, 4100, Duration::from_secs(60), || 12_345);
        look(&progress, 5000, Duration::from_secs(71), || 50_000);
        look(&progress, 60_000, Duration::from_secs(82), || 60_000);
        look(&progress, 60_000, Duration::from_secs(93), || 60_400);
        look(&progress, 61_000, Duration::from_secs(104), || 61_001);
        look(&progress, 61_000, Duration::from_secs(115), || u64::MAX);
        assert_eq!(
            page.lines(),
            [
                "drawloom: bank::deposits 4100 executions, 68 per second, 2 failing; about 12,000 classes, 34 %, 1 min left (estimate)",
                "drawloom: bank::deposits 5000 executions, 70 per second, 2 failing; about 50,000 classes, 10 %, 10 min left (estimate)",
                "drawloom: bank::deposits 60,000 executions, 731 per second, 2 failing; total not known yet",
                "drawloom: bank::deposits 60,000 executions, 645 per second, 2 failing; total not known yet",
                "drawloom: bank::deposits 61,000 executions, 586 per second, 2 failing; total not known yet",
                "drawloom: bank::deposits 61,000 executions, 530 per second, 2 failing; about 18,000,000,000,000,000,000 classes, 0 %, more than 1000 h left (estimate)",
            ]
        );
    }

    #[test]
    fn a_bar_is_one_line_of_the_terminal() {
        assert_eq!(bar(0.5, "bank::deposits 1 of 2", 200), "━━━━━━━━━━━━             bank::deposits 1 of 2");
        assert_eq!(bar(0.99, "bank::deposits", 30).chars().count(), 29);
    }

    #[test]
    fn the_time_is_not_looked_at_for_every_execution() {
        let (progress, _) = progress(Some(1_000_000));
        look(&progress, 1000, Duration::from_millis(100), || unreachable!("nothing is shown"));
        assert_eq!(progress.look_at.load(Ordering::Relaxed), 1500);
    }
}
