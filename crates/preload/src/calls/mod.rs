//! The functions of the C library, by what they are for.

mod files;
mod locks;
mod paths;
mod polls;
mod sockets;
mod streams;
mod time;
