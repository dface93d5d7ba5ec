//! How a function gets its names.

/// Defines functions of the C library. Of `name/3(arguments) -> T |at| { … }`, with 3 arguments, the body is what it does
/// within a session; `drawloom_name` has the place of the call as one more argument, and `__wrap_name` finds it by itself.
macro_rules! define {
    ($($(#[$doc:meta])* $name:ident/$count:tt($($argument:ident: $type:ty),*) -> $result:ty |$at:ident| $body:block)*) => {$(
        $(#[$doc])*
        #[unsafe(export_name = concat!("drawloom_", stringify!($name)))]
        pub(crate) extern "C" fn $name($($argument: $type,)* $at: *const drawloom_capi::drawloom_loc) -> $result {
            if drawloom_capi::drawloom_task_self() == 0 {
                static REAL: crate::real::Real = crate::real::Real::new();
                let real = REAL.find(concat!(stringify!($name), "\0"));
                // SAFETY: it is the function of this name, which has these arguments.
                let real = unsafe { std::mem::transmute::<*mut std::ffi::c_void, extern "C" fn($($type),*) -> $result>(real) };
                return real($($argument),*);
            }
            $body
        }
        wrapped!($count, stringify!($name), $name);
    )*};
}

#[cfg(target_arch = "x86_64")]
macro_rules! wrapped {
    (0, $name:expr, $function:path) => { wrapped!(@ "rdi", $name, $function); };
    (1, $name:expr, $function:path) => { wrapped!(@ "rsi", $name, $function); };
    (2, $name:expr, $function:path) => { wrapped!(@ "rdx", $name, $function); };
    (3, $name:expr, $function:path) => { wrapped!(@ "rcx", $name, $function); };
    (4, $name:expr, $function:path) => { wrapped!(@ "r8", $name, $function); };
    // An address of code is a place when it is doubled and made odd.
    (@ $register:literal, $name:expr, $function:path) => {
        std::arch::global_asm!(
            ".text",
            concat!(".globl __wrap_", $name), concat!(".type __wrap_", $name, ",@function"), concat!("__wrap_", $name, ":"),
            concat!("mov ", $register, ", qword ptr [rsp]"),
            concat!("lea ", $register, ", [", $register, " + ", $register, " + 1]"),
            "jmp {function}",
            concat!(".size __wrap_", $name, ", .-__wrap_", $name),
            function = sym $function,
        );
    };
}

#[cfg(target_arch = "aarch64")]
macro_rules! wrapped {
    (0, $name:expr, $function:path) => { wrapped!(@ "x0", $name, $function); };
    (1, $name:expr, $function:path) => { wrapped!(@ "x1", $name, $function); };
    (2, $name:expr, $function:path) => { wrapped!(@ "x2", $name, $function); };
    (3, $name:expr, $function:path) => { wrapped!(@ "x3", $name, $function); };
    (4, $name:expr, $function:path) => { wrapped!(@ "x4", $name, $function); };
    (@ $register:literal, $name:expr, $function:path) => {
        std::arch::global_asm!(
            ".text",
            concat!(".globl __wrap_", $name), concat!(".type __wrap_", $name, ",@function"), concat!("__wrap_", $name, ":"),
            concat!("lsl ", $register, ", x30, #1"),
            concat!("orr ", $register, ", ", $register, ", #1"),
            "b {function}",
            concat!(".size __wrap_", $name, ", .-__wrap_", $name),
            function = sym $function,
        );
    };
}
