//! Models from sequential implementations.

use std::fmt::Debug;
use std::hash::Hash;

use super::{Model, Next, Token};

/// A sequential implementation: what it returns is what must come back. Every `Spec` is a [`Model`], whose state is
/// the implementation itself and which begins as the value that is given to the checker.
///
/// ```
/// use drawloom_check::model::Spec;
/// use drawloom_check::{History, linearizable};
///
/// #[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
/// struct Clicks(u32);
///
/// impl Spec for Clicks {
///     type Op = &'static str;
///     type Ret = u32;
///
///     fn apply(&mut self, op: &Self::Op) -> u32 {
///         if *op == "click" {
///             self.0 += 1;
///         }
///         self.0
///     }
/// }
///
/// let both_saw_one = History::builder().invoke(0, "click").invoke(1, "click").ok(0, 1).ok(1, 1).build()?;
/// assert!(linearizable::check(&Clicks(0), &both_saw_one).is_illegal());
/// # Ok::<(), drawloom_check::HistoryError>(())
/// ```
pub trait Spec: Clone + Eq + Hash + Debug {
    /// The operations.
    type Op: Eq + Hash + Debug;
    /// The results.
    type Ret: Eq + Hash + Debug;

    /// Carries out an operation.
    fn apply(&mut self, op: &Self::Op) -> Self::Ret;

    /// Whether the operation never changes anything. See [`Model::observer`].
    fn read_only(op: &Self::Op) -> bool {
        let _ = op;
        false
    }

    /// The part that the operation is confined to. See [`Model::partition`].
    fn part(op: &Self::Op) -> Option<Token<'_>> {
        let _ = op;
        None
    }
}

impl<S: Spec> Model for S {
    type State = S;
    type Op = S::Op;
    type Ret = S::Ret;

    fn init(&self) -> S {
        self.clone()
    }

    fn step(&self, state: &S, op: &S::Op, ret: Option<&S::Ret>, next: &mut Next<S>) {
        let returned = next.copy(state).apply(op);
        if ret.is_some_and(|ret| *ret != returned) {
            next.take_back();
        }
    }

    fn observer(&self, op: &S::Op, _: Option<&S::Ret>) -> bool {
        S::read_only(op)
    }

    fn partition<'a>(&self, op: &'a S::Op) -> Option<Token<'a>> {
        S::part(op)
    }

    fn explain(&self, state: &S, op: &S::Op, _: &S::Ret) -> String {
        let returned = state.clone().apply(op);
        format!("it would have returned {returned:?}, since the state is {state:?}")
    }
}

/// Makes a [`Spec`] of a type and some of its methods: an enum of operations, an enum of results, and the `impl`.
///
/// Methods marked `read` never change anything.
///
/// ```
/// use drawloom_check::{History, linearizable, spec};
///
/// #[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
/// struct Cell {
///     value: u32,
/// }
///
/// impl Cell {
///     fn set(&mut self, value: u32) {
///         self.value = value;
///     }
///     fn get(&self) -> u32 {
///         self.value
///     }
/// }
///
/// spec! {
///     Cell: CellOp -> CellRet {
///         Set = set(value: u32) -> (),
///         read Get = get() -> u32,
///     }
/// }
///
/// let history =
///     History::builder().call(0, CellOp::Set(1), CellRet::Set(())).call(1, CellOp::Get(), CellRet::Get(0)).build()?;
/// assert!(linearizable::check(&Cell::default(), &history).is_illegal());
/// # Ok::<(), drawloom_check::HistoryError>(())
/// ```
#[macro_export]
macro_rules! spec {
    ($type:ty: $op:ident -> $ret:ident { $($rules:tt)* }) => {
        $crate::spec!(@parse $type, $op, $ret, [] [$($rules)*]);
    };
    (@parse $type:ty, $op:ident, $ret:ident, [$($done:tt)*]
        [read $name:ident = $method:ident($($arg:ident: $arg_type:ty),*) -> $out:ty $(, $($rest:tt)*)?]) => {
        $crate::spec!(@parse $type, $op, $ret,
            [$($done)* ($name, $method, ($($arg: $arg_type),*), $out, true)] [$($($rest)*)?]);
    };
    (@parse $type:ty, $op:ident, $ret:ident, [$($done:tt)*]
        [$name:ident = $method:ident($($arg:ident: $arg_type:ty),*) -> $out:ty $(, $($rest:tt)*)?]) => {
        $crate::spec!(@parse $type, $op, $ret,
            [$($done)* ($name, $method, ($($arg: $arg_type),*), $out, false)] [$($($rest)*)?]);
    };
    (@parse $type:ty, $op:ident, $ret:ident,
        [$(($name:ident, $method:ident, ($($arg:ident: $arg_type:ty),*), $out:ty, $read:literal))*] []) => {
        /// The operations.
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        #[allow(missing_docs)]
        pub enum $op { $($name($($arg_type),*)),* }

        /// The results.
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        #[allow(missing_docs)]
        pub enum $ret { $($name($out)),* }

        impl $crate::model::Spec for $type {
            type Op = $op;
            type Ret = $ret;

            fn apply(&mut self, op: &$op) -> $ret {
                match op { $($op::$name($($arg),*) => $ret::$name(self.$method($($arg.clone()),*))),* }
            }

            fn read_only(op: &$op) -> bool {
                match op { $($op::$name(..) => $read),* }
            }
        }
    };
}
