//! Reading and writing what may have to wait: files, pipes and sockets alike.

use std::ffi::{c_int, c_void};

use libc::{iovec, size_t, sockaddr, socklen_t, ssize_t};

use crate::act::{receive, stream, touching};
use crate::hooked::{Asked, errno};
use crate::peers::{Address, read_address};
use crate::real::interpose;
use crate::what::{self, Kind, What};

/// So much fits into a pipe that has any room, and is written at once.
const PIECE: usize = libc::PIPE_BUF;

/// A call that writes `count` bytes to `fd`; `piece` writes some of them, from a position on, and without waiting if it
/// is a socket's. Since a reader may have to make room meanwhile, what is large is written in pieces.
fn deliver(
    hooks: &Asked,
    fd: c_int,
    count: usize,
    (patient, to): (bool, Option<Address>),
    mut whole: impl FnMut() -> ssize_t,
    mut piece: impl FnMut(usize, usize, bool) -> ssize_t,
) -> ssize_t {
    let kind = match what::of_fd_to(hooks, fd, to.clone()) {
        None => return whole(),
        Some(What { name, kind: Kind::File }) => return touching(hooks, &[name], true, whole),
        Some(what) if count <= PIECE => return stream(hooks, (fd, what), libc::POLLOUT, patient, whole),
        Some(what) => what.kind,
    };
    let socket = matches!(kind, Kind::Socket(_));
    let mut written = 0;
    while written < count {
        let Some(what) = what::of_fd_to(hooks, fd, to.clone()) else { break };
        let most = if socket { count - written } else { PIECE.min(count - written) };
        let sent = stream(hooks, (fd, what), libc::POLLOUT, patient, || piece(written, most, socket));
        // Room that was there may have been too little.
        let full = sent < 0 && errno() == libc::EAGAIN && socket && patient;
        match sent {
            sent if sent >= 0 => written += sent as usize,
            _ if full => {}
            _ if written > 0 => break,
            failed => return failed,
        }
        if sent >= 0 && !patient {
            break;
        }
    }
    written as ssize_t
}

/// Gathers what a call writes from several places, so that it can be written in pieces.
///
/// # Safety
/// `parts` are `count` parts of memory that can be read.
unsafe fn gathered(parts: *const iovec, count: usize) -> Vec<u8> {
    // SAFETY: as the caller says.
    unsafe {
        let parts = if count == 0 { &[] } else { std::slice::from_raw_parts(parts, count) };
        let bytes = parts.iter().filter(|part| part.iov_len > 0);
        bytes.flat_map(|part| std::slice::from_raw_parts(part.iov_base.cast::<u8>(), part.iov_len)).copied().collect()
    }
}

/// Writes `bytes` from a position on; to a socket without waiting.
fn write_piece(fd: c_int, bytes: *const c_void, from: usize, count: usize, socket: bool, flags: c_int) -> ssize_t {
    // SAFETY: within what the caller of `write` or `send` has passed.
    unsafe {
        let bytes = bytes.cast::<u8>().add(from).cast();
        match socket {
            true => libc::send(fd, bytes, count, flags | libc::MSG_DONTWAIT),
            false => libc::write(fd, bytes, count),
        }
    }
}

fn waits(flags: c_int) -> bool {
    flags & libc::MSG_DONTWAIT == 0
}

interpose! {
    fn read(fd: c_int, buffer: *mut c_void, count: size_t) -> ssize_t = |hooks, real| receive(&hooks, fd, true, real);
    fn __read_chk(fd: c_int, buffer: *mut c_void, count: size_t, room: size_t) -> ssize_t
        = |hooks, real| receive(&hooks, fd, true, real);
    fn readv(fd: c_int, parts: *const iovec, count: c_int) -> ssize_t = |hooks, real| receive(&hooks, fd, true, real);
    fn recv(fd: c_int, buffer: *mut c_void, count: size_t, flags: c_int) -> ssize_t
        = |hooks, real| receive(&hooks, fd, waits(flags), real);
    fn __recv_chk(fd: c_int, buffer: *mut c_void, count: size_t, room: size_t, flags: c_int) -> ssize_t
        = |hooks, real| receive(&hooks, fd, waits(flags), real);
    fn recvfrom(
        fd: c_int, buffer: *mut c_void, count: size_t, flags: c_int, from: *mut sockaddr, length: *mut socklen_t,
    ) -> ssize_t = |hooks, real| receive(&hooks, fd, waits(flags), real);
    fn __recvfrom_chk(
        fd: c_int, buffer: *mut c_void, count: size_t, room: size_t, flags: c_int, from: *mut sockaddr,
        length: *mut socklen_t,
    ) -> ssize_t = |hooks, real| receive(&hooks, fd, waits(flags), real);
    fn recvmsg(fd: c_int, message: *mut libc::msghdr, flags: c_int) -> ssize_t
        = |hooks, real| receive(&hooks, fd, waits(flags), real);

    fn write(fd: c_int, buffer: *const c_void, count: size_t) -> ssize_t = |hooks, real| {
        let piece = |from, count, socket| write_piece(fd, buffer, from, count, socket, 0);
        deliver(&hooks, fd, count, (true, None), real, piece)
    };
    fn writev(fd: c_int, parts: *const iovec, count: c_int) -> ssize_t = |hooks, real| {
        let bytes = gathered(parts, count.max(0) as usize);
        let piece = |from, count, socket| write_piece(fd, bytes.as_ptr().cast(), from, count, socket, 0);
        deliver(&hooks, fd, bytes.len(), (true, None), real, piece)
    };
    fn send(fd: c_int, buffer: *const c_void, count: size_t, flags: c_int) -> ssize_t = |hooks, real| {
        let piece = |from, count, socket| write_piece(fd, buffer, from, count, socket, flags);
        deliver(&hooks, fd, count, (waits(flags), None), real, piece)
    };
    fn sendto(
        fd: c_int, buffer: *const c_void, count: size_t, flags: c_int, to: *const sockaddr, length: socklen_t,
    ) -> ssize_t = |hooks, real| {
        let to = read_address(to, length);
        if to.is_none() {
            let piece = |from, count, socket| write_piece(fd, buffer, from, count, socket, flags);
            return deliver(&hooks, fd, count, (waits(flags), None), real, piece);
        }
        // What is sent to an address is sent at once, or not at all.
        deliver(&hooks, fd, 0, (waits(flags), to), real, |_, _, _| 0)
    };
    fn sendmsg(fd: c_int, message: *const libc::msghdr, flags: c_int) -> ssize_t = |hooks, real| {
        let message = &*message;
        let to = read_address(message.msg_name.cast(), message.msg_namelen);
        // Its type is another one where the library of C is musl.
        #[allow(clippy::unnecessary_cast)]
        let parts = gathered(message.msg_iov, message.msg_iovlen as usize);
        if message.msg_controllen != 0 || to.is_some() {
            return deliver(&hooks, fd, 0, (waits(flags), to), real, |_, _, _| 0);
        }
        let piece = |from, count, socket| write_piece(fd, parts.as_ptr().cast(), from, count, socket, flags);
        deliver(&hooks, fd, parts.len(), (waits(flags), None), real, piece)
    };
}
