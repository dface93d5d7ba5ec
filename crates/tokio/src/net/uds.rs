//! Sockets of Unix, outside of explorations.

use std::io;
use std::os::unix::net;
use std::path::Path;

use super::socket::{Socket, runtime};
use super::stream;
use crate::runtime::Handle;
use crate::uncontrolled::outside;

/// A connection, as `tokio::net::UnixStream`.
#[derive(Debug)]
pub struct UnixStream(Socket<net::UnixStream>);

stream!(UnixStream);

impl UnixStream {
    fn new(stream: net::UnixStream, runtime: Handle) -> io::Result<UnixStream> {
        stream.set_nonblocking(true)?;
        Ok(UnixStream(Socket::new(stream, runtime)))
    }

    /// Connects.
    ///
    /// # Errors
    ///
    /// In an exploration, and as in tokio.
    pub async fn connect<P: AsRef<Path>>(path: P) -> io::Result<UnixStream> {
        let runtime = runtime("net::UnixStream::connect")?;
        UnixStream::new(net::UnixStream::connect(path)?, runtime)
    }

    /// Two ends.
    ///
    /// # Errors
    ///
    /// In an exploration.
    #[track_caller]
    pub fn pair() -> io::Result<(UnixStream, UnixStream)> {
        let runtime = runtime("net::UnixStream::pair")?;
        let (one, other) = net::UnixStream::pair()?;
        Ok((UnixStream::new(one, runtime.clone())?, UnixStream::new(other, runtime)?))
    }
}

/// Accepts connections, as `tokio::net::UnixListener`.
#[derive(Debug)]
pub struct UnixListener(Socket<net::UnixListener>);

impl UnixListener {
    /// Listens at `path`.
    ///
    /// # Errors
    ///
    /// In an exploration, and as in tokio.
    #[track_caller]
    pub fn bind<P: AsRef<Path>>(path: P) -> io::Result<UnixListener> {
        let runtime = runtime("net::UnixListener::bind")?;
        let listener = net::UnixListener::bind(path)?;
        listener.set_nonblocking(true)?;
        Ok(UnixListener(Socket::new(listener, runtime)))
    }

    /// Waits for a connection.
    pub async fn accept(&self) -> io::Result<(UnixStream, net::SocketAddr)> {
        let (stream, address) = self.0.when_ready(net::UnixListener::accept).await?;
        Ok((UnixStream::new(stream, self.0.runtime().clone())?, address))
    }
}

/// A socket for datagrams, of which there is none here.
#[derive(Debug)]
pub enum UnixDatagram {}

impl UnixDatagram {
    /// Fails.
    #[track_caller]
    pub fn bind<P: AsRef<Path>>(_path: P) -> io::Result<UnixDatagram> {
        Err(outside("net::UnixDatagram::bind"))
    }

    /// Fails.
    #[track_caller]
    pub fn pair() -> io::Result<(UnixDatagram, UnixDatagram)> {
        Err(outside("net::UnixDatagram::pair"))
    }
}
