//! What builtins there are and what they take: the predeclared ones and the members of standard packages.

use super::context::Ctx;
use super::ids::ValId;
use super::kind::Kind;
use super::value::{BuiltinId, Validator, Value};
use crate::packages::{Body as MemberBody, Member, Package};

/// The predeclared functions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Core {
    Error,
    Len,
    Close,
    And,
    Or,
    Div,
    Mod,
    Quo,
    Rem,
    MatchN,
    MatchIf,
}

const CORE: [(Core, &str); 11] = [
    (Core::Error, "error"),
    (Core::Len, "len"),
    (Core::Close, "close"),
    (Core::And, "and"),
    (Core::Or, "or"),
    (Core::Div, "div"),
    (Core::Mod, "mod"),
    (Core::Quo, "quo"),
    (Core::Rem, "rem"),
    (Core::MatchN, "matchN"),
    (Core::MatchIf, "matchIf"),
];

#[derive(Clone, Copy, Debug)]
pub enum Body {
    Core(Core),
    Member(&'static Member),
}

/// A parameter's kind, and whether it may be left out.
#[derive(Clone, Copy, Debug)]
pub struct Param {
    pub kind: Kind,
    pub has_default: bool,
}

#[derive(Clone, Debug)]
pub struct Builtin {
    pub package: Option<&'static str>,
    pub name: &'static str,
    pub params: Vec<Param>,
    pub result: Kind,
    /// Arguments are passed as they are, not reduced to concrete values.
    pub non_concrete: bool,
    pub body: Body,
}

impl Builtin {
    /// A call with one argument less is a constraint.
    pub fn is_validator(&self, args: usize) -> bool {
        args + 1 == self.params.len()
            && self.result.without(Kind::BOOL).is_bottom()
            && self.params.get(args).is_some_and(|p| !p.has_default)
    }
}

/// The table of predeclared builtins, in the order of [`CORE`].
pub fn predeclared() -> Vec<Builtin> {
    let param = |kind| Param {
        kind,
        has_default: false,
    };
    let sized = Kind::STRUCT | Kind::BYTES | Kind::STRING | Kind::LIST;
    CORE.iter()
        .map(|&(core, name)| {
            let (params, result) = match core {
                Core::Error => (vec![Kind::STRING], Kind::BOTTOM),
                Core::Len => (vec![sized], Kind::INT),
                Core::Close => (vec![Kind::STRUCT], Kind::STRUCT),
                Core::And | Core::Or => (vec![Kind::LIST], Kind::INT),
                Core::Div | Core::Mod | Core::Quo | Core::Rem => {
                    (vec![Kind::INT, Kind::INT], Kind::INT)
                }
                Core::MatchN => (vec![Kind::TOP, Kind::INT, Kind::LIST], Kind::BOOL),
                Core::MatchIf => (vec![Kind::TOP; 4], Kind::BOOL),
            };
            Builtin {
                package: None,
                name,
                params: params.into_iter().map(param).collect(),
                result,
                non_concrete: matches!(core, Core::Or | Core::MatchN | Core::MatchIf),
                body: Body::Core(core),
            }
        })
        .collect()
}

impl Ctx {
    /// The predeclared function of that name.
    pub fn core_builtin(&self, name: &str) -> Option<BuiltinId> {
        let index = CORE.iter().position(|(_, n)| *n == name)?;
        u32::try_from(index).ok().map(BuiltinId)
    }

    /// Enters a member of a package into the table.
    pub fn member_builtin(
        &mut self,
        package: &'static Package,
        member: &'static Member,
    ) -> Option<BuiltinId> {
        let function = match &member.body {
            MemberBody::Constant(_) => return None,
            MemberBody::Pure(f, _) | MemberBody::Evaluator(f, _) => f,
        };
        let id = u32::try_from(self.builtins.len()).ok()?;
        self.builtins.push(Builtin {
            package: Some(package.path),
            name: member.name,
            params: function
                .params
                .iter()
                .map(|p| Param {
                    kind: p.kind,
                    has_default: p.default.is_some(),
                })
                .collect(),
            result: function.result,
            non_concrete: function.non_concrete,
            body: Body::Member(member),
        });
        Some(BuiltinId(id))
    }

    pub fn builtin(&self, id: BuiltinId) -> &Builtin {
        self.builtins
            .get(id.0 as usize)
            .expect("a BuiltinId comes from the table of its run")
    }

    /// `strings.ToUpper`, `len`.
    pub fn builtin_name(&self, id: BuiltinId) -> String {
        let b = self.builtin(id);
        match b.package {
            Some(package) => {
                let package = if crate::syntax::literal::label_needs_quotes(package) {
                    super::quote::string(package)
                } else {
                    package.to_owned()
                };
                format!("{package}.{}", b.name)
            }
            None => b.name.to_owned(),
        }
    }

    /// The name in messages about calls, where paths are not quoted.
    pub fn qualified_name(&self, id: BuiltinId) -> String {
        let b = self.builtin(id);
        match b.package {
            Some(package) => format!("{package}.{}", b.name),
            None => b.name.to_owned(),
        }
    }

    pub fn builtin_param_kind(&self, id: BuiltinId, index: usize) -> Kind {
        self.builtin(id)
            .params
            .get(index)
            .map_or(Kind::TOP, |p| p.kind)
    }

    /// A function of one argument that says yes or no is a constraint by its bare name.
    pub fn bare_validator(&mut self, id: BuiltinId, val: ValId) -> Option<ValId> {
        let b = self.builtin(id);
        if b.params.len() != 1 || b.result != Kind::BOOL && b.result != Kind::BOTTOM {
            return None;
        }
        let span = self.vals[val].span;
        Some(self.new_value_at(
            Value::Validator(Box::new(Validator {
                builtin: id,
                args: Vec::new(),
                call: None,
                env: None,
            })),
            span,
        ))
    }

    /// The validator looks at schemas, so it does not close what it checks.
    pub fn validator_is_open(&self, id: ValId) -> bool {
        match self.value(id) {
            Value::Validator(v) => self.builtin(v.builtin).non_concrete,
            _ => false,
        }
    }
}
