//! The nearest valid name, for "did you mean".

/// The name among `valid` that `wrong` was most likely meant to be, if any is near enough.
///
/// Case and `-` for `_` are no mistakes here: `Round-Robin` is `round_robin`.
pub(super) fn nearest<'a>(wrong: &str, valid: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let wrong: Vec<char> = wrong.to_lowercase().replace('-', "_").chars().collect();
    valid
        .map(|name| (distance(&wrong, &name.chars().collect::<Vec<_>>()), name))
        .filter(|(far, name)| *far <= (name.len().max(wrong.len()) / 3).max(1))
        .min_by_key(|(far, _)| *far)
        .map(|(_, name)| name)
}

/// Edits between two words; swapping two neighbours is one edit, since that is how hands slip
/// (optimal string alignment).
fn distance(a: &[char], b: &[char]) -> usize {
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for (i, row) in rows.iter_mut().enumerate() {
        row[0] = i;
    }
    for (j, cell) in rows[0].iter_mut().enumerate() {
        *cell = j;
    }
    for i in 1..=a.len() {
        for j in 1..=b.len() {
            let changed = usize::from(a[i - 1] != b[j - 1]);
            let mut best = (rows[i - 1][j] + 1).min(rows[i][j - 1] + 1).min(rows[i - 1][j - 1] + changed);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            rows[i][j] = best;
        }
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 3] = ["random", "round_robin", "seed"];

    fn meant(wrong: &str) -> Option<&'static str> {
        nearest(wrong, NAMES.into_iter())
    }

    #[test]
    fn slips_of_the_hand_are_understood() {
        assert_eq!(meant("radnom"), Some("random"));
        assert_eq!(meant("randm"), Some("random"));
        assert_eq!(meant("Round-Robin"), Some("round_robin"));
        assert_eq!(meant("sed"), Some("seed"));
    }

    #[test]
    fn another_word_is_not_a_slip() {
        assert_eq!(meant("exhaustive"), None);
        assert_eq!(meant("foo"), None);
        assert_eq!(meant(""), None);
    }
}
