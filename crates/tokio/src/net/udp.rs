//! UDP, outside of explorations.

use std::io;
use std::net::SocketAddr;

use super::ToSocketAddrs;
use super::socket::{Socket, runtime};

/// A socket for datagrams, as `tokio::net::UdpSocket`.
#[derive(Debug)]
pub struct UdpSocket(Socket<std::net::UdpSocket>);

impl UdpSocket {
    /// A socket at `addr`.
    ///
    /// # Errors
    ///
    /// In an exploration, and as in tokio.
    pub async fn bind<A: ToSocketAddrs>(addr: A) -> io::Result<UdpSocket> {
        let runtime = runtime("net::UdpSocket::bind")?;
        let socket = std::net::UdpSocket::bind(addr)?;
        socket.set_nonblocking(true)?;
        Ok(UdpSocket(Socket::new(socket, runtime)))
    }

    /// From now on [`send`](Self::send) and [`recv`](Self::recv) are to and from `addr`.
    pub async fn connect<A: ToSocketAddrs>(&self, addr: A) -> io::Result<()> {
        self.0.system.connect(addr)
    }

    /// Sends to whom it is connected with.
    pub async fn send(&self, bytes: &[u8]) -> io::Result<usize> {
        self.0.when_ready(|system| system.send(bytes)).await
    }

    /// Sends to `target`.
    pub async fn send_to<A: ToSocketAddrs>(&self, bytes: &[u8], target: A) -> io::Result<usize> {
        let target = target.to_socket_addrs()?.next();
        let target =
            target.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "no addresses to send data to"))?;
        self.0.when_ready(|system| system.send_to(bytes, target)).await
    }

    /// Waits for a datagram from whom it is connected with.
    pub async fn recv(&self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.when_ready(|system| system.recv(buffer)).await
    }

    /// Waits for a datagram.
    pub async fn recv_from(&self, buffer: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        self.0.when_ready(|system| system.recv_from(buffer)).await
    }

    /// Its address.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.0.system.local_addr()
    }
}
