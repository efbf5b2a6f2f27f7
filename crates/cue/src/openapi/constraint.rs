//! Constraints by kind: what a bound, a validator, a field or an element says in the words of OpenAPI.

use std::rc::Rc;

use crate::eval::ir::Op;
use crate::eval::kind::Kind;
use crate::eval::node::{ArcType, Base};
use crate::eval::value::Val;
use crate::number::Num;
use crate::packages::Value;

use super::builder::{Builder, Map, object, set};
use super::part::{Part, Top};
use super::{Failure, Generator, Made};

/// Formats, and the bounds that they imply.
const RANGES: [(&str, &str, &str); 4] = [
    ("int32", "-2147483648", "2147483647"),
    ("int64", "-9223372036854775808", "9223372036854775807"),
    (
        "float",
        "-340282346638528859811704183484516925440",
        "340282346638528859811704183484516925440",
    ),
    (
        "double",
        "-1.797693134862315708145274237317043567981e+308",
        "1.797693134862315708145274237317043567981e+308",
    ),
];

fn number(text: &str) -> Option<Num> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let num = Num::parse_literal(digits).ok()?;
    Some(if negative { num.negate() } else { num })
}

fn equals(value: &Value, text: &str) -> bool {
    match (value, number(text)) {
        (Value::Num(n), Some(known)) => n.compare(&known).is_eq(),
        _ => false,
    }
}

/// Takes away bounds that the format says.
pub(super) fn drop_implied_bounds(schema: &mut Map, format: &str) {
    let Some((_, low, high)) = RANGES.iter().find(|(name, ..)| *name == format) else {
        return;
    };
    schema.retain(|(key, value)| match key.as_str() {
        "minimum" => !equals(value, low),
        "maximum" => !equals(value, high),
        _ => true,
    });
}

impl Generator<'_> {
    /// The format of a value: ranges of numbers, bytes, times.
    pub fn format(&mut self, part: Part) -> Made<Option<&'static str>> {
        let kind = self.kind(part);
        let wanted = Kind::NUMBER | Kind::STRING | Kind::BYTES;
        if !kind.meets(wanted) {
            return Ok(None);
        }
        let (top, parts) = self.split(part)?;
        if let Top::Call(name) = &top {
            let arg = match parts.first() {
                Some(&arg) => match self.ctx.scalar(Val::Node(arg.node)) {
                    Some(crate::eval::value::Value::String(s)) => Some(s.to_string()),
                    _ => None,
                },
                None => None,
            };
            return Ok(match (name.as_str(), arg.as_deref()) {
                ("time.Time", None) => Some("date-time"),
                ("time.Format", Some("2006-01-02")) => Some("date"),
                ("time.Format", Some("2006-01-02T15:04:05.999999999Z07:00")) => Some("date-time"),
                _ => None,
            });
        }
        let node = self.ctx.deref_value(part.node);
        if kind == Kind::BYTES && self.ctx.show(Val::Node(node)) == "bytes" {
            return Ok(Some("binary"));
        }
        if !kind.meets(Kind::NUMBER) || kind.meets(Kind::STRING | Kind::BYTES) {
            return Ok(None);
        }
        let mut conjuncts = Vec::new();
        self.split_all(&Top::And, part.evaluated(), &mut conjuncts)?;
        let (mut low, mut high) = (None, None);
        let mut is_int = false;
        for one in conjuncts {
            match self.split(one)? {
                (Top::Bound(Op::Ge), parts) if low.is_none() => low = parts.first().copied(),
                (Top::Bound(Op::Le), parts) if high.is_none() => high = parts.first().copied(),
                (Top::Plain, _) if self.kind(one) == Kind::INT => is_int = true,
                _ => return Ok(None),
            }
        }
        let (Some(low), Some(high)) = (low, high) else {
            return Ok(None);
        };
        let (low, high) = (self.plain(low)?, self.plain(high)?);
        Ok(RANGES
            .iter()
            .find(|(name, l, h)| {
                name.starts_with("int") == is_int && equals(&low, l) && equals(&high, h)
            })
            .map(|(name, ..)| *name))
    }

    /// Expanded references must not come back to a value that is being expanded.
    pub fn check_cycle(&mut self, part: Part) -> Made<()> {
        if !self.expand {
            return Ok(());
        }
        let target = self.dereference(part);
        let target = self.ctx.deref_value(target.node);
        if self.active.contains(&target) {
            return Err(Failure::fatal(format!(
                "cycle in reference at {}: cyclic structures not allowed when reference expansion \
                 is requested",
                self.path.join(".")
            )));
        }
        Ok(())
    }

    fn int(&mut self, part: Option<&Part>) -> Made<i64> {
        let value = match part {
            Some(&part) => self.plain(part)?,
            None => Value::Null,
        };
        match value {
            Value::Num(n) => n.to_i64(),
            _ => None,
        }
        .ok_or_else(|| Failure::fatal("could not retrieve int"))
    }
}

impl Builder {
    /// Adds what a value without operators says. With `length` it speaks about the length of a list.
    pub fn dispatch(&mut self, g: &mut Generator<'_>, part: Part, length: bool) -> Made<()> {
        if length {
            return self.list_length(g, part);
        }
        let kind = g.kind(part);
        if kind == Kind::NULL {
            self.set_single("nullable", Value::Bool(true));
        } else if kind == Kind::BOOL {
            self.set_kind("boolean");
        } else if kind == Kind::FLOAT || kind == Kind::NUMBER {
            self.set_kind("number");
            self.number(g, part)?;
        } else if kind == Kind::INT {
            self.set_kind("integer");
            self.number(g, part)?;
        } else if kind == Kind::BYTES {
            if self.kind.is_empty() {
                self.format = "byte".to_owned();
            }
            self.set_kind("string");
            self.text(g, part, "bytes")?;
        } else if kind == Kind::STRING {
            self.set_kind("string");
            self.text(g, part, "string")?;
        } else if kind == Kind::STRUCT {
            self.set_kind("object");
            self.object(g, part)?;
        } else if kind == Kind::LIST {
            self.set_kind("array");
            self.array(g, part)?;
        }
        Ok(())
    }

    fn object(&mut self, g: &mut Generator<'_>, part: Part) -> Made<()> {
        let (top, args) = g.split(part)?;
        match top {
            Top::Call(name) => {
                match name.as_str() {
                    "struct.MinFields" => {
                        self.set("minProperties", Value::int(g.int(args.first())?));
                    }
                    "struct.MaxFields" => {
                        self.set("maxProperties", Value::int(g.int(args.first())?));
                    }
                    _ => {}
                }
                return Ok(());
            }
            Top::Plain => {}
            other => {
                let message = format!("unsupported op {} for object type", name_of(&other));
                return Err(Failure::fatal(message));
            }
        }
        let node = g.ctx.deref_value(part.node);
        let arcs = crate::export::order::ordered_arcs(g.ctx, node);
        let mut required = Vec::new();
        for &arc in &arcs {
            let a = &g.ctx.nodes[arc];
            if a.label.is_string() && a.arc_type <= ArcType::Required {
                required.push(Value::string(a.label.name(&g.ctx.symbols)));
            }
        }
        if !required.is_empty() {
            self.set("required", Value::List(required));
        }
        let mut properties: Map = match self.single("properties") {
            Some(Value::Struct(known)) => known.clone(),
            _ => Vec::new(),
        };
        for arc in arcs {
            let a = &g.ctx.nodes[arc];
            if a.label.is_hidden() || a.arc_type > ArcType::Optional {
                continue;
            }
            let is_definition = a.label.is_def();
            let Some(name) = g.label(arc) else {
                continue;
            };
            let core = self.core.as_deref().and_then(|core| {
                let known = core.properties.iter().find(|(known, _)| *known == name);
                known.map(|(_, core)| Rc::clone(core))
            });
            let schema = g.schema(core, &name, Part::of(arc))?;
            if is_definition {
                let mut path = g.path.clone();
                path.push(name);
                set(&mut g.schemas, &path.join("."), Value::Struct(schema));
            } else if self.core.is_none() || !schema.is_empty() {
                set(&mut properties, &name, Value::Struct(schema));
            }
        }
        if !properties.is_empty() {
            self.set_single("properties", Value::Struct(properties));
        }
        let has_core_items = self.core.as_ref().is_some_and(|core| core.items.is_some());
        if !has_core_items && let Some(rest) = g.rest(part)? {
            g.check_cycle(rest)?;
            let schema = g.schema(None, "*", rest)?;
            if !schema.is_empty() {
                self.set_single("additionalProperties", Value::Struct(schema));
            }
        }
        Ok(())
    }

    fn array(&mut self, g: &mut Generator<'_>, part: Part) -> Made<()> {
        let (top, args) = g.split(part)?;
        match top {
            Top::Call(name) => {
                match name.as_str() {
                    "list.UniqueItems" => self.set("uniqueItems", Value::Bool(true)),
                    "list.MinItems" => self.set("minItems", Value::int(g.int(args.first())?)),
                    "list.MaxItems" => self.set("maxItems", Value::int(g.int(args.first())?)),
                    _ => {}
                }
                return Ok(());
            }
            Top::Plain => {}
            other => {
                let message = format!("unsupported op {} for array type", name_of(&other));
                return Err(Failure::fatal(message));
            }
        }
        let node = g.ctx.deref_value(part.node);
        let arcs = g.ctx.nodes[node].arcs.list.clone();
        let mut items = Vec::new();
        for arc in arcs {
            if g.ctx.nodes[arc].label.is_int() {
                let name = items.len().to_string();
                items.push(Value::Struct(g.schema(None, &name, Part::of(arc))?));
            }
        }
        let count = items.len();
        if count > 0 {
            self.set("items", Value::List(items));
        }
        let open = matches!(g.ctx.nodes[node].base, Base::List { open: true });
        if !open {
            return Ok(());
        }
        // The length of an open list is a bound on its own.
        if count > 0 {
            let least = i64::try_from(count).unwrap_or(i64::MAX);
            self.set("minItems", Value::int(least));
        }
        if let Some(rest) = g.rest(part)? {
            g.check_cycle(rest)?;
            let core = self.core.as_deref().and_then(|core| core.items.clone());
            let schema = g.schema(core, "*", rest)?;
            if count > 0 {
                self.set("additionalItems", Value::Struct(schema));
            } else if self.core.is_none() || !schema.is_empty() {
                self.set_single("items", Value::Struct(schema));
            }
        }
        Ok(())
    }

    fn list_length(&mut self, g: &mut Generator<'_>, part: Part) -> Made<()> {
        let (top, args) = g.split(part)?;
        let Top::Bound(op) = top else {
            return Ok(());
        };
        let n = g.int(args.first())?;
        match op {
            Op::Lt => self.set("maxItems", Value::int(n - 1)),
            Op::Le => self.set("maxItems", Value::int(n)),
            Op::Gt => self.set("minItems", Value::int(n + 1)),
            Op::Ge if n > 0 => self.set("minItems", Value::int(n)),
            _ => {}
        }
        Ok(())
    }

    fn number(&mut self, g: &mut Generator<'_>, part: Part) -> Made<()> {
        let (top, args) = g.split(part)?;
        let mut operand = || match args.first() {
            Some(&arg) => g.plain(arg),
            None => Ok(Value::Null),
        };
        match top {
            Top::Bound(op) => {
                let n = operand()?;
                match op {
                    Op::Lt => {
                        self.set("exclusiveMaximum", Value::Bool(true));
                        self.set("maximum", n);
                    }
                    Op::Le => self.set("maximum", n),
                    Op::Gt => {
                        self.set("exclusiveMinimum", Value::Bool(true));
                        self.set("minimum", n);
                    }
                    Op::Ge => self.set("minimum", n),
                    Op::Ne => self.set_not(
                        "allOf",
                        Value::List(vec![object("minimum", n.clone()), object("maximum", n)]),
                    ),
                    other => {
                        let message = format!("unsupported op for number {}", other.text());
                        return Err(Failure::fatal(message));
                    }
                }
            }
            Top::Call(name) => {
                if name == "math.MultipleOf" {
                    self.set("multipleOf", Value::int(g.int(args.first())?));
                }
            }
            Top::Plain => {}
            other => {
                let message = format!("unsupported op for number {}", name_of(&other));
                return Err(Failure::fatal(message));
            }
        }
        Ok(())
    }

    fn text(&mut self, g: &mut Generator<'_>, part: Part, what: &str) -> Made<()> {
        let (top, args) = g.split(part)?;
        match top {
            Top::Bound(op @ (Op::Match | Op::NotMatch)) => {
                let pattern = match args.first() {
                    Some(&arg) => g.plain(arg)?,
                    None => Value::Null,
                };
                let pattern = match pattern {
                    Value::String(text) => text,
                    Value::Bytes(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
                    _ => return Err(Failure::fatal("regexp value must be a string")),
                };
                if op == Op::Match {
                    self.set("pattern", Value::String(pattern));
                } else {
                    self.set_not("pattern", Value::String(pattern));
                }
            }
            Top::Call(name) => match name.as_str() {
                "strings.MinRunes" => self.set("minLength", Value::int(g.int(args.first())?)),
                "strings.MaxRunes" => self.set("maxLength", Value::int(g.int(args.first())?)),
                _ => {}
            },
            Top::Plain | Top::Select => {}
            other => {
                let message = format!("unsupported op {} for {what} type", name_of(&other));
                return Err(Failure::fatal(message));
            }
        }
        Ok(())
    }
}

fn name_of(top: &Top) -> &'static str {
    match top {
        Top::Plain => "",
        Top::And => "&",
        Top::Or => "|",
        Top::Bound(op) => op.text(),
        Top::Call(_) => "()",
        Top::Select => ".",
        Top::Other(text) => text,
    }
}
