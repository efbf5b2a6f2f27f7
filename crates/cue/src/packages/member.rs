//! How a package describes its members.

use super::{Args, Error, Kinds, Value};

/// One importable package.
#[derive(Debug)]
pub struct Package {
    pub path: &'static str,
    pub members: &'static [Member],
    /// Members that are written in CUE: the text of a struct.
    pub cue: Option<&'static str>,
}

impl Package {
    pub fn member(&self, name: &str) -> Option<&'static Member> {
        self.members.iter().find(|member| member.name == name)
    }
}

#[derive(Debug)]
pub struct Member {
    pub name: &'static str,
    pub body: Body,
}

#[derive(Debug)]
pub enum Body {
    Constant(Constant),
    Pure(Function, fn(Args<'_>) -> Result<Value, Error>),
    Evaluator(Function, Special),
}

impl Body {
    /// The signature, unless it is a constant.
    pub fn function(&self) -> Option<&Function> {
        match self {
            Body::Constant(_) => None,
            Body::Pure(function, _) | Body::Evaluator(function, _) => Some(function),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Constant {
    String(&'static str),
    /// A number literal; its kind is syntactic.
    Number(&'static str),
}

impl Constant {
    pub fn value(self) -> Value {
        match self {
            Constant::String(text) => Value::String(text.to_owned()),
            Constant::Number(text) => Value::Num(
                crate::number::Num::parse_literal(text)
                    .expect("constants are well-formed number literals"),
            ),
        }
    }
}

#[derive(Debug)]
pub struct Function {
    pub params: &'static [Param],
    pub result: Kinds,
    /// Arguments may be schemas: they are passed as they are, not reduced to concrete values.
    pub non_concrete: bool,
}

impl Function {
    /// Whether a call with all arguments but one is a constraint.
    pub fn is_validator(&self) -> bool {
        (self.result == Kinds::BOOL || self.result == Kinds::BOTTOM)
            && self
                .params
                .last()
                .is_some_and(|param| param.default.is_none())
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Param {
    pub kind: Kinds,
    /// Structs inside are converted too, and everything must be concrete.
    pub deep: bool,
    /// What a missing argument means.
    pub default: Option<&'static str>,
    /// The strings that are allowed; empty for any.
    pub one_of: &'static [&'static str],
}

/// Members that need more than concrete values: the evaluator implements them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Special {
    /// `list.MinItems(list, n)`: a list that is open and too short is incomplete, not wrong.
    ListMinItems,
    ListMaxItems,
    /// `list.UniqueItems(list)`: elements compare by their regular fields; two equal ones of which the later may
    /// still change make it incomplete.
    ListUniqueItems,
    /// `list.Contains(list, value)`: strict equality, elements need not be concrete.
    ListContains,
    /// `list.MatchN(list, n, schema)`: counts the elements that unify with the schema into something final.
    ListMatchN,
    /// `list.Sort(list, cmp)`: `cmp` is a struct with `x`, `y` and `less`. The sort is stable.
    ListSort,
    ListIsSorted,
    /// `struct.MinFields(struct, n)`: counts regular fields; incomplete while the struct may still grow.
    StructMinFields,
    StructMaxFields,
    /// `json.Validate(text, schema)`: the text as a value, unified with the schema, is final and has no error.
    JsonValidate,
    /// `yaml.Validate(text, schema)`: the same for every document of the stream.
    YamlValidate,
    /// As `YamlValidate`, without asking for concrete values.
    YamlValidatePartial,
    /// `openapi.MarshalSchema(config, schema)`: the definitions of a value as an OpenAPI document.
    OpenApiMarshalSchema,
}

/// A parameter of some kind.
pub(super) const fn param(kind: Kinds) -> Param {
    Param {
        kind,
        deep: false,
        default: None,
        one_of: &[],
    }
}

pub(super) const NUMBER: Param = param(Kinds::NUMBER);
pub(super) const INT: Param = param(Kinds::INT);
pub(super) const BOOL: Param = param(Kinds::BOOL);
pub(super) const STRING: Param = param(Kinds::STRING);
pub(super) const TEXT: Param = param(Kinds::TEXT);
pub(super) const LIST: Param = param(Kinds::LIST);
pub(super) const STRUCT: Param = param(Kinds::STRUCT);
/// Anything, as far as it is known.
pub(super) const ANY: Param = param(Kinds::TOP);
/// Any concrete value, down to its leaves.
pub(super) const DATA: Param = Param {
    deep: true,
    ..param(Kinds::TOP)
};

pub(super) const fn function(
    name: &'static str,
    params: &'static [Param],
    result: Kinds,
    run: fn(Args<'_>) -> Result<Value, Error>,
) -> Member {
    Member {
        name,
        body: Body::Pure(
            Function {
                params,
                result,
                non_concrete: false,
            },
            run,
        ),
    }
}

pub(super) const fn special(
    name: &'static str,
    params: &'static [Param],
    result: Kinds,
    which: Special,
) -> Member {
    let non_concrete = matches!(
        which,
        Special::ListMatchN
            | Special::JsonValidate
            | Special::YamlValidate
            | Special::YamlValidatePartial
            | Special::OpenApiMarshalSchema
    );
    Member {
        name,
        body: Body::Evaluator(
            Function {
                params,
                result,
                non_concrete,
            },
            which,
        ),
    }
}

pub(super) const fn number(name: &'static str, literal: &'static str) -> Member {
    Member {
        name,
        body: Body::Constant(Constant::Number(literal)),
    }
}

pub(super) const fn text(name: &'static str, value: &'static str) -> Member {
    Member {
        name,
        body: Body::Constant(Constant::String(value)),
    }
}
