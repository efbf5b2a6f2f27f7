//! Members of standard packages that need more than plain values.

use super::call::Call;
use super::context::{Ctx, R};
use super::equal::{IGNORE_OPTIONAL, REGULAR_ONLY};
use super::ids::NodeId;
use super::label::Label;
use super::node::{ArcType, Base, CloseInfo, Conjunct, X};
use super::validate::Config;
use super::value::{Arg, Code, Val, Value};
use crate::packages::Special;

impl Ctx {
    pub fn call_special(&mut self, special: Special, call: &Call) -> R<Option<Val>> {
        match special {
            Special::ListMinItems | Special::ListMaxItems => self.list_items(special, call),
            Special::ListUniqueItems => self.unique_items(call),
            Special::ListContains => {
                let Some(list) = self.list_of(call, 0)? else {
                    return Ok(None);
                };
                let wanted = call.arg(1, self);
                if let Val::Node(node) = wanted {
                    self.finalize(node)?;
                }
                for elem in self.elements(list) {
                    if self.equal(Val::Node(elem), wanted, 0)?
                        || self.equal_to_scalar(elem, wanted)?
                    {
                        return Ok(Some(self.new_bool(true)));
                    }
                }
                Ok(Some(self.new_bool(false)))
            }
            Special::ListMatchN => self.list_match_n(call),
            Special::ListSort | Special::ListIsSorted => self.list_sort(special, call),
            Special::StructMinFields | Special::StructMaxFields => self.fields(special, call),
            Special::JsonValidate | Special::YamlValidate | Special::YamlValidatePartial => {
                self.validate_text(special, call)
            }
            Special::OpenApiMarshalSchema => self.marshal_schema(call),
        }
    }

    fn equal_to_scalar(&mut self, elem: NodeId, wanted: Val) -> R<bool> {
        let elem = self.default_node(elem);
        match (self.unwrap_val(Val::Node(elem)), self.unwrap_val(wanted)) {
            (Some(Val::Lit(a)), Some(Val::Lit(b))) => Ok(self.scalars_equal(a, b)),
            _ => Ok(false),
        }
    }

    fn list_of(&mut self, call: &Call, i: usize) -> R<Option<NodeId>> {
        let arg = call.arg(i, self);
        let arg = match arg {
            Val::Node(node) => Val::Node(self.deref_value(node)),
            lit => lit,
        };
        if let Val::Node(node) = arg
            && matches!(self.nodes[node].base, Base::List { .. })
        {
            self.finalize(node)?;
            if let Some(bottom) = self.node_bottom(node) {
                self.add_bottom(bottom);
                return Ok(None);
            }
            return Ok(Some(node));
        }
        let n = i64::try_from(i).unwrap_or(0);
        let err = self.error("non-concrete list for argument %", &[Arg::Int(n)]);
        let bottom = self.new_bottom(Code::Incomplete, err);
        self.add_bottom(bottom);
        Ok(None)
    }

    fn elements(&self, list: NodeId) -> Vec<NodeId> {
        let arcs = &self.nodes[list].arcs.list;
        let elems = arcs.iter().copied();
        elems.filter(|&a| self.nodes[a].label.is_int()).collect()
    }

    fn int_arg(&mut self, call: &Call, i: usize) -> Option<i64> {
        match self.scalar(call.arg(i, self)) {
            Some(Value::Num(n)) => n.to_i64(),
            _ => None,
        }
    }

    fn invalid(&mut self, code: Code, message: &str) -> Option<Val> {
        if self.is_validator || code == Code::Incomplete {
            return Some(Val::Lit(self.detail(code, message)));
        }
        Some(self.new_bool(false))
    }

    fn list_items(&mut self, special: Special, call: &Call) -> R<Option<Val>> {
        let Some(list) = self.list_of(call, 0)? else {
            return Ok(None);
        };
        let Some(n) = self.int_arg(call, 1) else {
            return Ok(Some(Val::Lit(
                self.detail(Code::Incomplete, "non-concrete argument 1"),
            )));
        };
        let open = matches!(self.nodes[list].base, Base::List { open: true });
        let have = i64::try_from(self.elements(list).len()).unwrap_or(i64::MAX);
        if special == Special::ListMinItems {
            if have >= n {
                return Ok(Some(self.new_bool(true)));
            }
            let code = if open { Code::Incomplete } else { Code::Eval };
            return Ok(self.invalid(code, &format!("len(list) < MinItems({n}) ({have} < {n})")));
        }
        if have <= n {
            return Ok(Some(self.new_bool(true)));
        }
        Ok(self.invalid(
            Code::Eval,
            &format!("len(list) > MaxItems({n}) ({have} > {n})"),
        ))
    }

    /// Elements compare by their regular fields; equal ones that may still differ are incomplete.
    fn unique_items(&mut self, call: &Call) -> R<Option<Val>> {
        let Some(list) = self.list_of(call, 0)? else {
            return Ok(None);
        };
        let elems = self.elements(list);
        let mut code = Code::Eval;
        let mut found = None;
        'search: for (i, &x) in elems.iter().enumerate() {
            for (k, &y) in elems.iter().enumerate().skip(i + 1) {
                if !self.equal(Val::Node(x), Val::Node(y), REGULAR_ONLY | IGNORE_OPTIONAL)? {
                    continue;
                }
                if self.is_final_value(Val::Node(x), false)
                    && self.is_final_value(Val::Node(y), false)
                {
                    code = Code::Eval;
                    found = Some((i, k));
                    break 'search;
                }
                if found.is_none() {
                    code = Code::Incomplete;
                    found = Some((i, k));
                }
            }
        }
        match found {
            None => Ok(Some(self.new_bool(true))),
            Some((i, k)) => {
                let equal = match elems.get(i).map(|&x| (x, self.scalar(Val::Node(x)))) {
                    Some((x, Some(_))) => format!("value ({})", self.show(Val::Node(x))),
                    _ => "values".to_owned(),
                };
                Ok(self.invalid(code, &format!("equal {equal} at position {i} and {k}")))
            }
        }
    }

    /// Whether the value cannot become more specific.
    fn is_final_value(&self, val: Val, closed: bool) -> bool {
        match val {
            Val::Node(node) => {
                let node = self.deref_value(node);
                let n = &self.nodes[node];
                let closed = closed || n.closed_recursive || n.closed_once;
                match n.base {
                    Base::Val(id) => self.is_final_value(Val::Lit(id), closed),
                    _ => {
                        if !closed && !matches!(n.base, Base::List { open: false }) {
                            return false;
                        }
                        n.arcs.list.iter().all(|&arc| {
                            let a = &self.nodes[arc];
                            !a.label.is_regular()
                                || (a.arc_type == ArcType::Member
                                    || self.node_bottom(arc).is_some())
                                    && self.is_final_value(Val::Node(arc), false)
                        })
                    }
                }
            }
            Val::Lit(id) => match self.bottom(id) {
                Some(b) => b.code <= Code::StructuralCycle,
                None => self.lit_is_concrete(id),
            },
        }
    }

    fn list_match_n(&mut self, call: &Call) -> R<Option<Val>> {
        let Some(list) = self.list_of(call, 0)? else {
            return Ok(None);
        };
        let schema = call.arg(2, self);
        let (mut count, mut possible) = (0, 0);
        for elem in self.elements(list) {
            match self.match_one(Val::Node(elem), schema)? {
                None => count += 1,
                Some(err) if self.is_incomplete(err) => possible += 1,
                Some(_) => {}
            }
        }
        let bound = call.arg(1, self);
        match self.check_count_bound(bound, count, count + possible)? {
            None => Ok(Some(self.new_bool(true))),
            Some(bottom) => {
                let code = self.code(bottom);
                let text = format!(
                    "number of matched elements is {count}: does not satisfy {}",
                    self.show(bound)
                );
                Ok(self.invalid(code, &text))
            }
        }
    }

    fn fields(&mut self, special: Special, call: &Call) -> R<Option<Val>> {
        let Val::Node(node) = call.arg(0, self) else {
            return Ok(Some(Val::Lit(
                self.detail(Code::Incomplete, "non-concrete struct for argument 0"),
            )));
        };
        let node = self.deref_value(node);
        let Some(n) = self.int_arg(call, 1) else {
            return Ok(Some(Val::Lit(
                self.detail(Code::Incomplete, "non-concrete argument 1"),
            )));
        };
        let mut have = 0;
        let mut could = 0;
        let arcs = self.nodes[node].arcs.list.clone();
        for arc in arcs {
            if !self.nodes[arc].label.is_regular() {
                continue;
            }
            match self.nodes[arc].arc_type {
                ArcType::Member => have += 1,
                ArcType::Required | ArcType::Optional => could += 1,
                _ => {}
            }
        }
        if special == Special::StructMinFields {
            if have >= n {
                return Ok(Some(self.new_bool(true)));
            }
            let open = self.is_open_struct(node) || !self.nodes[node].arcs.patterns.is_empty();
            let code = if open || have + could >= n {
                Code::Incomplete
            } else {
                Code::Eval
            };
            return Ok(self.invalid(
                code,
                &format!("len(fields) < MinFields({n}) ({have} < {n})"),
            ));
        }
        if have <= n {
            return Ok(Some(self.new_bool(true)));
        }
        Ok(self.invalid(
            Code::Eval,
            &format!("len(fields) > MaxFields({n}) ({have} > {n})"),
        ))
    }

    /// Sorts by a struct with `x`, `y` and `less`.
    fn list_sort(&mut self, special: Special, call: &Call) -> R<Option<Val>> {
        let Some(list) = self.list_of(call, 0)? else {
            return Ok(None);
        };
        let cmp = call.arg(1, self);
        let mut elems = self.elements(list);
        let mut failed = None;
        if special == Special::ListIsSorted {
            let mut sorted = true;
            for pair in elems.windows(2) {
                if let [a, b] = pair
                    && self.less(cmp, *b, *a, &mut failed)?
                {
                    sorted = false;
                }
            }
            return Ok(match failed {
                Some(bottom) => Some(Val::Lit(bottom)),
                None => Some(self.new_bool(sorted)),
            });
        }
        // A merge sort: comparisons may fail or stop, which no library sort allows.
        let mut width = 1;
        while width < elems.len() {
            let mut next = Vec::with_capacity(elems.len());
            for chunk in elems.chunks(2 * width) {
                let (left, right) = chunk.split_at(width.min(chunk.len()));
                let (mut i, mut k) = (0, 0);
                while let (Some(&a), Some(&b)) = (left.get(i), right.get(k)) {
                    if self.less(cmp, b, a, &mut failed)? {
                        next.push(b);
                        k += 1;
                    } else {
                        next.push(a);
                        i += 1;
                    }
                }
                next.extend_from_slice(left.get(i..).unwrap_or(&[]));
                next.extend_from_slice(right.get(k..).unwrap_or(&[]));
            }
            elems = next;
            width *= 2;
        }
        if let Some(bottom) = failed {
            return Ok(Some(Val::Lit(bottom)));
        }
        let opaque: Vec<Val> = elems.iter().map(|&e| Val::Node(e)).collect();
        let items = opaque.iter().enumerate().map(|(i, &v)| {
            crate::packages::Value::Opaque(crate::packages::Opaque {
                id: u32::try_from(i).unwrap_or(u32::MAX),
                kinds: self.kind(v),
            })
        });
        let list = crate::packages::Value::List(items.collect());
        self.from_plain(&list, &opaque).map(Some)
    }

    fn less(
        &mut self,
        cmp: Val,
        a: NodeId,
        b: NodeId,
        failed: &mut Option<super::ids::ValId>,
    ) -> R<bool> {
        if failed.is_some() {
            return Ok(false);
        }
        let x = Label::string(&mut self.symbols, "x");
        let y = Label::string(&mut self.symbols, "y");
        let less = Label::string(&mut self.symbols, "less");
        let operands = self.inline_node(Base::Struct, &[]);
        for (label, value) in [(x, a), (y, b)] {
            let mut arc = super::node::Node::new(Some(operands), label, ArcType::Member);
            arc.conjuncts.push(Conjunct {
                env: None,
                x: X::Node(value),
                ci: CloseInfo::default(),
            });
            arc.is_dynamic = true;
            let arc = self.nodes.push(arc);
            self.push_arc(operands, label, arc);
            self.finalize(arc)?;
        }
        self.nodes[operands].status = super::node::Status::Finalized;
        let c = [X::from(cmp), X::Node(operands)].map(|x| Conjunct {
            env: None,
            x,
            ci: CloseInfo::default(),
        });
        let node = self.inline_node(Base::None, &c);
        self.finalize(node)?;
        if let Some(arc) = self.find_arc(self.deref_value(node), less) {
            let value = self.unwrap(Some(Val::Node(arc)));
            match value {
                Some(Val::Lit(id)) => match self.value(id) {
                    Value::Bool(b) => return Ok(*b),
                    Value::Bottom(_) => *failed = Some(id),
                    _ => {}
                },
                Some(Val::Node(_)) | None => {}
            }
        }
        if failed.is_none() {
            *failed = match self.node_bottom(node) {
                Some(bottom) => Some(bottom),
                None if matches!(cmp, Val::Node(n) if self.nodes[self.deref_value(n)].base == Base::Struct) =>
                {
                    // No more information will add the field to a literal.
                    Some(self.detail(Code::Eval, "field not found: less"))
                }
                None => {
                    let err = self.error("non-concrete value for argument 1", &[]);
                    Some(self.new_bottom(Code::Incomplete, err))
                }
            };
        }
        Ok(false)
    }

    /// `json.Validate`, `yaml.Validate`: the text as data, unified with a schema.
    fn validate_text(&mut self, special: Special, call: &Call) -> R<Option<Val>> {
        let arg = call.arg(0, self);
        let text = match self.scalar(arg) {
            Some(Value::String(s)) => s.to_string(),
            Some(Value::Bytes(b)) => String::from_utf8_lossy(b).into_owned(),
            _ => {
                return Ok(Some(Val::Lit(
                    self.detail(Code::Incomplete, "non-concrete argument 0"),
                )));
            }
        };
        let (path, name) = match special {
            Special::JsonValidate => ("encoding/json", "Unmarshal"),
            _ => ("encoding/yaml", "UnmarshalStream"),
        };
        let Some(member) = crate::packages::lookup(path, name) else {
            return Ok(Some(Val::Lit(
                self.detail(Code::Eval, "the package is not available"),
            )));
        };
        let crate::packages::Body::Pure(_, run) = &member.body else {
            return Ok(None);
        };
        let args = [crate::packages::Value::String(text)];
        let value = match run(crate::packages::Args(&args)) {
            Ok(value) => value,
            Err(error) => {
                return Ok(Some(Val::Lit(self.detail(Code::Eval, error.message()))));
            }
        };
        let documents = match value {
            crate::packages::Value::List(items) if special != Special::JsonValidate => items,
            other => vec![other],
        };
        let schema = call.arg(1, self);
        for document in documents {
            let data = self.from_plain(&document, &[])?;
            let node = self.unify_values(&[data, schema])?;
            let strict = special != Special::YamlValidatePartial;
            let found = self.validate(
                node,
                Config {
                    concrete: strict,
                    is_final: strict,
                    all_errors: true,
                    ..Config::default()
                },
            )?;
            if let Some(bottom) = found {
                // What is missing now is missing for good.
                if let Some(mut b) = self.bottom(bottom).cloned() {
                    b.code = Code::Eval;
                    let id = self.new_value(Value::Bottom(Box::new(b)));
                    return Ok(Some(Val::Lit(id)));
                }
                return Ok(Some(Val::Lit(bottom)));
            }
        }
        Ok(Some(self.new_bool(true)))
    }

    /// `openapi.MarshalSchema`: a document as JSON.
    fn marshal_schema(&mut self, call: &Call) -> R<Option<Val>> {
        let (config, schema) = (call.arg(0, self), call.arg(1, self));
        let mut opaque = Vec::new();
        let config = match self.plain(config, true, &mut opaque)? {
            Ok(crate::packages::Value::Struct(fields)) => fields,
            Ok(_) => Vec::new(),
            Err(bottom) => return Ok(Some(Val::Lit(bottom))),
        };
        let find = |name: &str| {
            let found = config.iter().find(|(known, _)| known == name);
            found.map(|(_, value)| value)
        };
        let version = match find("version") {
            Some(crate::packages::Value::String(version)) => version.clone(),
            _ => {
                let message = "the configuration has no version";
                return Ok(Some(Val::Lit(self.detail(Code::Eval, message))));
            }
        };
        let config = crate::openapi::Config {
            version,
            expand: find("expandReferences") == Some(&crate::packages::Value::Bool(true)),
            info: find("info").cloned(),
            title: None,
        };
        let Val::Node(node) = schema else {
            let message = "the schema is no struct";
            return Ok(Some(Val::Lit(self.detail(Code::Eval, message))));
        };
        self.finalize(node)?;
        let made = crate::openapi::generate(self, node, &config);
        let text = made.and_then(|document| {
            let text = crate::packages::json_text(&document);
            text.map_err(|error| crate::openapi::Failure {
                message: error.message().to_owned(),
                incomplete: false,
            })
        });
        Ok(Some(match text {
            Ok(text) => Val::Lit(self.new_value(Value::String(text.into()))),
            Err(failure) => {
                let code = if failure.incomplete {
                    Code::Incomplete
                } else {
                    Code::Eval
                };
                Val::Lit(self.detail(code, &failure.message))
            }
        }))
    }
}
