//! Why processes end, and what can be wrong with what they ask for.

use std::any::Any;
use std::error::Error;
use std::fmt;
use std::panic::Location;

use super::pid::AnyPid;

/// Why a process has ended.
///
/// ```
/// use drawloom::actor::ExitReason;
///
/// assert!(ExitReason::Normal.is_normal());
/// assert_eq!(ExitReason::because("disk full").to_string(), "disk full");
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum ExitReason {
    /// The process returned.
    Normal,
    /// A supervisor, or another process, asked it to end.
    Shutdown,
    /// As `Shutdown`, with an explanation.
    ShutdownWith(String),
    /// As the reason of a [signal](crate::actor::Ctx::send_exit): it cannot be trapped. As the reason that a process gives
    /// for its own end it is one like any other.
    Kill,
    /// The process was killed.
    Killed,
    /// There was no such process.
    NoProc,
    /// Its node cannot be reached.
    NoConnection,
    /// The process panicked.
    Panic(PanicInfo),
    /// The process ended itself with an error.
    Error(String),
}

impl ExitReason {
    /// Any reason, in the program's own words.
    pub fn because(why: impl Into<String>) -> ExitReason {
        ExitReason::Error(why.into())
    }

    /// Whether it leaves those alone that are linked and do not trap exits.
    pub fn is_normal(&self) -> bool {
        *self == ExitReason::Normal
    }
}

impl fmt::Display for ExitReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExitReason::Normal => f.write_str("normal"),
            ExitReason::Shutdown => f.write_str("shutdown"),
            ExitReason::ShutdownWith(why) => write!(f, "shutdown: {why}"),
            ExitReason::Kill => f.write_str("kill"),
            ExitReason::Killed => f.write_str("killed"),
            ExitReason::NoProc => f.write_str("no such process"),
            ExitReason::NoConnection => f.write_str("no connection"),
            ExitReason::Panic(panic) => write!(f, "panicked: {}", panic.message),
            ExitReason::Error(why) => f.write_str(why),
        }
    }
}

impl Error for ExitReason {}

/// The panic of a process.
///
/// ```
/// use drawloom::actor::{ExitReason, PanicInfo};
///
/// let panic = PanicInfo { message: "out of paper".to_owned() };
/// assert_eq!(ExitReason::Panic(panic).to_string(), "panicked: out of paper");
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct PanicInfo {
    /// The text, if there was any.
    pub message: String,
}

impl PanicInfo {
    pub(crate) fn of(payload: &(dyn Any + Send)) -> PanicInfo {
        let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
        PanicInfo { message: text.unwrap_or_else(|| "a panic without a text".to_owned()) }
    }
}

macro_rules! plain_error {
    ($(#[doc = $doc:literal])+ $Name:ident is $text:literal) => {
        $(#[doc = $doc])+
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub struct $Name;

        impl fmt::Display for $Name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str($text)
            }
        }

        impl Error for $Name {}
    };
}

plain_error! {
    /// There is no such process: it has ended.
    NoProc is "the process has ended"
}

plain_error! {
    /// The name is free, or that of a process that takes other messages.
    BadName is "no process with this name takes such messages"
}

/// A process cannot have a name: the name is somebody's, the process has one already, or has ended.
///
/// ```
/// use drawloom::actor::{self, Ctx};
///
/// actor::run(async |ctx: Ctx<()>| {
///     ctx.register("printer", ctx.me()).unwrap();
///     let other = ctx.spawn(async |mut ctx: Ctx<()>| ctx.recv_message().await);
///     let taken = ctx.register("printer", &other).unwrap_err();
///     assert_eq!(taken.by.as_ref(), Some(ctx.me().any()));
/// });
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NameTaken {
    /// The name.
    pub name: String,
    /// The process that has the name, if that is the reason.
    pub by: Option<AnyPid>,
    /// Where it was asked for.
    pub at: &'static Location<'static>,
    pub(crate) who: AnyPid,
    pub(crate) why: Unnamed,
}

/// Why a process does not get a name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Unnamed {
    /// It is this one's.
    Taken(AnyPid),
    /// The process has this one.
    Named(String),
    /// The process has ended.
    Ended,
}

impl fmt::Display for NameTaken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let NameTaken { name, at, who, why, .. } = self;
        write!(f, "at {at}, {who:?} cannot have the name `{name}`: ")?;
        match why {
            Unnamed::Taken(by) => write!(f, "{by:?} has it"),
            Unnamed::Named(other) => write!(f, "its name is `{other}`, and a process has one name"),
            Unnamed::Ended => f.write_str("it has ended"),
        }
    }
}

impl Error for NameTaken {}
