//! Types, bounds and validators as keywords.

use super::Encoder;
use super::json::{Json, Object};
use crate::eval::ids::ValId;
use crate::eval::ir::Op;
use crate::eval::kind::Kind;
use crate::eval::value::{Disjunction, Val, Validator, Value};

impl Encoder<'_> {
    /// A value of the value table that is no error.
    pub(super) fn literal(&mut self, id: ValId) -> Object {
        match self.ctx.value(id) {
            Value::Top | Value::Builtin(_) | Value::Bottom(_) => Object::default(),
            Value::Disjunction(d) => {
                let d = d.clone();
                self.disjunction(&d)
            }
            Value::Type(_) | Value::Bound { .. } | Value::Validator(_) | Value::Conjunction(_) => {
                let mut out = types(self.ctx.lit_kind(id));
                self.bounds(Val::Lit(id), &mut out);
                out
            }
            _ => match self.data(Val::Lit(id)) {
                Some(value) => Object::of("const", value),
                None => Object::default(),
            },
        }
    }

    /// Adds what a value says beyond its type.
    fn bounds(&mut self, val: Val, out: &mut Object) {
        let id = match val {
            Val::Lit(id) => id,
            Val::Node(node) => {
                let inner = self.vertex(node);
                out.merge(inner);
                return;
            }
        };
        match self.ctx.value(id) {
            Value::Conjunction(values) => {
                for value in values.clone() {
                    self.bounds(value, out);
                }
            }
            Value::Bound { op, value } => {
                let (op, value) = (*op, *value);
                self.bound(op, value, out);
            }
            Value::Validator(validator) => {
                let validator = validator.clone();
                self.validator(&validator, out);
            }
            _ => {}
        }
    }

    fn bound(&mut self, op: Op, value: Val, out: &mut Object) {
        let Some(limit) = self.data(value) else {
            return;
        };
        let is_number = matches!(limit, Json::Number { .. });
        let not = |inner: Object| ("not", Json::Map(inner));
        let (key, limit) = match (op, is_number) {
            (Op::Ge, true) => ("minimum", limit),
            (Op::Gt, true) => ("exclusiveMinimum", limit),
            (Op::Le, true) => ("maximum", limit),
            (Op::Lt, true) => ("exclusiveMaximum", limit),
            (Op::Ne, _) => not(Object::of("const", limit)),
            (Op::Match, _) => ("pattern", pattern(limit)),
            (Op::NotMatch, _) => not(Object::of("pattern", pattern(limit))),
            // JSON Schema has no order of strings.
            _ => return,
        };
        out.set(key, limit);
    }

    pub(super) fn validator(&mut self, validator: &Validator, out: &mut Object) {
        let name = self.ctx.qualified_name(validator.builtin);
        let first = validator.args.first().copied();
        let keyword = match name.as_str() {
            "strings.MinRunes" => "minLength",
            "strings.MaxRunes" => "maxLength",
            "list.MinItems" => "minItems",
            "list.MaxItems" => "maxItems",
            "struct.MinFields" => "minProperties",
            "struct.MaxFields" => "maxProperties",
            "math.MultipleOf" => "multipleOf",
            "list.UniqueItems" => {
                out.set("uniqueItems", Json::Bool(true));
                return;
            }
            "matchN" => {
                self.match_n(validator, out);
                return;
            }
            _ => {
                if let Some(format) = format(&name) {
                    out.set("format", Json::text(format));
                }
                return;
            }
        };
        if let Some(limit) = first.and_then(|arg| self.data(arg)) {
            out.set(keyword, limit);
        }
    }

    /// `matchN(1, [a, b])` and its like.
    fn match_n(&mut self, validator: &Validator, out: &mut Object) {
        let (Some(&count), Some(&Val::Node(list))) =
            (validator.args.first(), validator.args.get(1))
        else {
            return;
        };
        let list = self.ctx.deref_value(list);
        let items = self.ctx.nodes[list].arcs.list.clone();
        let items: Vec<Json> = items
            .into_iter()
            .map(|item| Json::Map(self.schema(item)))
            .collect();
        let all = items.len().to_string();
        let count = match self.data(count) {
            Some(Json::Number { text, .. }) => text,
            _ => ">=1".to_owned(),
        };
        match count.as_str() {
            "0" => {
                let any = Object::of("anyOf", Json::List(items));
                out.set("not", Json::Map(any));
            }
            count if count == all => out.set("allOf", Json::List(items)),
            "1" => out.set("oneOf", Json::List(items)),
            _ => {}
        }
    }

    /// Alternatives. A default that another alternative admits anyway is only a default.
    pub(super) fn disjunction(&mut self, d: &Disjunction) -> Object {
        let (mut scalars, mut kinds, mut others) = (Vec::new(), Kind::BOTTOM, Vec::new());
        let mut default = None;
        for (at, &value) in d.values.iter().enumerate() {
            let data = self.data(value);
            if at < d.defaults {
                if d.defaults == 1 {
                    default = data.clone();
                }
                let open = d.values.get(d.defaults..).unwrap_or(&[]);
                if data.is_some() && open.iter().any(|&other| self.meets(value, other)) {
                    continue;
                }
            }
            let is_scalar = !matches!(data, Some(Json::Map(_) | Json::List(_)));
            match (data, value) {
                (Some(data), _) if is_scalar => scalars.push(data),
                (_, Val::Lit(id)) if matches!(self.ctx.value(id), Value::Type(_)) => {
                    kinds |= self.ctx.lit_kind(id);
                }
                (_, Val::Lit(id)) if matches!(self.ctx.value(id), Value::Top) => {
                    return with_default(Object::default(), default);
                }
                (_, Val::Lit(id)) => others.push(self.literal(id)),
                (_, Val::Node(node)) => others.push(self.vertex(node)),
            }
        }
        if !kinds.is_bottom() {
            let all = scalars.len();
            scalars.retain(|scalar| *scalar != Json::Null);
            if scalars.len() < all {
                kinds |= Kind::NULL;
            }
            others.insert(0, types(kinds));
        }
        if !scalars.is_empty() {
            let one = match scalars.len() {
                1 => Object::of("const", scalars.remove(0)),
                _ => Object::of("enum", Json::List(scalars)),
            };
            others.insert(0, one);
        }
        let out = match others.len() {
            0 => Object::default(),
            1 => others.remove(0),
            _ => {
                let all = others.into_iter().map(Json::Map).collect();
                Object::of("anyOf", Json::List(all))
            }
        };
        with_default(out, default)
    }
}

fn with_default(mut out: Object, default: Option<Json>) -> Object {
    if let Some(default) = default {
        out.set("default", default);
    }
    out
}

/// The keyword for a set of kinds; nothing where everything is admitted.
pub fn types(kind: Kind) -> Object {
    let known = [
        (Kind::NULL, "null"),
        (Kind::BOOL, "boolean"),
        (Kind::STRING | Kind::BYTES, "string"),
        (Kind::LIST, "array"),
        (Kind::STRUCT, "object"),
    ];
    let mut names: Vec<Json> = known
        .iter()
        .filter(|(set, _)| kind.meets(*set))
        .map(|(_, name)| Json::text(*name))
        .collect();
    match (kind.meets(Kind::FLOAT), kind.meets(Kind::INT)) {
        // JSON has no numbers that are not integers by type.
        (true, _) => names.push(Json::text("number")),
        (false, true) => names.push(Json::text("integer")),
        _ => {}
    }
    match names.len() {
        0 => Object::default(),
        1 => Object::of("type", names.remove(0)),
        _ if names.len() > known.len() => Object::default(),
        _ => Object::of("type", Json::List(names)),
    }
}

/// A pattern in the dialect of JSON Schema, which knows no `\A` and `\z`.
fn pattern(text: Json) -> Json {
    match text {
        Json::Text(text) => {
            let text = match text.strip_prefix("\\A") {
                Some(rest) => format!("^{rest}"),
                None => text,
            };
            Json::Text(match text.strip_suffix("\\z") {
                Some(rest) => format!("{rest}$"),
                None => text,
            })
        }
        other => other,
    }
}

/// The format that a validator without arguments stands for.
fn format(validator: &str) -> Option<&'static str> {
    Some(match validator {
        "time.Time" => "date-time",
        "net.IPv4" => "ipv4",
        "net.IPv6" => "ipv6",
        "net.FQDN" => "hostname",
        "net.AbsURL" => "uri",
        "net.URL" => "uri-reference",
        "uuid.Valid" => "uuid",
        "regexp.Valid" => "regex",
        _ => return None,
    })
}
