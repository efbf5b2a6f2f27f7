//! Comprehensions.

use crate::eval::ids::ExprId;
use crate::eval::ir::{Clause, Comprehension, Expr};
use crate::eval::label::Label;
use crate::syntax::ast;

use super::Compiler;
use super::scope::{Name, Scope, Step};

impl Compiler<'_> {
    pub(super) fn comprehension(
        &mut self,
        id: ast::ExprId,
        clauses: &[ast::ClauseId],
        value: ast::ExprId,
        fallback: Option<ast::ClauseId>,
        in_list: bool,
    ) -> ExprId {
        let file = self.ast();
        let span = file.expr_span(id);
        let depth = self.stack.len();
        let mut out: Vec<Clause> = Vec::new();
        let mut struct_try = false;
        for &clause in clauses {
            let at = file.span_of(ast::NodeRef::Clause(clause));
            match file.clause(clause) {
                ast::Clause::For {
                    key, value, source, ..
                } => {
                    let source = self.expr(source);
                    let mut scope = Scope::frame(1);
                    scope.variable = !in_list;
                    scope.path = Some(Step::Clause("for[]"));
                    let mut label = |c: &mut Self, name: ast::Name| {
                        if c.is_blank(name.symbol) {
                            return Label::NONE;
                        }
                        let label = c.label(name.symbol);
                        scope.names.insert(name.symbol, Name::Variable(label));
                        label
                    };
                    let blank = key.is_some();
                    let key = key.map_or(Label::NONE, |k| label(self, k));
                    let value = label(self, value);
                    self.stack.push(scope);
                    out.push(Clause::For {
                        key,
                        value,
                        blank,
                        source,
                        span: at,
                    });
                }
                ast::Clause::If { condition } => {
                    let condition = self.expr(condition);
                    out.push(Clause::If {
                        condition,
                        span: at,
                    });
                }
                ast::Clause::Let { name, value, .. } => {
                    if out.is_empty() {
                        self.stack.truncate(depth);
                        return self
                            .error(span, "first comprehension clause must be 'if' or 'for'");
                    }
                    let (expr, multi) = self.tracking(|c| c.expr(value));
                    let label = self.bind(name, "let[]", !in_list && multi);
                    out.push(Clause::Let {
                        label,
                        expr,
                        span: at,
                    });
                }
                ast::Clause::Try { binding, .. } => {
                    if !file.experiments.try_clause {
                        self.stack.truncate(depth);
                        return self.error(
                            at,
                            "try clause requires the try experiment (language version v0.16.0 or later)",
                        );
                    }
                    let (label, expr) = match binding {
                        None => {
                            struct_try = true;
                            (Label::NONE, None)
                        }
                        Some((name, value)) => {
                            self.in_try += 1;
                            let (expr, multi) = self.tracking(|c| c.expr(value));
                            self.in_try -= 1;
                            let label = self.bind(name, "try[]", !in_list && multi);
                            (label, Some(expr))
                        }
                    };
                    out.push(Clause::Try {
                        label,
                        expr,
                        span: at,
                    });
                }
                ast::Clause::Else { .. } => {}
            }
        }
        if struct_try {
            self.in_try += 1;
        }
        let body = self.expr(value);
        if struct_try {
            self.in_try -= 1;
        }
        while self.stack.len() > depth {
            self.pop_scope();
        }
        if out.is_empty() {
            return self.error(span, "comprehension value without clauses");
        }
        if !matches!(self.ctx.ir.exprs[body], Expr::Struct(_)) {
            let at = file.expr_span(value);
            return self.error(at, "comprehension value must be struct");
        }
        let mut other = None;
        if let Some(fallback) = fallback
            && let ast::Clause::Else { body } = file.clause(fallback)
        {
            if !file.experiments.try_clause {
                let one = clauses.len() == 1
                    && matches!(out.first(), Some(Clause::If { .. } | Clause::Try { .. }));
                let word = if one { "else" } else { "fallback" };
                let at = file.span_of(ast::NodeRef::Clause(fallback));
                return self.error(
                    at,
                    format!(
                        "{word} clause requires the try experiment (language version v0.16.0 or later)"
                    ),
                );
            }
            other = Some(self.expr(body));
        }
        self.push(
            Expr::Comprehension(Box::new(Comprehension {
                clauses: out,
                value: body,
                fallback: other,
            })),
            span,
        )
    }

    /// Runs a part of the compilation and tells whether it refers to a variable.
    fn tracking<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> (T, bool) {
        let saved = std::mem::replace(&mut self.refers_to_variable, false);
        let result = run(self);
        let found = std::mem::replace(&mut self.refers_to_variable, saved);
        self.refers_to_variable |= found;
        (result, found)
    }

    fn bind(&mut self, name: ast::Name, path: &'static str, variable: bool) -> Label {
        let label = self.label(name.symbol);
        let mut scope = Scope::frame(1);
        scope.path = Some(Step::Clause(path));
        scope.variable = variable;
        scope.names.insert(name.symbol, Name::Variable(label));
        self.stack.push(scope);
        label
    }
}
