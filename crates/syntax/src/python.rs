//! Python, by ruff's parser.

mod dynamic;

use std::collections::HashMap;

use ruff_python_ast::token::TokenKind;
use ruff_python_ast::{self as ast, Expr as Node, Pattern, Stmt};
use ruff_python_parser::{Mode, ParseOptions, parse_unchecked};
use ruff_text_size::{Ranged, TextRange};

use crate::lines::Lines;
use crate::{
    Argument, Arm, Change, Class, ClassId, Collection, Comment, Expr, Field, Function, FunctionId, Generator, Handler,
    Kind, Language, Module, Parameter, Parser, Problem, Span, broken,
};

/// Python.
pub(crate) struct Python;

/// What is nested deeper is left out: the tree is walked by recursion.
const DEEPEST: usize = 200;

impl Parser for Python {
    fn language(&self) -> Language {
        Language::Python
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["py", "pyi"]
    }

    fn parse(&self, source: &str) -> Module {
        let source = source.strip_prefix('\u{feff}').unwrap_or(source);
        if crate::too_deep(source) {
            return broken(
                Language::Python,
                Span { line: 1, column: 1, end_line: 1, end_column: 1 },
                crate::TOO_DEEP.into(),
            );
        }
        let lines = Lines::of(source);
        let parsed = parse_unchecked(source, ParseOptions::from(Mode::Module));
        let at = |range: TextRange| lines.span(range.start().to_u32(), range.end().to_u32());
        let problems =
            parsed.errors().iter().map(|error| Problem { span: at(error.location), message: error.error.to_string() });
        let comments = parsed.tokens().iter().filter(|token| token.kind() == TokenKind::Comment).map(|token| {
            let (from, to) = (token.range().start().to_usize(), token.range().end().to_usize());
            let before = source[..from].rsplit('\n').next().unwrap_or_default();
            let text = source[from..to].trim_start_matches('#').trim().to_owned();
            Comment { line: at(token.range()).line, text, alone: before.trim().is_empty() }
        });
        let mut reader = Reader {
            lines: &lines,
            module: broken(Language::Python, Span::default(), String::new()),
            scopes: Vec::new(),
            depth: 0,
            yields: Vec::new(),
            inside: None,
            known: HashMap::new(),
        };
        reader.module.problems = problems.collect();
        reader.module.comments = comments.collect();
        let ast::Mod::Module(module) = parsed.syntax() else { return reader.module };
        let body = reader.block(&module.body);
        reader.module.body = body;
        reader.module
    }
}

/// What a definition is in.
#[derive(Clone)]
enum Scope {
    Class(ClassId),
    Function(FunctionId),
}

struct Reader<'a> {
    lines: &'a Lines<'a>,
    module: Module,
    scopes: Vec<Scope>,
    depth: usize,
    /// Of each function around, whether it yields.
    yields: Vec<bool>,
    /// The place of the text that is read as code.
    inside: Option<Span>,
    /// Variables of the function that stand for a namespace.
    known: HashMap<String, dynamic::Names>,
}

impl Reader<'_> {
    fn span(&self, node: &impl Ranged) -> Span {
        if let Some(inside) = self.inside {
            return inside;
        }
        self.lines.span(node.start().to_u32(), node.end().to_u32())
    }

    fn block(&mut self, body: &[Stmt]) -> Vec<Expr> {
        body.iter().filter_map(|statement| self.statement(statement)).collect()
    }

    fn boxed(&mut self, node: &Node) -> Box<Expr> {
        Box::new(self.expression(node))
    }

    fn all(&mut self, nodes: &[Node]) -> Vec<Expr> {
        nodes.iter().map(|node| self.expression(node)).collect()
    }

    fn option(&mut self, node: Option<&Node>) -> Option<Box<Expr>> {
        node.map(|node| self.boxed(node))
    }

    fn statement(&mut self, statement: &Stmt) -> Option<Expr> {
        if self.depth > DEEPEST {
            return None;
        }
        self.depth += 1;
        let span = self.span(statement);
        let kind = self.statement_kind(statement);
        self.depth -= 1;
        kind.map(|kind| Expr { kind, span })
    }

    fn statement_kind(&mut self, statement: &Stmt) -> Option<Kind> {
        Some(match statement {
            Stmt::FunctionDef(def) => Kind::Definition(self.function(def)),
            Stmt::ClassDef(def) => {
                self.class(def);
                return None;
            }
            Stmt::Return(it) => Kind::Return(self.option(it.value.as_deref())),
            Stmt::Delete(it) => Kind::Delete(self.all(&it.targets)),
            Stmt::Assign(it) => {
                let value = self.boxed(&it.value);
                let targets = self.all(&it.targets);
                self.remember(&targets, &value);
                Kind::Assign { targets, value, declares: false, kind: None }
            }
            Stmt::AugAssign(it) => {
                let change = match it.op {
                    ast::Operator::Add => Change::More,
                    ast::Operator::Sub => Change::Less,
                    _ => Change::Other,
                };
                Kind::Update(self.boxed(&it.target), self.boxed(&it.value), change)
            }
            Stmt::AnnAssign(it) => {
                let value = self.boxed(it.value.as_deref()?);
                let targets = vec![self.expression(&it.target)];
                Kind::Assign { targets, value, declares: false, kind: Some(written(&it.annotation)) }
            }
            Stmt::For(it) => Kind::For {
                target: self.boxed(&it.target),
                iterable: self.boxed(&it.iter),
                body: self.block(&it.body),
                otherwise: self.block(&it.orelse),
                is_async: it.is_async,
            },
            Stmt::While(it) => Kind::While(Some(self.boxed(&it.test)), self.block(&it.body), self.block(&it.orelse)),
            Stmt::If(it) => {
                let condition = self.boxed(&it.test);
                let body = self.block(&it.body);
                Kind::If(condition, body, self.clauses(&it.elif_else_clauses))
            }
            Stmt::With(it) => {
                let items = it.items.iter().map(|item| {
                    let context = self.expression(&item.context_expr);
                    (context, item.optional_vars.as_ref().map(|target| self.expression(target)))
                });
                let items = items.collect();
                Kind::With(items, self.block(&it.body), it.is_async)
            }
            Stmt::Match(it) => {
                let subject = self.boxed(&it.subject);
                let arms = it.cases.iter().map(|case| Arm {
                    pattern: self.pattern(&case.pattern, 0),
                    guard: case.guard.as_ref().map(|guard| self.expression(guard)),
                    body: self.block(&case.body),
                });
                Kind::Match(subject, arms.collect())
            }
            Stmt::Raise(it) => Kind::Raise(self.option(it.exc.as_deref())),
            Stmt::Try(it) => {
                let body = self.block(&it.body);
                let handlers = it.handlers.iter().map(|handler| {
                    let ast::ExceptHandler::ExceptHandler(handler) = handler;
                    Handler {
                        types: handler.type_.as_ref().map(|kind| names(kind)).unwrap_or_default(),
                        name: handler.name.as_ref().map(ToString::to_string),
                        body: self.block(&handler.body),
                        span: self.span(handler),
                    }
                });
                let handlers = handlers.collect();
                let otherwise = self.block(&it.orelse);
                Kind::Try { body, handlers, otherwise, finally: self.block(&it.finalbody) }
            }
            Stmt::Assert(it) => {
                // It says what holds; nothing is decided by it.
                Kind::Assert(self.boxed(&it.test))
            }
            Stmt::Import(it) => {
                for alias in &it.names {
                    let full = alias.name.to_string();
                    let first = full.split('.').next().unwrap_or_default().to_owned();
                    let pair = match &alias.asname {
                        Some(name) => (name.to_string(), full),
                        None => (first.clone(), first),
                    };
                    self.module.imports.push(pair);
                }
                return None;
            }
            Stmt::ImportFrom(it) => {
                let module = it.module.as_ref().map(ToString::to_string).unwrap_or_default();
                let dots = ".".repeat(it.level as usize);
                for alias in &it.names {
                    let name = alias.asname.as_ref().unwrap_or(&alias.name).to_string();
                    self.module.imports.push((name, format!("{dots}{module}.{}", alias.name)));
                }
                return None;
            }
            Stmt::Global(it) => {
                let names = it.names.iter().map(ToString::to_string);
                if let Some(function) = self.current() {
                    self.module.functions[function.0].globals.extend(names);
                }
                return None;
            }
            Stmt::Nonlocal(it) => {
                let names = it.names.iter().map(ToString::to_string);
                if let Some(function) = self.current() {
                    self.module.functions[function.0].nonlocals.extend(names);
                }
                return None;
            }
            Stmt::Expr(it) => return Some(self.expression(&it.value).kind),
            Stmt::Break(_) => Kind::Break(None),
            Stmt::Continue(_) => Kind::Continue,
            Stmt::TypeAlias(_) | Stmt::Pass(_) | Stmt::IpyEscapeCommand(_) => return None,
        })
    }

    fn current(&self) -> Option<FunctionId> {
        self.scopes.iter().rev().find_map(|scope| match scope {
            Scope::Function(id) => Some(*id),
            Scope::Class(_) => None,
        })
    }

    fn clauses(&mut self, clauses: &[ast::ElifElseClause]) -> Vec<Expr> {
        let Some((first, rest)) = clauses.split_first() else { return Vec::new() };
        let Some(test) = &first.test else { return self.block(&first.body) };
        let span = self.span(first);
        self.depth += 1;
        let condition = self.boxed(test);
        let body = self.block(&first.body);
        let otherwise = if self.depth > DEEPEST { Vec::new() } else { self.clauses(rest) };
        self.depth -= 1;
        vec![Expr { kind: Kind::If(condition, body, otherwise), span }]
    }

    fn qualified(&self, name: &str) -> String {
        match self.scopes.last() {
            Some(Scope::Class(class)) => format!("{}.{name}", self.module.classes[class.0].name),
            Some(Scope::Function(id)) => format!("{}.{name}", self.module.functions[id.0].qualified),
            None => name.to_owned(),
        }
    }

    fn function(&mut self, def: &ast::StmtFunctionDef) -> FunctionId {
        let decorators: Vec<String> = def.decorator_list.iter().map(|it| decorator(&it.expression)).collect();
        // Before `async def`, generators were what is awaited, by `yield from`.
        let by_generator =
            decorators.iter().any(|it| matches!(it.as_str(), "coroutine" | "asyncio.coroutine" | "types.coroutine"));
        let name = def.name.to_string();
        let qualified = self.qualified(&name);
        let (span, head) = (self.span(def), self.span(&def.name));
        let class = match self.scopes.last() {
            Some(Scope::Class(class)) => Some(*class),
            _ => None,
        };
        let public = !name.starts_with('_') || name.starts_with("__") && name.ends_with("__");
        let parameters = parameters(&def.parameters);
        let id = self.begin(Function {
            name,
            qualified,
            class,
            parent: self.current(),
            is_async: def.is_async || by_generator,
            is_generator: false,
            is_closure: false,
            public,
            decorators,
            parameters,
            globals: Vec::new(),
            nonlocals: Vec::new(),
            body: Vec::new(),
            span,
            head,
        });
        let outer = std::mem::take(&mut self.known);
        let body = self.block(&def.body);
        self.known = outer;
        self.end(id, body);
        id
    }

    fn begin(&mut self, function: Function) -> FunctionId {
        let id = FunctionId(self.module.functions.len());
        self.module.functions.push(function);
        self.scopes.push(Scope::Function(id));
        self.yields.push(false);
        id
    }

    fn end(&mut self, id: FunctionId, body: Vec<Expr>) {
        let function = &mut self.module.functions[id.0];
        function.body = body;
        function.is_generator = self.yields.pop().unwrap_or_default();
        self.scopes.pop();
    }

    fn class(&mut self, def: &ast::StmtClassDef) {
        let id = ClassId(self.module.classes.len());
        let bases = def.arguments.iter().flat_map(|arguments| arguments.args.iter().map(written)).collect();
        let (name, span) = (def.name.to_string(), self.span(def));
        self.module.classes.push(Class { name, bases, fields: Vec::new(), span });
        self.scopes.push(Scope::Class(id));
        for statement in &def.body {
            let (target, kind, value) = match statement {
                Stmt::AnnAssign(it) => (&*it.target, Some(written(&it.annotation)), it.value.as_deref()),
                Stmt::Assign(it) if it.targets.len() == 1 => (&it.targets[0], None, Some(&*it.value)),
                other => {
                    self.statement(other);
                    continue;
                }
            };
            if let Node::Name(name) = target {
                let value = value.map(|value| self.expression(value));
                let field = Field { name: name.id.to_string(), kind, value, span: self.span(statement) };
                self.module.classes[id.0].fields.push(field);
            }
        }
        self.scopes.pop();
    }

    fn pattern(&mut self, pattern: &Pattern, depth: usize) -> Expr {
        let span = self.span(pattern);
        let name =
            |name: &Option<ast::Identifier>| name.as_ref().map_or(Kind::Nothing, |name| Kind::Name(name.to_string()));
        if depth > DEEPEST {
            return Expr::nothing(span);
        }
        let list = |reader: &mut Self, all: &[Pattern]| -> Vec<Expr> {
            all.iter().map(|one| reader.pattern(one, depth + 1)).collect()
        };
        let kind = match pattern {
            Pattern::MatchValue(_) | Pattern::MatchSingleton(_) => Kind::Nothing,
            Pattern::MatchSequence(it) => Kind::Collection(Collection::Tuple, list(self, &it.patterns)),
            Pattern::MatchMapping(it) => Kind::Collection(Collection::Dict, list(self, &it.patterns)),
            Pattern::MatchClass(it) => {
                let mut parts = list(self, &it.arguments.patterns);
                let named = it.arguments.keywords.iter().map(|keyword| self.pattern(&keyword.pattern, depth + 1));
                parts.extend(named.collect::<Vec<_>>());
                Kind::Collection(Collection::Tuple, parts)
            }
            Pattern::MatchStar(it) => name(&it.name),
            Pattern::MatchAs(it) => match &it.pattern {
                Some(inner) => {
                    let inner = self.pattern(inner, depth + 1);
                    let outer = Expr { kind: name(&it.name), span };
                    Kind::Collection(Collection::Tuple, vec![inner, outer])
                }
                None => name(&it.name),
            },
            Pattern::MatchOr(it) => Kind::Collection(Collection::Tuple, list(self, &it.patterns)),
        };
        Expr { kind, span }
    }

    fn expression(&mut self, node: &Node) -> Expr {
        let span = self.span(node);
        if self.depth > DEEPEST {
            return Expr::nothing(span);
        }
        self.depth += 1;
        let kind = self.kind(node, span);
        self.depth -= 1;
        Expr { kind, span }
    }

    fn kind(&mut self, node: &Node, span: Span) -> Kind {
        match node {
            Node::BoolOp(it) => Kind::Either(self.all(&it.values)),
            Node::Named(it) => {
                let value = self.boxed(&it.value);
                Kind::Assign { targets: vec![self.expression(&it.target)], value, declares: false, kind: None }
            }
            Node::BinOp(it) => Kind::Binary(vec![self.expression(&it.left), self.expression(&it.right)]),
            Node::UnaryOp(it) => {
                let operand = self.boxed(&it.operand);
                if it.op == ast::UnaryOp::Not { Kind::Not(operand) } else { Kind::Binary(vec![*operand]) }
            }
            Node::Lambda(it) => {
                let id = self.begin(Function {
                    name: String::new(),
                    qualified: self.qualified("<lambda>"),
                    class: None,
                    parent: self.current(),
                    is_async: false,
                    is_generator: false,
                    is_closure: true,
                    public: false,
                    decorators: Vec::new(),
                    parameters: it.parameters.as_ref().map(|all| parameters(all)).unwrap_or_default(),
                    globals: Vec::new(),
                    nonlocals: Vec::new(),
                    body: Vec::new(),
                    span,
                    head: span,
                });
                let value = self.boxed(&it.body);
                self.end(id, vec![Expr { kind: Kind::Return(Some(value)), span }]);
                Kind::Closure(id)
            }
            Node::If(it) => {
                let condition = self.boxed(&it.test);
                let body = vec![self.expression(&it.body)];
                Kind::If(condition, body, vec![self.expression(&it.orelse)])
            }
            Node::Dict(it) => {
                let mut all = Vec::new();
                for item in &it.items {
                    all.extend(item.key.as_ref().map(|key| self.expression(key)));
                    all.push(self.expression(&item.value));
                }
                Kind::Collection(Collection::Dict, all)
            }
            Node::Set(it) => Kind::Collection(Collection::Set, self.all(&it.elts)),
            Node::List(it) => Kind::Collection(Collection::List, self.all(&it.elts)),
            Node::Tuple(it) => Kind::Collection(Collection::Tuple, self.all(&it.elts)),
            Node::ListComp(it) => self.comprehension(&[&it.elt], &it.generators, false),
            Node::SetComp(it) => self.comprehension(&[&it.elt], &it.generators, false),
            Node::DictComp(it) => {
                let mut parts: Vec<&Node> = it.key.as_deref().into_iter().collect();
                parts.push(&it.value);
                self.comprehension(&parts, &it.generators, false)
            }
            Node::Generator(it) => self.comprehension(&[&it.elt], &it.generators, true),
            Node::Await(it) => Kind::Await(self.boxed(&it.value)),
            Node::Yield(it) => {
                self.yields.iter_mut().last().into_iter().for_each(|yields| *yields = true);
                Kind::Yield(self.option(it.value.as_deref()))
            }
            Node::YieldFrom(it) => {
                if self.current().is_some_and(|id| self.module.functions[id.0].is_async) {
                    return Kind::Await(self.boxed(&it.value));
                }
                self.yields.iter_mut().last().into_iter().for_each(|yields| *yields = true);
                Kind::Yield(Some(self.boxed(&it.value)))
            }
            Node::Compare(it) => {
                let contains = it.ops.iter().any(|op| matches!(op, ast::CmpOp::In | ast::CmpOp::NotIn));
                let mut parts = vec![self.expression(&it.left)];
                parts.extend(it.comparators.iter().map(|node| self.expression(node)).collect::<Vec<_>>());
                Kind::Compare(parts, contains)
            }
            Node::Call(it) => {
                let callee = self.boxed(&it.func);
                let mut given: Vec<Argument> = Vec::new();
                for value in &it.arguments.args {
                    given.push(Argument { name: None, value: self.expression(value) });
                }
                for keyword in &it.arguments.keywords {
                    let name = keyword.arg.as_ref().map(ToString::to_string);
                    given.push(Argument { name, value: self.expression(&keyword.value) });
                }
                self.written_out(&callee, &given, span).unwrap_or(Kind::Call(callee, given))
            }
            Node::FString(_) | Node::TString(_) => {
                let mut parts = Parts(Vec::new());
                ast::visitor::walk_expr(&mut parts, node);
                Kind::Binary(parts.0.into_iter().map(|node| self.expression(node)).collect())
            }
            Node::StringLiteral(it) => Kind::Literal(format!("{:?}", it.value.to_str())),
            Node::BytesLiteral(_) => Kind::Literal("b\"…\"".to_owned()),
            Node::NumberLiteral(it) => Kind::Literal(match &it.value {
                ast::Number::Int(number) => number.to_string(),
                ast::Number::Float(number) => number.to_string(),
                ast::Number::Complex { .. } => "complex".to_owned(),
            }),
            Node::BooleanLiteral(it) => Kind::Literal(if it.value { "True" } else { "False" }.to_owned()),
            Node::NoneLiteral(_) => Kind::Literal("None".to_owned()),
            Node::EllipsisLiteral(_) => Kind::Literal("...".to_owned()),
            Node::Attribute(it) => Kind::Attribute(self.boxed(&it.value), it.attr.to_string()),
            Node::Subscript(it) => {
                let (of, key) = (self.boxed(&it.value), self.boxed(&it.slice));
                self.named_element(&of, &key).unwrap_or(Kind::Index(of, key))
            }
            Node::Starred(it) => Kind::Same(self.boxed(&it.value)),
            Node::Name(it) => Kind::Name(it.id.to_string()),
            Node::Slice(it) => {
                let parts = [&it.lower, &it.upper, &it.step];
                Kind::Binary(parts.into_iter().flatten().map(|node| self.expression(node)).collect())
            }
            Node::IpyEscapeCommand(_) => Kind::Nothing,
        }
    }

    fn comprehension(&mut self, element: &[&Node], generators: &[ast::Comprehension], lazy: bool) -> Kind {
        let generators = generators.iter().map(|it| Generator {
            target: self.expression(&it.target),
            iterable: self.expression(&it.iter),
            conditions: self.all(&it.ifs),
            is_async: it.is_async,
        });
        let generators = generators.collect();
        let element = element.iter().map(|node| self.expression(node)).collect();
        Kind::Comprehension { element, generators, lazy }
    }
}

/// The expressions inside of a text with holes.
struct Parts<'a>(Vec<&'a Node>);

impl<'a> ast::visitor::Visitor<'a> for Parts<'a> {
    fn visit_expr(&mut self, node: &'a Node) {
        self.0.push(node);
    }
}

fn parameters(all: &ast::Parameters) -> Vec<Parameter> {
    let of = |one: &ast::Parameter| Parameter {
        name: one.name.to_string(),
        kind: one.annotation.as_ref().map(|kind| written(kind)),
    };
    let plain = all.posonlyargs.iter().chain(&all.args).map(|one| of(&one.parameter));
    let mut found: Vec<Parameter> = plain.collect();
    found.extend(all.vararg.iter().map(|one| of(one)));
    found.extend(all.kwonlyargs.iter().map(|one| of(&one.parameter)));
    found.extend(all.kwarg.iter().map(|one| of(one)));
    found
}

/// A type, base or the like as written; `"Quoted"` is what it quotes.
fn written(node: &Node) -> String {
    match node {
        Node::Name(it) => it.id.to_string(),
        Node::Attribute(it) => format!("{}.{}", written(&it.value), it.attr),
        Node::Subscript(it) => format!("{}[{}]", written(&it.value), written(&it.slice)),
        Node::Tuple(it) => it.elts.iter().map(written).collect::<Vec<_>>().join(","),
        Node::BinOp(it) => format!("{}|{}", written(&it.left), written(&it.right)),
        Node::StringLiteral(it) => it.value.to_str().split_whitespace().collect(),
        Node::NoneLiteral(_) => "None".to_owned(),
        Node::Call(it) => written(&it.func),
        _ => "?".to_owned(),
    }
}

/// `app.get` of `@app.get("/")`.
fn decorator(node: &Node) -> String {
    match node {
        Node::Call(it) => written(&it.func),
        other => written(other),
    }
}

/// The last parts of the names in an `except`.
fn names(node: &Node) -> Vec<String> {
    match node {
        Node::Tuple(it) => it.elts.iter().flat_map(names).collect(),
        Node::Name(it) => vec![it.id.to_string()],
        Node::Attribute(it) => vec![it.attr.to_string()],
        // Computed, as `get_cancelled_exc_class()` is.
        Node::Call(it) => names(&it.func),
        _ => vec!["?".to_owned()],
    }
}
