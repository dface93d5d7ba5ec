//! `std::time`.

parity! {
    instants_measure covers [
        "time::Instant::now", "time::Instant::elapsed", "time::Instant::duration_since",
        "time::Instant::checked_duration_since", "time::Instant::saturating_duration_since",
    ] {
        let first = time::Instant::now();
        thread::sleep(time::Duration::from_millis(1));
        let second = time::Instant::now();
        let passed = second.duration_since(first);
        let none = first.checked_duration_since(second);
        format!(
            "{} {} {} {none:?} {:?} {:?}",
            passed >= time::Duration::from_millis(1),
            first.elapsed() >= passed,
            second - first == passed && second.checked_duration_since(first) == Some(passed),
            first.saturating_duration_since(second),
            first.duration_since(second),
        )
    }

    instants_are_calculated_with covers [
        "time::Instant::checked_add", "time::Instant::checked_sub",
        "time::Instant: {Add,AddAssign,Sub,SubAssign,Clone,Copy,Eq,Hash,Ord,PartialEq,PartialOrd}",
    ] {
        let hour = time::Duration::from_secs(3600);
        let now = time::Instant::now();
        let mut later = now + hour;
        let forward = later - now;
        later += hour;
        later -= hour;
        let back = now.checked_sub(hour).map(|then| now - then);
        let set: std::collections::HashSet<time::Instant> = [now, later, now + hour, now].into();
        let overflow = std::panic::catch_unwind(|| now + time::Duration::MAX).is_err();
        format!(
            "{forward:?} {back:?} {} {} {:?} {overflow} {}",
            later == now + hour,
            later > now && now - hour < now,
            (now.checked_add(time::Duration::MAX), now.checked_sub(time::Duration::MAX)),
            set.len(),
        )
    }

    instants_are_shown covers ["time::Instant: Debug"] {
        format!("{}", format!("{:?}", time::Instant::now()).starts_with("Instant {"))
    }

    system_time covers [
        "time::SystemTime::now", "time::SystemTime::elapsed", "time::SystemTime::duration_since",
        "time::SystemTime::UNIX_EPOCH", "time::UNIX_EPOCH", "time::SystemTimeError::duration",
    ] {
        let now = time::SystemTime::now();
        let since = now.duration_since(time::UNIX_EPOCH).unwrap();
        let error: time::SystemTimeError = time::SystemTime::UNIX_EPOCH.duration_since(now).unwrap_err();
        format!(
            "{} {} {error}",
            since > time::Duration::from_secs(1_600_000_000),
            error.duration() == since,
        ) + &format!(" {}", now.elapsed().is_ok())
    }

    system_time_is_calculated_with covers [
        "time::SystemTime::checked_add", "time::SystemTime::checked_sub",
        "time::SystemTime: {Add,AddAssign,Sub,SubAssign,Clone,Copy,Debug,Eq,Hash,Ord,PartialEq,PartialOrd}",
    ] {
        let day = time::Duration::from_secs(86400);
        let mut then = time::UNIX_EPOCH + day;
        then += day;
        then -= day;
        let before = time::UNIX_EPOCH - day;
        let set: std::collections::HashSet<time::SystemTime> = [then, before].into();
        format!(
            "{then:?} {before:?} {} {:?} {}",
            before < then,
            (then.checked_sub(day), then.checked_add(time::Duration::MAX)),
            set.len(),
        )
    }

    durations covers ["time::Duration", "time::TryFromFloatSecsError"] {
        let error: time::TryFromFloatSecsError = time::Duration::try_from_secs_f64(-1.0).unwrap_err();
        format!("{:?} {error}", time::Duration::from_millis(1500))
    }
}
