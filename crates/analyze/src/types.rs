//! What is known of the types of values: whether something is a lock, an event, a container, or of a class in the file.

use drawloom_syntax::ClassId;

/// The library that runs tasks.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Framework {
    /// asyncio.
    Asyncio,
    /// trio.
    Trio,
    /// anyio.
    Anyio,
    /// Threads, of either language.
    Threads,
    /// tokio.
    Tokio,
}

impl Framework {
    /// Its name in reports and arguments.
    pub fn word(self) -> &'static str {
        match self {
            Framework::Asyncio => "asyncio",
            Framework::Trio => "trio",
            Framework::Anyio => "anyio",
            Framework::Threads => "threads",
            Framework::Tokio => "tokio",
        }
    }

    /// The framework of that name.
    pub fn named(word: &str) -> Option<Framework> {
        let all = [Framework::Asyncio, Framework::Trio, Framework::Anyio, Framework::Threads, Framework::Tokio];
        all.into_iter().find(|framework| framework.word() == word)
    }
}

/// What is known of a value's type.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) enum Type {
    /// Nothing.
    #[default]
    Unknown,
    /// An object of a class of this file.
    Object(ClassId),
    /// The class itself.
    Class(ClassId),
    /// A lock that protects what is beside it; whether tasks wait for it, and not threads.
    Lock { waits: Waits, kind: LockKind },
    /// A lock of Rust, with what is in it.
    Around(LockKind, Box<Type>),
    /// An event, notification or condition: waited for and set.
    Event(Waits),
    /// A queue or channel.
    Queue(Waits),
    /// A future, task or thread: waited for.
    Future,
    /// A list, set, map; with the type of its elements.
    Container(Box<Type>),
    /// An atomic of Rust.
    Atomic,
    /// A map for concurrent use.
    ConcurrentMap(Box<Type>),
    /// A cell of Rust, for one thread.
    Cell(Box<Type>),
    /// Initialised once; with what is in it.
    Once(Box<Type>),
    /// A notification of tokio.
    Notify,
    /// Each thread or task has its own.
    Local,
    /// A task group or nursery, a set of tasks, a pool of threads.
    Group,
    /// A number, a text, `None`.
    Plain,
}

/// Who waits at it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Waits {
    Tasks,
    Threads,
}

/// What kind of lock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LockKind {
    Mutex,
    ReadWrite,
    Semaphore,
    Condition,
}

impl Type {
    pub(crate) fn is_lock(&self) -> bool {
        matches!(self, Type::Lock { .. })
    }

    /// Whether it is there to order tasks, and not to hold the program's data.
    pub(crate) fn synchronises(&self) -> bool {
        matches!(
            self,
            Type::Lock { .. }
                | Type::Event(_)
                | Type::Queue(_)
                | Type::Notify
                | Type::Once(_)
                | Type::Group
                | Type::Local
        )
    }

    /// The type of its elements.
    pub(crate) fn element(&self) -> Type {
        match self {
            Type::Container(inner) | Type::ConcurrentMap(inner) => (**inner).clone(),
            _ => Type::Unknown,
        }
    }

    /// The better known one of two.
    pub(crate) fn or(self, other: &Type) -> Type {
        match (&self, other) {
            (Type::Unknown | Type::Plain, other) if *other != Type::Unknown => other.clone(),
            (Type::Container(inner), Type::Container(others)) if **inner == Type::Unknown => {
                Type::Container(others.clone())
            }
            _ => self,
        }
    }
}

/// What calling the library function or class `path` gives.
pub(crate) fn constructed(path: &str) -> Type {
    let (module, name) = path.rsplit_once('.').unwrap_or(("", path));
    let root = module.split('.').next().unwrap_or_default();
    let root = if path.starts_with('.') { "." } else { root };
    let waits = match root {
        "threading" | "queue" | "multiprocessing" | "_thread" | "concurrent" => Waits::Threads,
        "asyncio" | "trio" | "anyio" | "curio" | "aiorwlock" | "aiologic" | "uvloop" | "sniffio" => Waits::Tasks,
        "collections" | "weakref" | "array" | "" => Waits::Tasks,
        "contextvars" => return Type::Local,
        // A lock class of another file of the project.
        _ if matches!(name, "create_task" | "ensure_future") => return Type::Future,
        _ if name == "Future" && (root == "." || module.ends_with("futures")) => return Type::Future,
        _ if name.starts_with(char::is_uppercase) && (name.ends_with("Lock") || name.ends_with("Mutex")) => {
            return Type::Lock { waits: Waits::Tasks, kind: LockKind::Mutex };
        }
        _ => return Type::Unknown,
    };
    let library = !matches!(root, "collections" | "weakref" | "array" | "");
    match name {
        "Lock" | "RLock" | "StrictFIFOLock" | "allocate_lock" if library => Type::Lock { waits, kind: LockKind::Mutex },
        "RWLock" if library => Type::Lock { waits, kind: LockKind::ReadWrite },
        "Semaphore" | "BoundedSemaphore" | "CapacityLimiter" if library => {
            Type::Lock { waits, kind: LockKind::Semaphore }
        }
        "Condition" if library => Type::Lock { waits, kind: LockKind::Condition },
        "Event" | "Barrier" if library => Type::Event(waits),
        "Queue" | "LifoQueue" | "PriorityQueue" | "SimpleQueue" | "JoinableQueue" if library => Type::Queue(waits),
        "open_memory_channel" | "create_memory_object_stream" if library => {
            Type::Container(Box::new(Type::Queue(waits)))
        }
        "Future" | "Task" | "Thread" | "Timer" | "Process" if library => Type::Future,
        "create_task" | "ensure_future" | "run_coroutine_threadsafe" if library => Type::Future,
        "TaskGroup"
        | "open_nursery"
        | "create_task_group"
        | "ThreadPoolExecutor"
        | "ProcessPoolExecutor"
        | "ThreadPool"
            if library =>
        {
            Type::Group
        }
        "local" if root == "threading" => Type::Local,
        "dict"
        | "list"
        | "set"
        | "deque"
        | "OrderedDict"
        | "Counter"
        | "WeakSet"
        | "WeakKeyDictionary"
        | "WeakValueDictionary"
        | "bytearray"
        | "ChainMap"
        | "array"
            if !library =>
        {
            Type::Container(Box::default())
        }
        "int" | "str" | "float" | "bool" | "len" | "bytes" if root.is_empty() => Type::Plain,
        _ => Type::Unknown,
    }
}

/// The type that is written `text` in Rust; `class` knows those of the file.
pub(crate) fn of_rust(text: &str, class: &dyn Fn(&str) -> Option<ClassId>) -> Type {
    let text = text.trim_start_matches("&mut ").trim_start_matches("dyn ");
    let (name, rest) = text.split_once('<').unwrap_or((text, ""));
    let inner = rest.strip_suffix('>').unwrap_or(rest);
    let parts = top_level(inner);
    let part = |at: usize| parts.get(at).map_or(Type::Unknown, |part| of_rust(part, class));
    if let Some(class) = class(name) {
        return Type::Object(class);
    }
    match name {
        "Arc" | "Rc" | "Box" | "Pin" | "Option" | "Lazy" | "LazyLock" | "Cow" | "CachePadded" | "State" | "Data"
        | "Extension" | "Weak" => part(0),
        "Mutex" | "FairMutex" | "ReentrantMutex" | "SpinMutex" | "Spin" => {
            Type::Around(LockKind::Mutex, Box::new(part(0)))
        }
        "RwLock" => Type::Around(LockKind::ReadWrite, Box::new(part(0))),
        "Semaphore" => Type::Lock { waits: Waits::Tasks, kind: LockKind::Semaphore },
        "Condvar" => Type::Event(Waits::Threads),
        "Notify" => Type::Notify,
        "Barrier" => Type::Event(Waits::Tasks),
        "Sender" | "Receiver" | "UnboundedSender" | "UnboundedReceiver" | "SyncSender" => Type::Queue(Waits::Tasks),
        "DashMap" | "DashSet" | "SkipMap" | "SkipSet" | "Cache" if !inner.is_empty() => {
            Type::ConcurrentMap(Box::new(part(1).or(&part(0))))
        }
        "RefCell" | "Cell" => Type::Cell(Box::new(part(0))),
        "OnceCell" | "OnceLock" | "Once" | "AtomicWaker" => Type::Once(Box::new(part(0))),
        "ThreadLocal" => Type::Local,
        "HashMap" | "BTreeMap" | "IndexMap" => Type::Container(Box::new(part(1))),
        "Vec" | "VecDeque" | "HashSet" | "BTreeSet" | "LinkedList" | "BinaryHeap" | "Slab" => {
            Type::Container(Box::new(part(0)))
        }
        "JoinSet" | "TaskTracker" => Type::Group,
        "JoinHandle" | "ScopedJoinHandle" => Type::Future,
        "bool" | "u8" | "u16" | "u32" | "u64" | "usize" | "i32" | "i64" | "isize" | "String" | "f64" => Type::Plain,
        name if name.starts_with("Atomic") => Type::Atomic,
        _ => Type::Unknown,
    }
}

/// `A<B,C>,D` at its outermost commas.
fn top_level(text: &str) -> Vec<&str> {
    let mut depth = 0_i32;
    let mut parts = Vec::new();
    let mut from = 0;
    for (at, c) in text.char_indices() {
        match c {
            '<' | '(' | '[' => depth += 1,
            '>' | ')' | ']' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&text[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[from..]);
    parts
}
