//! [`split`], as `tokio::io` has it: the halves share a lock, which is under control as well.

use std::fmt;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::{Arc, PoisonError};
use std::task::{Context, Poll};

use drawloom::sync::Mutex;
use real_tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Two halves of one stream.
#[track_caller]
pub fn split<T: AsyncRead + AsyncWrite>(stream: T) -> (ReadHalf<T>, WriteHalf<T>) {
    let is_write_vectored = stream.is_write_vectored();
    let stream = Arc::new(Mutex::new(stream));
    (ReadHalf { stream: stream.clone() }, WriteHalf { stream, is_write_vectored })
}

/// The half of [`split`] that reads.
pub struct ReadHalf<T> {
    stream: Arc<Mutex<T>>,
}

/// The half of [`split`] that writes.
pub struct WriteHalf<T> {
    stream: Arc<Mutex<T>>,
    is_write_vectored: bool,
}

fn with<T, R>(stream: &Mutex<T>, f: impl FnOnce(Pin<&mut T>) -> R) -> R {
    let mut stream = stream.lock().unwrap_or_else(PoisonError::into_inner);
    // SAFETY: it does not move while the `Arc` is shared, and is taken out only if it is `Unpin`.
    f(unsafe { Pin::new_unchecked(&mut *stream) })
}

impl<T> ReadHalf<T> {
    /// Whether both are of the same stream.
    pub fn is_pair_of(&self, other: &WriteHalf<T>) -> bool {
        Arc::ptr_eq(&self.stream, &other.stream)
    }

    /// The stream in one piece.
    ///
    /// # Panics
    ///
    /// If they are not of the same stream.
    #[track_caller]
    pub fn unsplit(self, other: WriteHalf<T>) -> T
    where
        T: Unpin,
    {
        assert!(self.is_pair_of(&other), "Unrelated `split::Write` passed to `split::Read::unsplit`.");
        drop(other);
        let stream = Arc::into_inner(self.stream).expect("there are two halves");
        stream.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> WriteHalf<T> {
    /// Whether both are of the same stream.
    pub fn is_pair_of(&self, other: &ReadHalf<T>) -> bool {
        other.is_pair_of(self)
    }
}

impl<T: AsyncRead> AsyncRead for ReadHalf<T> {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        with(&self.stream, |stream| stream.poll_read(context, buffer))
    }
}

impl<T: AsyncWrite> AsyncWrite for WriteHalf<T> {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        with(&self.stream, |stream| stream.poll_write(context, bytes))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        with(&self.stream, |stream| stream.poll_write_vectored(context, slices))
    }

    fn is_write_vectored(&self) -> bool {
        self.is_write_vectored
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        with(&self.stream, |stream| stream.poll_flush(context))
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        with(&self.stream, |stream| stream.poll_shutdown(context))
    }
}

impl<T> fmt::Debug for ReadHalf<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("split::ReadHalf").finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for WriteHalf<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("split::WriteHalf").finish_non_exhaustive()
    }
}
