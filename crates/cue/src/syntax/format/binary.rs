//! Binary operators, with blanks around them by precedence.
//!
//! Operators that bind loosely always have blanks. Where tight and loose ones meet, or the
//! expression is nested in another, the tight ones have none: `1 + 2*3`. A long chain leans to
//! the left; it is walked with a loop, so that its length does not matter.

use super::expr::{shallower, unary_text};
use super::held::Outer;
use super::{Formatter, Space};
use crate::syntax::ast::{BinaryOp, Expr, ExprId, Gap, NodeRef, Pos, UnaryOp};

pub(super) fn binary_text(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Or => "|",
        BinaryOp::And => "&",
        BinaryOp::BoolOr => "||",
        BinaryOp::BoolAnd => "&&",
        BinaryOp::Equal => "==",
        BinaryOp::NotEqual => "!=",
        BinaryOp::Less => "<",
        BinaryOp::LessEqual => "<=",
        BinaryOp::Greater => ">",
        BinaryOp::GreaterEqual => ">=",
        BinaryOp::Match => "=~",
        BinaryOp::NotMatch => "!~",
        BinaryOp::Add => "+",
        BinaryOp::Subtract => "-",
        BinaryOp::Multiply => "*",
        BinaryOp::Divide => "/",
    }
}

pub(super) fn strength(op: BinaryOp) -> u8 {
    match op {
        BinaryOp::Or => 1,
        BinaryOp::And => 2,
        BinaryOp::BoolOr => 3,
        BinaryOp::BoolAnd => 4,
        BinaryOp::Equal
        | BinaryOp::NotEqual
        | BinaryOp::Less
        | BinaryOp::LessEqual
        | BinaryOp::Greater
        | BinaryOp::GreaterEqual
        | BinaryOp::Match
        | BinaryOp::NotMatch => 5,
        BinaryOp::Add | BinaryOp::Subtract => 6,
        BinaryOp::Multiply | BinaryOp::Divide => 7,
    }
}

/// Where the comments behind an operator hang in its expression.
const BEHIND_OPERATOR: i32 = 2;

/// Which operators occur in an expression, calls and parentheses aside.
#[derive(Clone, Copy, Default)]
struct Mix {
    sums: bool,
    products: bool,
    /// From which strength on an operator needs blanks, so that it does not run into a unary
    /// operator: `a - -b`.
    clash: u8,
}

impl Mix {
    fn and(self, other: Mix) -> Mix {
        Mix {
            sums: self.sums || other.sums,
            products: self.products || other.products,
            clash: self.clash.max(other.clash),
        }
    }

    /// Operators weaker than this have blanks.
    fn cutoff(self, depth: usize) -> u8 {
        if self.clash > 0 {
            return self.clash + 1;
        }
        if self.sums && self.products {
            return if depth == 1 { 7 } else { 6 };
        }
        if depth == 1 { 8 } else { 6 }
    }
}

struct Link {
    id: ExprId,
    op: BinaryOp,
    right: ExprId,
    at: Pos,
}

impl Formatter<'_> {
    /// The operators of a chain from the last to the first, and the operand it begins with.
    fn chain(&self, id: ExprId) -> (Vec<Link>, ExprId) {
        let mut links = Vec::new();
        let mut rest = id;
        let mut weakest = 0;
        while let Expr::Binary {
            op,
            left,
            right,
            at,
        } = self.file.expr(rest)
        {
            // A weaker operator on the left needs parentheses: it begins a chain of its own.
            if strength(op) < weakest {
                break;
            }
            weakest = strength(op);
            links.push(Link {
                id: rest,
                op,
                right,
                at,
            });
            rest = left;
        }
        (links, rest)
    }

    /// The mix of every part of a chain, in the order of its links.
    fn mixes(&self, links: &[Link]) -> Vec<Mix> {
        let mut mixes = Vec::with_capacity(links.len());
        let mut inner = Mix::default();
        for link in links.iter().rev() {
            let own = Mix {
                sums: strength(link.op) == 6,
                products: strength(link.op) == 7,
                clash: 0,
            };
            let right = match self.file.expr(link.right) {
                Expr::Binary { op, .. } if strength(op) > strength(link.op) => {
                    let (links, _) = self.chain(link.right);
                    self.mixes(&links).first().copied().unwrap_or_default()
                }
                Expr::Unary { op, .. } => Mix {
                    clash: clash(link.op, op),
                    ..Mix::default()
                },
                _ => Mix::default(),
            };
            inner = inner.and(own).and(right);
            mixes.push(inner);
        }
        mixes.reverse();
        mixes
    }

    pub(super) fn binary(&mut self, id: ExprId, outer: u8, depth: usize) {
        let Expr::Binary { op, .. } = self.file.expr(id) else {
            return;
        };
        if strength(op) < outer {
            self.token("(");
            self.wish(Space::FIRM);
            self.expr_in(id, 0, shallower(depth));
            self.token(")");
            return;
        }
        let (links, first) = self.chain(id);
        let mixes = self.mixes(&links);
        // Down the left side: where the left operand binds differently, it is one deeper.
        let mut depths = Vec::with_capacity(links.len());
        let mut depth = depth;
        let mut previous: Option<u8> = None;
        for link in &links {
            let here = strength(link.op);
            if let Some(previous) = previous {
                depth += usize::from(previous != here);
                self.before(Some(NodeRef::Expr(link.id)));
            }
            previous = Some(here);
            depths.push(depth);
        }
        let innermost = previous.unwrap_or(0);
        let mut outer = Some(self.tie());
        self.expr_in(first, innermost, depth + 1);
        for (at, link) in links.iter().enumerate().rev() {
            let depth = depths.get(at).copied().unwrap_or(1);
            let cutoff = mixes.get(at).map_or(8, |mix| mix.cutoff(depth));
            let last = if at == 0 { outer.take() } else { None };
            self.link(link, cutoff, depth, last);
            if at > 0 {
                self.after();
            }
        }
    }

    /// An operator and its right operand; behind the last operator of a chain, with what was before the chain.
    fn link(&mut self, link: &Link, cutoff: u8, depth: usize, last: Option<Outer>) {
        let here = strength(link.op);
        let blank = here < cutoff;
        self.wish(Space::FIRM);
        if blank {
            self.wish(Space::BLANK);
        }
        self.at(link.at);
        self.token(binary_text(link.op));
        // Behind the operand they would end the line before the next operator, which is then read as a sign.
        self.comments_until(BEHIND_OPERATOR);
        self.held_here();
        if let Some(outer) = last {
            self.end(outer);
        }
        let below = matches!(
            self.node_gap(self.start(link.right)),
            Gap::Newline | Gap::Section
        );
        if below {
            self.wish(Space::BREAK);
        } else {
            self.wish(Space::FIRM);
            if blank {
                self.wish(Space::BLANK);
            }
        }
        self.expr_in(link.right, here + 1, depth + 1);
    }
}

fn clash(op: BinaryOp, unary: UnaryOp) -> u8 {
    match (binary_text(op), unary_text(unary)) {
        ("/", "*") => 8,
        ("+", "+") | ("-", "-") => 6,
        _ => 0,
    }
}
