//! The table of `book/src/reference/std-parity.md`, made from what the tests say they cover and checked against the
//! list of std's items.
//!
//! `UPDATE_DOCS=1 cargo test -p drawloom --test parity table` writes it anew.

use std::any::TypeId;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use crate::FILES;

/// Types and functions that are std's own, re-exported: nothing about them needs control.
const STDS_OWN: &[&str] = &[
    "sync::Arc",
    "sync::Weak",
    "sync::LockResult",
    "sync::PoisonError",
    "sync::TryLockError",
    "sync::TryLockResult",
    "sync::atomic::Ordering",
    "sync::mpsc::{RecvError,RecvTimeoutError,SendError,TryRecvError,TrySendError}",
    "cell::{BorrowError,BorrowMutError,LazyCell,OnceCell,Ref,RefCell,RefMut}",
    "hint::{assert_unchecked,black_box,unreachable_unchecked}",
    "thread::Result",
    "time::{Duration,SystemTimeError,TryFromFloatSecsError}",
];

/// What is left out, and why.
const NOT_OFFERED: &[(&str, &str)] = &[
    (
        "sync::atomic::{Atomic{int},AtomicBool,AtomicPtr}::from_ptr",
        "a controlled atomic is larger than the value that the pointer points to",
    ),
    (
        "thread::JoinHandle: {AsHandle,AsRawHandle,IntoRawHandle,JoinHandleExt}",
        "a task has no handle of the operating system",
    ),
];

const INTEGERS: &str = "U8,U16,U32,U64,Usize,I8,I16,I32,I64,Isize";

/// Writes out what stands in braces, as a shell does; `{int}` stands for the integer atomics.
fn expand(item: &str) -> Vec<String> {
    let item = item.replace("{int}", &format!("{{{INTEGERS}}}"));
    // The innermost first, so that a brace may stand in a brace.
    let Some(close) = item.find('}') else {
        return vec![item];
    };
    let open = item[..close].rfind('{').unwrap_or_else(|| panic!("an unopened brace in {item:?}"));
    item[open + 1..close]
        .split(',')
        .flat_map(|one| expand(&format!("{}{one}{}", &item[..open], &item[close + 1..])))
        .collect()
}

/// Items of std, in the order of the list.
fn items() -> Vec<&'static str> {
    let lines = include_str!("std_items.txt").lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| line.rsplit_once(' ').expect("an item and a version").0).collect()
}

/// The tests that exercise each item.
fn covered() -> BTreeMap<String, Vec<String>> {
    let mut covered: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (file, tests) in FILES {
        for (test, names) in *tests {
            for item in names.iter().flat_map(|name| expand(name)) {
                covered.entry(item).or_default().push(format!("{file}::{test}"));
            }
        }
    }
    covered
}

/// Whether `item` is `owner` or belongs to it.
fn belongs(item: &str, owner: &str) -> bool {
    item.replace('&', "").strip_prefix(owner).is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
}

#[derive(Clone, PartialEq, Eq)]
enum Status {
    Controlled {
        test: String,
    },
    /// With the type that the item belongs to.
    StdsOwn {
        owner: String,
        test: Option<String>,
    },
    NotOffered(&'static str),
}

/// What became of each item; nothing for those that nobody has thought of.
fn statuses() -> Vec<(&'static str, Option<Status>)> {
    let covered = covered();
    let own: Vec<String> = STDS_OWN.iter().flat_map(|owner| expand(owner)).collect();
    let refused: BTreeMap<String, &str> =
        NOT_OFFERED.iter().flat_map(|(items, why)| expand(items).into_iter().map(|item| (item, *why))).collect();
    let status = |item: &str| {
        // A test of a method is one of its type, too.
        let of_it = |name: &String| name == item || name.strip_prefix(item).is_some_and(|rest| rest.starts_with("::"));
        let test = || covered.iter().find(|(name, _)| of_it(name)).map(|(_, tests)| tests[0].clone());
        let owner = own.iter().find(|owner| belongs(item, owner));
        match (refused.get(item), owner, test()) {
            (Some(why), _, _) => Some(Status::NotOffered(why)),
            (None, Some(owner), test) => Some(Status::StdsOwn { owner: owner.clone(), test }),
            (None, None, Some(test)) => Some(Status::Controlled { test }),
            (None, None, None) => None,
        }
    };
    items().into_iter().map(|item| (item, status(item))).collect()
}

/// `Atomic{int}` for an integer atomic; one row speaks for all ten.
fn folded(item: &str) -> String {
    let integers = INTEGERS.split(',').map(|i| format!("Atomic{i}"));
    let found = integers.into_iter().find(|name| belongs(item, &format!("sync::atomic::{name}")));
    found.map_or_else(|| item.to_owned(), |name| item.replacen(&name, "Atomic{int}", 1))
}

fn document() -> String {
    let mut text = String::from(
        "# Parity with std\n\n\
         <!-- Made by crates/drawloom/tests/parity/table.rs; do not edit. -->\n\n\
         Every stable public item of the modules of std that drawloom has, as of Rust 1.95. *Controlled* items \
         behave as std's outside an exploration and are scheduled inside; *std's own* are re-exported. The test \
         runs the same body under std, under drawloom outside an exploration, and in many executions under \
         control. `Atomic{int}` stands for the ten integer atomics, `Type: Trait` for an implementation.\n\n\
         With the feature `controlled` off, every one of these names is std's own.\n",
    );
    let mut module = "";
    let mut written = BTreeSet::new();
    for (item, status) in statuses() {
        let path = item.split(": ").next().unwrap_or(item);
        let its_module = ["sync::mpsc", "sync::atomic", "thread_local!"]
            .into_iter()
            .find(|m| path.starts_with(m))
            .unwrap_or_else(|| path.split("::").next().unwrap_or(path))
            .trim_end_matches("_local!");
        if its_module != module {
            module = its_module;
            let _ = write!(text, "\n## `std::{module}`\n\n| item | status | test |\n|---|---|---|\n");
        }
        let (name, status, test) = match status {
            None => (folded(item), "**missing**".to_owned(), None),
            Some(Status::Controlled { test }) => (folded(item), "controlled".to_owned(), Some(test)),
            Some(Status::NotOffered(why)) => (folded(item), format!("not offered: {why}"), None),
            // One row for the type and all that belongs to it.
            Some(Status::StdsOwn { owner, test }) => (owner, "std's own".to_owned(), test),
        };
        if written.insert(name.clone()) {
            let test = test.map_or_else(String::new, |test| format!("`{test}`"));
            let _ = writeln!(text, "| `{name}` | {status} | {test} |");
        }
    }
    text
}

#[test]
fn every_item_of_std_has_a_test_or_a_reason() {
    let missing: Vec<&str> = statuses().into_iter().filter(|(_, s)| s.is_none()).map(|(item, _)| item).collect();
    assert!(missing.is_empty(), "{} items have neither:\n{}", missing.len(), missing.join("\n"));
}

#[test]
fn no_test_claims_an_item_that_std_does_not_have() {
    let items: BTreeSet<&str> = items().into_iter().collect();
    let claims = covered();
    let reasons =
        NOT_OFFERED.iter().flat_map(|(items, _)| expand(items)).map(|item| (item, vec!["not offered".into()]));
    let unknown: Vec<_> = claims.into_iter().chain(reasons).filter(|(item, _)| !items.contains(&**item)).collect();
    assert!(unknown.is_empty(), "not in std_items.txt, or not by that name:\n{unknown:#?}");
}

#[test]
fn the_table_in_the_documentation_is_this_one() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../book/src/reference/std-parity.md");
    let current = document();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, current).expect("book/src/reference/std-parity.md can be written");
        return;
    }
    let there = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        there == current,
        "book/src/reference/std-parity.md is out of date: UPDATE_DOCS=1 cargo test -p drawloom --test parity table"
    );
}

#[test]
fn what_is_called_std_s_own_is_the_same_type() {
    fn same<A: 'static, B: 'static>() {
        assert_eq!(TypeId::of::<A>(), TypeId::of::<B>(), "{}", std::any::type_name::<B>());
    }
    macro_rules! same {
        ($($module:ident $(::$part:ident)* $(<$($of:tt),*>)?;)*) => {
            $(same::<std::$module $(::$part)* $(<$($of),*>)?, drawloom::$module $(::$part)* $(<$($of),*>)?>();)*
        };
    }
    same! {
        sync::Arc<u8>;
        sync::Weak<u8>;
        sync::LockResult<u8>;
        sync::PoisonError<u8>;
        sync::TryLockError<u8>;
        sync::TryLockResult<u8>;
        sync::atomic::Ordering;
        sync::mpsc::RecvError;
        sync::mpsc::RecvTimeoutError;
        sync::mpsc::SendError<u8>;
        sync::mpsc::TryRecvError;
        sync::mpsc::TrySendError<u8>;
        cell::BorrowError;
        cell::BorrowMutError;
        cell::LazyCell<u8>;
        cell::OnceCell<u8>;
        cell::Ref<'static, u8>;
        cell::RefCell<u8>;
        cell::RefMut<'static, u8>;
        thread::Result<u8>;
        time::Duration;
        time::SystemTimeError;
        time::TryFromFloatSecsError;
    }
}
