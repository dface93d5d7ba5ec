//! Locks: of files, and those that C libraries hold while they make calls that we stand before.

use std::ffi::{c_int, c_ulong};
use std::sync::atomic::{AtomicUsize, Ordering};

use libc::{off_t, off64_t, pthread_mutex_t};

use crate::abi::{Answer, FOR_EVER};
use crate::act::{announced, failed, touching};
use crate::hooked::{Asked, errno, hooks, is_stopped};
use crate::real::{define, interpose};
use crate::what;

/// Locks a file: `attempt` without waiting, `real` for real. `kind` is what the kernel calls such locks.
fn lock_file(
    hooks: &Asked,
    fd: c_int,
    kind: &str,
    mut attempt: impl FnMut() -> c_int,
    mut real: impl FnMut() -> c_int,
) -> c_int {
    let Some(what) = what::of_fd(hooks, fd) else { return real() };
    what::locked(fd);
    loop {
        match hooks.touch(&what.name, true) {
            Answer::PLAIN => return real(),
            Answer::ANNOUNCED => return announced(hooks, &[what.name], true, real),
            Answer::ENDING => return attempt(),
            Answer::TORN_DOWN => return failed(libc::ECANCELED),
            _ => {}
        }
        let result = attempt();
        let error = errno();
        if result == 0 || (error != libc::EAGAIN && error != libc::EACCES) {
            // A lock that is changed may let others in.
            hooks.wake(&what.name);
            crate::hooked::set_errno(error);
            return result;
        }
        hooks.enlist(&what.name);
        let inside = what::holds_lock(fd, kind);
        if !inside {
            hooks.outside(&what.name);
        }
        let answer = hooks.wait(&what.name, FOR_EVER, !inside);
        hooks.leave(&what.name);
        match answer {
            Answer::ALONE => return real(),
            Answer::TORN_DOWN | Answer::ENDING => return failed(libc::ECANCELED),
            _ => {}
        }
    }
}

/// What `fcntl` does to others.
fn control(hooks: &Asked, fd: c_int, command: c_int, argument: c_ulong, mut real: impl FnMut() -> c_int) -> c_int {
    // SAFETY: as `fcntl` asks for, of these commands.
    let attempt = |command| unsafe { libc::fcntl(fd, command, argument) };
    match command {
        libc::F_SETLKW => lock_file(hooks, fd, "POSIX", || attempt(libc::F_SETLK), real),
        libc::F_OFD_SETLKW => lock_file(hooks, fd, "OFDLCK", || attempt(libc::F_OFD_SETLK), real),
        libc::F_SETLK | libc::F_OFD_SETLK => {
            what::locked(fd);
            super::files::at_once(hooks, fd, true, real)
        }
        libc::F_GETLK | libc::F_OFD_GETLK => super::files::at_once(hooks, fd, false, real),
        libc::F_DUPFD | libc::F_DUPFD_CLOEXEC => {
            let copy = real();
            crate::fds::copied(fd, copy);
            copy
        }
        _ => real(),
    }
}

fn lock_region(hooks: &Asked, fd: c_int, command: c_int, length: off_t, mut real: impl FnMut() -> c_int) -> c_int {
    match command {
        // SAFETY: as `lockf` asks for.
        libc::F_LOCK => lock_file(hooks, fd, "POSIX", || unsafe { libc::lockf(fd, libc::F_TLOCK, length) }, real),
        libc::F_TEST => super::files::at_once(hooks, fd, false, real),
        libc::F_TLOCK | libc::F_ULOCK => {
            what::locked(fd);
            super::files::at_once(hooks, fd, true, real)
        }
        _ => real(),
    }
}

interpose! {
    fn flock(fd: c_int, operation: c_int) -> c_int = |hooks, real| {
        let attempt = || libc::flock(fd, operation | libc::LOCK_NB);
        match what::of_fd(&hooks, fd) {
            Some(what) if operation & (libc::LOCK_NB | libc::LOCK_UN) != 0 => {
                what::locked(fd);
                touching(&hooks, &[what.name], true, real)
            }
            _ => lock_file(&hooks, fd, "FLOCK", attempt, real),
        }
    };
    fn fcntl(fd: c_int, command: c_int, argument: c_ulong) -> c_int
        = |hooks, real| control(&hooks, fd, command, argument, real);
    fn fcntl64(fd: c_int, command: c_int, argument: c_ulong) -> c_int
        = |hooks, real| control(&hooks, fd, command, argument, real);
    fn lockf(fd: c_int, command: c_int, length: off_t) -> c_int
        = |hooks, real| lock_region(&hooks, fd, command, length, real);
    fn lockf64(fd: c_int, command: c_int, length: off64_t) -> c_int
        = |hooks, real| lock_region(&hooks, fd, command, length, real);
}

/// How many tasks wait for a mutex.
static WAITING: AtomicUsize = AtomicUsize::new(0);

/// Mutexes that tasks wait for.
static AWAITED: [AtomicUsize; 64] = [const { AtomicUsize::new(0) }; 64];

fn name_of(mutex: *mut pthread_mutex_t) -> String {
    format!("mutex of C code {:p}", mutex)
}

/// The thread that holds a mutex, as the C library notes it in all kinds of them.
fn holder(mutex: *mut pthread_mutex_t) -> c_int {
    // SAFETY: the third number of a mutex, which others may change at the same time.
    unsafe { (*mutex.cast::<std::sync::atomic::AtomicI32>().add(2)).load(Ordering::SeqCst) }
}

/// Waits for a mutex whose holder is stopped in a call that we stand before: it will not give it up unless it is let run.
fn wait_for_mutex(hooks: &Asked, mutex: *mut pthread_mutex_t, mut real: impl FnMut() -> c_int) -> c_int {
    loop {
        // SAFETY: as `pthread_mutex_lock` asks for.
        let taken = unsafe { libc::pthread_mutex_trylock(mutex) };
        if taken != libc::EBUSY {
            return taken;
        }
        let free = |place: &&AtomicUsize| {
            place.compare_exchange(0, mutex as usize, Ordering::SeqCst, Ordering::SeqCst).is_ok()
        };
        let Some(place) =
            Some(holder(mutex)).filter(|holder| is_stopped(*holder)).and_then(|_| AWAITED.iter().find(free))
        else {
            return real();
        };
        let name = name_of(mutex);
        WAITING.fetch_add(1, Ordering::SeqCst);
        hooks.enlist(&name);
        let answer = hooks.wait(&name, FOR_EVER, false);
        hooks.leave(&name);
        place.store(0, Ordering::SeqCst);
        WAITING.fetch_sub(1, Ordering::SeqCst);
        let ended = answer == Answer::ENDING || answer == Answer::TORN_DOWN;
        if answer == Answer::PLAIN || (ended && hooks.give_way() != Answer::DONE) {
            return real();
        }
    }
}

interpose! {
    fn pthread_mutex_lock(mutex: *mut pthread_mutex_t) -> c_int = |hooks, real| wait_for_mutex(&hooks, mutex, real);
}

define! {
    fn pthread_mutex_unlock(mutex: *mut pthread_mutex_t) -> c_int = |real| {
        let result = real();
        if WAITING.load(Ordering::Relaxed) > 0
            && AWAITED.iter().any(|place| place.load(Ordering::Relaxed) == mutex as usize)
        {
            if let Some(hooks) = hooks() {
                hooks.wake(&name_of(mutex));
            }
        }
        result
    };
}
