//! Making and ending connections.

use std::ffi::c_int;

use libc::{sockaddr, socklen_t};

use crate::act::{receive, touching};
use crate::peers::{self, read_address};
use crate::real::{define, interpose};
use crate::{fds, hooked, what};

/// Gives a socket an address: a step on that, once it has one.
fn announced(fd: c_int, mut call: impl FnMut() -> c_int) -> c_int {
    match hooked::hooks() {
        Some(hooks) => super::files::at_once(&hooks, fd, true, call),
        None => call(),
    }
}

interpose! {
    fn connect(fd: c_int, to: *const sockaddr, length: socklen_t) -> c_int = |hooks, real| {
        let to = read_address(to, length);
        match what::of_fd_to(&hooks, fd, to) {
            Some(what) => touching(&hooks, &[what.name], true, real),
            None => real(),
        }
    };
    fn accept(fd: c_int, from: *mut sockaddr, length: *mut socklen_t) -> c_int = |hooks, real| {
        let accepted = receive(&hooks, fd, true, real);
        fds::opened(accepted, 0);
        accepted
    };
    fn accept4(fd: c_int, from: *mut sockaddr, length: *mut socklen_t, flags: c_int) -> c_int = |hooks, real| {
        let accepted = receive(&hooks, fd, true, real);
        fds::opened(accepted, 0);
        accepted
    };
    fn shutdown(fd: c_int, how: c_int) -> c_int = |hooks, real| super::files::at_once(&hooks, fd, true, real);
}

/// Does what is remembered whether or not an exploration runs, without being looked at.
fn remembered(result: c_int, remember: impl FnOnce()) -> c_int {
    if result == 0 {
        let _quiet = hooked::hooks();
        remember();
    }
    result
}

define! {
    fn bind(fd: c_int, at: *const sockaddr, length: socklen_t) -> c_int = |real| {
        let port = read_address(at, length).as_ref().and_then(peers::port_of);
        remembered(announced(fd, real), || peers::bound(fd, port))
    };
    fn listen(fd: c_int, backlog: c_int) -> c_int = |real| remembered(announced(fd, real), || peers::listens(fd));
    fn socketpair(domain: c_int, kind: c_int, protocol: c_int, ends: *mut c_int) -> c_int = |real| {
        remembered(real(), || peers::paired(*ends, *ends.add(1)))
    };
}
