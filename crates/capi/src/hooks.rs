//! What a language runtime is told, and asked: all of it optional.

use std::cell::{Cell, RefCell};
use std::ffi::{CString, c_char, c_void};

use drawloom_engine::TaskId;
use drawloom_fiber::Foreign;

use crate::execution::{in_hook, running};
use crate::status::drawloom_handle;

/// What a language runtime is told, and asked. Each may be null. None of them may call this library, but for
/// `drawloom_task_number`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct drawloom_hooks {
    /// `sizeof(drawloom_hooks)`.
    pub size: usize,
    /// Passed to each of them.
    pub user: *mut c_void,
    /// An execution begins.
    pub execution_begin: Option<extern "C" fn(user: *mut c_void)>,
    /// An execution is over, and all of its tasks have ended or are abandoned.
    pub execution_end: Option<extern "C" fn(user: *mut c_void)>,
    /// There is a stack between these addresses; for each when the session begins or it is made. A stack keeps its number, from 0
    /// on, and is used by one task after another.
    pub stack_register: Option<extern "C" fn(user: *mut c_void, stack: usize, low: *mut c_void, high: *mut c_void)>,
    /// The same stack is none any more, or the session is over.
    pub stack_unregister: Option<extern "C" fn(user: *mut c_void, stack: usize)>,
    /// On the scheduler's stack: `task` is about to run on this stack; 0: the scheduler itself runs again.
    pub switch_to: Option<
        extern "C" fn(user: *mut c_void, task: drawloom_handle, stack: usize, low: *mut c_void, high: *mut c_void),
    >,
    /// On the task's own stack: it is about to stop. `frame` is room for `frame_size` bytes there.
    pub suspend: Option<extern "C" fn(user: *mut c_void, task: drawloom_handle, frame: *mut c_void)>,
    /// On the task's own stack: it goes on, with the same `frame`.
    pub resume: Option<extern "C" fn(user: *mut c_void, task: drawloom_handle, frame: *mut c_void)>,
    /// On the task's own stack: its entry has returned.
    pub task_end: Option<extern "C" fn(user: *mut c_void, task: drawloom_handle)>,
    /// The task has not ended, the execution has: its stack is forgotten.
    pub abandon: Option<extern "C" fn(user: *mut c_void, task: drawloom_handle)>,
    /// All that would be printed, line by line. Level 0 is what there is to say, level 1 a report.
    pub write: Option<extern "C" fn(user: *mut c_void, level: i32, line: *const c_char)>,
    /// At most 512.
    pub frame_size: usize,
}

/// The room there can be in a frame.
pub(crate) const FRAME_BYTES: usize = 512;

#[repr(align(16))]
struct Frame {
    _room: [u8; FRAME_BYTES],
}

/// The hooks of a session.
#[derive(Clone, Copy)]
pub struct Hooks(drawloom_hooks);

impl Hooks {
    /// No hooks.
    pub const NONE: Hooks = Hooks(drawloom_hooks {
        size: size_of::<drawloom_hooks>(),
        user: std::ptr::null_mut(),
        execution_begin: None,
        execution_end: None,
        stack_register: None,
        stack_unregister: None,
        switch_to: None,
        suspend: None,
        resume: None,
        task_end: None,
        abandon: None,
        write: None,
        frame_size: 0,
    });

    /// These, if their sizes are known ones.
    pub fn of(hooks: &drawloom_hooks) -> Option<Hooks> {
        let is_known = hooks.size == size_of::<drawloom_hooks>() && hooks.frame_size <= FRAME_BYTES;
        is_known.then_some(Hooks(*hooks))
    }

    pub(crate) fn execution_begin(&self) {
        if let Some(hook) = self.0.execution_begin {
            in_hook(|| hook(self.0.user));
        }
    }

    pub(crate) fn execution_end(&self) {
        if let Some(hook) = self.0.execution_end {
            in_hook(|| hook(self.0.user));
        }
    }

    #[inline(always)]
    pub(crate) fn task_end(&self, task: drawloom_handle) {
        if let Some(hook) = self.0.task_end {
            in_hook(|| hook(self.0.user, task));
        }
    }

    pub(crate) fn hear_switches(&self) -> bool {
        self.0.switch_to.is_some() || self.0.suspend.is_some() || self.0.resume.is_some()
    }

    /// Tells of all stacks that there are.
    pub(crate) fn begin_session(&self) {
        if let Some(hook) = self.0.stack_register {
            STACKS.with_borrow(|stacks| {
                for (stack, (low, high)) in stacks.iter().enumerate().filter(|(_, bounds)| bounds.1 > 0) {
                    in_hook(|| hook(self.0.user, stack, *low as *mut c_void, *high as *mut c_void));
                }
            });
        }
    }

    pub(crate) fn end_session(&self) {
        if let Some(hook) = self.0.stack_unregister {
            STACKS.with_borrow(|stacks| {
                for (stack, _) in stacks.iter().enumerate().filter(|(_, bounds)| bounds.1 > 0) {
                    in_hook(|| hook(self.0.user, stack));
                }
            });
        }
    }

    /// Prints a text, line by line.
    pub fn write(&self, level: i32, text: &str) {
        for line in text.lines() {
            match (self.0.write, CString::new(line.replace('\0', " "))) {
                (Some(hook), Ok(line)) => in_hook(|| hook(self.0.user, level, line.as_ptr())),
                _ => eprintln!("{line}"),
            }
        }
    }
}

thread_local! {
    /// The bounds of each stack, by its number; those that are gone have none.
    static STACKS: RefCell<Vec<(usize, usize)>> = const { RefCell::new(Vec::new()) };
    /// The hooks of the session that runs on this thread, whether one of its executions runs or not.
    static SESSION: Cell<Hooks> = const { Cell::new(Hooks::NONE) };
}

/// Makes these the hooks of this thread's session, and says which were before.
pub(crate) fn set_session(hooks: Hooks) -> Hooks {
    SESSION.replace(hooks)
}

/// What the executor of fibers tells, as the hooks of the running session hear it.
pub(crate) struct Told;

impl Told {
    fn hooks(&self) -> Hooks {
        // When the thread ends there may be none any more.
        SESSION.try_with(Cell::get).unwrap_or(Hooks::NONE)
    }

    fn handle(&self, task: TaskId) -> drawloom_handle {
        running().map_or(0, |here| here.handle_of(task))
    }
}

impl Foreign for Told {
    fn stack_made(&self, low: usize, high: usize) -> usize {
        let stack = STACKS.with_borrow_mut(|stacks| {
            let at = stacks.iter().position(|bounds| *bounds == (0, 0)).unwrap_or(stacks.len());
            stacks.resize(stacks.len().max(at + 1), (0, 0));
            stacks[at] = (low, high);
            at
        });
        let hooks = self.hooks();
        if let Some(hook) = hooks.0.stack_register {
            in_hook(|| hook(hooks.0.user, stack, low as *mut c_void, high as *mut c_void));
        }
        stack
    }

    fn stack_gone(&self, stack: usize) {
        // When the thread ends there may be no table any more.
        let known = STACKS.try_with(|stacks| stacks.borrow_mut()[stack] = (0, 0));
        let hooks = self.hooks();
        if let (Ok(()), Some(hook)) = (known, hooks.0.stack_unregister) {
            in_hook(|| hook(hooks.0.user, stack));
        }
    }

    fn hears_switches(&self) -> bool {
        self.hooks().hear_switches()
    }

    fn switches_to(&self, task: Option<(TaskId, usize)>) {
        let hooks = self.hooks();
        let Some(hook) = hooks.0.switch_to else { return };
        let null = std::ptr::null_mut;
        match task {
            None => in_hook(|| hook(hooks.0.user, 0, usize::MAX, null(), null())),
            Some((task, stack)) => {
                let (low, high) = STACKS.with_borrow(|stacks| stacks[stack]);
                let handle = self.handle(task);
                in_hook(|| hook(hooks.0.user, handle, stack, low as *mut c_void, high as *mut c_void));
            }
        }
    }

    fn stops(&self, task: TaskId, leave: &mut dyn FnMut()) {
        let hooks = self.hooks();
        let handle = self.handle(task);
        let mut frame = Frame { _room: [0; FRAME_BYTES] };
        let room: *mut c_void = (&raw mut frame).cast();
        if let Some(hook) = hooks.0.suspend {
            in_hook(|| hook(hooks.0.user, handle, room));
        }
        leave();
        if let Some(hook) = hooks.0.resume {
            in_hook(|| hook(hooks.0.user, handle, room));
        }
        // Whoever scans this stack finds the frame here until the task goes on.
        std::hint::black_box(&frame);
    }

    fn abandons(&self, task: TaskId) {
        let hooks = self.hooks();
        if let Some(hook) = hooks.0.abandon {
            let handle = self.handle(task);
            in_hook(|| hook(hooks.0.user, handle));
        }
    }
}
