//! What the programs send each other: anything, as in Erlang.

use std::fmt;

use drawloom::actor::{AnyPid, Ctx, Down, Exit, ExitReason, MonitorRef, Pid, Received, Ref};

/// A term.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum T {
    Atom(&'static str),
    Int(i64),
    Pid(Pid<T>),
    Process(AnyPid),
    Ref(Ref),
    Monitor(MonitorRef),
    Tuple(Vec<T>),
    List(Vec<T>),
}

pub type C = Ctx<T>;
pub type P = Pid<T>;

pub fn a(name: &'static str) -> T {
    T::Atom(name)
}

pub fn i(number: i64) -> T {
    T::Int(number)
}

pub fn l(items: impl Into<Vec<T>>) -> T {
    T::List(items.into())
}

pub fn t(items: impl Into<Vec<T>>) -> T {
    T::Tuple(items.into())
}

impl From<&P> for T {
    fn from(pid: &P) -> T {
        T::Pid(pid.clone())
    }
}

impl T {
    /// An element of a tuple.
    pub fn at(&self, index: usize) -> &T {
        match self {
            T::Tuple(items) | T::List(items) => &items[index],
            other => panic!("{other} has no elements"),
        }
    }

    pub fn pid(&self) -> P {
        match self {
            T::Pid(pid) => pid.clone(),
            other => panic!("{other} is no pid"),
        }
    }

    /// Whether it is a tuple whose first element is this.
    pub fn is(&self, tag: &'static str) -> bool {
        matches!(self, T::Tuple(items) if items.first() == Some(&T::Atom(tag)))
    }
}

impl fmt::Display for T {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = |f: &mut fmt::Formatter<'_>, items: &[T]| {
            items.iter().enumerate().try_for_each(|(at, item)| write!(f, "{}{item}", if at > 0 { "," } else { "" }))
        };
        match self {
            T::Atom(name) => f.write_str(name),
            T::Int(number) => write!(f, "{number}"),
            T::Pid(pid) => write!(f, "{pid:?}"),
            T::Process(process) => write!(f, "{process:?}"),
            T::Ref(reference) => write!(f, "{reference:?}"),
            T::Monitor(monitor) => write!(f, "{monitor:?}"),
            T::Tuple(items) => {
                f.write_str("{")?;
                all(f, items)?;
                f.write_str("}")
            }
            T::List(items) => {
                f.write_str("[")?;
                all(f, items)?;
                f.write_str("]")
            }
        }
    }
}

/// A reason, as an atom.
pub fn why(reason: &ExitReason) -> T {
    match reason {
        ExitReason::Normal => a("normal"),
        ExitReason::Shutdown => a("shutdown"),
        ExitReason::Kill => a("kill"),
        ExitReason::Killed => a("killed"),
        ExitReason::NoProc => a("noproc"),
        ExitReason::Error(text) => match text.as_str() {
            "boom" => a("boom"),
            "bye" => a("bye"),
            "done" => a("done"),
            other => panic!("{other}"),
        },
        other => panic!("{other}"),
    }
}

pub fn because(text: &str) -> ExitReason {
    ExitReason::because(text)
}

/// Receives this and nothing else.
pub async fn get(ctx: &mut C, wanted: T) -> T {
    ctx.recv_where(move |message| *message == wanted).await
}

/// Receives a tuple with this first element.
pub async fn tagged(ctx: &mut C, tag: &'static str) -> T {
    ctx.recv_where(move |message| message.is(tag)).await
}

/// The next message, whatever it is.
pub async fn any(ctx: &mut C) -> T {
    ctx.recv_message().await
}

pub async fn down(ctx: &mut C, monitor: MonitorRef) -> T {
    why(&ctx.recv_down(monitor).await.reason)
}

pub fn is_down(received: &Received<T>, monitor: MonitorRef) -> bool {
    matches!(received, Received::Down(Down { monitor: of, .. }) if *of == monitor)
}

pub fn is_exit(received: &Received<T>) -> bool {
    matches!(received, Received::Exit(_))
}

/// The reason of an exit signal.
pub async fn exit_of(ctx: &mut C) -> T {
    match ctx.recv_match(is_exit).await {
        Received::Exit(Exit { reason, .. }) => why(&reason),
        _ => unreachable!(),
    }
}

/// Waits for ever.
pub async fn never(ctx: &mut C) {
    ctx.recv_match(|_| false).await;
}
