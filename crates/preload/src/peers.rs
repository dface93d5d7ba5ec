//! Which sockets belong together, and whether the other end is in this process.

use std::ffi::c_int;
use std::mem::{MaybeUninit, size_of};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Mutex;

/// What is remembered of sockets, whether or not an exploration runs.
struct Known {
    /// Both ends of pairs, by inode.
    pairs: Vec<(u64, u64)>,
    /// Addresses at which this process waits for others; whether the system has chosen the port.
    served: Vec<(Address, bool)>,
    /// Sockets whose port the system has chosen, by inode.
    unchosen: Vec<u64>,
}

/// So many are remembered; what is older has most likely been closed.
const MOST: usize = 4096;

static KNOWN: Mutex<Known> = Mutex::new(Known { pairs: Vec::new(), served: Vec::new(), unchosen: Vec::new() });

/// Where a socket is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Address {
    Internet(SocketAddr),
    Path(String),
}

/// What a socket is connected to, or waits at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Peer {
    /// Nobody but this process has the other end, as far as its children have not got it.
    pub(crate) inside: bool,
    /// What is sent may take a while to be there.
    pub(crate) delayed: bool,
}

fn known<R>(act: impl FnOnce(&mut Known) -> R) -> R {
    act(&mut KNOWN.lock().unwrap_or_else(|e| e.into_inner()))
}

fn remember<T>(list: &mut Vec<T>, entry: T) {
    if list.len() == MOST {
        list.remove(0);
    }
    list.push(entry);
}

/// Two sockets were made as a pair.
pub(crate) fn paired(one: c_int, other: c_int) {
    if let (Some(one), Some(other)) = (inode(one), inode(other)) {
        known(|known| remember(&mut known.pairs, (one, other)));
    }
}

/// A socket was given an address: one that the system was to choose, if `port` is 0.
pub(crate) fn bound(fd: c_int, port: Option<u16>) {
    if port == Some(0) {
        if let Some(inode) = inode(fd) {
            known(|known| remember(&mut known.unchosen, inode));
        }
    }
    if option(fd, libc::SO_TYPE) == Some(libc::SOCK_DGRAM) {
        listens(fd);
    }
}

/// A socket waits for others to connect, or for what they send.
pub(crate) fn listens(fd: c_int) {
    let (Some(address), Some(inode)) = (own_address(fd), inode(fd)) else { return };
    known(|known| {
        let unchosen = known.unchosen.contains(&inode);
        known.served.retain(|(served, _)| *served != address);
        remember(&mut known.served, (address, unchosen));
    });
}

/// What the socket `fd` touches when it is used, by its name; `to` is where something is sent, if that is said.
pub(crate) fn of(fd: c_int, to: Option<Address>) -> Option<(String, Peer)> {
    if option(fd, libc::SO_DOMAIN) == Some(libc::AF_UNIX) {
        let inode = inode(fd)?;
        let pair = known(|known| known.pairs.iter().rev().find(|(a, b)| *a == inode || *b == inode).copied());
        if let Some((one, other)) = pair {
            return Some((numbered("socketpair", one.min(other)), Peer { inside: true, delayed: false }));
        }
    }
    let delayed = option(fd, libc::SO_DOMAIN) != Some(libc::AF_UNIX);
    let own = own_address(fd);
    if let Some(name) = to.is_none().then_some(own.as_ref()).flatten().and_then(served) {
        return Some((name, Peer { inside: true, delayed }));
    }
    let other = to.or_else(|| address(fd, libc::getpeername)).or(own)?;
    match served(&other) {
        Some(name) => Some((name, Peer { inside: true, delayed })),
        None => Some((named(&other, false), Peer { inside: false, delayed })),
    }
}

/// The name of an address at which this process waits for others.
fn served(address: &Address) -> Option<String> {
    let serves = |(served, _): &&(Address, bool)| match (served, address) {
        (Address::Internet(served), Address::Internet(address)) => {
            served.port() == address.port() && (served.ip() == address.ip() || served.ip().is_unspecified())
        }
        (served, address) => served == address,
    };
    known(|known| known.served.iter().rev().find(serves).map(|(served, unchosen)| named(served, *unchosen)))
}

/// Ports that the system chooses are other ones each time, and are not told apart.
fn named(address: &Address, unchosen: bool) -> String {
    match address {
        Address::Internet(address) if unchosen => format!("socket {}:*", address.ip()),
        Address::Internet(address) => format!("socket {address}"),
        Address::Path(path) => format!("socket {path}"),
    }
}

fn own_address(fd: c_int) -> Option<Address> {
    address(fd, libc::getsockname)
}

type AddressOf = unsafe extern "C" fn(c_int, *mut libc::sockaddr, *mut libc::socklen_t) -> c_int;

fn address(fd: c_int, which: AddressOf) -> Option<Address> {
    let mut storage = MaybeUninit::<libc::sockaddr_storage>::zeroed();
    let mut length = size_of::<libc::sockaddr_storage>() as libc::socklen_t;
    // SAFETY: there is room for any address; what was written is read back as far as it was written, all else is zero.
    unsafe {
        if which(fd, storage.as_mut_ptr().cast(), &raw mut length) != 0 {
            return None;
        }
        read_address(storage.as_ptr().cast(), length)
    }
}

/// An address as system calls have it; none, if it has no name.
///
/// # Safety
/// `address` is null, or points to `length` bytes.
pub(crate) unsafe fn read_address(address: *const libc::sockaddr, length: libc::socklen_t) -> Option<Address> {
    let length = length as usize;
    if address.is_null() || length < size_of::<libc::sa_family_t>() {
        return None;
    }
    // SAFETY: there is a family, and of each as much as its length says.
    unsafe {
        match i32::from(address.cast::<libc::sa_family_t>().read_unaligned()) {
            libc::AF_INET if length >= size_of::<libc::sockaddr_in>() => {
                let address = address.cast::<libc::sockaddr_in>().read_unaligned();
                let ip = IpAddr::V4(Ipv4Addr::from(u32::from_be(address.sin_addr.s_addr)));
                Some(Address::Internet(SocketAddr::new(ip, u16::from_be(address.sin_port))))
            }
            libc::AF_INET6 if length >= size_of::<libc::sockaddr_in6>() => {
                let address = address.cast::<libc::sockaddr_in6>().read_unaligned();
                let ip = IpAddr::V6(Ipv6Addr::from(address.sin6_addr.s6_addr)).to_canonical();
                Some(Address::Internet(SocketAddr::new(ip, u16::from_be(address.sin6_port))))
            }
            libc::AF_UNIX if length > 2 => {
                let path = std::slice::from_raw_parts(address.cast::<u8>().add(2), length - 2);
                let end = path.iter().skip(1).position(|byte| *byte == 0).map_or(path.len(), |end| end + 1);
                // Names that are no paths begin with a zero.
                Some(Address::Path(String::from_utf8_lossy(&path[..end]).replace('\0', "@")))
            }
            _ => None,
        }
    }
}

pub(crate) fn port_of(address: &Address) -> Option<u16> {
    match address {
        Address::Internet(address) => Some(address.port()),
        Address::Path(_) => None,
    }
}

pub(crate) fn option(fd: c_int, option: c_int) -> Option<c_int> {
    let mut value: c_int = 0;
    let mut length = size_of::<c_int>() as libc::socklen_t;
    // SAFETY: there is room for a number.
    let got = unsafe { libc::getsockopt(fd, libc::SOL_SOCKET, option, (&raw mut value).cast(), &raw mut length) };
    (got == 0).then_some(value)
}

pub(crate) fn inode(fd: c_int) -> Option<u64> {
    crate::what::status(fd).map(|status| status.st_ino)
}

/// What has no name of its own is numbered in the order in which it comes up in an execution.
pub(crate) fn numbered(kind: &str, inode: u64) -> String {
    static SEEN: Mutex<(u64, Vec<u64>)> = Mutex::new((0, Vec::new()));
    let mut seen = SEEN.lock().unwrap_or_else(|e| e.into_inner());
    let execution = crate::what::execution();
    if seen.0 != execution {
        *seen = (execution, Vec::new());
    }
    let number = seen.1.iter().position(|known| *known == inode).unwrap_or_else(|| {
        seen.1.push(inode);
        seen.1.len() - 1
    });
    format!("{kind} {}", number + 1)
}
