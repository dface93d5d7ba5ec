//! `tokio::time`, on a paused clock.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::compare::parity;

parity!(paused sleeping_takes_as_long => ["3600"] {
    let start = tokio::time::Instant::now();
    tokio::time::sleep(Duration::from_secs(3600)).await;
    start.elapsed().as_secs()
});

parity!(paused sleepers_wake_in_the_order_of_their_deadlines => ["[1, 2, 3]"] {
    let log = Arc::new(Mutex::new(Vec::new()));
    let tasks: Vec<_> = [3, 1, 2]
        .into_iter()
        .map(|seconds| {
            let log = log.clone();
            tokio::spawn(async move {
                tokio::time::sleep(Duration::from_secs(seconds)).await;
                log.lock().unwrap().push(seconds);
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    log.lock().unwrap().clone()
});

parity!(paused a_sleep_can_be_reset => ["(5, true)"] {
    let start = tokio::time::Instant::now();
    let mut sleep = std::pin::pin!(tokio::time::sleep(Duration::from_secs(1)));
    sleep.as_mut().reset(start + Duration::from_secs(5));
    sleep.as_mut().await;
    (start.elapsed().as_secs(), sleep.is_elapsed())
});

// If both end at the same instant the future wins.
parity!(paused a_timeout_at_the_same_instant_is_none => ["(true, false, true)"] {
    let at = Duration::from_secs(1);
    let same = tokio::time::timeout(at, tokio::time::sleep(at)).await.is_ok();
    let late = tokio::time::timeout(at, tokio::time::sleep(2 * at)).await.is_ok();
    let none = tokio::time::timeout(Duration::ZERO, async {}).await.is_ok();
    (same, late, none)
});

parity!(paused a_timeout_says_so => [r#""deadline has elapsed""#] {
    let deadline = tokio::time::Instant::now() + Duration::from_secs(1);
    tokio::time::timeout_at(deadline, std::future::pending::<()>()).await.unwrap_err().to_string()
});

parity!(paused an_interval_ticks_at_once_and_then_regularly => ["[0, 2, 4]"] {
    let start = tokio::time::Instant::now();
    let mut interval = tokio::time::interval(Duration::from_secs(2));
    let mut ticks = Vec::new();
    for _ in 0..3 {
        interval.tick().await;
        ticks.push(start.elapsed().as_secs());
    }
    ticks
});

/// When ticks come after a delay of five and a half periods, in halves of a period.
macro_rules! missed {
    ($tokio:ident, $behavior:ident) => {{
        let start = $tokio::time::Instant::now();
        let mut interval = $tokio::time::interval(Duration::from_secs(2));
        interval.set_missed_tick_behavior($tokio::time::MissedTickBehavior::$behavior);
        interval.tick().await;
        $tokio::time::sleep(Duration::from_secs(5)).await;
        let mut ticks = Vec::new();
        for _ in 0..4 {
            interval.tick().await;
            ticks.push(start.elapsed().as_secs());
        }
        ticks
    }};
}

parity!(paused missed_ticks_come_in_a_burst => ["[5, 5, 6, 8]"] { missed!(tokio, Burst) });
parity!(paused missed_ticks_are_delayed => ["[5, 7, 9, 11]"] { missed!(tokio, Delay) });
parity!(paused missed_ticks_are_skipped => ["[5, 6, 8, 10]"] { missed!(tokio, Skip) });

parity!(paused an_interval_can_start_later_and_be_reset => ["[3, 4, 14]"] {
    let start = tokio::time::Instant::now();
    let mut interval = tokio::time::interval_at(start + Duration::from_secs(3), Duration::from_secs(1));
    let mut ticks = Vec::new();
    interval.tick().await;
    ticks.push(start.elapsed().as_secs());
    interval.tick().await;
    ticks.push(start.elapsed().as_secs());
    interval.reset_after(Duration::from_secs(10));
    interval.tick().await;
    ticks.push(start.elapsed().as_secs());
    ticks
});

parity!(paused advancing_lets_time_pass => ["(10, true)"] {
    let start = tokio::time::Instant::now();
    let sleeper = tokio::spawn(tokio::time::sleep(Duration::from_secs(4)));
    tokio::time::advance(Duration::from_secs(10)).await;
    let elapsed = start.elapsed().as_secs();
    sleeper.await.unwrap();
    (elapsed, start.elapsed().as_secs() == 10)
});

parity!(single a_clock_can_be_paused_and_resumed => ["1"] {
    tokio::time::pause();
    let start = tokio::time::Instant::now();
    tokio::time::sleep(Duration::from_secs(1)).await;
    let elapsed = start.elapsed().as_secs();
    tokio::time::resume();
    elapsed
});

parity!(paused instants_are_compared => ["(true, None, 0, 2)"] {
    let start = tokio::time::Instant::now();
    let later = start + Duration::from_secs(2);
    (later > start, start.checked_duration_since(later), start.duration_since(later).as_secs(), (later - start).as_secs())
});
