//! `tokio::net`: not under control yet. In an exploration whatever would make a socket fails with an error that names it;
//! outside, sockets are those of the system.

mod socket;
mod tcp;
mod udp;
#[cfg(unix)]
mod uds;

use std::io;
use std::net::SocketAddr;

pub use tcp::{TcpListener, TcpSocket, TcpStream};
pub use udp::UdpSocket;
#[cfg(unix)]
pub use uds::{UnixDatagram, UnixListener, UnixStream};

/// What can be resolved to addresses, as `tokio::net::ToSocketAddrs`.
pub trait ToSocketAddrs: std::net::ToSocketAddrs {}

impl<A: std::net::ToSocketAddrs + ?Sized> ToSocketAddrs for A {}

/// The addresses of `host`.
///
/// # Errors
///
/// In an exploration, and if there are none.
pub async fn lookup_host<T: ToSocketAddrs>(host: T) -> io::Result<impl Iterator<Item = SocketAddr>> {
    socket::runtime("net::lookup_host")?;
    host.to_socket_addrs()
}

/// How a stream of the system is read from and written to.
macro_rules! stream {
    ($name:ident) => {
        impl ::real_tokio::io::AsyncRead for $name {
            fn poll_read(
                self: ::std::pin::Pin<&mut Self>,
                context: &mut ::std::task::Context<'_>,
                buffer: &mut ::real_tokio::io::ReadBuf<'_>,
            ) -> ::std::task::Poll<::std::io::Result<()>> {
                let read = |mut system: &_| ::std::io::Read::read(&mut system, buffer.initialize_unfilled());
                self.0.poll(context, read).map_ok(|count| buffer.advance(count))
            }
        }

        impl ::real_tokio::io::AsyncWrite for $name {
            fn poll_write(
                self: ::std::pin::Pin<&mut Self>,
                context: &mut ::std::task::Context<'_>,
                bytes: &[u8],
            ) -> ::std::task::Poll<::std::io::Result<usize>> {
                self.0.poll(context, |mut system| ::std::io::Write::write(&mut system, bytes))
            }

            fn poll_write_vectored(
                self: ::std::pin::Pin<&mut Self>,
                context: &mut ::std::task::Context<'_>,
                slices: &[::std::io::IoSlice<'_>],
            ) -> ::std::task::Poll<::std::io::Result<usize>> {
                self.0.poll(context, |mut system| ::std::io::Write::write_vectored(&mut system, slices))
            }

            fn is_write_vectored(&self) -> bool {
                true
            }

            fn poll_flush(
                self: ::std::pin::Pin<&mut Self>,
                _: &mut ::std::task::Context<'_>,
            ) -> ::std::task::Poll<::std::io::Result<()>> {
                ::std::task::Poll::Ready(Ok(()))
            }

            fn poll_shutdown(
                self: ::std::pin::Pin<&mut Self>,
                _: &mut ::std::task::Context<'_>,
            ) -> ::std::task::Poll<::std::io::Result<()>> {
                ::std::task::Poll::Ready(self.0.system.shutdown(::std::net::Shutdown::Write))
            }
        }
    };
}

use stream;
