//! Access by name and code in texts, written out: `setattr(x, "n", v)` is `x.n = v`, and `exec("x.n += 1")` is `x.n += 1`. Only
//! names and texts that are written there are known; anything computed stays a call.

use ruff_python_ast as ast;
use ruff_python_parser::{Mode, ParseOptions, parse_unchecked};

use super::Reader;
use crate::{Argument, Expr, Kind, Span};

/// Code in texts is this long at most.
const LONGEST: usize = 4000;

/// What a variable stands for whose elements are names.
#[derive(Clone)]
pub(super) enum Names {
    /// The attributes of an object: `vars(x)`, `x.__dict__`.
    Of(Expr),
    /// The module's variables: `globals()`.
    Module,
    /// Code: `compile("…")`.
    Code(String),
}

/// The text of a literal.
fn text(expr: &Expr) -> Option<String> {
    let Kind::Literal(literal) = &expr.kind else { return None };
    let inner = literal.strip_prefix('"')?.strip_suffix('"')?;
    let mut out = String::new();
    let mut letters = inner.chars();
    while let Some(letter) = letters.next() {
        out.push(match letter {
            '\\' => match letters.next()? {
                'n' => '\n',
                't' => '\t',
                'r' => '\r',
                '"' => '"',
                '\'' => '\'',
                '\\' => '\\',
                _ => return None,
            },
            other => other,
        });
    }
    Some(out)
}

/// The name that a literal is.
fn name(expr: &Expr) -> Option<String> {
    text(expr).filter(|text| {
        let plain = |c: char| c.is_alphanumeric() || c == '_';
        !text.is_empty() && text.chars().all(plain) && !text.starts_with(|c: char| c.is_ascii_digit())
    })
}

fn assigned(target: Kind, value: &Expr, span: Span) -> Kind {
    let targets = vec![Expr { kind: target, span }];
    Kind::Assign { targets, value: Box::new(value.clone()), declares: false, kind: None }
}

fn attribute(of: &Expr, name: String) -> Kind {
    Kind::Attribute(Box::new(of.clone()), name)
}

fn element(of: &Expr, key: &Expr) -> Kind {
    Kind::Index(Box::new(of.clone()), Box::new(key.clone()))
}

impl Reader<'_> {
    /// What a call says, if it reads or writes by name.
    pub(super) fn written_out(&mut self, callee: &Expr, given: &[Argument], span: Span) -> Option<Kind> {
        let path = callee.dotted().unwrap_or_default();
        let all: Vec<&Expr> = given.iter().filter(|it| it.name.is_none()).map(|it| &it.value).collect();
        let last = path.rsplit('.').next().unwrap_or_default();
        let unbound = matches!(path.split('.').next(), Some("object" | "dict" | "list" | "operator" | "type"));
        match (last, all.as_slice()) {
            ("getattr", [of, key] | [of, key, _]) if path == "getattr" => Some(attribute(of, name(key)?)),
            ("hasattr", [of, key]) if path == "hasattr" => {
                Some(Kind::Compare(vec![Expr { kind: attribute(of, name(key)?), span }], false))
            }
            ("setattr", [of, key, value]) if path == "setattr" => {
                Some(assigned(attribute(of, name(key)?), value, span))
            }
            ("delattr", [of, key]) if path == "delattr" => {
                Some(Kind::Delete(vec![Expr { kind: attribute(of, name(key)?), span }]))
            }
            ("__getattribute__", [of, key]) if unbound => Some(attribute(of, name(key)?)),
            ("__setattr__", [of, key, value]) if unbound => Some(assigned(attribute(of, name(key)?), value, span)),
            ("getitem" | "__getitem__", [of, key]) if unbound => Some(element(of, key)),
            ("setitem" | "__setitem__", [of, key, value]) if unbound => Some(assigned(element(of, key), value, span)),
            ("delitem" | "__delitem__", [of, key]) if unbound => {
                Some(Kind::Delete(vec![Expr { kind: element(of, key), span }]))
            }
            ("__getitem__", [key]) => self.receiver(callee).map(|of| element(of, key)),
            ("__setitem__", [key, value]) => self.receiver(callee).map(|of| assigned(element(of, key), value, span)),
            ("exec", [code] | [code, _]) if path == "exec" => {
                let body = self.code(&self.source_of(code)?, all.get(1).copied(), span);
                Some(Kind::Block(body))
            }
            ("eval", [code] | [code, _]) if path == "eval" => {
                let body = self.code(&self.source_of(code)?, all.get(1).copied(), span);
                Some(Kind::Block(body))
            }
            _ => None,
        }
    }

    fn receiver<'e>(&self, callee: &'e Expr) -> Option<&'e Expr> {
        match &callee.kind {
            Kind::Attribute(of, _) if !matches!(&of.kind, Kind::Call(..)) => Some(of),
            _ => None,
        }
    }

    fn source_of(&self, code: &Expr) -> Option<String> {
        let known = match &code.kind {
            Kind::Name(name) => match self.known.get(name)? {
                Names::Code(text) => Some(text.clone()),
                _ => None,
            },
            Kind::Call(..) => match self.names_in(code)? {
                Names::Code(text) => Some(text),
                _ => None,
            },
            _ => text(code),
        };
        known.filter(|text| text.len() <= LONGEST && !crate::too_deep(text))
    }

    /// The statements of a text, at the place where it is run; `names` are the variables that it is given.
    fn code(&mut self, text: &str, names: Option<&Expr>, span: Span) -> Vec<Expr> {
        let mut body = Vec::new();
        if let Some(Expr { kind: Kind::Collection(_, parts), .. }) = names {
            for pair in parts.chunks_exact(2) {
                // What keeps its name needs no variable of its own.
                if let Some(key) = name(&pair[0])
                    && !matches!(&pair[1].kind, Kind::Name(known) if *known == key)
                {
                    body.push(Expr { kind: assigned(Kind::Name(key), &pair[1], span), span });
                }
            }
        }
        let parsed = parse_unchecked(text, ParseOptions::from(Mode::Module));
        let ast::Mod::Module(module) = parsed.syntax() else { return body };
        if parsed.errors().is_empty() {
            let outer = self.inside.replace(self.inside.unwrap_or(span));
            body.extend(self.block(&module.body));
            self.inside = outer;
        }
        body
    }

    /// What an element of a namespace is: `vars(x)["n"]` is `x.n`.
    pub(super) fn named_element(&mut self, of: &Expr, key: &Expr) -> Option<Kind> {
        let key = name(key)?;
        let names = match &of.kind {
            Kind::Name(variable) => self.known.get(variable).cloned()?,
            _ => self.names_in(of)?,
        };
        match names {
            Names::Of(object) => Some(attribute(&object, key)),
            Names::Module => {
                if let Some(function) = self.current() {
                    self.module.functions[function.0].globals.push(key.clone());
                }
                Some(Kind::Name(key))
            }
            Names::Code(_) => None,
        }
    }

    fn names_in(&self, expr: &Expr) -> Option<Names> {
        match &expr.kind {
            Kind::Attribute(of, name) if name == "__dict__" => Some(Names::Of((**of).clone())),
            Kind::Call(callee, given) => match (callee.dotted()?.as_str(), given.as_slice()) {
                ("vars", [of]) => Some(Names::Of(of.value.clone())),
                ("globals", []) => Some(Names::Module),
                ("compile", [code, ..]) => text(&code.value).map(Names::Code),
                _ => None,
            },
            _ => None,
        }
    }

    /// Remembers what a variable stands for, as long as it is not given another value.
    pub(super) fn remember(&mut self, targets: &[Expr], value: &Expr) {
        for target in targets {
            let Kind::Name(variable) = &target.kind else { continue };
            match self.names_in(value) {
                Some(names) => drop(self.known.insert(variable.clone(), names)),
                None => drop(self.known.remove(variable)),
            }
        }
    }
}
