//! Rust, by syn. Bodies of the futures' own macros (`select!`, `join!`) are read here, since to syn they are tokens; what users'
//! macros stand for is not known.

use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{self, Expr as Node, Item, Pat, Stmt, Token, Type};

use crate::{
    Argument, Arm, Change, Class, ClassId, Collection, Comment, Expr, Field, Function, FunctionId, Kind, Language,
    Module, Parameter, Parser, Span, broken,
};

/// Rust.
pub(crate) struct Rust;

/// What is nested deeper is left out: the tree is walked by recursion.
const DEEPEST: usize = 300;

impl Parser for Rust {
    fn language(&self) -> Language {
        Language::Rust
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["rs"]
    }

    fn parse(&self, source: &str) -> Module {
        let start = Span { line: 1, column: 1, end_line: 1, end_column: 1 };
        if crate::too_deep(source) {
            return broken(Language::Rust, start, crate::TOO_DEEP.into());
        }
        let file = match syn::parse_file(source) {
            Ok(file) => file,
            Err(error) => return broken(Language::Rust, span_of(error.span()), error.to_string()),
        };
        let mut module = broken(Language::Rust, start, String::new());
        module.problems.clear();
        module.comments = comments(source);
        let mut reader = Reader { module, parents: Vec::new(), depth: 0 };
        reader.items(&file.items);
        reader.module
    }
}

/// Line comments. One inside of a text is taken for a comment, which harms nothing: only directives are looked for.
fn comments(source: &str) -> Vec<Comment> {
    let lines = (1..).zip(source.lines());
    let found = lines.filter_map(|(line, text)| {
        let at = text.find("//")?;
        let alone = text[..at].trim().is_empty();
        Some(Comment { line, text: text[at..].trim_start_matches(['/', '!']).trim().to_owned(), alone })
    });
    found.collect()
}

fn span_of(span: proc_macro2::Span) -> Span {
    let (start, end) = (span.start(), span.end());
    Span {
        line: start.line as u32,
        column: start.column as u32 + 1,
        end_line: end.line as u32,
        end_column: end.column as u32 + 1,
    }
}

/// Where a node stands: the one token that says most of it. Joining all tokens would take time that is quadratic.
trait Placed {
    fn token(&self) -> proc_macro2::Span;
}

fn span(node: &impl Placed) -> Span {
    span_of(node.token())
}

impl Placed for syn::Ident {
    fn token(&self) -> proc_macro2::Span {
        self.span()
    }
}

impl Placed for syn::Path {
    fn token(&self) -> proc_macro2::Span {
        self.segments.first().map_or_else(proc_macro2::Span::call_site, |part| part.ident.span())
    }
}

impl Placed for syn::Macro {
    fn token(&self) -> proc_macro2::Span {
        self.path.token()
    }
}

impl Placed for syn::Signature {
    fn token(&self) -> proc_macro2::Span {
        self.asyncness.as_ref().map_or(self.fn_token.span, |token| token.span)
    }
}

impl Placed for Type {
    fn token(&self) -> proc_macro2::Span {
        match self {
            Type::Path(it) => it.path.token(),
            Type::Reference(it) => it.and_token.span,
            Type::Tuple(it) => it.paren_token.span.open(),
            Type::Array(it) => it.bracket_token.span.open(),
            Type::Paren(it) => it.elem.token(),
            Type::TraitObject(it) => {
                it.dyn_token.as_ref().map_or_else(proc_macro2::Span::call_site, |token| token.span)
            }
            _ => proc_macro2::Span::call_site(),
        }
    }
}

impl Placed for Pat {
    fn token(&self) -> proc_macro2::Span {
        match self {
            Pat::Ident(it) => it.ident.span(),
            Pat::Reference(it) => it.and_token.span,
            Pat::Paren(it) => it.paren_token.span.open(),
            Pat::Tuple(it) => it.paren_token.span.open(),
            Pat::TupleStruct(it) => it.path.token(),
            Pat::Struct(it) => it.path.token(),
            Pat::Slice(it) => it.bracket_token.span.open(),
            Pat::Wild(it) => it.underscore_token.span,
            Pat::Or(it) => it.cases.first().map_or_else(proc_macro2::Span::call_site, Placed::token),
            Pat::Path(it) => it.path.token(),
            Pat::Lit(it) => it.lit.span(),
            Pat::Guard(it) => it.pat.token(),
            Pat::Type(it) => it.pat.token(),
            _ => proc_macro2::Span::call_site(),
        }
    }
}

impl Placed for Stmt {
    fn token(&self) -> proc_macro2::Span {
        match self {
            Stmt::Local(it) => it.let_token.span,
            Stmt::Expr(node, _) => node.token(),
            Stmt::Macro(it) => it.mac.token(),
            Stmt::Item(_) => proc_macro2::Span::call_site(),
        }
    }
}

impl Placed for Node {
    fn token(&self) -> proc_macro2::Span {
        let mut node = self;
        // Chains can be longer than the stack is deep.
        loop {
            node = match node {
                Node::Path(it) => return it.path.token(),
                Node::Lit(it) => return it.lit.span(),
                Node::MethodCall(it) => return it.method.span(),
                Node::Await(it) => return it.await_token.span,
                Node::Call(it) => &it.func,
                Node::Field(it) => &it.base,
                Node::Index(it) => &it.expr,
                Node::Try(it) => &it.expr,
                Node::Cast(it) => &it.expr,
                Node::Binary(it) => &it.left,
                Node::Assign(it) => &it.left,
                Node::Unary(it) => &it.expr,
                Node::Reference(it) => return it.and_token.span,
                Node::Paren(it) => return it.paren_token.span.open(),
                Node::Tuple(it) => return it.paren_token.span.open(),
                Node::Array(it) => return it.bracket_token.span.open(),
                Node::Repeat(it) => return it.bracket_token.span.open(),
                Node::Struct(it) => return it.path.token(),
                Node::If(it) => return it.if_token.span,
                Node::Let(it) => return it.let_token.span,
                Node::While(it) => return it.while_token.span,
                Node::Loop(it) => return it.loop_token.span,
                Node::ForLoop(it) => return it.for_token.span,
                Node::Match(it) => return it.match_token.span,
                Node::Return(it) => return it.return_token.span,
                Node::Break(it) => return it.break_token.span,
                Node::Continue(it) => return it.continue_token.span,
                Node::Block(it) => return it.block.brace_token.span.open(),
                Node::Unsafe(it) => return it.unsafe_token.span,
                Node::Async(it) => return it.async_token.span,
                Node::Closure(it) => return it.inputs_begin.spans[0],
                Node::Macro(it) => return it.mac.token(),
                Node::Range(it) => match &it.start {
                    Some(start) => start,
                    None => return proc_macro2::Span::call_site(),
                },
                Node::Group(it) => &it.expr,
                _ => return proc_macro2::Span::call_site(),
            };
        }
    }
}

struct Reader {
    module: Module,
    parents: Vec<FunctionId>,
    depth: usize,
}

/// What a function is in.
#[derive(Clone, Copy)]
struct Around {
    class: Option<ClassId>,
}

impl Reader {
    fn items(&mut self, items: &[Item]) {
        for item in items {
            self.item(item);
        }
    }

    fn item(&mut self, item: &Item) -> Option<FunctionId> {
        match item {
            Item::Fn(it) => {
                let public = !matches!(it.vis, syn::Visibility::Inherited);
                return Some(self.function(&it.sig, &it.block, &it.attrs, public, Around { class: None }));
            }
            Item::Impl(it) => {
                let class = self.class_named(&base(&kind(&it.self_ty)), span(&*it.self_ty));
                if let Some((implemented, _)) = &it.trait_ {
                    self.module.classes[class.0].bases.push(path(implemented));
                }
                let of_trait = it.trait_.is_some();
                for part in &it.items {
                    if let syn::ImplItem::Fn(it) = part {
                        let public = of_trait || !matches!(it.vis, syn::Visibility::Inherited);
                        self.function(&it.sig, &it.block, &it.attrs, public, Around { class: Some(class) });
                    }
                }
            }
            Item::Trait(it) => {
                let class = self.class_named(&it.ident.to_string(), span(&it.ident));
                for part in &it.items {
                    if let syn::TraitItem::Fn(it) = part
                        && let Some(block) = &it.default
                    {
                        self.function(&it.sig, block, &it.attrs, true, Around { class: Some(class) });
                    }
                }
            }
            Item::Struct(it) => {
                let class = self.class_named(&it.ident.to_string(), span(&it.ident));
                self.fields(class, &it.fields);
            }
            Item::Enum(it) => {
                self.class_named(&it.ident.to_string(), span(&it.ident));
            }
            Item::Static(it) => {
                let value = Box::new(self.expression(&it.expr));
                let target = Expr { kind: Kind::Name(it.ident.to_string()), span: span(&it.ident) };
                let at = span(&it.ident);
                let assign = Kind::Assign { targets: vec![target], value, declares: true, kind: Some(kind(&it.ty)) };
                self.module.body.push(Expr { kind: assign, span: at });
            }
            Item::Mod(it) => {
                if let Some((_, items)) = &it.content {
                    self.items(items);
                }
            }
            Item::Type(it) => self.module.aliases.push((it.ident.to_string(), kind(&it.ty))),
            Item::Use(it) => self.uses(&it.tree, String::new()),
            Item::Macro(it) => {
                let name = it.mac.path.segments.last().map(|part| part.ident.to_string()).unwrap_or_default();
                // `thread_local! { static … }`, `lazy_static! { static ref … }`
                if name == "thread_local" || name == "lazy_static" {
                    self.statics(&it.mac, &name);
                }
            }
            _ => {}
        }
        None
    }

    fn statics(&mut self, mac: &syn::Macro, name: &str) {
        let text = mac.tokens.to_string();
        // Names alone: the values are never looked into.
        for part in text.split("static ").skip(1) {
            let part = part.trim_start_matches("ref ").trim_start();
            let ident: String = part.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            let at = span(mac);
            let whole: String = part.split([';', '=']).next().unwrap_or_default().split_whitespace().collect();
            let written = whole.split_once(':').map(|(_, kind)| kind.to_owned()).unwrap_or_default();
            let written = if name == "thread_local" { format!("ThreadLocal<{written}>") } else { written };
            let target = Expr { kind: Kind::Name(ident), span: at };
            let assign = Kind::Assign {
                targets: vec![target],
                value: Box::new(Expr::nothing(at)),
                declares: true,
                kind: Some(written),
            };
            self.module.body.push(Expr { kind: assign, span: at });
        }
    }

    fn uses(&mut self, tree: &syn::UseTree, before: String) {
        let joined = |name: &syn::Ident| match before.as_str() {
            "" => name.to_string(),
            before => format!("{before}::{name}"),
        };
        match tree {
            syn::UseTree::Path(it) => self.uses(&it.tree, joined(&it.ident)),
            syn::UseTree::Name(it) => {
                let pair = if it.ident == "self" {
                    (before.rsplit("::").next().unwrap_or_default().to_owned(), before)
                } else {
                    (it.ident.to_string(), joined(&it.ident))
                };
                self.module.imports.push(pair);
            }
            syn::UseTree::Rename(it) => self.module.imports.push((it.rename.to_string(), joined(&it.ident))),
            syn::UseTree::Glob(_) => self.module.imports.push(("*".to_owned(), before)),
            syn::UseTree::Group(it) => {
                for tree in &it.items {
                    self.uses(tree, before.clone());
                }
            }
        }
    }

    fn class_named(&mut self, name: &str, span: Span) -> ClassId {
        if let Some(at) = self.module.classes.iter().position(|class| class.name == name) {
            return ClassId(at);
        }
        self.module.classes.push(Class { name: name.to_owned(), bases: Vec::new(), fields: Vec::new(), span });
        ClassId(self.module.classes.len() - 1)
    }

    fn fields(&mut self, class: ClassId, fields: &syn::Fields) {
        for (at, field) in fields.iter().enumerate() {
            let name = field.ident.as_ref().map_or_else(|| at.to_string(), ToString::to_string);
            let field = Field { name, kind: Some(kind(&field.ty)), value: None, span: span(&field.ty) };
            self.module.classes[class.0].fields.push(field);
        }
    }

    fn function(
        &mut self,
        signature: &syn::Signature,
        block: &syn::Block,
        attributes: &[syn::Attribute],
        public: bool,
        around: Around,
    ) -> FunctionId {
        let name = signature.ident.to_string();
        let class = around.class.map(|class| self.module.classes[class.0].name.clone());
        let parent = self.parents.last().copied();
        let outer = parent.map(|id| self.module.functions[id.0].qualified.clone());
        let prefix = class.or(outer);
        let qualified = prefix.map_or_else(|| name.clone(), |outer| format!("{outer}.{name}"));
        let of_self = around.class.map(|class| self.module.classes[class.0].name.clone());
        let parameters = signature.inputs.iter().map(|input| match input {
            syn::FnArg::Receiver(it) => {
                let own = of_self.clone().unwrap_or_default();
                let kind = match &it.kind {
                    syn::ReceiverKind::Reference(_, _, mutability) if mutability.is_none() => own,
                    syn::ReceiverKind::Typed(..) => own,
                    // What is borrowed exclusively, or owned, nobody else uses.
                    _ => format!("&mut {own}"),
                };
                Parameter { name: "self".to_owned(), kind: Some(kind) }
            }
            syn::FnArg::Typed(it) => {
                Parameter { name: pattern_name(&it.pat).unwrap_or_default(), kind: Some(kind(&it.ty)) }
            }
        });
        let id = FunctionId(self.module.functions.len());
        let function = Function {
            name,
            qualified,
            class: around.class,
            parent,
            is_async: signature.asyncness.is_some(),
            is_generator: false,
            is_closure: false,
            public,
            decorators: attributes.iter().map(|it| path(it.path())).collect(),
            parameters: parameters.collect(),
            globals: Vec::new(),
            nonlocals: Vec::new(),
            body: Vec::new(),
            span: span(signature),
            head: span(&signature.ident),
        };
        self.module.functions.push(function);
        self.parents.push(id);
        let body = self.block(block);
        self.parents.pop();
        let function = &mut self.module.functions[id.0];
        function.body = body;
        let end = span_of(block.brace_token.span.close());
        (function.span.end_line, function.span.end_column) = (end.end_line, end.end_column);
        id
    }

    fn closure(&mut self, at: Span, is_async: bool, parameters: Vec<Parameter>) -> FunctionId {
        let parent = self.parents.last().copied();
        let outer = parent.map(|id| self.module.functions[id.0].qualified.clone()).unwrap_or_default();
        let function = Function {
            name: String::new(),
            qualified: format!("{outer}.{{closure}}"),
            class: None,
            parent,
            is_async,
            is_generator: false,
            is_closure: true,
            public: false,
            decorators: Vec::new(),
            parameters,
            globals: Vec::new(),
            nonlocals: Vec::new(),
            body: Vec::new(),
            span: at,
            head: at,
        };
        self.module.functions.push(function);
        let id = FunctionId(self.module.functions.len() - 1);
        self.parents.push(id);
        id
    }

    fn closed(&mut self, id: FunctionId, body: Vec<Expr>) -> Kind {
        self.parents.pop();
        self.module.functions[id.0].body = body;
        Kind::Closure(id)
    }

    fn block(&mut self, block: &syn::Block) -> Vec<Expr> {
        block.stmts.iter().flat_map(|statement| self.statement(statement)).collect()
    }

    fn statement(&mut self, statement: &Stmt) -> Vec<Expr> {
        let at = span(statement);
        match statement {
            Stmt::Local(it) => {
                let Some(init) = &it.init else { return Vec::new() };
                let (pattern, written) = match &it.pat {
                    Pat::Type(typed) => (&*typed.pat, Some(kind(&typed.ty))),
                    other => (other, None),
                };
                let value = Box::new(self.expression(&init.expr));
                let targets = vec![self.pattern(pattern)];
                let assign = Expr { kind: Kind::Assign { targets, value, declares: true, kind: written }, span: at };
                match &init.diverge {
                    None => vec![assign],
                    Some((_, otherwise)) => {
                        let otherwise = self.expression(otherwise);
                        vec![Expr { kind: Kind::If(Box::new(assign), Vec::new(), vec![otherwise]), span: at }]
                    }
                }
            }
            Stmt::Item(item) => {
                let id = self.item(item);
                id.map(|id| Expr { kind: Kind::Definition(id), span: at }).into_iter().collect()
            }
            Stmt::Expr(node, None) => vec![self.expression(node)],
            // Its value is dropped: what was temporary is, too.
            Stmt::Expr(node, Some(_)) => vec![self.expression(node), Expr::nothing(at)],
            Stmt::Macro(it) => vec![self.macro_call(&it.mac, at)],
        }
    }

    fn boxed(&mut self, node: &Node) -> Box<Expr> {
        Box::new(self.expression(node))
    }

    fn expression(&mut self, node: &Node) -> Expr {
        let at = span(node);
        if self.depth > DEEPEST {
            return Expr::nothing(at);
        }
        self.depth += 1;
        let expr = self.read(node, at);
        self.depth -= 1;
        expr
    }

    fn read(&mut self, node: &Node, at: Span) -> Expr {
        let kind = match node {
            Node::Path(it) => Kind::Name(path(&it.path)),
            Node::Field(it) => {
                let name = match &it.member {
                    syn::Member::Named(name) => name.to_string(),
                    syn::Member::Unnamed(at) => at.index.to_string(),
                };
                Kind::Attribute(self.boxed(&it.base), name)
            }
            Node::Index(it) => Kind::Index(self.boxed(&it.expr), self.boxed(&it.index)),
            Node::Call(it) => {
                let callee = self.boxed(&it.func);
                Kind::Call(callee, self.arguments(&it.args))
            }
            Node::MethodCall(it) => {
                let base = self.boxed(&it.receiver);
                // Where the name stands, and not where the chain begins, perhaps some lines above.
                let (name_at, end) = (span(&it.method), at);
                let from = Span { line: name_at.line, column: name_at.column, ..end };
                let callee = Expr { kind: Kind::Attribute(base, it.method.to_string()), span: from };
                let given = self.arguments(&it.args);
                return Expr { kind: Kind::Call(Box::new(callee), given), span: from };
            }
            Node::Await(it) => {
                let inner = self.boxed(&it.base);
                let from = Span { line: inner.span.line, column: inner.span.column, ..at };
                return Expr { kind: Kind::Await(inner), span: from };
            }
            Node::Lit(it) => Kind::Literal(match &it.lit {
                syn::Lit::Int(it) => it.base10_digits().to_owned(),
                syn::Lit::Bool(it) => it.value.to_string(),
                syn::Lit::Str(it) => format!("{:?}", it.value()),
                _ => "literal".to_owned(),
            }),
            Node::Binary(it) => {
                let parts = vec![self.expression(&it.left), self.expression(&it.right)];
                use syn::BinOp;
                match &it.op {
                    BinOp::And(_) | BinOp::Or(_) => Kind::Either(parts),
                    BinOp::Eq(_) | BinOp::Ne(_) | BinOp::Lt(_) | BinOp::Le(_) | BinOp::Gt(_) | BinOp::Ge(_) => {
                        Kind::Compare(parts, false)
                    }
                    BinOp::Add(_)
                    | BinOp::Sub(_)
                    | BinOp::Mul(_)
                    | BinOp::Div(_)
                    | BinOp::Rem(_)
                    | BinOp::BitXor(_)
                    | BinOp::BitAnd(_)
                    | BinOp::BitOr(_)
                    | BinOp::Shl(_)
                    | BinOp::Shr(_) => Kind::Binary(parts),
                    op => {
                        let change = match op {
                            BinOp::AddAssign(_) => Change::More,
                            BinOp::SubAssign(_) => Change::Less,
                            _ => Change::Other,
                        };
                        let [left, right] = <[Expr; 2]>::try_from(parts).expect("two were put in");
                        Kind::Update(Box::new(left), Box::new(right), change)
                    }
                }
            }
            Node::Unary(it) => {
                let inner = self.boxed(&it.expr);
                match &it.op {
                    syn::UnOp::Not(_) => Kind::Not(inner),
                    syn::UnOp::Deref(_) => Kind::Deref(inner),
                    _ => Kind::Binary(vec![*inner]),
                }
            }
            Node::Reference(it) => Kind::Same(self.boxed(&it.expr)),
            Node::Paren(it) => Kind::Same(self.boxed(&it.expr)),
            Node::Group(it) => Kind::Same(self.boxed(&it.expr)),
            Node::Cast(it) => Kind::Same(self.boxed(&it.expr)),
            Node::Try(it) => Kind::Question(self.boxed(&it.expr)),
            Node::Tuple(it) => Kind::Collection(Collection::Tuple, self.all(&it.elems)),
            Node::Array(it) => Kind::Collection(Collection::List, self.all(&it.elems)),
            Node::Repeat(it) => Kind::Collection(Collection::List, vec![self.expression(&it.expr)]),
            Node::Range(it) => {
                let parts = [&it.start, &it.end];
                Kind::Binary(parts.into_iter().flatten().map(|node| self.expression(node)).collect())
            }
            Node::Struct(it) => {
                let callee = Box::new(Expr { kind: Kind::Name(path(&it.path)), span: at });
                let fields = it.fields.iter().map(|field| {
                    let name = match &field.member {
                        syn::Member::Named(name) => Some(name.to_string()),
                        syn::Member::Unnamed(_) => None,
                    };
                    Argument { name, value: self.expression(&field.expr) }
                });
                Kind::Call(callee, fields.collect())
            }
            Node::Assign(it) => {
                let value = self.boxed(&it.right);
                Kind::Assign { targets: vec![self.expression(&it.left)], value, declares: false, kind: None }
            }
            Node::Let(it) => {
                let value = self.boxed(&it.expr);
                Kind::Assign { targets: vec![self.pattern(&it.pat)], value, declares: true, kind: None }
            }
            Node::If(it) => {
                let condition = self.boxed(&it.cond);
                let body = self.block(&it.then_branch);
                let otherwise = it.else_branch.as_ref().map(|(_, node)| self.expression(node));
                Kind::If(condition, body, otherwise.into_iter().collect())
            }
            Node::While(it) => Kind::While(Some(self.boxed(&it.cond)), self.block(&it.body), Vec::new()),
            Node::Loop(it) => Kind::While(None, self.block(&it.body), Vec::new()),
            Node::ForLoop(it) => Kind::For {
                target: Box::new(self.pattern(&it.pat)),
                iterable: self.boxed(&it.expr),
                body: self.block(&it.body),
                otherwise: Vec::new(),
                is_async: false,
            },
            Node::Match(it) => {
                let subject = self.boxed(&it.expr);
                let arms = it.arms.iter().map(|arm| self.arm(arm));
                Kind::Match(subject, arms.collect())
            }
            Node::Return(it) => Kind::Return(it.expr.as_ref().map(|node| self.boxed(node))),
            Node::Break(it) => Kind::Break(it.expr.as_ref().map(|node| self.boxed(node))),
            Node::Continue(_) => Kind::Continue,
            Node::Block(it) => Kind::Block(self.block(&it.block)),
            Node::Unsafe(it) => Kind::Block(self.block(&it.block)),
            Node::Const(it) => Kind::Block(self.block(&it.block)),
            Node::TryBlock(it) => Kind::Block(self.block(&it.block)),
            Node::Async(it) => {
                let id = self.closure(at, true, Vec::new());
                let body = self.block(&it.block);
                self.closed(id, body)
            }
            Node::Closure(it) => {
                let parameters = it.inputs.iter().map(|input| match input {
                    Pat::Type(typed) => {
                        Parameter { name: pattern_name(&typed.pat).unwrap_or_default(), kind: Some(kind(&typed.ty)) }
                    }
                    other => Parameter { name: pattern_name(other).unwrap_or_default(), kind: None },
                });
                let id = self.closure(at, it.asyncness.is_some(), parameters.collect());
                let body = match &*it.body {
                    Node::Block(it) => self.block(&it.block),
                    other => vec![self.expression(other)],
                };
                self.closed(id, body)
            }
            Node::Macro(it) => return self.macro_call(&it.mac, at),
            Node::Yield(it) => Kind::Yield(it.expr.as_ref().map(|node| self.boxed(node))),
            _ => Kind::Nothing,
        };
        Expr { kind, span: at }
    }

    fn arm(&mut self, arm: &syn::Arm) -> Arm {
        let (pattern, guard) = match &arm.pat {
            Pat::Guard(it) => (&*it.pat, Some(&*it.guard)),
            other => (other, None),
        };
        Arm {
            pattern: self.pattern(pattern),
            guard: guard.map(|node| self.expression(node)),
            body: vec![self.expression(&arm.body)],
        }
    }

    fn all(&mut self, nodes: &Punctuated<Node, Token![,]>) -> Vec<Expr> {
        nodes.iter().map(|node| self.expression(node)).collect()
    }

    fn arguments(&mut self, nodes: &Punctuated<Node, Token![,]>) -> Vec<Argument> {
        nodes.iter().map(|node| Argument { name: None, value: self.expression(node) }).collect()
    }

    fn pattern(&mut self, pattern: &Pat) -> Expr {
        let at = span(pattern);
        if self.depth > DEEPEST {
            return Expr::nothing(at);
        }
        self.depth += 1;
        let kind = match pattern {
            Pat::Ident(it) => match &it.subpat {
                None if it.ident.to_string().starts_with(char::is_uppercase) => Kind::Nothing,
                None => Kind::Name(it.ident.to_string()),
                Some((_, inner)) => {
                    let own = Expr { kind: Kind::Name(it.ident.to_string()), span: at };
                    Kind::Collection(Collection::Tuple, vec![own, self.pattern(inner)])
                }
            },
            Pat::Reference(it) => Kind::Same(Box::new(self.pattern(&it.pat))),
            Pat::Paren(it) => Kind::Same(Box::new(self.pattern(&it.pat))),
            Pat::Type(it) => Kind::Same(Box::new(self.pattern(&it.pat))),
            Pat::Tuple(it) => self.patterns(&it.elems),
            Pat::TupleStruct(it) if it.elems.len() == 1 => Kind::Same(Box::new(self.pattern(&it.elems[0]))),
            Pat::TupleStruct(it) => self.patterns(&it.elems),
            Pat::Slice(it) => self.patterns(&it.elems),
            Pat::Or(it) => self.patterns_of(it.cases.iter()),
            Pat::Struct(it) => self.patterns_of(it.fields.iter().map(|field| &*field.pat)),
            _ => Kind::Nothing,
        };
        self.depth -= 1;
        Expr { kind, span: at }
    }

    fn patterns(&mut self, all: &Punctuated<Pat, Token![,]>) -> Kind {
        self.patterns_of(all.iter())
    }

    fn patterns_of<'a>(&mut self, all: impl Iterator<Item = &'a Pat>) -> Kind {
        Kind::Collection(Collection::Tuple, all.map(|one| self.pattern(one)).collect())
    }

    fn macro_call(&mut self, mac: &syn::Macro, at: Span) -> Expr {
        let name = mac.path.segments.last().map(|part| part.ident.to_string()).unwrap_or_default();
        if self.depth > DEEPEST {
            return Expr::nothing(at);
        }
        self.depth += 1;
        let kind = match name.as_str() {
            "select" | "select_biased" => match mac.parse_body::<Branches>() {
                Ok(branches) => {
                    let all = branches.0.iter().map(|branch| {
                        let future = self.expression(&branch.future);
                        let pattern = branch.pattern.as_ref().map(|pattern| self.pattern(pattern));
                        (pattern.unwrap_or(Expr::nothing(at)), future, self.expression(&branch.body))
                    });
                    Kind::Select(all.collect())
                }
                Err(_) => Kind::Opaque(name),
            },
            "join" | "try_join" => match self.comma(mac) {
                Some(parts) => Kind::Join(parts),
                None => Kind::Opaque(name),
            },
            "panic" | "unreachable" | "todo" | "unimplemented" | "bail" => Kind::Raise(None),
            "thread_local" => Kind::Nothing,
            "pin" | "dbg" => match self.comma(mac) {
                Some(mut parts) if !parts.is_empty() => Kind::Same(Box::new(parts.remove(0))),
                _ => Kind::Nothing,
            },
            _ => match self.comma(mac) {
                Some(parts) if KNOWN.contains(&name.as_str()) => Kind::Binary(parts),
                _ if KNOWN.contains(&name.as_str()) => Kind::Nothing,
                _ => Kind::Opaque(name),
            },
        };
        self.depth -= 1;
        Expr { kind, span: at }
    }

    fn comma(&mut self, mac: &syn::Macro) -> Option<Vec<Expr>> {
        let parts = mac.parse_body_with(Punctuated::<Node, Token![,]>::parse_terminated).ok()?;
        Some(self.all(&parts))
    }
}

/// Macros of std and its usual neighbours whose arguments are expressions, evaluated in order.
const KNOWN: [&str; 33] = [
    "println",
    "print",
    "eprintln",
    "eprint",
    "format",
    "write",
    "writeln",
    "vec",
    "assert",
    "assert_eq",
    "assert_ne",
    "debug_assert",
    "debug_assert_eq",
    "debug_assert_ne",
    "matches",
    "info",
    "warn",
    "error",
    "debug",
    "trace",
    "log",
    "format_args",
    "ensure",
    "anyhow",
    "ready",
    "smallvec",
    "hashmap",
    "event",
    "span",
    "concat",
    "env",
    "include_str",
    "json",
];

/// One branch of a `select!`.
struct Branch {
    /// None of `else`.
    pattern: Option<Pat>,
    future: Node,
    body: Node,
}

struct Branches(Vec<Branch>);

impl Parse for Branches {
    fn parse(input: ParseStream<'_>) -> syn::Result<Branches> {
        let mut all = Vec::new();
        while !input.is_empty() {
            if input.peek(syn::Ident) && input.peek2(Token![;]) {
                // `biased;`
                input.parse::<syn::Ident>()?;
                input.parse::<Token![;]>()?;
                continue;
            }
            let (pattern, future) = if input.peek(Token![else]) {
                input.parse::<Token![else]>()?;
                (None, empty())
            } else if (input.peek(syn::Ident) && input.peek2(Token![=>])) && {
                let ahead = input.fork();
                ahead.parse::<syn::Ident>().is_ok_and(|ident| ident == "default" || ident == "complete")
            } {
                input.parse::<syn::Ident>()?;
                (None, empty())
            } else {
                let pattern = Pat::parse_multi_with_leading_vert(input)?;
                input.parse::<Token![=]>()?;
                let future: Node = input.parse()?;
                if input.peek(Token![,]) && input.peek2(Token![if]) {
                    input.parse::<Token![,]>()?;
                    input.parse::<Token![if]>()?;
                    input.parse::<Node>()?;
                }
                (Some(pattern), future)
            };
            input.parse::<Token![=>]>()?;
            let body: Node = input.parse()?;
            if input.peek(Token![,]) {
                input.parse::<Token![,]>()?;
            }
            all.push(Branch { pattern, future, body });
        }
        Ok(Branches(all))
    }
}

fn empty() -> Node {
    Node::Tuple(syn::ExprTuple { attrs: Vec::new(), paren_token: Default::default(), elems: Punctuated::new() })
}

/// `a::b`, without what is generic.
fn path(path: &syn::Path) -> String {
    path.segments.iter().map(|part| part.ident.to_string()).collect::<Vec<_>>().join("::")
}

fn pattern_name(pattern: &Pat) -> Option<String> {
    match pattern {
        Pat::Ident(it) => Some(it.ident.to_string()),
        Pat::Reference(it) => pattern_name(&it.pat),
        Pat::Paren(it) => pattern_name(&it.pat),
        // `State(app): State<App>` of a web framework's handlers.
        Pat::TupleStruct(it) if it.elems.len() == 1 => pattern_name(&it.elems[0]),
        _ => None,
    }
}

/// A type as written: last parts of paths, no blanks, no lifetimes, no `&`, but `&mut ` where it begins with that.
fn kind(of: &Type) -> String {
    match of {
        Type::Path(it) => it.path.segments.last().map(segment).unwrap_or_default(),
        Type::Reference(it) => {
            let inner = kind(&it.elem);
            if it.mutability.is_some() { format!("&mut {inner}") } else { inner }
        }
        Type::Paren(it) => kind(&it.elem),
        Type::Group(it) => kind(&it.elem),
        Type::Tuple(it) => format!("({})", it.elems.iter().map(kind).collect::<Vec<_>>().join(",")),
        Type::Array(it) => format!("[{}]", kind(&it.elem)),
        Type::Slice(it) => format!("[{}]", kind(&it.elem)),
        Type::TraitObject(it) => bounds(&it.bounds),
        Type::ImplTrait(it) => bounds(&it.bounds),
        _ => "?".to_owned(),
    }
}

fn bounds(all: &Punctuated<syn::TypeParamBound, Token![+]>) -> String {
    let first = all.iter().find_map(|bound| match bound {
        syn::TypeParamBound::Trait(it) => it.path.segments.last().map(segment),
        _ => None,
    });
    format!("dyn {}", first.unwrap_or_default())
}

fn segment(part: &syn::PathSegment) -> String {
    let name = part.ident.to_string();
    let syn::PathArguments::AngleBracketed(given) = &part.arguments else { return name };
    let kinds = given.args.iter().filter_map(|argument| match argument {
        syn::GenericArgument::Type(inner) => Some(kind(inner)),
        _ => None,
    });
    let kinds: Vec<String> = kinds.collect();
    if kinds.is_empty() { name } else { format!("{name}<{}>", kinds.join(",")) }
}

/// `Pool` of `Pool<T>`.
fn base(kind: &str) -> String {
    kind.trim_start_matches("&mut ").split('<').next().unwrap_or_default().to_owned()
}
