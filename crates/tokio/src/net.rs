//! `tokio::net`: not under control yet; whatever would make a socket fails with an error that names it.

use std::io;
use std::net::SocketAddr;

use crate::uncontrolled::{error, stream};

/// What can be resolved to addresses, as `tokio::net::ToSocketAddrs`.
pub trait ToSocketAddrs {}

impl<A: std::net::ToSocketAddrs + ?Sized> ToSocketAddrs for A {}

/// Fails: names are not resolved under control.
pub async fn lookup_host<T: ToSocketAddrs>(_host: T) -> io::Result<std::iter::Empty<SocketAddr>> {
    Err(error("net::lookup_host"))
}

stream! {
    /// A stream that cannot be made under control.
    TcpStream
}

impl TcpStream {
    /// Fails.
    pub async fn connect<A: ToSocketAddrs>(_addr: A) -> io::Result<TcpStream> {
        Err(error("net::TcpStream::connect"))
    }

    /// Fails.
    pub fn from_std(_stream: std::net::TcpStream) -> io::Result<TcpStream> {
        Err(error("net::TcpStream::from_std"))
    }

    /// Never called.
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        match *self {}
    }

    /// Never called.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        match *self {}
    }

    /// Never called.
    pub fn set_nodelay(&self, _nodelay: bool) -> io::Result<()> {
        match *self {}
    }
}

/// A listener that cannot be made under control.
#[derive(Debug)]
pub enum TcpListener {}

impl TcpListener {
    /// Fails.
    pub async fn bind<A: ToSocketAddrs>(_addr: A) -> io::Result<TcpListener> {
        Err(error("net::TcpListener::bind"))
    }

    /// Fails.
    pub fn from_std(_listener: std::net::TcpListener) -> io::Result<TcpListener> {
        Err(error("net::TcpListener::from_std"))
    }

    /// Never called.
    pub async fn accept(&self) -> io::Result<(TcpStream, SocketAddr)> {
        match *self {}
    }

    /// Never called.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        match *self {}
    }
}

/// A socket that cannot be made under control.
#[derive(Debug)]
pub enum UdpSocket {}

impl UdpSocket {
    /// Fails.
    pub async fn bind<A: ToSocketAddrs>(_addr: A) -> io::Result<UdpSocket> {
        Err(error("net::UdpSocket::bind"))
    }

    /// Never called.
    pub async fn connect<A: ToSocketAddrs>(&self, _addr: A) -> io::Result<()> {
        match *self {}
    }

    /// Never called.
    pub async fn send(&self, _bytes: &[u8]) -> io::Result<usize> {
        match *self {}
    }

    /// Never called.
    pub async fn send_to<A: ToSocketAddrs>(&self, _bytes: &[u8], _target: A) -> io::Result<usize> {
        match *self {}
    }

    /// Never called.
    pub async fn recv(&self, _buffer: &mut [u8]) -> io::Result<usize> {
        match *self {}
    }

    /// Never called.
    pub async fn recv_from(&self, _buffer: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        match *self {}
    }

    /// Never called.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        match *self {}
    }
}

stream! {
    /// A stream that cannot be made under control.
    UnixStream
}

impl UnixStream {
    /// Fails.
    pub async fn connect<P: AsRef<std::path::Path>>(_path: P) -> io::Result<UnixStream> {
        Err(error("net::UnixStream::connect"))
    }

    /// Fails.
    pub fn pair() -> io::Result<(UnixStream, UnixStream)> {
        Err(error("net::UnixStream::pair"))
    }
}

/// A listener that cannot be made under control.
#[derive(Debug)]
pub enum UnixListener {}

impl UnixListener {
    /// Fails.
    pub fn bind<P: AsRef<std::path::Path>>(_path: P) -> io::Result<UnixListener> {
        Err(error("net::UnixListener::bind"))
    }

    /// Never called.
    pub async fn accept(&self) -> io::Result<(UnixStream, std::os::unix::net::SocketAddr)> {
        match *self {}
    }
}
