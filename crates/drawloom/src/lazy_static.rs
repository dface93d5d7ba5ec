//! The crate `lazy_static` under control: its statics are made again in each execution.
//!
//! In production these names are that crate's own.

pub use crate::__lazy_static as lazy_static;

/// What [`lazy_static!`] declares.
pub trait LazyStatic {
    #[doc(hidden)]
    fn initialize(lazy: &Self);
}

/// Makes the value of a static, if it is not there.
pub fn initialize<T: LazyStatic>(lazy: &T) {
    LazyStatic::initialize(lazy);
}

/// Declares statics that are made when they are first used, as `lazy_static::lazy_static!`.
///
/// ```
/// use drawloom::lazy_static::lazy_static;
///
/// lazy_static! {
///     static ref WORDS: Vec<&'static str> = vec!["warp", "weft"];
/// }
/// assert_eq!(WORDS.len(), 2);
/// ```
#[doc(hidden)]
#[macro_export]
macro_rules! __lazy_static {
    () => {};
    ($(#[$attr:meta])* $vis:vis static ref $name:ident: $t:ty = $init:expr; $($rest:tt)*) => {
        #[allow(missing_copy_implementations, missing_docs, non_camel_case_types, dead_code)]
        $(#[$attr])*
        $vis struct $name {
            __private: (),
        }
        #[doc(hidden)]
        #[allow(missing_docs)]
        $vis static $name: $name = $name { __private: () };
        impl ::std::ops::Deref for $name {
            type Target = $t;

            fn deref(&self) -> &$t {
                static LAZY: $crate::sync::LazyLock<$t> = $crate::sync::LazyLock::new(|| $init);
                $crate::sync::LazyLock::force(&LAZY)
            }
        }
        impl $crate::lazy_static::LazyStatic for $name {
            fn initialize(lazy: &Self) {
                let _ = &**lazy;
            }
        }
        $crate::__lazy_static!($($rest)*);
    };
}
