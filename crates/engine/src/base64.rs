//! Bytes as text that fits into a file name, a shell word and an address: RFC 4648, section 5, without padding.

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

pub(crate) fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let at = |i: usize| three.get(i).copied().map_or(0, u32::from);
        let group = at(0) << 16 | at(1) << 8 | at(2);
        for i in 0..=three.len() {
            text.push(char::from(DIGITS[(group >> (18 - 6 * i) & 63) as usize]));
        }
    }
    text
}

/// What was encoded; none, if a character does not belong there. Of several texts that might mean the same bytes, only the
/// one that [`encode`] writes is read.
pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3 + 2);
    for four in text.as_bytes().chunks(4) {
        let mut group = 0;
        for (i, digit) in four.iter().enumerate() {
            let value = match digit {
                b'A'..=b'Z' => digit - b'A',
                b'a'..=b'z' => digit - b'a' + 26,
                b'0'..=b'9' => digit - b'0' + 52,
                b'-' => 62,
                b'_' => 63,
                _ => return None,
            };
            group |= u32::from(value) << (18 - 6 * i);
        }
        let [_, first, second, third] = group.to_be_bytes();
        let (whole, left) = match four.len() {
            4 => (&[first, second, third][..], 0),
            3 => (&[first, second][..], third),
            2 => (&[first][..], second | third),
            _ => return None,
        };
        if left != 0 {
            return None;
        }
        bytes.extend(whole);
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_vectors_of_the_standard() {
        let vectors = ["", "Zg", "Zm8", "Zm9v", "Zm9vYg", "Zm9vYmE", "Zm9vYmFy"];
        for (length, text) in vectors.into_iter().enumerate() {
            let bytes = &b"foobar"[..length];
            assert_eq!(encode(bytes), text);
            assert_eq!(decode(text).as_deref(), Some(bytes));
        }
        assert_eq!(encode(&[0xfb, 0xff, 0xfe]), "-__-");
    }

    #[test]
    fn all_bytes_are_read_back_and_nothing_else_is() {
        for (length, shift) in (0..70).flat_map(|length| (0..64u8).map(move |shift| (length, shift))) {
            let bytes: Vec<u8> =
                (0..length).map(|i: u8| i.wrapping_mul(37).wrapping_add(shift.wrapping_mul(5))).collect();
            assert_eq!(decode(&encode(&bytes)), Some(bytes));
        }
        for wrong in ["A", "AAAAA", "Zh", "Zm9", "Zg==", "Zm9v+g", "Zm 8", "Zmé", "Zm8\n"] {
            assert_eq!(decode(wrong), None, "{wrong}");
        }
    }
}
