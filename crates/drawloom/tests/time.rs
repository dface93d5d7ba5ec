//! Clocks under control: what only an exploration shows.

use std::sync::{Arc, Mutex};

use drawloom::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use drawloom::{explore, thread};

fn check(body: impl Fn() + Send + Sync + 'static) {
    let config = "random(iterations = 50), threads = 1, trace = false";
    let exploration = explore(config.parse().expect("a valid configuration"), body);
    if let Some(failure) = exploration.findings().iter().find(|f| f.finding.kind.word() != "nothing explored") {
        panic!("{:?}", failure.finding);
    }
}

#[test]
fn virtual_time_begins_anew_and_moves_only_in_waits() {
    check(|| {
        let other = thread::spawn(Instant::now);
        let began = Instant::now();
        assert_eq!(other.join().unwrap(), began);
        assert_eq!(SystemTime::now().duration_since(UNIX_EPOCH).unwrap(), Duration::from_secs(1_735_689_600));
        thread::sleep(Duration::from_nanos(3));
        assert_eq!(began.elapsed(), Duration::from_nanos(3));
        assert_eq!(format!("{:?}", Instant::now()), "Instant { tv_sec: 0, tv_nsec: 3 }");
        let earlier = began - Duration::from_secs(1);
        assert!(earlier < began);
        assert_eq!(format!("{earlier:?}"), "Instant { tv_sec: -1, tv_nsec: 0 }");
    });
}

#[test]
fn virtual_and_real_instants_meet_without_harm() {
    let real = Instant::now();
    let kept = Arc::new(Mutex::new(None));
    let theirs = kept.clone();
    check(move || {
        let now = Instant::now();
        assert!(now < real && now != real);
        assert_eq!(now - real, Duration::ZERO);
        assert_eq!(real.elapsed(), Duration::ZERO);
        assert_eq!(real.checked_duration_since(now), None);
        *theirs.lock().unwrap() = Some(now);
        thread::spawn(|| ()).join().unwrap();
    });
    let virtual_one = kept.lock().unwrap().expect("it was kept");
    assert_eq!(virtual_one.elapsed(), Duration::ZERO);
    assert!(Instant::from(std::time::Instant::now()) > virtual_one);
}

#[test]
fn system_time_goes_to_std_and_back() {
    let real = std::time::SystemTime::now();
    assert_eq!(std::time::SystemTime::from(SystemTime::from(real)), real);
}

#[test]
fn a_sleep_beyond_all_time_is_for_ever() {
    check(|| {
        let (sender, receiver) = drawloom::sync::mpsc::channel();
        thread::spawn(move || {
            thread::sleep(Duration::MAX);
            let _ = sender.send(());
        });
        thread::sleep(Duration::from_secs(1_000_000_000));
        assert!(receiver.try_recv().is_err());
    });
}
