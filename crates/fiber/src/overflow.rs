//! Stack overflow: named, rather than a bare SIGSEGV.
//!
//! A fault in the guard page of the running fiber's stack prints the task's path and the remedy, then
//! aborts. The process cannot go on: the task may have been stopped in the middle of anything.

use std::sync::Once;

use crate::runtime::current;

/// Installs the handler, once in a process, in front of the one that is there.
#[cfg(unix)]
pub(crate) fn install_handler() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        // SAFETY: `sigaction` is given a handler of the right signature that runs on the alternate
        // stack that std gives each of its threads, and calls only async-signal-safe functions.
        unsafe {
            for signal in [libc::SIGSEGV, libc::SIGBUS] {
                let mut action: libc::sigaction = std::mem::zeroed();
                action.sa_sigaction = on_fault as *const () as usize;
                action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
                libc::sigemptyset(&mut action.sa_mask);
                let mut previous: libc::sigaction = std::mem::zeroed();
                if libc::sigaction(signal, &action, &mut previous) == 0 {
                    let slot = usize::from(signal == libc::SIGBUS);
                    (&raw mut PREVIOUS).cast::<libc::sigaction>().add(slot).write(previous);
                }
            }
        }
    });
}

#[cfg(not(unix))]
pub(crate) fn install_handler() {
    let _ = (Once::new(), current());
}

/// The handlers of SIGSEGV and SIGBUS that were there before; written once, before ours can run.
#[cfg(unix)]
static mut PREVIOUS: [std::mem::MaybeUninit<libc::sigaction>; 2] = [const { std::mem::MaybeUninit::uninit() }; 2];

#[cfg(unix)]
extern "C" fn on_fault(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: the kernel passes a valid siginfo to a handler installed with SA_SIGINFO.
    let address = unsafe { (*info).si_addr() } as usize;
    if let Some(handle) = current() {
        let inner = handle.inner();
        // SAFETY: the running fiber, if there is one, is alive: we are on its stack.
        let overflow = unsafe { inner.running_fiber.as_ref() }.is_some_and(|fiber| {
            let (lowest, _) = fiber.bounds;
            (lowest..lowest + 64 * 1024).contains(&address)
        });
        if overflow {
            let mut text = Text::new();
            text.add("\ndrawloom: task ");
            text.add_path(inner);
            text.add(" overflowed its stack of ");
            text.add_number(inner.stack_size as u64);
            text.add(" bytes. Give tasks more: `stack_size = \"1MiB\"`.\n");
            text.print();
            // SAFETY: aborting is always allowed.
            unsafe { libc::abort() };
        }
    }
    // SAFETY: PREVIOUS was written before this handler could run; a previous handler is called with
    // the very arguments that the kernel gave us.
    unsafe {
        let slot = usize::from(signal == libc::SIGBUS);
        let previous = (&raw const PREVIOUS).cast::<libc::sigaction>().add(slot).read();
        match previous.sa_sigaction {
            libc::SIG_DFL | libc::SIG_IGN => {
                libc::signal(signal, libc::SIG_DFL);
            }
            handler if previous.sa_flags & libc::SA_SIGINFO != 0 => {
                let handler: extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void) =
                    std::mem::transmute(handler);
                handler(signal, info, context);
            }
            handler => {
                let handler: extern "C" fn(libc::c_int) = std::mem::transmute(handler);
                handler(signal);
            }
        }
    }
}

/// Writes a text to standard error, past whatever captures what is printed. A signal handler may do that.
pub(crate) fn print_at_once(text: &str) {
    #[cfg(unix)]
    // SAFETY: the bytes are there, and writing to standard error is signal-safe.
    unsafe {
        libc::write(2, text.as_ptr().cast(), text.len());
    }
    #[cfg(not(unix))]
    drop(std::io::Write::write_all(&mut std::io::stderr(), text.as_bytes()));
}

/// A text made without allocating, as a signal handler must.
#[cfg(unix)]
struct Text {
    bytes: [u8; 512],
    len: usize,
}

#[cfg(unix)]
impl Text {
    fn new() -> Self {
        Text { bytes: [0; 512], len: 0 }
    }

    fn add(&mut self, text: &str) {
        for byte in text.bytes() {
            if self.len < self.bytes.len() {
                self.bytes[self.len] = byte;
                self.len += 1;
            }
        }
    }

    fn add_number(&mut self, mut number: u64) {
        let mut digits = [0u8; 20];
        let mut at = digits.len();
        loop {
            at -= 1;
            digits[at] = b'0' + (number % 10) as u8;
            number /= 10;
            if number == 0 {
                break;
            }
        }
        self.add(std::str::from_utf8(&digits[at..]).unwrap_or("?"));
    }

    /// The spawn path of the running task and, if it has one, its name.
    fn add_path(&mut self, inner: &crate::runtime::Inner) {
        let mut parts = [0u32; 64];
        let mut depth = 0;
        let mut at = inner.running;
        while at != drawloom_engine::TaskId::NONE && depth < parts.len() {
            let task = inner.engine.task(at);
            parts[depth] = task.ordinal;
            depth += 1;
            at = task.parent;
        }
        for (i, part) in parts[..depth].iter().rev().enumerate() {
            if i > 0 {
                self.add(".");
            }
            self.add_number(u64::from(*part));
        }
        if let Some(name) = &inner.engine.task(inner.running).name {
            self.add(" (");
            self.add(name);
            self.add(")");
        }
    }

    fn print(&self) {
        // SAFETY: the bytes are ours and initialised; writing to standard error is signal-safe.
        unsafe { libc::write(2, self.bytes.as_ptr().cast(), self.len) };
    }
}
