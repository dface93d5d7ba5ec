//! The libraries that a program names in its file: what the dynamic linker loads with it.
//!
//! Only what is needed to read these names is looked at, of 64-bit programs in the byte order of this machine. Anything else
//! names none. A file may say anything, so every offset is checked.

use std::path::Path;

const PT_LOAD: u32 = 1;
const PT_DYNAMIC: u32 = 2;
const DT_NULL: u64 = 0;
const DT_NEEDED: u64 = 1;
const DT_STRTAB: u64 = 5;

/// A larger program is not looked at.
const MOST_BYTES: u64 = 1 << 30;

/// The names of the libraries that the program in `file` needs; none if it is no such program.
pub(super) fn needed(file: &Path) -> Vec<String> {
    let small = std::fs::metadata(file).is_ok_and(|metadata| metadata.is_file() && metadata.len() <= MOST_BYTES);
    let program = if small { std::fs::read(file).unwrap_or_default() } else { Vec::new() };
    Elf(&program).needed().unwrap_or_default()
}

struct Elf<'a>(&'a [u8]);

impl Elf<'_> {
    fn bytes<const N: usize>(&self, at: u64) -> Option<[u8; N]> {
        let at = usize::try_from(at).ok()?;
        self.0.get(at..at.checked_add(N)?)?.try_into().ok()
    }

    fn u16(&self, at: u64) -> Option<u16> {
        self.bytes(at).map(u16::from_ne_bytes)
    }

    fn u32(&self, at: u64) -> Option<u32> {
        self.bytes(at).map(u32::from_ne_bytes)
    }

    fn u64(&self, at: u64) -> Option<u64> {
        self.bytes(at).map(u64::from_ne_bytes)
    }

    fn needed(&self) -> Option<Vec<String>> {
        const CLASS_64: u8 = 2;
        let order = if cfg!(target_endian = "little") { 1 } else { 2 };
        if self.bytes::<6>(0)? != [0x7f, b'E', b'L', b'F', CLASS_64, order] {
            return None;
        }
        let (table, size, count) = (self.u64(0x20)?, u64::from(self.u16(0x36)?), u64::from(self.u16(0x38)?));
        let headers: Vec<u64> = (0..count).filter_map(|i| table.checked_add(i.checked_mul(size)?)).collect();
        let of_type = |wanted: u32| headers.iter().copied().filter(move |at| self.u32(*at) == Some(wanted));
        let dynamic = of_type(PT_DYNAMIC).next()?;
        let (from, length) = (self.u64(dynamic + 8)?, self.u64(dynamic + 32)?);
        // Where in the file is what will be at an address.
        let in_file = |address: u64| {
            of_type(PT_LOAD).find_map(|at| {
                let (offset, begins, length) = (self.u64(at + 8)?, self.u64(at + 16)?, self.u64(at + 32)?);
                let inside = address.checked_sub(begins).filter(|inside| *inside < length)?;
                offset.checked_add(inside)
            })
        };
        let entries = (0..length / 16).map_while(|i| {
            let at = from.checked_add(i * 16)?;
            Some((self.u64(at)?, self.u64(at.checked_add(8)?)?)).filter(|(tag, _)| *tag != DT_NULL)
        });
        let entries: Vec<(u64, u64)> = entries.collect();
        let texts = in_file(entries.iter().find(|(tag, _)| *tag == DT_STRTAB)?.1)?;
        let named = entries.iter().filter(|(tag, _)| *tag == DT_NEEDED);
        Some(named.filter_map(|(_, name)| self.text(texts.checked_add(*name)?)).collect())
    }

    fn text(&self, at: u64) -> Option<String> {
        let rest = self.0.get(usize::try_from(at).ok()?..)?;
        let end = rest.iter().take(4096).position(|byte| *byte == 0)?;
        String::from_utf8(rest[..end].to_vec()).ok()
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn this_program_needs_the_c_library_and_what_is_no_program_needs_nothing() {
        let own = std::env::current_exe().expect("this test");
        let names = needed(&own);
        assert!(names.iter().any(|name| name.starts_with("libc.so")), "{names:?}");
        assert!(needed(Path::new(file!())).is_empty() && needed(Path::new("/dev/zero")).is_empty());
    }

    #[test]
    fn a_damaged_program_is_read_without_a_panic() {
        let own = std::fs::read(std::env::current_exe().expect("this test")).expect("its file");
        for cut in (0..2_000).chain([own.len() / 2]) {
            let _ = Elf(&own[..cut.min(own.len())]).needed();
        }
        for at in 0..512 {
            for byte in [0, 1, 0x7f, 0xff] {
                let mut changed = own[..4096.min(own.len())].to_vec();
                changed[at] = byte;
                let _ = Elf(&changed).needed();
            }
        }
    }
}
