//! From calls to steps and waits.

use std::ffi::{c_int, c_short};
use std::sync::Mutex;

use crate::abi::{Answer, FOR_EVER};
use crate::hooked::{Asked, errno, set_errno};
use crate::what::{Kind, What};

/// How long an answer from outside this process is waited for before another task runs.
const PATIENCE_MS: c_int = 200;

/// How long what was sent within this process may take to be there, when nobody else can go on.
const GRACE_MS: c_int = 50;

/// What a call returns that has failed.
pub(crate) trait Returned: Copy {
    const FAILED: Self;
}

impl Returned for c_int {
    const FAILED: c_int = -1;
}

impl Returned for i64 {
    const FAILED: i64 = -1;
}

impl Returned for libc::ssize_t {
    const FAILED: libc::ssize_t = -1;
}

/// The call fails with `error`.
pub(crate) fn failed<R: Returned>(error: c_int) -> R {
    set_errno(error);
    R::FAILED
}

/// A call that touches all of these at once, and never waits.
///
/// A step is on one resource. Of several, all but the last are touched once before the call and once after it: whoever
/// uses one of them then comes before both or after both, in some execution, and so before the call or after it.
pub(crate) fn touching<R: Returned>(hooks: &Asked, names: &[String], write: bool, mut call: impl FnMut() -> R) -> R {
    let Some((last, others)) = names.split_last() else { return call() };
    for name in others.iter().chain([last]) {
        match hooks.touch(name, write) {
            Answer::PLAIN | Answer::ENDING => return call(),
            Answer::ANNOUNCED => return announced(hooks, names, write, call),
            Answer::TORN_DOWN => return failed(libc::ECANCELED),
            _ => {}
        }
    }
    let result = call();
    let error = errno();
    if write {
        hooks.wake(last);
    }
    for name in others {
        if hooks.touch(name, write) != Answer::DONE {
            break;
        }
        if write {
            hooks.wake(name);
        }
    }
    set_errno(error);
    result
}

/// Makes a call of which the exploration knows already.
pub(crate) fn announced<R: Returned>(hooks: &Asked, names: &[String], write: bool, mut call: impl FnMut() -> R) -> R {
    let result = call();
    let error = errno();
    if write {
        names.iter().for_each(|name| hooks.wake(name));
    }
    set_errno(error);
    result
}

/// What a call waits for: one of `fds` to be ready.
pub(crate) struct Awaited<'a> {
    pub(crate) fds: &'a mut [libc::pollfd],
    /// By file descriptor: what it stands for, if anybody is interested.
    pub(crate) what: &'a [Option<What>],
    /// In nanoseconds.
    pub(crate) timeout: u64,
    /// The call takes something away, or adds to it.
    pub(crate) write: bool,
}

impl Awaited<'_> {
    fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.what.iter().flatten().map(|what| what.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    fn is_inside(&self) -> bool {
        let pairs = self.fds.iter().zip(self.what);
        pairs.filter(|(fd, _)| fd.fd >= 0).all(|(fd, what)| what.as_ref().is_some_and(|w| w.kind.is_inside(fd.fd)))
    }

    fn is_delayed(&self) -> bool {
        self.what.iter().flatten().any(|what| what.kind.is_delayed())
    }
}

/// A call that waits until something is ready. `attempt` makes it without waiting; none, if it would have to wait.
pub(crate) fn waiting<R: Returned>(
    hooks: &Asked,
    awaited: &mut Awaited,
    mut attempt: impl FnMut(&mut [libc::pollfd]) -> Option<R>,
    late: impl FnOnce() -> R,
    mut plain: impl FnMut() -> R,
) -> R {
    let names: Vec<String> = awaited.names().into_iter().map(str::to_owned).collect();
    let Some((last, others)) = names.split_last() else { return plain() };
    let mut over = awaited.timeout == 0;
    let mut alone = true;
    loop {
        for name in others.iter().chain([last]) {
            match hooks.touch(name, awaited.write) {
                Answer::PLAIN => return plain(),
                Answer::ANNOUNCED => return announced(hooks, &names, awaited.write, plain),
                Answer::ENDING => return attempt(awaited.fds).unwrap_or_else(|| failed(libc::ECANCELED)),
                Answer::TORN_DOWN => return failed(libc::ECANCELED),
                _ => hooks.enlist(name),
            }
        }
        let mut done = attempt(awaited.fds);
        let inside = done.is_some() || over || awaited.is_inside();
        // An answer that is under way belongs to this step, however long it takes within reason.
        if !inside && poll(awaited.fds, bounded(awaited.timeout)) > 0 {
            done = attempt(awaited.fds);
        }
        let error = errno();
        if done.is_some() || over {
            hooks.leave(last);
            if awaited.write {
                hooks.wake(last);
            }
            for name in others {
                hooks.touch(name, awaited.write);
                hooks.leave(name);
            }
            set_errno(error);
            return done.unwrap_or_else(late);
        }
        match wait(hooks, awaited, last, inside, &mut alone) {
            Answer::TIMED_OUT => over = true,
            Answer::TORN_DOWN | Answer::ENDING => return failed(libc::ECANCELED),
            Answer::PLAIN => return plain(),
            _ => {}
        }
    }
}

/// Waits until another task has done something about it; or, where the other end is not in this process, for real.
fn wait(hooks: &Asked, awaited: &mut Awaited, shown: &str, inside: bool, alone: &mut bool) -> Answer {
    if inside {
        let answer = hooks.wait(shown, awaited.timeout, *alone && awaited.is_delayed());
        if answer != Answer::ALONE {
            return answer;
        }
        // What was sent is most likely there. If not, nobody is going to send it.
        *alone = poll(awaited.fds, GRACE_MS) > 0;
        return Answer::DONE;
    }
    hooks.outside(shown);
    let entry = Outside::enter(hooks.task(), awaited.fds, shown);
    let answer = hooks.wait(shown, awaited.timeout, true);
    if answer != Answer::ALONE {
        return answer;
    }
    for name in entry.first_of_all(millis(awaited.timeout)) {
        hooks.wake(&name);
    }
    if awaited.timeout != FOR_EVER && poll(awaited.fds, 0) == 0 { Answer::TIMED_OUT } else { Answer::DONE }
}

fn bounded(nanos: u64) -> c_int {
    if nanos == FOR_EVER { PATIENCE_MS } else { PATIENCE_MS.min(millis(nanos)) }
}

fn millis(nanos: u64) -> c_int {
    if nanos == FOR_EVER { -1 } else { c_int::try_from(nanos.div_ceil(1_000_000)).unwrap_or(c_int::MAX) }
}

/// Asks the kernel, without being looked at.
pub(crate) fn poll(fds: &mut [libc::pollfd], timeout: c_int) -> c_int {
    // SAFETY: a list of that length.
    unsafe { libc::poll(fds.as_mut_ptr(), fds.len() as libc::nfds_t, timeout) }
}

/// Those that wait for something outside this process: who waits for real waits for all of it, since its own may
/// depend on what the others do next.
struct Outside {
    task: u64,
}

struct Waiting {
    task: u64,
    fds: Vec<(c_int, c_short)>,
    name: String,
}

static WAITING: Mutex<Vec<Waiting>> = Mutex::new(Vec::new());

impl Outside {
    fn enter(task: u64, fds: &[libc::pollfd], name: &str) -> Outside {
        let fds = fds.iter().map(|fd| (fd.fd, fd.events)).collect();
        let mut waiting = WAITING.lock().unwrap_or_else(|e| e.into_inner());
        // Of an earlier execution nobody waits any more.
        waiting.retain(|other| other.task >> 32 == task >> 32);
        waiting.push(Waiting { task, fds, name: name.to_owned() });
        Outside { task }
    }

    /// Waits for real until something is ready; for whom else it is.
    fn first_of_all(&self, timeout: c_int) -> Vec<String> {
        let (mut fds, owners): (Vec<libc::pollfd>, Vec<(u64, String)>) = {
            let waiting = WAITING.lock().unwrap_or_else(|e| e.into_inner());
            let all = waiting.iter().flat_map(|w| w.fds.iter().map(move |fd| (*fd, (w.task, w.name.clone()))));
            all.map(|((fd, events), owner)| (libc::pollfd { fd, events, revents: 0 }, owner)).unzip()
        };
        // SAFETY: a list of that length.
        unsafe { libc::poll(fds.as_mut_ptr(), fds.len() as libc::nfds_t, timeout) };
        let ready = fds.iter().zip(owners).filter(|(fd, (task, _))| fd.revents != 0 && *task != self.task);
        ready.map(|(_, (_, name))| name).collect()
    }
}

impl Drop for Outside {
    fn drop(&mut self) {
        WAITING.lock().unwrap_or_else(|e| e.into_inner()).retain(|waiting| waiting.task != self.task);
    }
}

/// A call on a stream, which waits unless it is told not to.
pub(crate) fn stream<R: Returned>(
    hooks: &Asked,
    (fd, what): (c_int, What),
    events: c_short,
    patient: bool,
    mut call: impl FnMut() -> R,
) -> R {
    let Some(timeout) = patience(fd, events).filter(|_| patient) else {
        return touching(hooks, &[what.name], true, call);
    };
    let mut fds = [libc::pollfd { fd, events, revents: 0 }];
    let what = [Some(what)];
    let mut awaited = Awaited { fds: &mut fds, what: &what, timeout, write: true };
    let call = std::cell::RefCell::new(&mut call);
    let attempt = |fds: &mut [libc::pollfd]| (poll(fds, 0) != 0).then(|| (call.borrow_mut())());
    waiting(hooks, &mut awaited, attempt, || failed(libc::EAGAIN), || (call.borrow_mut())())
}

/// How long calls on `fd` wait, in nanoseconds; none, if they do not.
fn patience(fd: c_int, events: c_short) -> Option<u64> {
    // SAFETY: asks for a number.
    let flags = unsafe { libc::fcntl(fd, libc::F_GETFL) };
    if flags & libc::O_NONBLOCK != 0 {
        return None;
    }
    let option = if events & libc::POLLIN != 0 { libc::SO_RCVTIMEO } else { libc::SO_SNDTIMEO };
    let mut limit = libc::timeval { tv_sec: 0, tv_usec: 0 };
    let mut length = size_of::<libc::timeval>() as libc::socklen_t;
    // SAFETY: there is room for a time.
    let known =
        unsafe { libc::getsockopt(fd, libc::SOL_SOCKET, option, (&raw mut limit).cast(), &raw mut length) == 0 };
    let nanos = limit.tv_sec as u64 * 1_000_000_000 + limit.tv_usec as u64 * 1000;
    Some(if known && nanos > 0 { nanos } else { FOR_EVER })
}

/// A call that reads from `fd`.
pub(crate) fn receive<R: Returned>(hooks: &Asked, fd: c_int, patient: bool, mut call: impl FnMut() -> R) -> R {
    match crate::what::of_fd(hooks, fd) {
        None => call(),
        Some(What { name, kind: Kind::File }) => {
            // Who reads moves the position, which is of concern to those who share it.
            let write = !crate::fds::is_of(fd, hooks.task());
            touching(hooks, &[name], write, call)
        }
        Some(what) => stream(hooks, (fd, what), libc::POLLIN, patient, call),
    }
}
