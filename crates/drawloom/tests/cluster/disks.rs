//! Disks: what a crash leaves, and what fails.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use drawloom::cluster::{Cluster, Ctx, DiskError, Faults, Loss, Node, NodeId, Probe};

/// Does one thing when a message arrives, and tells what is on its disk when it starts again.
struct Writer {
    act: fn(&mut Ctx<'_, ()>) -> Result<(), DiskError>,
    told: Probe<String>,
}

impl Node<()> for Writer {
    fn on_start(&mut self, cx: &mut Ctx<'_, ()>) {
        if cx.starts() == 1 {
            let me = cx.me();
            cx.send(me, ());
        } else {
            let files = cx.files();
            let told = files.iter().map(|name| format!("{name}={}", text(&cx.read_file(name).unwrap())));
            let told = told.collect::<Vec<_>>().join(" ");
            self.told.note().push_str(&told);
        }
    }

    fn on_message(&mut self, _: NodeId, (): (), cx: &mut Ctx<'_, ()>) {
        if let Err(error) = (self.act)(cx) {
            self.told.note().push_str(&format!("{error}; "));
        }
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).replace('\0', "_")
}

/// All that is on the disk after a crash at some time.
fn images(faults: Faults, act: fn(&mut Ctx<'_, ()>) -> Result<(), DiskError>) -> BTreeSet<String> {
    let all = Arc::new(Mutex::new(BTreeSet::new()));
    let seen = all.clone();
    let explored = drawloom::explore("exhaustive".parse().unwrap(), move || {
        let told = Probe::<String>::default();
        let mut cluster = Cluster::new();
        cluster.node_with("a", told.clone(), move |told| Writer { act, told });
        cluster.faults(faults.clone());
        cluster.run();
        seen.lock().unwrap().insert(told.get().clone());
    });
    assert!(explored.findings().is_empty(), "{}", explored.findings()[0].report());
    all.lock().unwrap().clone()
}

fn crash(loss: Loss) -> Faults {
    Faults::none().reboots(1).loses(loss).certain()
}

fn set(words: &[&str]) -> BTreeSet<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

#[test]
fn what_is_synced_survives_with_its_name() {
    let act = |cx: &mut Ctx<'_, ()>| {
        cx.append_file("log", b"abcd")?;
        cx.sync_file("log")?;
        cx.sync_directory()
    };
    assert_eq!(images(crash(Loss::AnyImage), act), set(&["", "log=abcd"]));
    assert_eq!(images(crash(Loss::Everything), act), set(&[""]));
}

#[test]
fn a_file_that_is_synced_may_have_no_name() {
    let act = |cx: &mut Ctx<'_, ()>| {
        cx.append_file("log", b"abcd")?;
        cx.sync_file("log")
    };
    assert_eq!(images(crash(Loss::AnyImage), act), set(&["", "log=abcd"]));
}

#[test]
fn a_name_that_is_synced_may_have_no_data() {
    let act = |cx: &mut Ctx<'_, ()>| {
        cx.append_file("log", b"abcd")?;
        cx.sync_directory()
    };
    // Nothing, all, and half of it: a torn write.
    assert_eq!(images(crash(Loss::AnyImage), act), set(&["", "log=", "log=ab", "log=abcd"]));
    assert_eq!(images(crash(Loss::Unsynced), act), set(&["", "log=", "log=abcd"]));
}

#[test]
fn a_rename_is_taken_back() {
    let act = |cx: &mut Ctx<'_, ()>| {
        cx.write_file("log", 0, b"old")?;
        cx.sync_file("log")?;
        cx.sync_directory()?;
        cx.write_file("new", 0, b"new")?;
        cx.sync_file("new")?;
        cx.rename_file("new", "log")
    };
    assert_eq!(images(crash(Loss::AnyImage), act), set(&["", "log=old", "log=new", "log=old new=new"]));
}

#[test]
fn a_rename_may_come_before_the_data() {
    let act = |cx: &mut Ctx<'_, ()>| {
        cx.write_file("log", 0, b"old")?;
        cx.sync_file("log")?;
        cx.sync_directory()?;
        cx.write_file("new", 0, b"data")?;
        cx.rename_file("new", "log")
    };
    let all = images(crash(Loss::AnyImage), act);
    assert!(all.contains("log="), "{all:?}");
    assert!(all.contains("log=old") && all.contains("log=data"), "{all:?}");
}

#[test]
fn the_second_write_may_survive_without_the_first() {
    let act = |cx: &mut Ctx<'_, ()>| {
        cx.write_file("log", 0, b"....")?;
        cx.sync_file("log")?;
        cx.sync_directory()?;
        cx.write_file("log", 0, b"ab")?;
        cx.write_file("log", 2, b"cd")
    };
    assert_eq!(
        images(crash(Loss::AnyImage), act),
        set(&["", "log=....", "log=ab..", "log=..cd", "log=abc.", "log=abcd"])
    );
}

#[test]
fn what_is_cut_off_or_removed_may_come_back() {
    let act = |cx: &mut Ctx<'_, ()>| {
        cx.write_file("a", 0, b"abcd")?;
        cx.write_file("b", 0, b"b")?;
        cx.sync_file("a")?;
        cx.sync_file("b")?;
        cx.sync_directory()?;
        cx.truncate_file("a", 1)?;
        cx.remove_file("b")
    };
    assert_eq!(images(crash(Loss::Unsynced), act), set(&["", "a=abcd b=b", "a=a b=b", "a=a"]));
}

#[test]
fn a_disk_fails_within_the_budget() {
    let act = |cx: &mut Ctx<'_, ()>| {
        cx.append_file("log", b"abcd")?;
        cx.sync_file("log")?;
        let read = cx.read_file("log")?;
        assert!(read.len() == 4 || read.len() == 2, "{read:?}");
        cx.sync_directory()
    };
    let all = images(Faults::none().disk_errors(1).certain(), act);
    assert_eq!(all, set(&["", "an input or output error; ", "no space left on the disk; "]));
}

/// Writes, and syncs with the next message: again if that fails.
struct Retries(Probe<String>);

impl Node<u32> for Retries {
    fn on_start(&mut self, cx: &mut Ctx<'_, u32>) {
        let me = cx.me();
        if cx.starts() == 1 {
            cx.send(me, 0);
        } else if let Ok(bytes) = cx.read_file("log") {
            self.0.note().push_str(&text(&bytes));
        }
    }

    fn on_message(&mut self, me: NodeId, number: u32, cx: &mut Ctx<'_, u32>) {
        if number == 0 {
            let written = cx.append_file("log", b"abcd").and_then(|()| cx.sync_directory());
            if written.is_ok() {
                cx.send(me, 1);
            }
        } else if cx.sync_file("log").is_err() && cx.sync_file("log").is_ok() {
            self.0.note().push_str("synced at the second try: ");
        }
    }
}

#[test]
fn after_a_sync_that_has_failed_the_data_is_gone() {
    let all = Arc::new(Mutex::new(BTreeSet::new()));
    let seen = all.clone();
    let explored = drawloom::explore("exhaustive".parse().unwrap(), move || {
        let told = Probe::<String>::default();
        let mut cluster = Cluster::new();
        cluster.node_with("a", told.clone(), Retries);
        cluster.faults(Faults::none().reboots(1).disk_errors(1).certain());
        cluster.run();
        seen.lock().unwrap().insert(told.get().clone());
    });
    assert!(explored.findings().is_empty(), "{}", explored.findings()[0].report());
    // The second sync has nothing left to sync. Or the crash came before both, and lost nothing.
    let expected = set(&["", "abcd", "synced at the second try: ", "abcdsynced at the second try: "]);
    assert_eq!(*all.lock().unwrap(), expected);
}
