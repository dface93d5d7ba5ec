//! What is not under control, and says so.

use std::io;

use crate::context;

/// Of `call`, which reaches outside of the exploration.
pub(crate) fn error(call: &str) -> io::Error {
    let message = format!(
        "drawloom-tokio: `tokio::{call}` is not under control: it reaches outside the test; use \
             `tokio::io::duplex` or a trait of your own instead"
    );
    io::Error::new(io::ErrorKind::Unsupported, message)
}

/// As [`error`], of what tokio does only inside of a runtime.
#[track_caller]
pub(crate) fn outside(call: &str) -> io::Error {
    let _ = context::current();
    error(call)
}

/// As [`error`], of what tokio does on a thread that blocks: none is started when the runtime has ended.
#[track_caller]
pub(crate) fn blocking(call: &str) -> io::Error {
    match context::current().has_ended() {
        true => io::Error::other("background task failed"),
        false => error(call),
    }
}

/// Types that nobody can make, since each way to make one fails.
macro_rules! stream {
    ($(#[$attribute:meta])* $name:ident) => {
        $(#[$attribute])*
        #[derive(Debug)]
        pub enum $name {}

        impl ::real_tokio::io::AsyncRead for $name {
            fn poll_read(
                self: ::std::pin::Pin<&mut Self>,
                _: &mut ::std::task::Context<'_>,
                _: &mut ::real_tokio::io::ReadBuf<'_>,
            ) -> ::std::task::Poll<::std::io::Result<()>> {
                match *self {}
            }
        }

        impl ::real_tokio::io::AsyncWrite for $name {
            fn poll_write(
                self: ::std::pin::Pin<&mut Self>,
                _: &mut ::std::task::Context<'_>,
                _: &[u8],
            ) -> ::std::task::Poll<::std::io::Result<usize>> {
                match *self {}
            }

            fn poll_flush(
                self: ::std::pin::Pin<&mut Self>,
                _: &mut ::std::task::Context<'_>,
            ) -> ::std::task::Poll<::std::io::Result<()>> {
                match *self {}
            }

            fn poll_shutdown(
                self: ::std::pin::Pin<&mut Self>,
                _: &mut ::std::task::Context<'_>,
            ) -> ::std::task::Poll<::std::io::Result<()>> {
                match *self {}
            }
        }
    };
}

pub(crate) use stream;
