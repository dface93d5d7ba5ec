//! The receive with clauses.

/// Receives the oldest that matches one of the clauses, as Erlang's `receive`.
///
/// ```
/// use std::time::Duration;
///
/// use drawloom::actor::{self, Ctx, Pid};
/// use drawloom::receive;
///
/// #[derive(Debug)]
/// enum Answer {
///     Number(u32),
///     Text(String),
/// }
///
/// async fn wait(mut ctx: Ctx<Answer>) -> String {
///     receive!(ctx;
///         Answer::Number(n) if *n > 1 => format!("{n}"),
///         Answer::Text(text) => text,
///         down(d) => format!("{:?} has ended: {}", d.process, d.reason),
///         exit(e) => format!("{}", e.reason),
///         after Duration::from_secs(1) => "nothing".to_owned(),
///     )
/// }
/// # let _ = wait;
/// ```
///
/// A clause is a pattern for a message, or `down(pattern)` for a [`Down`](crate::actor::Down), or `exit(pattern)` for an
/// [`Exit`](crate::actor::Exit), with or without a guard. What is bound is a reference in the guard, and the value in the
/// body. A guard owns what it uses, as a `move` closure does. `after` comes last. It is the oldest that matches *any*
/// clause that is taken, not the one that the first clause is for.
#[macro_export]
macro_rules! receive {
    ($ctx:expr; $($clauses:tt)+) => {
        $crate::__receive!(@clauses [$ctx] [::core::option::Option::None] [] [0] $($clauses)+)
    };
}

/// Takes the clauses of a [`receive!`] apart.
#[doc(hidden)]
#[macro_export]
macro_rules! __receive {
    // Each clause: [pattern] [guard] [number] [body].
    (@clauses [$ctx:expr] [$limit:expr] [$($done:tt)*] [$n:expr]) => {
        $crate::__receive!(@write [$ctx] [$limit] [] $($done)*)
    };
    (@clauses [$ctx:expr] [$limit:expr] [$($done:tt)*] [$n:expr] after $time:expr => $body:expr $(,)?) => {
        $crate::__receive!(@write [$ctx] [::core::option::Option::Some($time)] [$body] $($done)*)
    };
    // After a block there need be no comma.
    (@clauses [$ctx:expr] [$limit:expr] [$($done:tt)*] [$n:expr] @ $(, $($rest:tt)*)?) => {
        $crate::__receive!(@clauses [$ctx] [$limit] [$($done)*] [$n] $($($rest)*)?)
    };
    (@clauses [$ctx:expr] [$limit:expr] [$($done:tt)*] [$n:expr] @ $($rest:tt)+) => {
        $crate::__receive!(@clauses [$ctx] [$limit] [$($done)*] [$n] $($rest)+)
    };
    (@clauses [$ctx:expr] [$limit:expr] [$($done:tt)*] [$n:expr] down($p:pat) $(if $g:expr)? => $body:block $($rest:tt)*) => {
        $crate::__receive!(@clauses [$ctx] [$limit]
            [$($done)* { [$crate::actor::Received::Down($p)] [$($g)?] [$n] [$body] }] [$n + 1] @ $($rest)*)
    };
    (@clauses [$ctx:expr] [$limit:expr] [$($done:tt)*] [$n:expr] down($p:pat) $(if $g:expr)? => $body:expr $(, $($rest:tt)*)?) => {
        $crate::__receive!(@clauses [$ctx] [$limit]
            [$($done)* { [$crate::actor::Received::Down($p)] [$($g)?] [$n] [$body] }] [$n + 1] $($($rest)*)?)
    };
    (@clauses [$ctx:expr] [$limit:expr] [$($done:tt)*] [$n:expr] exit($p:pat) $(if $g:expr)? => $body:block $($rest:tt)*) => {
        $crate::__receive!(@clauses [$ctx] [$limit]
            [$($done)* { [$crate::actor::Received::Exit($p)] [$($g)?] [$n] [$body] }] [$n + 1] @ $($rest)*)
    };
    (@clauses [$ctx:expr] [$limit:expr] [$($done:tt)*] [$n:expr] exit($p:pat) $(if $g:expr)? => $body:expr $(, $($rest:tt)*)?) => {
        $crate::__receive!(@clauses [$ctx] [$limit]
            [$($done)* { [$crate::actor::Received::Exit($p)] [$($g)?] [$n] [$body] }] [$n + 1] $($($rest)*)?)
    };
    (@clauses [$ctx:expr] [$limit:expr] [$($done:tt)*] [$n:expr] $p:pat $(if $g:expr)? => $body:block $($rest:tt)*) => {
        $crate::__receive!(@clauses [$ctx] [$limit]
            [$($done)* { [$crate::actor::Received::Message($p)] [$($g)?] [$n] [$body] }] [$n + 1] @ $($rest)*)
    };
    (@clauses [$ctx:expr] [$limit:expr] [$($done:tt)*] [$n:expr] $p:pat $(if $g:expr)? => $body:expr $(, $($rest:tt)*)?) => {
        $crate::__receive!(@clauses [$ctx] [$limit]
            [$($done)* { [$crate::actor::Received::Message($p)] [$($g)?] [$n] [$body] }] [$n + 1] $($($rest)*)?)
    };
    (@write [$ctx:expr] [$limit:expr] [$($expired:expr)?] $({ [$p:pat] [$($g:expr)?] [$n:expr] [$body:expr] })*) => {{
        #[allow(unused_variables, clippy::redundant_guards)]
        let __received = $crate::actor::__private::receive(
            &mut $ctx,
            move |__received| match __received {
                $($p $(if $g)? => ::core::option::Option::Some($n),)*
                #[allow(unreachable_patterns)]
                _ => ::core::option::Option::None,
            },
            $limit,
        )
        .await;
        #[allow(unreachable_patterns, unused_variables)]
        match __received {
            $(::core::option::Option::Some((__clause, $p)) if __clause == $n => $body,)*
            $(::core::option::Option::None => $expired,)?
            _ => ::core::unreachable!("a clause wanted the received message"),
        }
    }};
}
