//! The library, preloaded into this very program, with hooks that write down what they are told.
#![cfg(target_os = "linux")]

#[path = "../../python/src/preload/abi.rs"]
#[allow(dead_code)]
mod abi;

use std::cell::Cell;
use std::ffi::{CString, c_int};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, OnceLock};

use abi::{Answer, Hooks, Register, Text};

/// What hooks were told.
static TOLD: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// What a wait does before it ends, and how it does.
type Wait = Box<dyn FnMut() -> Answer + Send>;
static WAIT: Mutex<Option<Wait>> = Mutex::new(None);

thread_local! {
    static CONTROLLED: Cell<bool> = const { Cell::new(false) };
}

fn tell(what: String) {
    TOLD.lock().unwrap().push(what);
}

fn text(name: Text) -> String {
    // SAFETY: the library passes texts.
    let bytes = unsafe { std::slice::from_raw_parts(name.start, name.length) };
    String::from_utf8_lossy(bytes).replace(&directory(), "DIR")
}

extern "C" fn controlled() -> bool {
    CONTROLLED.get()
}

extern "C" fn task() -> u64 {
    (1 << 32) | 7
}

unsafe extern "C" fn touch(name: Text, write: bool) -> Answer {
    tell(format!("{} {}", if write { "write" } else { "read" }, text(name)));
    Answer::DONE
}

unsafe extern "C" fn enlist(_: Text) {}

unsafe extern "C" fn leave(_: Text) {}

unsafe extern "C" fn wake(_: Text) -> Answer {
    Answer::DONE
}

unsafe extern "C" fn wait(name: Text, nanos: u64, alone: bool) -> Answer {
    let limit = if nanos == abi::FOR_EVER { "for ever".to_owned() } else { format!("{} ms", nanos / 1_000_000) };
    tell(format!("wait for {} {limit}{}", text(name), if alone { ", or alone" } else { "" }));
    let mut wait = WAIT.lock().unwrap();
    wait.as_mut().map_or(Answer::TORN_DOWN, |wait| wait())
}

extern "C" fn give_way() -> Answer {
    Answer::PLAIN
}

extern "C" fn sleep(nanos: u64) -> Answer {
    tell(format!("sleep {} ms", nanos / 1_000_000));
    Answer::DONE
}

unsafe extern "C" fn outside(name: Text) {
    tell(format!("outside: {}", text(name)));
}

static HOOKS: Hooks =
    Hooks { version: abi::VERSION, controlled, task, touch, enlist, leave, wake, wait, give_way, sleep, outside };

fn directory() -> String {
    std::env::var("DRAWLOOM_TEST_DIRECTORY").unwrap_or_else(|_| "?".to_owned())
}

/// The library, which is nothing that tests could be linked with, and so is not built with them.
fn built() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let own = std::env::current_exe().unwrap();
        let profile = own.parent().unwrap().parent().unwrap();
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["build", "--quiet", "--locked", "--lib", "--manifest-path"]);
        cargo.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"));
        cargo.arg("--target-dir").arg(profile.parent().unwrap());
        if profile.ends_with("release") {
            cargo.arg("--release");
        }
        assert!(cargo.status().unwrap().success());
        profile.join("libdrawloom_preload.so")
    })
}

/// Runs the test of that name in a process of its own, with the library preloaded; what `body` does there is looked at.
fn preloaded(test: &str, body: impl FnOnce(&str)) -> Option<Vec<String>> {
    if std::env::var("DRAWLOOM_TEST_DIRECTORY").is_err() {
        let own = std::env::current_exe().unwrap();
        let library = built();
        let directory =
            std::env::temp_dir().canonicalize().unwrap().join(format!("drawloom-{test}-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        let mut child = Command::new(own);
        child.args(["--exact", test, "--nocapture", "--test-threads=1"]);
        let output = child.env("LD_PRELOAD", library).env("DRAWLOOM_TEST_DIRECTORY", &directory).output().unwrap();
        std::fs::remove_dir_all(directory).unwrap();
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8_lossy(&said);
        assert!(output.status.success(), "{said}");
        return None;
    }
    // SAFETY: the library's own function, with hooks that live for ever.
    unsafe {
        let register = libc::dlsym(libc::RTLD_DEFAULT, abi::REGISTER.as_ptr());
        assert!(!register.is_null(), "the library is preloaded");
        let register: Register = std::mem::transmute(register);
        assert!(register(&raw const HOOKS));
        CONTROLLED.set(true);
        body(&directory());
        CONTROLLED.set(false);
        assert!(register(std::ptr::null()));
    }
    Some(std::mem::take(&mut *TOLD.lock().unwrap()))
}

fn path(directory: &str, name: &str) -> CString {
    CString::new(format!("{directory}/{name}")).unwrap()
}

#[track_caller]
fn well(result: c_int) -> c_int {
    assert!(result >= 0, "{}", std::io::Error::last_os_error());
    result
}

#[test]
fn files_are_named_by_their_real_paths_and_told_apart_by_what_is_done() {
    let told = preloaded("files_are_named_by_their_real_paths_and_told_apart_by_what_is_done", |directory| {
        let (one, two) = (path(directory, "one"), path(&format!("{directory}/./"), "two"));
        // SAFETY: plain calls of the C library.
        unsafe {
            let fd = well(libc::open(one.as_ptr(), libc::O_RDWR | libc::O_CREAT, 0o600));
            assert_eq!(libc::write(fd, b"abc".as_ptr().cast(), 3), 3);
            let mut buffer = [0_u8; 3];
            assert_eq!(libc::lseek(fd, 0, libc::SEEK_SET), 0);
            assert_eq!(libc::read(fd, buffer.as_mut_ptr().cast(), 3), 3);
            assert_eq!(libc::pread(fd, buffer.as_mut_ptr().cast(), 3, 0), 3);
            well(libc::rename(one.as_ptr(), two.as_ptr()));
            well(libc::flock(fd, libc::LOCK_EX));
            well(libc::close(fd));
            well(libc::access(two.as_ptr(), libc::R_OK));
            well(libc::unlink(two.as_ptr()));
            well(libc::mkdir(one.as_ptr(), 0o700));
        }
    });
    let Some(told) = told else { return };
    let expected = [
        "write file DIR/one",
        "write file DIR/one",
        // Its opener alone has the position.
        "read file DIR/one",
        "read file DIR/one",
        "write file DIR/one",
        "write file DIR/two",
        "write file DIR/one",
        "write file DIR/two",
        // What was locked is let go.
        "write file DIR/two",
        "read file DIR/two",
        "write file DIR/two",
        // Of a directory, any file may be in it.
        "write files",
    ];
    assert_eq!(told, expected);
}

#[test]
fn who_would_wait_for_a_pipe_is_asked_to_wait_for_another_task_instead() {
    let told = preloaded("who_would_wait_for_a_pipe_is_asked_to_wait_for_another_task_instead", |_| {
        let mut ends = [0; 2];
        // SAFETY: plain calls of the C library.
        unsafe {
            well(libc::pipe(ends.as_mut_ptr()));
            let [read, write] = ends;
            *WAIT.lock().unwrap() = Some(Box::new(move || {
                assert_eq!(libc::write(write, b"x".as_ptr().cast(), 1), 1);
                Answer::DONE
            }));
            let mut buffer = [0_u8; 8];
            assert_eq!(libc::read(read, buffer.as_mut_ptr().cast(), 8), 1);
            // The execution is over.
            *WAIT.lock().unwrap() = None;
            assert_eq!(libc::read(read, buffer.as_mut_ptr().cast(), 8), -1);
            assert_eq!(std::io::Error::last_os_error().raw_os_error(), Some(libc::ECANCELED));
            // Time is virtual.
            *WAIT.lock().unwrap() = Some(Box::new(|| Answer::TIMED_OUT));
            let mut fd = libc::pollfd { fd: read, events: libc::POLLIN, revents: 0 };
            assert_eq!(libc::poll(&raw mut fd, 1, 3_600_000), 0);
            assert_eq!(libc::usleep(100_000), 0);
        }
    });
    let Some(told) = told else { return };
    let expected = [
        "write pipe 1",
        "wait for pipe 1 for ever",
        "write pipe 1",
        "write pipe 1",
        "wait for pipe 1 for ever",
        "read pipe 1",
        "wait for pipe 1 3600000 ms",
        "read pipe 1",
        "sleep 100 ms",
    ];
    assert_eq!(told, expected);
}

#[test]
fn both_ends_of_a_connection_are_one_resource() {
    let told = preloaded("both_ends_of_a_connection_are_one_resource", |_| {
        use std::io::{Read, Write};
        use std::net::{TcpListener, TcpStream};
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut server, _) = listener.accept().unwrap();
        client.write_all(b"hello").unwrap();
        let mut buffer = [0_u8; 5];
        server.read_exact(&mut buffer).unwrap();
        let (mut one, mut other) = std::os::unix::net::UnixStream::pair().unwrap();
        one.write_all(b"x").unwrap();
        other.read_exact(&mut buffer[..1]).unwrap();
        std::mem::forget((listener, client, server, one, other));
    });
    let Some(told) = told else { return };
    // A port that is not chosen yet is nobody's, and one that the system has chosen is not told apart from others.
    let told: Vec<&str> =
        told.iter().map(String::as_str).skip_while(|told| *told != "write socket 127.0.0.1:*").collect();
    assert_eq!(told.iter().filter(|told| **told == "write socket 127.0.0.1:*").count(), 4, "{told:?}");
    assert_eq!(told[4..], ["write socketpair 1", "write socketpair 1"]);
}

#[test]
fn large_writes_let_the_reader_make_room() {
    let told = preloaded("large_writes_let_the_reader_make_room", |_| {
        let mut ends = [0; 2];
        // SAFETY: plain calls of the C library.
        unsafe {
            well(libc::pipe(ends.as_mut_ptr()));
            let [read, write] = ends;
            *WAIT.lock().unwrap() = Some(Box::new(move || {
                let mut room = vec![0_u8; 1 << 16];
                assert!(libc::read(read, room.as_mut_ptr().cast(), room.len()) > 0);
                Answer::DONE
            }));
            let bytes = vec![7_u8; 200_000];
            assert_eq!(libc::write(write, bytes.as_ptr().cast(), bytes.len()), 200_000);
        }
    });
    let Some(told) = told else { return };
    assert_eq!(told.iter().filter(|told| told.starts_with("wait")).count(), 3);
}

#[test]
fn other_threads_are_left_alone() {
    let told = preloaded("other_threads_are_left_alone", |directory| {
        let file = format!("{directory}/file");
        std::thread::spawn(move || std::fs::write(file, "text").unwrap()).join().unwrap();
    });
    let Some(told) = told else { return };
    assert_eq!(told, Vec::<String>::new());
}
