//! TCP, outside of explorations.

use std::io;
use std::net::SocketAddr;

use drawloom::future;

use super::socket::{Socket, runtime};
use super::{ToSocketAddrs, stream};
use crate::runtime::Handle;
use crate::uncontrolled::outside;

/// A connection, as `tokio::net::TcpStream`.
#[derive(Debug)]
pub struct TcpStream(Socket<std::net::TcpStream>);

stream!(TcpStream);

impl TcpStream {
    fn new(stream: std::net::TcpStream, runtime: Handle) -> io::Result<TcpStream> {
        stream.set_nonblocking(true)?;
        Ok(TcpStream(Socket::new(stream, runtime)))
    }

    /// Connects.
    ///
    /// # Errors
    ///
    /// In an exploration, and as in tokio.
    pub async fn connect<A: ToSocketAddrs>(addr: A) -> io::Result<TcpStream> {
        let runtime = runtime("net::TcpStream::connect")?;
        let addresses: Vec<SocketAddr> = addr.to_socket_addrs()?.collect();
        let connecting = future::spawn_blocking(move || std::net::TcpStream::connect(&addresses[..]));
        let connected = connecting.await.map_err(io::Error::other)?;
        TcpStream::new(connected?, runtime)
    }

    /// A stream of the system that does not block.
    ///
    /// # Errors
    ///
    /// In an exploration.
    #[track_caller]
    pub fn from_std(stream: std::net::TcpStream) -> io::Result<TcpStream> {
        TcpStream::new(stream, runtime("net::TcpStream::from_std")?)
    }

    /// The address of the other end.
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.0.system.peer_addr()
    }

    /// The address of this end.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.0.system.local_addr()
    }

    /// Whether small pieces are sent at once.
    pub fn set_nodelay(&self, nodelay: bool) -> io::Result<()> {
        self.0.system.set_nodelay(nodelay)
    }
}

/// Accepts connections, as `tokio::net::TcpListener`.
#[derive(Debug)]
pub struct TcpListener(Socket<std::net::TcpListener>);

impl TcpListener {
    fn new(listener: std::net::TcpListener, runtime: Handle) -> io::Result<TcpListener> {
        listener.set_nonblocking(true)?;
        Ok(TcpListener(Socket::new(listener, runtime)))
    }

    /// Listens at `addr`.
    ///
    /// # Errors
    ///
    /// In an exploration, and as in tokio.
    pub async fn bind<A: ToSocketAddrs>(addr: A) -> io::Result<TcpListener> {
        let runtime = runtime("net::TcpListener::bind")?;
        TcpListener::new(std::net::TcpListener::bind(addr)?, runtime)
    }

    /// A listener of the system that does not block.
    ///
    /// # Errors
    ///
    /// In an exploration.
    #[track_caller]
    pub fn from_std(listener: std::net::TcpListener) -> io::Result<TcpListener> {
        TcpListener::new(listener, runtime("net::TcpListener::from_std")?)
    }

    /// Waits for a connection.
    pub async fn accept(&self) -> io::Result<(TcpStream, SocketAddr)> {
        let (stream, address) = self.0.when_ready(std::net::TcpListener::accept).await?;
        Ok((TcpStream::new(stream, self.0.runtime().clone())?, address))
    }

    /// The address that it listens at.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.0.system.local_addr()
    }
}

/// A socket that is neither connected nor listening, of which there is none here.
#[derive(Debug)]
pub enum TcpSocket {}

impl TcpSocket {
    /// Fails.
    #[track_caller]
    pub fn new_v4() -> io::Result<TcpSocket> {
        Err(outside("net::TcpSocket::new_v4"))
    }

    /// Fails.
    #[track_caller]
    pub fn new_v6() -> io::Result<TcpSocket> {
        Err(outside("net::TcpSocket::new_v6"))
    }
}
