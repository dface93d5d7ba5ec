//! Places in the user's source: given by the caller, or the address of the call, which debug information leads back to.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::{CStr, c_char};
use std::rc::Rc;

use drawloom_engine::Site;
use drawloom_report::Place;

/// A place in the user's source. It, and the texts that it points to, must stay what they are until the session is over; the
/// macro `DRAWLOOM_HERE` makes one that lives for ever, and a runtime makes one for each place of its own language.
///
/// Instead of a pointer to one there may stand an address of code: `DRAWLOOM_LOC_OF_ADDRESS(address)`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct drawloom_loc {
    /// `sizeof(drawloom_loc)`.
    pub size: usize,
    /// The file, as reports name it and look for it.
    pub file: *const c_char,
    /// The function, or null.
    pub function: *const c_char,
    /// From 1; 0 if it is not known.
    pub line: u32,
    /// From 1; 0 if it is not known.
    pub column: u32,
}

/// What the engine carries around: the pointer, or the address of code with its lowest bit set.
#[inline(always)]
pub fn site(at: *const drawloom_loc) -> Site {
    Site(at as usize)
}

/// The place for an address that a call returns to.
#[inline(always)]
pub fn loc_of_address(returns_to: usize) -> *const drawloom_loc {
    std::ptr::without_provenance((returns_to << 1) | 1)
}

/// The place that a site stands for.
pub fn place(site: Site) -> Option<Place> {
    match site.0 {
        0 => None,
        code if code & 1 == 1 => place_of_code(code >> 1),
        at => place_given(at as *const drawloom_loc),
    }
}

fn place_given(at: *const drawloom_loc) -> Option<Place> {
    // SAFETY: whoever calls vouches for its places: each is null or one that stays what it is until the session is over.
    let loc = unsafe { at.as_ref() }.filter(|loc| loc.size >= size_of::<drawloom_loc>())?;
    if loc.file.is_null() {
        return None;
    }
    // SAFETY: as above, it is a text with a zero at its end.
    let file = unsafe { CStr::from_ptr(loc.file) }.to_string_lossy().into_owned();
    Some(Place { file, line: loc.line, column: loc.column })
}

/// The line of a site, for schedules.
pub fn line_of(site: Site) -> u32 {
    match site.0 {
        0 => 0,
        code if code & 1 == 1 => place_of_code(code >> 1).map_or(0, |place| place.line),
        at => {
            // SAFETY: as in `place_given`.
            unsafe { (at as *const drawloom_loc).as_ref() }.map_or(0, |loc| loc.line)
        }
    }
}

thread_local! {
    /// Reading debug information takes milliseconds: each address once.
    static KNOWN: RefCell<BTreeMap<usize, Option<Place>>> = const { RefCell::new(BTreeMap::new()) };
}

/// What debug information knows of the call that returns to `address`; else the function, and how far into it.
fn place_of_code(address: usize) -> Option<Place> {
    if let Some(known) = KNOWN.with_borrow(|known| known.get(&address).cloned()) {
        return known;
    }
    // The call is before the instruction that it returns to.
    let found = match symbol_at(address - 1) {
        Some(Symbol { line: Some(place), .. }) => Some(place),
        Some(Symbol { name: Some(name), start, .. }) => {
            let start = start.unwrap_or_else(|| start_of(&name, address - 1));
            Some(Place { file: format!("{name}+{:#x}", address.wrapping_sub(start)), line: 0, column: 0 })
        }
        _ => None,
    };
    KNOWN.with_borrow_mut(|known| known.insert(address, found.clone()));
    found
}

thread_local! {
    /// As for code, of variables.
    static NAMES: RefCell<BTreeMap<usize, Option<Rc<str>>>> = const { RefCell::new(BTreeMap::new()) };
}

/// The variable of the program's that is at `address`, if it is one that outlives functions: `account`, or `bank+0x8` of a part.
pub(crate) fn name_of_data(address: usize) -> Option<Rc<str>> {
    if let Some(known) = NAMES.with_borrow(|known| known.get(&address).cloned()) {
        return known;
    }
    let name = symbol_at(address).and_then(|symbol| symbol.name);
    let name = name.map(|name| match address - start_of(&name, address) {
        0 => name.into(),
        offset => format!("{name}+{offset:#x}").into(),
    });
    NAMES.with_borrow_mut(|known| {
        // What a program allocates is at ever new addresses, and has no names.
        if known.len() >= MOST_NAMES {
            known.clear();
        }
        known.insert(address, name.clone());
    });
    name
}

/// Addresses that are kept in mind.
const MOST_NAMES: usize = 10_000;

/// What is known of an instruction.
struct Symbol {
    line: Option<Place>,
    name: Option<String>,
    start: Option<usize>,
}

fn symbol_at(address: usize) -> Option<Symbol> {
    let mut found = None;
    // It takes what it is given for an address that a call returns to, and looks before it.
    backtrace::resolve(std::ptr::without_provenance_mut(address + 1), |symbol| {
        let line = symbol.filename().zip(symbol.lineno()).map(|(file, line)| Place {
            file: file.display().to_string(),
            line,
            column: symbol.colno().unwrap_or(0),
        });
        let name = symbol.name().map(|name| name.to_string());
        // The innermost function comes first.
        found.get_or_insert(Symbol { line, name, start: symbol.addr().map(|start| start as usize) });
    });
    found
}

/// Where a function begins that is known by nothing but its name: the first of the addresses that have it.
fn start_of(name: &str, within: usize) -> usize {
    /// No function is longer.
    const MOST_BYTES: usize = 1 << 24;
    let is_of_it = |address| symbol_at(address).is_some_and(|symbol| symbol.name.as_deref() == Some(name));
    let mut reach = 16;
    while reach < MOST_BYTES && is_of_it(within.saturating_sub(reach)) {
        reach *= 2;
    }
    let (mut outside, mut inside) = (within.saturating_sub(reach), within);
    while inside - outside > 1 {
        let middle = outside + (inside - outside) / 2;
        if is_of_it(middle) { inside = middle } else { outside = middle }
    }
    inside
}

/// `file:line:column` of a site, as findings have it.
pub(crate) fn text(site: Site) -> String {
    place(site).map(|at| format!("{}:{}:{}", at.file, at.line, at.column)).unwrap_or_default()
}
