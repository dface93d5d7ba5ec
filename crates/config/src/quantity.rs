//! Numbers with and without a unit: `1_000`, `0x2a`, `60s`, `256KiB`.

use std::time::Duration;

/// Nanoseconds in each unit of time, largest first.
const TIME_UNITS: [(&str, u128); 6] = [
    ("h", 3_600_000_000_000),
    ("m", 60_000_000_000),
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("ns", 1),
];

/// Bytes in each unit of size, largest first.
const SIZE_UNITS: [(&str, u128); 4] = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("B", 1)];

/// A whole number without a unit. What is too large for any argument comes out as `u128::MAX`, so
/// that the range check words the error.
pub(super) fn whole(text: &str) -> Option<u128> {
    let (number, unit) = split(text)?;
    unit.is_empty().then_some(number)
}

pub(super) fn duration(text: &str) -> Option<Duration> {
    const NANOS_PER_SECOND: u128 = 1_000_000_000;
    let nanos = in_units(text, &TIME_UNITS)?;
    let seconds = u64::try_from(nanos / NANOS_PER_SECOND).ok()?;
    Some(Duration::new(seconds, (nanos % NANOS_PER_SECOND) as u32))
}

pub(super) fn size(text: &str) -> Option<u128> {
    whole(text).or_else(|| in_units(text, &SIZE_UNITS))
}

pub(super) fn write_duration(duration: Duration) -> String {
    write(duration.as_nanos(), &TIME_UNITS).unwrap_or_else(|| "0s".to_owned())
}

pub(super) fn write_size(bytes: u64) -> String {
    write(u128::from(bytes), &SIZE_UNITS[..3]).unwrap_or_else(|| bytes.to_string())
}

/// In the largest unit that leaves no fraction.
fn write(amount: u128, units: &[(&str, u128)]) -> Option<String> {
    units
        .iter()
        .find(|(_, scale)| amount != 0 && amount % scale == 0)
        .map(|(unit, scale)| format!("{}{unit}", amount / scale))
}

fn in_units(text: &str, units: &[(&str, u128)]) -> Option<u128> {
    let (number, unit) = split(text)?;
    let (_, scale) = units.iter().find(|(name, _)| *name == unit)?;
    Some(number.saturating_mul(*scale))
}

/// The number that `text` begins with, and what follows it.
fn split(text: &str) -> Option<(u128, &str)> {
    let text = text.trim();
    let (digits, radix) = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => (digits, 16),
        None => (text, 10),
    };
    let end = digits.find(|digit: char| !(digit.is_digit(radix) || digit == '_')).unwrap_or(digits.len());
    let (digits, unit) = digits.split_at(end);
    if !digits.contains(|digit: char| digit.is_digit(radix)) {
        return None;
    }
    let number = digits
        .chars()
        .filter_map(|digit| digit.to_digit(radix))
        .fold(0_u128, |number, digit| number.saturating_mul(u128::from(radix)).saturating_add(u128::from(digit)));
    Some((number, unit.trim_start()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_are_written_as_in_rust() {
        assert_eq!(whole("1_000"), Some(1000));
        assert_eq!(whole("0x2A"), Some(42));
        assert_eq!(whole(&"9".repeat(60)), Some(u128::MAX));
        for text in ["", "-5", "1.5", "0x", "_", "60s", "many"] {
            assert_eq!(whole(text), None, "{text}");
        }
    }

    #[test]
    fn durations_need_a_unit() {
        assert_eq!(duration("60s"), Some(Duration::from_secs(60)));
        assert_eq!(duration("500 ms"), Some(Duration::from_millis(500)));
        assert_eq!(duration("2m"), Some(Duration::from_secs(120)));
        for text in ["60", "60S", "s", "1.5s", "2 weeks"] {
            assert_eq!(duration(text), None, "{text}");
        }
    }

    #[test]
    fn the_longest_duration_survives_and_a_longer_one_is_refused() {
        assert_eq!(duration(&write_duration(Duration::MAX)), Some(Duration::MAX));
        assert_eq!(duration("18446744073709551616s"), None);
    }

    #[test]
    fn sizes_may_have_a_unit() {
        assert_eq!(size("4096"), Some(4096));
        assert_eq!(size("256KiB"), Some(256 * 1024));
        assert_eq!(size("1 MiB"), Some(1024 * 1024));
        assert_eq!(size("256KB"), None);
        assert_eq!(write_size(512 * 1024), "512KiB");
        assert_eq!(write_size(20_000), "20000");
    }
}
