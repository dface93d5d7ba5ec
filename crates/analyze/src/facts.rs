//! What is known of a file before any path through it is looked at: names, types, which functions suspend, who calls whom.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use drawloom_syntax::{ClassId, Collection, Expr, Function, FunctionId, Kind, Language, Module};

use crate::graph::Certainty;
use crate::types::{Framework, LockKind, Type, constructed, of_rust};

/// What is known of a file.
pub(crate) struct Facts<'m> {
    pub(crate) module: &'m Module,
    /// The function that stands for what is run at the top: the last one.
    pub(crate) top: FunctionId,
    imports: HashMap<&'m str, String>,
    classes: HashMap<&'m str, ClassId>,
    functions: HashMap<&'m str, FunctionId>,
    methods: HashMap<(ClassId, &'m str), FunctionId>,
    /// What runs when a property is assigned.
    setters: HashMap<(ClassId, &'m str), FunctionId>,
    fields: HashMap<(ClassId, String), Type>,
    /// Names that are assigned at the top.
    pub(crate) globals: BTreeMap<String, Type>,
    /// Fields that a class has for itself, although one that it inherits from has them, too.
    own_fields: BTreeSet<(ClassId, String)>,
    /// Names of class-level fields.
    class_level: BTreeSet<(ClassId, String)>,
    /// Of each function, its local variables.
    locals: Vec<BTreeMap<String, Type>>,
    /// Of each function, those of its variables that inner functions use.
    captured: Vec<BTreeSet<String>>,
    /// Of each function, whether awaiting it lets others run.
    pub(crate) suspends: Vec<Certainty>,
    /// Of each function, how many calls of it are in this file.
    pub(crate) calls: Vec<u32>,
    /// The libraries that run tasks here, the first one being the main one.
    pub(crate) frameworks: Vec<Framework>,
    /// Whether the file is a whole program: who runs what is all in it.
    pub(crate) closed: bool,
    /// Whether threads begin here, or locks of threads are made.
    pub(crate) starts_threads: bool,
    /// Whether a task can be cancelled: by somebody in the file, or by whoever uses it.
    pub(crate) cancels: bool,
    /// Attribute names that only one class has.
    unique: HashMap<String, Option<ClassId>>,
}

/// What ends tasks before their time, or the others of a group when one fails.
const CANCELLERS: [&str; 12] = [
    "cancel",
    "wait_for",
    "timeout",
    "timeout_at",
    "move_on_after",
    "move_on_at",
    "fail_after",
    "fail_at",
    "CancelScope",
    "TaskGroup",
    "open_nursery",
    "create_task_group",
];

/// `a.b` for `a::b`.
fn dots(path: &str) -> String {
    path.replace("::", ".")
}

impl<'m> Facts<'m> {
    pub(crate) fn of(module: &'m Module, forced: Option<Framework>) -> Facts<'m> {
        let count = module.functions.len();
        let mut facts = Facts {
            module,
            top: FunctionId(count.saturating_sub(1)),
            imports: module.imports.iter().map(|(name, path)| (name.as_str(), dots(path))).collect(),
            classes: (0..).zip(&module.classes).map(|(at, class)| (class.name.as_str(), ClassId(at))).collect(),
            functions: HashMap::new(),
            methods: HashMap::new(),
            setters: HashMap::new(),
            fields: HashMap::new(),
            globals: BTreeMap::new(),
            own_fields: BTreeSet::new(),
            class_level: BTreeSet::new(),
            locals: vec![BTreeMap::new(); count],
            captured: vec![BTreeSet::new(); count],
            suspends: vec![Certainty::Never; count],
            calls: vec![0; count],
            frameworks: Vec::new(),
            closed: false,
            starts_threads: false,
            cancels: true,
            unique: HashMap::new(),
        };
        for (at, function) in (0..).zip(&module.functions) {
            let id = FunctionId(at);
            match function.class {
                Some(class) => {
                    let of_property = |what: &str| function.decorators.iter().any(|it| it.ends_with(what));
                    if of_property(".setter") {
                        facts.setters.insert((class, function.name.as_str()), id);
                    } else if !of_property(".deleter") {
                        facts.methods.insert((class, function.name.as_str()), id);
                    }
                }
                None if function.parent.is_none() && !function.name.is_empty() => {
                    facts.functions.insert(function.name.as_str(), id);
                }
                None => {}
            }
        }
        facts.frameworks = facts.find_frameworks(forced);
        facts.find_own_fields();
        facts.types();
        facts.captures();
        facts.count_calls();
        facts.summaries();
        facts
    }

    fn find_frameworks(&self, forced: Option<Framework>) -> Vec<Framework> {
        let mut found: Vec<Framework> = forced.into_iter().collect();
        let mut add = |framework: Framework| {
            if !found.contains(&framework) {
                found.push(framework);
            }
        };
        for (_, path) in &self.module.imports {
            let path = dots(path);
            match path.trim_start_matches('.').split('.').next().unwrap_or_default() {
                "trio" | "tractor" => add(Framework::Trio),
                "anyio" => add(Framework::Anyio),
                "asyncio" | "aiohttp" | "uvloop" => add(Framework::Asyncio),
                "threading" | "concurrent" | "queue" | "_thread" | "multiprocessing" => add(Framework::Threads),
                "tokio" | "futures" | "async_std" => add(Framework::Tokio),
                _ => {}
            }
        }
        match self.module.language {
            Language::Rust => add(Framework::Tokio),
            Language::Python if self.module.functions.iter().any(|function| function.is_async) => {
                if !found.iter().any(|found| *found != Framework::Threads) {
                    found.push(Framework::Asyncio);
                }
            }
            Language::Python => {}
        }
        found
    }

    /// The framework of tasks here.
    pub(crate) fn tasks(&self) -> Framework {
        let tasks = self.frameworks.iter().find(|framework| **framework != Framework::Threads);
        tasks.copied().unwrap_or(Framework::Asyncio)
    }

    pub(crate) fn has_threads(&self) -> bool {
        self.frameworks.contains(&Framework::Threads)
    }

    pub(crate) fn function(&self, id: FunctionId) -> &'m Function {
        &self.module.functions[id.0]
    }

    pub(crate) fn class_named(&self, name: &str) -> Option<ClassId> {
        self.classes.get(name.rsplit("::").next().unwrap_or(name)).copied()
    }

    pub(crate) fn function_named(&self, name: &str) -> Option<FunctionId> {
        self.functions.get(name).copied()
    }

    /// A method, of the class or of one that it inherits from in this file.
    pub(crate) fn method(&self, class: ClassId, name: &str) -> Option<FunctionId> {
        self.inherited(&self.methods, class, name)
    }

    /// What runs when a property is assigned.
    pub(crate) fn setter(&self, class: ClassId, name: &str) -> Option<FunctionId> {
        self.inherited(&self.setters, class, name)
    }

    fn inherited(
        &self,
        all: &HashMap<(ClassId, &'m str), FunctionId>,
        class: ClassId,
        name: &str,
    ) -> Option<FunctionId> {
        let mut class = Some(class);
        for _ in 0..8 {
            let id = class?;
            if let Some(found) = all.get(&(id, name)) {
                return Some(*found);
            }
            let bases = &self.module.classes[id.0].bases;
            class = bases.iter().find_map(|base| self.classes.get(base.as_str()).copied()).filter(|base| *base != id);
        }
        None
    }

    /// The class whose field `name` is: the class itself, or one that it inherits from.
    pub(crate) fn owner(&self, class: ClassId, name: &str) -> ClassId {
        let mut found = class;
        let mut at = class;
        for _ in 0..8 {
            if self.fields.contains_key(&(at, name.to_owned())) {
                found = at;
            }
            let base = self.base(at).filter(|_| !self.own_fields.contains(&(at, name.to_owned())));
            match base {
                Some(base) => at = base,
                None => break,
            }
        }
        found
    }

    fn base(&self, class: ClassId) -> Option<ClassId> {
        let bases = &self.module.classes[class.0].bases;
        bases.iter().find_map(|base| self.classes.get(base.as_str()).copied()).filter(|base| *base != class)
    }

    /// The fields that a class sets in an `__init__` of its own which calls that of no base: its objects share methods with those of
    /// the base, and no state.
    fn find_own_fields(&mut self) {
        for (at, class) in self.module.classes.iter().enumerate() {
            let id = ClassId(at);
            let (Some(init), false) = (self.methods.get(&(id, "__init__")), class.bases.is_empty()) else { continue };
            let mut sets: Vec<String> = Vec::new();
            let mut calls = false;
            for statement in &self.function(*init).body {
                statement.walk(&mut |expr| {
                    if let Kind::Attribute(of, field) = &expr.kind {
                        calls |= field == "__init__";
                        if matches!(&of.kind, Kind::Name(own) if own == "self") {
                            sets.push(field.clone());
                        }
                    }
                });
            }
            if !calls {
                self.own_fields.extend(sets.into_iter().map(|field| (id, field)));
            }
        }
    }

    pub(crate) fn field(&self, class: ClassId, name: &str) -> Option<&Type> {
        self.fields.get(&(self.owner(class, name), name.to_owned()))
    }

    pub(crate) fn fields_of(&self, class: ClassId) -> impl Iterator<Item = (&str, &Type)> {
        let all = self.fields.iter().filter(move |((of, _), _)| *of == class);
        all.map(|((_, name), kind)| (name.as_str(), kind))
    }

    pub(crate) fn is_class_level(&self, class: ClassId, name: &str) -> bool {
        self.class_level.contains(&(class, name.to_owned()))
    }

    /// The only class that has a field of this name.
    pub(crate) fn only_owner(&self, name: &str) -> Option<ClassId> {
        self.unique.get(name).copied().flatten()
    }

    pub(crate) fn local(&self, function: FunctionId, name: &str) -> Option<&Type> {
        self.locals[function.0].get(name)
    }

    pub(crate) fn is_captured(&self, function: FunctionId, name: &str) -> bool {
        self.captured[function.0].contains(name)
    }

    /// The full path of a dotted name.
    pub(crate) fn path(&self, expr: &Expr) -> Option<String> {
        let dotted = dots(&expr.dotted()?);
        let (first, rest) = dotted.split_once('.').map_or((dotted.as_str(), None), |(first, rest)| (first, Some(rest)));
        let first = self.imports.get(first).map_or(first, String::as_str);
        Some(match rest {
            Some(rest) => format!("{first}.{rest}"),
            None => first.to_owned(),
        })
    }

    /// A type as written.
    pub(crate) fn written(&self, text: &str) -> Type {
        if self.module.language == Language::Rust {
            return of_rust(&self.without_aliases(text), &|name| self.class_named(name));
        }
        let text = text.trim_matches(['"', '\'']);
        if let Some(part) = text.split('|').find(|part| text.contains('|') && *part != "None") {
            return self.written(part);
        }
        let (name, rest) = text.split_once('[').unwrap_or((text, ""));
        let inner = rest.strip_suffix(']').unwrap_or(rest);
        let last = name.rsplit('.').next().unwrap_or(name);
        if let Some(class) = self.classes.get(last) {
            return Type::Object(*class);
        }
        match last {
            "Optional" | "ClassVar" | "Final" | "Annotated" => {
                return self.written(inner.split(',').next().unwrap_or_default());
            }
            "dict"
            | "Dict"
            | "defaultdict"
            | "DefaultDict"
            | "OrderedDict"
            | "MutableMapping"
            | "WeakValueDictionary" => {
                let value = inner.split_once(',').map_or("", |(_, value)| value);
                return Type::Container(Box::new(self.written(value)));
            }
            "list" | "List" | "set" | "Set" | "deque" | "Deque" | "MutableSet" | "WeakSet" => {
                return Type::Container(Box::new(self.written(inner)));
            }
            "int" | "str" | "float" | "bool" | "bytes" => return Type::Plain,
            "ContextVar" => return Type::Local,
            _ => {}
        }
        let (first, rest) = name.split_once('.').map_or((name, ""), |(first, rest)| (first, rest));
        match self.imports.get(first) {
            Some(path) if rest.is_empty() => constructed(path),
            Some(path) => constructed(&format!("{path}.{rest}")),
            None => Type::Unknown,
        }
    }

    /// A type of Rust as written, with what its names stand for.
    fn without_aliases(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for _ in 0..4 {
            let before = text.clone();
            for (name, stands_for) in &self.module.aliases {
                let known = |part: &str| part == name;
                let mut out = String::new();
                let mut word = String::new();
                for c in text.chars().chain(std::iter::once('\0')) {
                    if c.is_alphanumeric() || c == '_' {
                        word.push(c);
                        continue;
                    }
                    out += if known(&word) { stands_for } else { &word };
                    word.clear();
                    if c != '\0' {
                        out.push(c);
                    }
                }
                text = out;
            }
            if text == before || text.len() > 2000 {
                break;
            }
        }
        text
    }

    /// The type of an expression, as far as it can be told where it stands; `function` is what it is in.
    pub(crate) fn infer(&self, expr: &Expr, function: Option<FunctionId>) -> Type {
        match &expr.kind {
            Kind::Literal(_) => Type::Plain,
            Kind::Collection(Collection::Tuple, _) => Type::Unknown,
            Kind::Collection(_, elements) => {
                let inner = elements.last().map(|last| self.infer(last, function)).unwrap_or_default();
                Type::Container(Box::new(inner))
            }
            Kind::Comprehension { element, lazy: false, .. } => {
                let inner = element.last().map(|last| self.infer(last, function)).unwrap_or_default();
                Type::Container(Box::new(inner))
            }
            Kind::Same(inner) | Kind::Await(inner) | Kind::Question(inner) | Kind::Deref(inner) => {
                self.infer(inner, function)
            }
            Kind::Either(parts) => parts.iter().fold(Type::Unknown, |kind, part| kind.or(&self.infer(part, function))),
            Kind::If(_, body, otherwise) => {
                let last = |all: &[Expr]| all.last().map(|last| self.infer(last, function)).unwrap_or_default();
                last(body).or(&last(otherwise))
            }
            Kind::Name(name) => {
                if let Some(class) = self.class_named(name) {
                    return Type::Class(class);
                }
                let mut at = function;
                while let Some(id) = at {
                    if let Some(kind) = self.local(id, name) {
                        return kind.clone();
                    }
                    at = self.function(id).parent;
                }
                self.globals.get(name).cloned().unwrap_or_default()
            }
            Kind::Attribute(base, name) => match self.infer(base, function) {
                Type::Object(class) | Type::Class(class) => self.field(class, name).cloned().unwrap_or_default(),
                _ => Type::Unknown,
            },
            Kind::Index(base, _) => self.infer(base, function).element(),
            Kind::Call(callee, given) => self.called(callee, given, function),
            _ => Type::Unknown,
        }
    }

    fn called(&self, callee: &Expr, given: &[drawloom_syntax::Argument], function: Option<FunctionId>) -> Type {
        let first = || given.first().map(|given| self.infer(&given.value, function)).unwrap_or_default();
        if let Kind::Attribute(base, method) = &callee.kind {
            match method.as_str() {
                "clone" | "unwrap" | "expect" | "as_ref" | "to_owned" | "borrow" | "into" | "downgrade" | "upgrade"
                | "unwrap_or_default"
                    if self.module.language == Language::Rust =>
                {
                    return self.infer(base, function);
                }
                "create_future" => return Type::Future,
                "setdefault" | "get" | "pop" if !given.is_empty() => {
                    let held = self.infer(base, function).element();
                    let given = given.get(1).map(|given| self.infer(&given.value, function)).unwrap_or_default();
                    return held.or(&given);
                }
                _ => {}
            }
            let of = self.infer(base, function);
            if let Type::Object(class) | Type::Class(class) = of
                && let Some(found) = self.method(class, method)
            {
                return self.returned(found);
            }
        }
        let name = callee.dotted().unwrap_or_default();
        if self.module.language == Language::Rust {
            return self.called_in_rust(&name, first, given, function);
        }
        if let Some(class) = self.class_named(&name).filter(|_| !name.contains('.')) {
            return Type::Object(class);
        }
        if let Some(found) = self.functions.get(name.as_str()) {
            return self.returned(*found);
        }
        if let ("type", Type::Object(class), [_]) = (name.as_str(), first(), given) {
            return Type::Class(class);
        }
        let Some(path) = self.path(callee) else { return Type::Unknown };
        if path.ends_with("defaultdict") {
            let element = match given.first().map(|given| &given.value) {
                Some(maker) => match self.path(maker) {
                    Some(path) => match self.infer(maker, function) {
                        Type::Class(class) => Type::Object(class),
                        _ => constructed(&path),
                    },
                    None => match &maker.kind {
                        Kind::Closure(id) => self.returned(*id),
                        _ => Type::Unknown,
                    },
                },
                None => Type::Unknown,
            };
            return Type::Container(Box::new(element));
        }
        if path == "dataclasses.field" || path.ends_with(".field") || path == "field" || path == "attr.ib" {
            let maker = given.iter().find(|given| matches!(given.name.as_deref(), Some("default_factory" | "factory")));
            return match maker.map(|maker| &maker.value) {
                Some(maker) => match &maker.kind {
                    Kind::Closure(id) => self.returned(*id),
                    _ => match self.infer(maker, function) {
                        Type::Class(class) => Type::Object(class),
                        _ => self.path(maker).map(|path| constructed(&path)).unwrap_or_default(),
                    },
                },
                None => Type::Plain,
            };
        }
        match (constructed(&path), given.first().map(|given| &given.value.kind)) {
            // A semaphore for one is a lock.
            (Type::Lock { waits, kind: LockKind::Semaphore }, Some(Kind::Literal(places))) if places == "1" => {
                Type::Lock { waits, kind: LockKind::Mutex }
            }
            (kind, _) => kind,
        }
    }

    fn called_in_rust(
        &self,
        name: &str,
        first: impl Fn() -> Type,
        given: &[drawloom_syntax::Argument],
        function: Option<FunctionId>,
    ) -> Type {
        let parts: Vec<&str> = name.split("::").collect();
        let [.., of, method] = parts.as_slice() else {
            return match self.class_named(name) {
                Some(class) if name.starts_with(char::is_uppercase) => Type::Object(class),
                _ if name == "Some" || name == "Ok" => first(),
                _ => self.functions.get(name).map(|found| self.returned(*found)).unwrap_or_default(),
            };
        };
        let _ = function;
        match *of {
            "Arc" | "Rc" | "Box" | "Pin" => return first(),
            _ => {}
        }
        if let Some(class) = self.class_named(of) {
            return match self.method(class, method).map(|found| self.returned(found)) {
                Some(kind) if kind != Type::Unknown => kind,
                _ => Type::Object(class),
            };
        }
        match of_rust(of, &|name| self.class_named(name)) {
            Type::Around(kind, _) if !given.is_empty() => Type::Around(kind, Box::new(first())),
            Type::Cell(_) => Type::Cell(Box::new(first())),
            kind => kind,
        }
    }

    /// The type of what a function returns, by its simplest `return`.
    fn returned(&self, id: FunctionId) -> Type {
        let function = self.function(id);
        let mut found = Type::Unknown;
        for statement in &function.body {
            if let Kind::Return(Some(value)) = &statement.kind
                && found == Type::Unknown
                && !matches!(value.kind, Kind::Call(..) if self.module.language == Language::Python && function.parent.is_some())
                && let Kind::Call(callee, _) = &value.kind
            {
                let name = callee.dotted().unwrap_or_default();
                if let Some(class) = self.class_named(&name) {
                    found = Type::Object(class);
                    continue;
                }
                found = self.path(callee).map(|path| constructed(&path)).unwrap_or_default();
            }
        }
        if self.module.language == Language::Rust
            && let (Some(class), true) = (function.class, function.name == "new")
        {
            found = Type::Object(class);
        }
        found
    }

    fn types(&mut self) {
        let module = self.module;
        // Twice: what a field is may be known only when a global is.
        for _ in 0..2 {
            for statement in &self.function(self.top).body {
                statement.walk(&mut |expr| {
                    if let Kind::With(items, ..) = &expr.kind {
                        for (context, target) in items {
                            let pool = self.infer(context, None) == Type::Group;
                            if let (Some(Kind::Name(name)), true) = (target.as_ref().map(|it| &it.kind), pool) {
                                self.globals.insert(name.clone(), Type::Group);
                            }
                        }
                    }
                    let Kind::Assign { targets, value, kind, .. } = &expr.kind else { return };
                    let written = kind.as_ref().map(|kind| self.written(kind)).unwrap_or_default();
                    let inferred = written.or(&self.infer(value, None));
                    for target in targets {
                        match &target.kind {
                            Kind::Name(name) => {
                                let known = self.globals.remove(name).unwrap_or_default();
                                self.globals.insert(name.clone(), known.or(&inferred));
                            }
                            Kind::Index(base, _) => self.element_of(base, &inferred, None),
                            _ => {}
                        }
                    }
                });
            }
            for (at, class) in module.classes.iter().enumerate() {
                for field in &class.fields {
                    let written = field.kind.as_ref().map(|kind| self.written(kind)).unwrap_or_default();
                    let value = field.value.as_ref().map(|value| self.infer(value, None)).unwrap_or_default();
                    let made = field.value.as_ref().is_some_and(|value| match &value.kind {
                        Kind::Collection(..) => true,
                        Kind::Call(callee, _) => {
                            let path = self.path(callee).unwrap_or_default();
                            !matches!(constructed(&path), Type::Unknown)
                                || path.ends_with("defaultdict")
                                || self.class_named(&path).is_some()
                        }
                        _ => false,
                    });
                    if made {
                        self.class_level.insert((ClassId(at), field.name.clone()));
                    }
                    self.field_is(ClassId(at), &field.name, written.or(&value));
                }
            }
            for at in 0..self.top.0 {
                self.types_in(FunctionId(at));
            }
        }
        for (class, name) in self.fields.keys() {
            let entry = self.unique.entry(name.clone()).or_insert(Some(*class));
            if *entry != Some(*class) {
                *entry = None;
            }
        }
    }

    fn field_is(&mut self, class: ClassId, name: &str, kind: Type) {
        let known = self.fields.remove(&(class, name.to_owned())).unwrap_or_default();
        self.fields.insert((class, name.to_owned()), known.or(&kind));
    }

    /// An element of the container `base` is known to be of a type.
    fn element_of(&mut self, base: &Expr, element: &Type, function: Option<FunctionId>) {
        if matches!(element, Type::Unknown | Type::Plain) {
            return;
        }
        let kind = Type::Container(Box::new(element.clone()));
        match &base.kind {
            Kind::Name(name) => {
                if let Some(known) = self.globals.get(name).cloned() {
                    self.globals.insert(name.clone(), known.or(&kind));
                }
            }
            Kind::Attribute(of, name) => {
                if let Type::Object(class) | Type::Class(class) = self.infer(of, function) {
                    let owner = self.owner(class, name);
                    self.field_is(owner, name, kind);
                }
            }
            _ => {}
        }
    }

    fn types_in(&mut self, id: FunctionId) {
        let function = self.function(id);
        for (at, parameter) in function.parameters.iter().enumerate() {
            let is_static = function.decorators.iter().any(|name| name == "staticmethod");
            let kind = match (&function.class, at) {
                (Some(class), 0) if self.module.language == Language::Python && !is_static => {
                    if function.decorators.iter().any(|name| name == "classmethod") {
                        Type::Class(*class)
                    } else {
                        Type::Object(*class)
                    }
                }
                _ => parameter.kind.as_ref().map(|kind| self.written(kind)).unwrap_or_default(),
            };
            self.locals[id.0].insert(parameter.name.clone(), kind);
        }
        for statement in &function.body {
            statement.walk(&mut |expr| match &expr.kind {
                Kind::Assign { targets, value, kind, .. } => {
                    let written = kind.as_ref().map(|kind| self.written(kind)).unwrap_or_default();
                    let inferred = written.or(&self.infer(value, Some(id)));
                    for target in targets {
                        self.target_is(id, target, &inferred, value);
                    }
                }
                Kind::Update(target, ..) => {
                    if let Kind::Name(name) = &target.kind {
                        self.local_is(id, name, Type::Plain);
                    }
                }
                Kind::Call(callee, given) if given.len() == 2 => {
                    if let Kind::Attribute(base, name) = &callee.kind
                        && name == "setdefault"
                    {
                        let element = self.infer(&given[1].value, Some(id));
                        self.element_of(base, &element, Some(id));
                    }
                }
                Kind::Call(callee, given) if given.len() == 1 => {
                    if let Kind::Attribute(base, name) = &callee.kind
                        && matches!(name.as_str(), "append" | "appendleft" | "add")
                    {
                        let element = self.infer(&given[0].value, Some(id));
                        // Tasks in the background are kept somewhere by everybody; those who wait are kept by what is shared.
                        let begins = given[0].value.text().contains("create_task(");
                        if !begins && matches!(element, Type::Future | Type::Lock { .. }) {
                            self.element_of(base, &element, Some(id));
                        }
                    }
                }
                Kind::For { target, iterable, .. } => {
                    let element = self.infer(iterable, Some(id)).element();
                    self.target_is(id, target, &element, target);
                }
                Kind::With(items, ..) => {
                    for (context, target) in items {
                        let kind = self.infer(context, Some(id));
                        if let Some(target) = target {
                            self.target_is(id, target, &kind, context);
                        }
                    }
                }
                _ => {}
            });
        }
    }

    fn target_is(&mut self, id: FunctionId, target: &Expr, kind: &Type, value: &Expr) {
        match &target.kind {
            Kind::Name(name) => self.local_is(id, name, kind.clone()),
            Kind::Same(inner) => self.target_is(id, inner, kind, value),
            Kind::Collection(_, targets) => {
                // `(sender, receiver) = …`
                let values = match &value.kind {
                    Kind::Collection(_, values) if values.len() == targets.len() => Some(values),
                    _ => None,
                };
                for (at, target) in targets.iter().enumerate() {
                    match values {
                        Some(values) => {
                            let kind = self.infer(&values[at], Some(id));
                            self.target_is(id, target, &kind, &values[at]);
                        }
                        None => self.target_is(id, target, &kind.element(), target),
                    }
                }
            }
            Kind::Attribute(base, name) => {
                if let Type::Object(class) | Type::Class(class) = self.infer(base, Some(id)) {
                    let owner = self.owner(class, name);
                    self.field_is(owner, name, kind.clone());
                }
            }
            Kind::Index(base, _) => self.element_of(base, kind, Some(id)),
            _ => {}
        }
    }

    fn local_is(&mut self, id: FunctionId, name: &str, kind: Type) {
        let function = self.function(id);
        if function.globals.iter().any(|global| global == name) {
            let known = self.globals.remove(name).unwrap_or_default();
            self.globals.insert(name.to_owned(), known.or(&kind));
            return;
        }
        if function.nonlocals.iter().any(|outer| outer == name) {
            return;
        }
        let known = self.locals[id.0].remove(name).unwrap_or_default();
        self.locals[id.0].insert(name.to_owned(), known.or(&kind));
    }

    /// Which variables inner functions use. In Rust they take them along: only what is shared by its type is.
    fn captures(&mut self) {
        if self.module.language == Language::Rust {
            return;
        }
        for (at, function) in self.module.functions.iter().enumerate() {
            let Some(parent) = function.parent else { continue };
            for statement in &function.body {
                statement.walk(&mut |expr| {
                    let Kind::Name(name) = &expr.kind else { return };
                    let own = self.locals[at].contains_key(name) && !function.nonlocals.contains(name);
                    if own {
                        return;
                    }
                    let mut outer = Some(parent);
                    while let Some(id) = outer {
                        if self.locals[id.0].contains_key(name) {
                            self.captured[id.0].insert(name.clone());
                            return;
                        }
                        outer = self.function(id).parent;
                    }
                });
            }
        }
    }

    /// The functions that a callee can be.
    pub(crate) fn callee(&self, callee: &Expr, function: Option<FunctionId>) -> Option<FunctionId> {
        match &callee.kind {
            Kind::Name(name) => {
                if let Some((of, method)) = name.rsplit_once("::") {
                    let class = if of == "Self" {
                        function.and_then(|id| self.function(id).class)
                    } else {
                        self.class_named(of)
                    };
                    return match class {
                        Some(class) => self.method(class, method),
                        None => {
                            self.functions.get(method).copied().filter(|_| matches!(of, "self" | "super" | "crate"))
                        }
                    };
                }
                let mut at = function;
                while let Some(id) = at {
                    let inner = self
                        .module
                        .functions
                        .iter()
                        .position(|inner| inner.parent == Some(id) && inner.name == *name && inner.class.is_none());
                    if let Some(inner) = inner {
                        return Some(FunctionId(inner));
                    }
                    at = self.function(id).parent;
                }
                self.functions.get(name.as_str()).copied()
            }
            Kind::Attribute(base, name) => match self.infer(base, function) {
                Type::Object(class) | Type::Class(class) => self.method(class, name),
                _ => None,
            },
            _ => None,
        }
    }

    fn count_calls(&mut self) {
        let module = self.module;
        let top = self.top;
        let scopes = module.functions.iter().enumerate();
        let scopes = scopes.map(|(at, function)| (Some(FunctionId(at)).filter(|id| *id != top), &function.body));
        let (mut closed, mut threads, mut cancels) = (false, false, false);
        for (function, body) in scopes {
            for statement in body {
                statement.walk(&mut |expr| {
                    let Kind::Call(callee, _) = &expr.kind else { return };
                    if let Some(found) = self.callee(callee, function) {
                        self.calls[found.0] += 1;
                    }
                    if let Kind::Attribute(_, name) | Kind::Name(name) = &callee.kind {
                        cancels |= CANCELLERS.contains(&name.as_str());
                        threads |= matches!(
                            name.as_str(),
                            "Thread" | "ThreadPoolExecutor" | "Lock" | "RLock" | "Timer" | "Condition"
                        );
                    }
                    if function.is_none() {
                        let name = callee.dotted().unwrap_or_default();
                        let main = matches!(name.as_str(), "main" | "run" | "demo" | "_main")
                            && self.functions.contains_key(name.as_str());
                        closed |= main || name.ends_with("Thread");
                    }
                    if matches!(callee.kind, Kind::Attribute(..)) {
                        let path = self.path(callee).unwrap_or_default();
                        closed |= matches!(path.as_str(), "asyncio.run" | "trio.run" | "anyio.run" | "uvloop.run");
                        closed |= path.ends_with(".run_until_complete");
                    }
                });
            }
        }
        if module.language == Language::Rust {
            closed = self.functions.contains_key("main");
        }
        self.closed = closed;
        self.cancels = cancels || !closed;
        self.starts_threads = threads && self.has_threads();
    }

    /// Whether a function only says that others have to write it.
    pub(crate) fn is_abstract(&self, id: FunctionId) -> bool {
        let function = self.function(id);
        let mut body = function.body.iter().filter(|it| !matches!(it.kind, Kind::Literal(_) | Kind::Nothing));
        let raises = |it: &Expr| match &it.kind {
            Kind::Raise(Some(raised)) => raised.text().starts_with("NotImplementedError"),
            _ => false,
        };
        let first = body.next();
        let empty = first.is_none() && function.decorators.iter().any(|it| it.ends_with("abstractmethod"));
        empty || first.is_some_and(raises) && body.next().is_none()
    }

    /// Whether awaiting each function can let others run: a fixed point over who awaits whom.
    fn summaries(&mut self) {
        let module = self.module;
        let mut awaited: Vec<Vec<Option<FunctionId>>> = Vec::new();
        let mut known: Vec<Certainty> = Vec::new();
        for (at, function) in module.functions.iter().enumerate() {
            let mut own = Vec::new();
            let mut certain = Certainty::Never;
            for statement in &function.body {
                statement.walk(&mut |expr| match &expr.kind {
                    Kind::Await(inner) => {
                        let callee = match &inner.kind {
                            Kind::Call(callee, _) => self.callee(callee, Some(FunctionId(at))),
                            _ => None,
                        };
                        match callee {
                            Some(found) if self.function(found).is_async => own.push(Some(found)),
                            _ => certain = Certainty::Always,
                        }
                    }
                    Kind::With(_, _, true) | Kind::Select(_) | Kind::Join(_) => certain = certain.max(Certainty::May),
                    Kind::For { is_async: true, .. } => certain = certain.max(Certainty::May),
                    _ => {}
                });
            }
            if function.is_async && self.is_abstract(FunctionId(at)) {
                certain = Certainty::Always;
            }
            awaited.push(own);
            known.push(certain);
        }
        self.suspends = known;
        loop {
            let mut changed = false;
            for (at, awaits) in awaited.iter().enumerate() {
                let most = awaits.iter().flatten().map(|id| self.suspends[id.0]).max().unwrap_or(Certainty::Never);
                if most > self.suspends[at] {
                    self.suspends[at] = most;
                    changed = true;
                }
            }
            if !changed {
                return;
            }
        }
    }
}
