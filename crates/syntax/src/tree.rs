//! The tree that both languages are read into: what an analysis of concurrency asks of a program, and nothing else.
//!
//! Everything is an expression, since in Rust control flow is one; a statement of Python is an expression without a value.

/// Where something stands: lines and columns from 1 on, columns in characters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Span {
    /// The first line.
    pub line: u32,
    /// The first column.
    pub column: u32,
    /// The last line.
    pub end_line: u32,
    /// The column after the last one.
    pub end_column: u32,
}

/// A language.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Language {
    /// Python.
    Python,
    /// Rust.
    Rust,
}

/// A function of a module, by index.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FunctionId(pub usize);

/// A class, structure or enumeration of a module, by index.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ClassId(pub usize);

/// One source file.
#[derive(Clone, Debug)]
pub struct Module {
    /// Its language.
    pub language: Language,
    /// Every function, nested ones and closures included.
    pub functions: Vec<Function>,
    /// Every class.
    pub classes: Vec<Class>,
    /// What is run at the top; of Rust, the statics.
    pub body: Vec<Expr>,
    /// Names of types that stand for others, as written.
    pub aliases: Vec<(String, String)>,
    /// Imported names, with the full path of each.
    pub imports: Vec<(String, String)>,
    /// Comments that steer the analysis, and all others.
    pub comments: Vec<Comment>,
    /// What could not be parsed; the rest of the file is here all the same, if the parser recovers.
    pub problems: Vec<Problem>,
}

/// A comment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Comment {
    /// Its line.
    pub line: u32,
    /// Without the sign that begins it.
    pub text: String,
    /// Whether nothing else stands in its line.
    pub alone: bool,
}

/// Something that could not be parsed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problem {
    /// Where.
    pub span: Span,
    /// What the parser says.
    pub message: String,
}

/// A function, method, closure or async block.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its own name; empty for closures.
    pub name: String,
    /// With the names of what it is in: `Class.method`, `outer.inner`.
    pub qualified: String,
    /// The class that it is a method of.
    pub class: Option<ClassId>,
    /// The function that it is in.
    pub parent: Option<FunctionId>,
    /// Whether calling it gives something to be awaited.
    pub is_async: bool,
    /// Whether it yields.
    pub is_generator: bool,
    /// Whether it is a closure, a lambda or an async block.
    pub is_closure: bool,
    /// Whether others can call it: not private by the custom of the language.
    pub public: bool,
    /// The dotted names of its decorators or attributes.
    pub decorators: Vec<String>,
    /// Its parameters, `self` included.
    pub parameters: Vec<Parameter>,
    /// Names that are declared to be the module's.
    pub globals: Vec<String>,
    /// Names that are declared to be an outer function's.
    pub nonlocals: Vec<String>,
    /// What it does.
    pub body: Vec<Expr>,
    /// The whole of it.
    pub span: Span,
    /// Its name, or its first line.
    pub head: Span,
}

/// A parameter.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// Its type as written, without blanks.
    pub kind: Option<String>,
}

/// A class, structure or enumeration.
#[derive(Clone, Debug)]
pub struct Class {
    /// Its name.
    pub name: String,
    /// What it inherits, or which traits it has.
    pub bases: Vec<String>,
    /// Fields declared in its body.
    pub fields: Vec<Field>,
    /// The whole of it.
    pub span: Span,
}

/// A field that is declared in a class's body.
#[derive(Clone, Debug)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Its type as written, without blanks.
    pub kind: Option<String>,
    /// What it begins with.
    pub value: Option<Expr>,
    /// Where.
    pub span: Span,
}

/// An expression.
#[derive(Clone, Debug)]
pub struct Expr {
    /// What it is.
    pub kind: Kind,
    /// Where.
    pub span: Span,
}

/// What `a op= b` does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Change {
    /// `+=`
    More,
    /// `-=`
    Less,
    /// Any other.
    Other,
}

/// What a collection is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Collection {
    /// `[…]`
    List,
    /// `(…)`
    Tuple,
    /// `{…}`
    Set,
    /// `{…: …}`
    Dict,
}

/// What an expression is.
#[derive(Clone, Debug)]
pub enum Kind {
    /// A variable; of Rust also a path, `a::b`.
    Name(String),
    /// `a.b`
    Attribute(Box<Expr>, String),
    /// `a[k]`
    Index(Box<Expr>, Box<Expr>),
    /// A call; that of a method has an attribute as callee.
    Call(Box<Expr>, Vec<Argument>),
    /// `await a`, `a.await`
    Await(Box<Expr>),
    /// A number, a text, `None`, `True` …, as written.
    Literal(String),
    /// Arithmetic and the like: the operands are evaluated in order.
    Binary(Vec<Expr>),
    /// A comparison; `in` and `not in` say so.
    Compare(Vec<Expr>, bool),
    /// `not a`
    Not(Box<Expr>),
    /// `a and b`, `a or b`: what comes later is evaluated under a condition.
    Either(Vec<Expr>),
    /// A collection's elements.
    Collection(Collection, Vec<Expr>),
    /// A comprehension.
    Comprehension {
        /// What it gives.
        element: Vec<Expr>,
        /// Target, iterable, conditions, asynchronous.
        generators: Vec<Generator>,
        /// Whether it is evaluated later, if at all.
        lazy: bool,
    },
    /// A closure, lambda or async block.
    Closure(FunctionId),
    /// Assignments; `declares` of Rust's `let`.
    Assign {
        /// To what; patterns are collections and calls of names.
        targets: Vec<Expr>,
        /// What.
        value: Box<Expr>,
        /// Whether a new variable begins.
        declares: bool,
        /// The type as written, without blanks.
        kind: Option<String>,
    },
    /// `a += b`, and whether it is `+=`, `-=` or another one.
    Update(Box<Expr>, Box<Expr>, Change),
    /// `del a`
    Delete(Vec<Expr>),
    /// `if`; of Rust, a pattern in the condition is an assignment.
    If(Box<Expr>, Vec<Expr>, Vec<Expr>),
    /// `while`, and `loop` with no condition.
    While(Option<Box<Expr>>, Vec<Expr>, Vec<Expr>),
    /// `for`
    For {
        /// The variable.
        target: Box<Expr>,
        /// What it goes over.
        iterable: Box<Expr>,
        /// What is repeated.
        body: Vec<Expr>,
        /// What comes after a loop that was not left.
        otherwise: Vec<Expr>,
        /// `async for`
        is_async: bool,
    },
    /// `match`
    Match(Box<Expr>, Vec<Arm>),
    /// `try`
    Try {
        /// What is tried.
        body: Vec<Expr>,
        /// What is caught.
        handlers: Vec<Handler>,
        /// What comes if nothing was raised.
        otherwise: Vec<Expr>,
        /// What comes in any case.
        finally: Vec<Expr>,
    },
    /// `with`, `async with`
    With(Vec<(Expr, Option<Expr>)>, Vec<Expr>, bool),
    /// `return`
    Return(Option<Box<Expr>>),
    /// `raise`, `panic!`
    Raise(Option<Box<Expr>>),
    /// `assert a`: says what holds, and decides nothing.
    Assert(Box<Expr>),
    /// `a?`
    Question(Box<Expr>),
    /// `break`
    Break(Option<Box<Expr>>),
    /// `continue`
    Continue,
    /// `yield`
    Yield(Option<Box<Expr>>),
    /// A block with variables of its own; its last expression is its value.
    Block(Vec<Expr>),
    /// `*a`
    Deref(Box<Expr>),
    /// `&a`, `a as T`, `(a)`, `*args`: the same thing, seen otherwise.
    Same(Box<Expr>),
    /// `select!`: of each branch the pattern, the future and what follows.
    Select(Vec<(Expr, Expr, Expr)>),
    /// `join!`, `try_join!`: futures that run beside each other.
    Join(Vec<Expr>),
    /// A macro whose tokens nobody can read without expanding it.
    Opaque(String),
    /// A function's or class's definition.
    Definition(FunctionId),
    /// Nothing.
    Nothing,
}

/// One `for … in … if …` of a comprehension.
#[derive(Clone, Debug)]
pub struct Generator {
    /// The variable.
    pub target: Expr,
    /// What it goes over.
    pub iterable: Expr,
    /// The conditions.
    pub conditions: Vec<Expr>,
    /// `async for`
    pub is_async: bool,
}

/// An argument.
#[derive(Clone, Debug)]
pub struct Argument {
    /// The name that it is passed by.
    pub name: Option<String>,
    /// What is passed.
    pub value: Expr,
}

/// One arm of a `match`.
#[derive(Clone, Debug)]
pub struct Arm {
    /// What has to fit.
    pub pattern: Expr,
    /// What else must hold.
    pub guard: Option<Expr>,
    /// What is done then.
    pub body: Vec<Expr>,
}

/// An `except`.
#[derive(Clone, Debug)]
pub struct Handler {
    /// The last parts of the names of what is caught; none for everything.
    pub types: Vec<String>,
    /// The variable.
    pub name: Option<String>,
    /// What is done.
    pub body: Vec<Expr>,
    /// Where.
    pub span: Span,
}

impl Expr {
    /// Nothing, at a place.
    pub fn nothing(span: Span) -> Expr {
        Expr { kind: Kind::Nothing, span }
    }

    /// `a.b.c`, if it is such a chain of names.
    pub fn dotted(&self) -> Option<String> {
        match &self.kind {
            Kind::Name(name) => Some(name.clone()),
            Kind::Attribute(base, name) => Some(format!("{}.{name}", base.dotted()?)),
            Kind::Same(inner) | Kind::Deref(inner) => inner.dotted(),
            _ => None,
        }
    }

    /// A short text of it, the same for the same expression, whatever its layout.
    pub fn text(&self) -> String {
        let all = |all: &[Expr]| all.iter().map(Expr::text).collect::<Vec<_>>().join(", ");
        match &self.kind {
            Kind::Name(name) | Kind::Literal(name) => name.clone(),
            Kind::Attribute(base, name) => format!("{}.{name}", base.text()),
            Kind::Index(base, key) => format!("{}[{}]", base.text(), key.text()),
            Kind::Call(callee, arguments) => {
                // A copy of a key is the same key.
                if let (Kind::Attribute(base, name), []) = (&callee.kind, arguments.as_slice())
                    && matches!(
                        name.as_str(),
                        "to_string" | "to_owned" | "clone" | "into" | "as_str" | "as_ref" | "to_vec"
                    )
                {
                    return base.text();
                }
                let given: Vec<String> = arguments.iter().map(|given| given.value.text()).collect();
                format!("{}({})", callee.text(), given.join(", "))
            }
            Kind::Await(inner) => format!("await {}", inner.text()),
            Kind::Same(inner) | Kind::Question(inner) | Kind::Deref(inner) => inner.text(),
            Kind::Not(inner) => format!("not {}", inner.text()),
            Kind::Collection(_, elements) => format!("({})", all(elements)),
            Kind::Binary(parts) | Kind::Either(parts) | Kind::Compare(parts, _) => {
                parts.iter().map(Expr::text).collect::<Vec<_>>().join("~")
            }
            _ => format!("@{}:{}", self.span.line, self.span.column),
        }
    }
}

impl Expr {
    /// Shows `visit` the expression and everything in it, but for the bodies of functions.
    pub fn walk<'a>(&'a self, visit: &mut dyn FnMut(&'a Expr)) {
        visit(self);
        match &self.kind {
            Kind::Attribute(one, _)
            | Kind::Await(one)
            | Kind::Not(one)
            | Kind::Assert(one)
            | Kind::Same(one)
            | Kind::Question(one)
            | Kind::Deref(one) => {
                one.walk(visit);
            }
            Kind::Index(one, other) | Kind::Update(one, other, _) => {
                one.walk(visit);
                other.walk(visit);
            }
            Kind::Call(callee, given) => {
                callee.walk(visit);
                given.iter().for_each(|given| given.value.walk(visit));
            }
            Kind::Binary(parts)
            | Kind::Compare(parts, _)
            | Kind::Either(parts)
            | Kind::Collection(_, parts)
            | Kind::Delete(parts)
            | Kind::Block(parts)
            | Kind::Join(parts) => parts.iter().for_each(|part| part.walk(visit)),
            Kind::Comprehension { element, generators, .. } => {
                for generator in generators {
                    generator.iterable.walk(visit);
                    generator.target.walk(visit);
                    generator.conditions.iter().for_each(|one| one.walk(visit));
                }
                element.iter().for_each(|one| one.walk(visit));
            }
            Kind::Assign { targets, value, .. } => {
                value.walk(visit);
                targets.iter().for_each(|one| one.walk(visit));
            }
            Kind::If(condition, body, otherwise) => {
                condition.walk(visit);
                body.iter().chain(otherwise).for_each(|one| one.walk(visit));
            }
            Kind::While(condition, body, otherwise) => {
                condition.iter().for_each(|one| one.walk(visit));
                body.iter().chain(otherwise).for_each(|one| one.walk(visit));
            }
            Kind::For { target, iterable, body, otherwise, .. } => {
                iterable.walk(visit);
                target.walk(visit);
                body.iter().chain(otherwise).for_each(|one| one.walk(visit));
            }
            Kind::Match(subject, arms) => {
                subject.walk(visit);
                for arm in arms {
                    arm.pattern.walk(visit);
                    arm.guard.iter().chain(&arm.body).for_each(|one| one.walk(visit));
                }
            }
            Kind::Try { body, handlers, otherwise, finally } => {
                body.iter().for_each(|one| one.walk(visit));
                handlers.iter().flat_map(|handler| &handler.body).for_each(|one| one.walk(visit));
                otherwise.iter().chain(finally).for_each(|one| one.walk(visit));
            }
            Kind::With(items, body, _) => {
                for (context, target) in items {
                    context.walk(visit);
                    target.iter().for_each(|one| one.walk(visit));
                }
                body.iter().for_each(|one| one.walk(visit));
            }
            Kind::Return(one) | Kind::Raise(one) | Kind::Break(one) | Kind::Yield(one) => {
                one.iter().for_each(|one| one.walk(visit));
            }
            Kind::Select(branches) => {
                for (pattern, future, body) in branches {
                    future.walk(visit);
                    pattern.walk(visit);
                    body.walk(visit);
                }
            }
            Kind::Name(_)
            | Kind::Literal(_)
            | Kind::Closure(_)
            | Kind::Continue
            | Kind::Opaque(_)
            | Kind::Definition(_)
            | Kind::Nothing => {}
        }
    }
}
