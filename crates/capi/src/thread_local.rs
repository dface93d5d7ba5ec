//! Variables of threads: which of the program's there are, and where the calling thread has them.

use std::cell::Cell;
use std::ffi::c_void;
use std::os::fd::AsRawFd;
use std::sync::OnceLock;

/// Where the calling thread has its variables, those of the libraries that were loaded with the program among them.
fn own() -> (usize, usize) {
    extern "C" fn each(module: *mut libc::dl_phdr_info, _: usize, found: *mut c_void) -> libc::c_int {
        // SAFETY: the loader passes a module of its own, and hands on the pair below, which nobody else uses meanwhile.
        let (module, found) = unsafe { (&*module, &mut *found.cast::<(usize, usize)>()) };
        let start = module.dlpi_tls_data as usize;
        if start != 0 {
            // SAFETY: the loader vouches for the module's headers.
            let headers = unsafe { std::slice::from_raw_parts(module.dlpi_phdr, usize::from(module.dlpi_phnum)) };
            let size: usize = headers.iter().filter(|h| h.p_type == libc::PT_TLS).map(|h| h.p_memsz as usize).sum();
            *found = (found.0.min(start), found.1.max(start + size));
        }
        0
    }
    let mut found = (usize::MAX, 0_usize);
    // SAFETY: `each` takes what it is handed.
    unsafe { libc::dl_iterate_phdr(Some(each), (&raw mut found).cast()) };
    // Modules that were loaded later have theirs far away, in memory that was allocated.
    const NEAR: usize = 1 << 20;
    if found.1.saturating_sub(found.0) > NEAR { (1, 0) } else { found }
}

thread_local! {
    static OWN: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
}

/// First and last address of the calling thread's variables.
#[inline]
pub(crate) fn range() -> (usize, usize) {
    match OWN.get() {
        (0, 0) => {
            let found = own();
            OWN.set(found);
            found
        }
        known => known,
    }
}

/// Whether the program itself has variables of threads, besides those of our library. A program without symbols is thought to have none.
pub(crate) fn has_the_program() -> bool {
    static HAS: OnceLock<bool> = OnceLock::new();
    *HAS.get_or_init(|| {
        with_the_program(|program| names(program).any(|name| !is_rusts(name) && !is_a_sanitizers(name)))
    })
}

/// Calls `look` with the file of the running program, of which only what is looked at is read: it may be large.
fn with_the_program(look: impl FnOnce(&[u8]) -> bool) -> bool {
    let Ok(file) = std::fs::File::open("/proc/self/exe") else { return false };
    let Ok(size) = file.metadata().map(|data| data.len() as usize) else { return false };
    // SAFETY: a mapping of our own, which is not written to, and which nobody uses after it is given back.
    unsafe {
        let start = libc::mmap(std::ptr::null_mut(), size, libc::PROT_READ, libc::MAP_PRIVATE, file.as_raw_fd(), 0);
        if start == libc::MAP_FAILED {
            return false;
        }
        let found = look(std::slice::from_raw_parts(start.cast(), size));
        libc::munmap(start, size);
        found
    }
}

/// As the compiler of this library names its variables: with a hash, which the linker's optimiser may append something to.
fn is_rusts(name: &[u8]) -> bool {
    let is_hash =
        |part: &[u8]| part.starts_with(b"17h") && part.ends_with(b"E") && part[3..19].iter().all(u8::is_ascii_hexdigit);
    name.starts_with(b"_R") || name.windows(20).any(is_hash)
}

/// As the runtimes of sanitizers name theirs.
fn is_a_sanitizers(name: &[u8]) -> bool {
    let has = |part: &str| name.windows(part.len()).any(|window| window == part.as_bytes());
    ["__sanitizer", "__asan", "__lsan", "__ubsan", "__interception"].into_iter().any(has)
}

fn number<const BYTES: usize>(file: &[u8], at: usize) -> usize {
    let bytes = file.get(at..at.saturating_add(BYTES)).unwrap_or_default();
    bytes.iter().rev().fold(0, |number, byte| (number << 8) | usize::from(*byte))
}

/// The names of variables of threads that an ELF file of 64 bits defines.
fn names(file: &[u8]) -> impl Iterator<Item = &[u8]> {
    const SECTION: usize = 64;
    const SYMBOL: usize = 24;
    const SYMBOLS: usize = 2;
    const THREAD_LOCAL: usize = 6;
    let is_elf = file.starts_with(b"\x7fELF\x02\x01");
    let (sections, count) = (number::<8>(file, 0x28), if is_elf { number::<2>(file, 0x3c) } else { 0 });
    let section = move |index: usize| sections.saturating_add(index.saturating_mul(SECTION));
    let tables = (0..count).map(section).filter(move |at| number::<4>(file, at + 4) == SYMBOLS);
    tables.flat_map(move |table| {
        let (start, size) = (number::<8>(file, table + 24), number::<8>(file, table + 32));
        let texts = number::<8>(file, section(number::<4>(file, table + 40)) + 24);
        let symbols = (0..size / SYMBOL).map(move |index| start.saturating_add(index * SYMBOL));
        let defined = symbols.filter(move |at| {
            number::<1>(file, at + 4) & 0xf == THREAD_LOCAL
                && number::<2>(file, at + 6) != 0
                && number::<8>(file, at + 16) != 0
        });
        defined.map(move |at| {
            let rest = file.get(texts.saturating_add(number::<4>(file, at))..).unwrap_or_default();
            rest.split(|byte| *byte == 0).next().unwrap_or_default()
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    thread_local! {
        static ONE: Cell<u8> = const { Cell::new(0) };
    }

    #[test]
    fn the_variables_of_the_calling_thread_are_known() {
        let is_own = |address: usize| (range().0..range().1).contains(&address);
        let one = ONE.with(|one| std::ptr::from_ref(one) as usize);
        assert!(is_own(one));
        assert!(!is_own(std::thread::spawn(|| ONE.with(|one| std::ptr::from_ref(one) as usize)).join().unwrap()));
        let elsewhere = Box::new(0u8);
        assert!(!is_own(&raw const *elsewhere as usize));
    }

    /// This program is Rust's own.
    #[test]
    fn variables_of_rust_are_not_the_programs() {
        let program = std::fs::read("/proc/self/exe").expect("itself");
        assert!(names(&program).any(is_rusts));
        assert!(!has_the_program());
        assert_eq!(names(b"no program").count(), 0);
    }
}
