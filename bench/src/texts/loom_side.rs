//! The interpreter on loom.

use super::{instruction, program};

/// What the interpreter needs of std's names, and loom does not have.
mod library {
    pub use loom::thread;

    pub mod sync {
        pub use loom::sync::{Condvar, Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard, atomic};

        pub mod mpsc {
            use std::sync::mpsc::{SendError, TrySendError};

            pub use loom::sync::mpsc::{Receiver, Sender, channel};

            /// loom has no bounded channels: nobody has an end of one.
            pub struct SyncSender<T>(std::marker::PhantomData<T>);

            impl<T> SyncSender<T> {
                pub fn send(&self, _value: T) -> Result<(), SendError<T>> {
                    unreachable!("nobody has one")
                }

                pub fn try_send(&self, _value: T) -> Result<(), TrySendError<T>> {
                    unreachable!("nobody has one")
                }
            }

            pub fn sync_channel<T>(_capacity: usize) -> (SyncSender<T>, Receiver<T>) {
                unreachable!("programs with bounded channels are not run on loom")
            }
        }
    }

    /// loom knows no data choices.
    pub fn choose(_outcomes: usize) -> usize {
        unreachable!("programs that choose are not run on loom")
    }
}

#[path = "../../../crates/drawloom/tests/exhaustive/interpreter.rs"]
#[allow(missing_docs)]
pub mod interpreter;
