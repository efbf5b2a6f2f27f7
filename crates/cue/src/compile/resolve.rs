//! What an identifier means.

use base::{Span, Symbol};

use crate::eval::ids::ExprId;
use crate::eval::ir::{Expr, Op};
use crate::eval::kind::Kind;
use crate::eval::label::Label;
use crate::eval::value::{Val, Value};
use crate::number::Num;

use super::Compiler;
use super::scope::{LetState, Name, Step};

impl Compiler<'_> {
    pub(super) fn ident(&mut self, symbol: Symbol, span: Span) -> ExprId {
        let text = self.ctx.symbols.name(symbol);
        if text == "_" {
            return self.push_value(Value::Top, span);
        }
        if text.starts_with("__") {
            let name = text.to_owned();
            return match self.predeclared(&name, span) {
                Some(expr) => expr,
                None => self.error(span, format!("predeclared name \"{name}\" not found")),
            };
        }
        let mut up = 0;
        for k in (0..self.stack.len()).rev() {
            let Some(scope) = self.stack.get(k) else {
                continue;
            };
            if let Some(found) = scope.names.get(symbol) {
                let found = found.clone();
                if scope.variable {
                    self.refers_to_variable = true;
                }
                return self.bound(k, up, symbol, found, span);
            }
            up += scope.up;
        }
        let label = self.label(symbol);
        if self.package_fields.contains(&label) {
            return self.push(
                Expr::Field {
                    up,
                    label,
                    optional: false,
                },
                span,
            );
        }
        let name = self.name(symbol);
        for (i, &node) in self.around.clone().iter().enumerate() {
            let up = up + u32::try_from(i).unwrap_or(0);
            let arcs = &self.ctx.nodes[node].arcs.list;
            let known = arcs.iter().copied().find(|&arc| {
                let l = self.ctx.nodes[arc].label;
                l == label || l.is_let() && l.name(&self.ctx.symbols) == name
            });
            if let Some(arc) = known {
                let label = self.ctx.nodes[arc].label;
                return self.push(
                    Expr::Field {
                        up,
                        label,
                        optional: false,
                    },
                    span,
                );
            }
        }
        if !self.around.is_empty()
            && crate::packages::packages()
                .iter()
                .any(|p| short(p.path) == name)
        {
            let path = crate::packages::packages()
                .iter()
                .find(|p| short(p.path) == name)
                .map(|p| p.path);
            if let Some(path) = path {
                let path = Label::string(&mut self.ctx.symbols, path);
                self.ctx.load_standard(path);
                return self.push(Expr::Import { path, name: label }, span);
            }
        }
        if name == "self" {
            return self.error(
                span,
                "predeclared identifier \"self\" requires @experiment(aliasv2)",
            );
        }
        match self.predeclared(&name, span) {
            Some(expr) => expr,
            None => self.error(span, format!("reference \"{name}\" not found")),
        }
    }

    fn bound(&mut self, k: usize, up: u32, symbol: Symbol, name: Name, span: Span) -> ExprId {
        match name {
            Name::Field(label) | Name::Variable(label) => self.push(
                Expr::Field {
                    up,
                    label,
                    optional: false,
                },
                span,
            ),
            Name::PatternLabel { name } => self.push(Expr::LabelRef { up, name }, span),
            Name::ValueAlias { .. } => {
                self.mark_used(k, symbol);
                let label = self.label(symbol);
                self.push(Expr::ValueRef { up, label }, span)
            }
            Name::Import { path, .. } => {
                self.mark_used(k, symbol);
                let name = self.label(symbol);
                self.ctx.load_standard(path);
                self.push(Expr::Import { path, name }, span)
            }
            Name::FieldAlias {
                label,
                key,
                pattern,
                ..
            } => {
                self.mark_used(k, symbol);
                match (label, key) {
                    (Some(label), _) => {
                        let expr = self.push(
                            Expr::Field {
                                up,
                                label,
                                optional: false,
                            },
                            span,
                        );
                        self.keep_alias_use(expr, symbol);
                        expr
                    }
                    (None, Some(key)) => {
                        let expr = self.push(Expr::Dynamic { up, label: key }, span);
                        self.keep_alias_use(expr, symbol);
                        expr
                    }
                    (None, None) if pattern => {
                        // The field that the pattern matched, by its label.
                        let name = self.label(symbol);
                        let label = self.push(Expr::LabelRef { up: 0, name }, span);
                        let expr = self.push(Expr::Dynamic { up, label }, span);
                        self.keep_alias_use(expr, symbol);
                        expr
                    }
                    (None, None) => self.error(span, "cyclic reference in field alias"),
                }
            }
            Name::Let {
                label,
                value,
                state,
                ..
            } => {
                self.mark_used(k, symbol);
                let x = match state {
                    LetState::Done { expr, multi } => {
                        self.refers_to_variable |= multi;
                        expr
                    }
                    LetState::Compiling => {
                        return self.error(span, "cyclic references in let clause or alias");
                    }
                    LetState::New => self.compile_let(k, symbol, value),
                };
                self.push(
                    Expr::Let {
                        up,
                        label,
                        x: Some(x),
                    },
                    span,
                )
            }
        }
    }

    fn keep_alias_use(&mut self, expr: ExprId, symbol: Symbol) {
        let label = self.label(symbol);
        self.ctx.alias_uses.insert(expr, label);
    }

    /// Compiles the value of a `let` in the scope it is declared in.
    pub(super) fn compile_let(
        &mut self,
        k: usize,
        symbol: Symbol,
        value: crate::syntax::ast::ExprId,
    ) -> ExprId {
        self.set_let(k, symbol, LetState::Compiling);
        let above = self.stack.split_off(k + 1);
        let saved = std::mem::replace(&mut self.refers_to_variable, false);
        let path = self
            .stack
            .last_mut()
            .map(|s| s.path.replace(Step::Clause("let[]")));
        let expr = self.expr(value);
        if let (Some(scope), Some(path)) = (self.stack.last_mut(), path) {
            scope.path = path;
        }
        let multi = std::mem::replace(&mut self.refers_to_variable, saved);
        self.refers_to_variable |= multi;
        self.stack.extend(above);
        self.set_let(k, symbol, LetState::Done { expr, multi });
        expr
    }

    /// Compiles the value of a `let` at its declaration: a cycle is reported where it closes, not
    /// where it begins.
    pub(super) fn compile_let_decl(
        &mut self,
        k: usize,
        symbol: Symbol,
        value: crate::syntax::ast::ExprId,
    ) -> ExprId {
        let saved = std::mem::replace(&mut self.refers_to_variable, false);
        let path = self
            .stack
            .last_mut()
            .map(|s| s.path.replace(Step::Clause("let[]")));
        let expr = self.expr(value);
        if let (Some(scope), Some(path)) = (self.stack.last_mut(), path) {
            scope.path = path;
        }
        let multi = std::mem::replace(&mut self.refers_to_variable, saved);
        self.refers_to_variable |= multi;
        self.set_let(k, symbol, LetState::Done { expr, multi });
        expr
    }

    fn set_let(&mut self, k: usize, symbol: Symbol, to: LetState) {
        if let Some(scope) = self.stack.get_mut(k)
            && let Some(Name::Let { state, .. }) = scope.names.get_mut(symbol)
        {
            *state = to;
        }
    }

    fn mark_used(&mut self, k: usize, symbol: Symbol) {
        let entry = self
            .stack
            .get_mut(k)
            .and_then(|scope| scope.names.get_mut(symbol));
        if let Some(
            Name::FieldAlias { used, .. }
            | Name::Let { used, .. }
            | Name::Import { used, .. }
            | Name::ValueAlias { used, .. },
        ) = entry
        {
            *used = true;
        }
    }

    /// A name that is always there.
    fn predeclared(&mut self, name: &str, span: Span) -> Option<ExprId> {
        let bare = name.strip_prefix("__").unwrap_or(name);
        let kind = match bare {
            "string" => Some(Kind::STRING),
            "bytes" => Some(Kind::BYTES),
            "bool" => Some(Kind::BOOL),
            "int" => Some(Kind::INT),
            "float" => Some(Kind::FLOAT),
            "number" => Some(Kind::NUMBER),
            _ => None,
        };
        if let Some(kind) = kind {
            return Some(self.push_value(Value::Type(kind), span));
        }
        if name == "__no_sharing" {
            let id = self.ctx.no_sharing;
            return Some(self.push_value_id(id, span));
        }
        if let Some(builtin) = self.ctx.core_builtin(bare) {
            let id = self.ctx.new_value_at(Value::Builtin(builtin), None);
            return Some(self.push_value_id(id, span));
        }
        let int = |bits: u32| {
            let one = dashu_int::IBig::ONE;
            let half = one.clone() << (bits as usize - 1);
            (-half.clone(), half - one)
        };
        let uint = |bits: u32| {
            let one = dashu_int::IBig::ONE;
            (dashu_int::IBig::ZERO, (one.clone() << bits as usize) - one)
        };
        let range = match bare {
            "rune" => Some((dashu_int::IBig::ZERO, dashu_int::IBig::from(0x10_FFFF))),
            "int8" => Some(int(8)),
            "int16" => Some(int(16)),
            "int32" => Some(int(32)),
            "int64" => Some(int(64)),
            "int128" => Some(int(128)),
            "uint8" => Some(uint(8)),
            "uint16" => Some(uint(16)),
            "uint32" => Some(uint(32)),
            "uint64" => Some(uint(64)),
            "uint128" => Some(uint(128)),
            _ => None,
        };
        let mut parts = Vec::new();
        if let Some((low, high)) = range {
            parts.push(self.value(Value::Type(Kind::INT)));
            parts.push(self.limit(Op::Ge, Num::int(low)));
            parts.push(self.limit(Op::Le, Num::int(high)));
        } else {
            match bare {
                "uint" => {
                    parts.push(self.value(Value::Type(Kind::INT)));
                    parts.push(self.limit(Op::Ge, Num::int(0)));
                }
                "float32" | "float64" => {
                    let max = if bare == "float32" {
                        "3.40282346638528859811704183484516925440e+38"
                    } else {
                        "1.797693134862315708145274237317043567981e+308"
                    };
                    let max = Num::parse_literal(max).ok()?;
                    parts.push(self.limit(Op::Ge, max.negate()));
                    parts.push(self.limit(Op::Le, max));
                }
                _ => return None,
            }
        }
        let id = self
            .ctx
            .new_value_at(Value::Conjunction(parts.into()), None);
        Some(self.push_value_id(id, span))
    }

    fn value(&mut self, value: Value) -> Val {
        Val::Lit(self.ctx.new_value_at(value, None))
    }

    fn limit(&mut self, op: Op, n: Num) -> Val {
        let value = self.value(Value::Num(n));
        self.value(Value::Bound { op, value })
    }
}

/// The name a package is used by if the import gives no other.
pub(crate) fn short(path: &str) -> &str {
    let path = path.rsplit_once('@').map_or(path, |(path, _)| path);
    match path.rsplit_once(':') {
        Some((_, name)) => name,
        None => path.rsplit('/').next().unwrap_or(path),
    }
}
