//! Runs a template over a value.

use std::borrow::Cow;

use super::super::super::{MAX_RESULT, Value};
use super::super::print::{plain, type_name};
use super::functions::{self, truth};
use super::parse::{Branch, Node, Operand, Pipe, Templates};

/// Templates that call one another.
const MAX_DEPTH: usize = 100;
/// Commands and rounds of loops.
const MAX_STEPS: usize = 5_000_000;

/// A value, or nothing where a field does not exist.
type Item<'a> = Option<Cow<'a, Value>>;

pub(super) fn execute(templates: &Templates, data: &Value) -> Result<String, String> {
    let mut run = Run {
        templates,
        variables: vec![(String::new(), Some(Cow::Borrowed(data)))],
        out: String::new(),
        depth: 0,
        steps: 0,
        template: "",
    };
    if let Some(main) = templates.get("") {
        run.nodes(main, &Some(Cow::Borrowed(data)))?;
    }
    Ok(run.out)
}

struct Run<'a> {
    templates: &'a Templates,
    /// The innermost last; the first is `$`.
    variables: Vec<(String, Item<'a>)>,
    out: String,
    depth: usize,
    steps: usize,
    template: &'a str,
}

/// How a list of nodes ended.
#[derive(PartialEq)]
enum Flow {
    Next,
    Break,
    Continue,
}

impl<'a> Run<'a> {
    fn error(&self, line: usize, message: &str) -> String {
        format!(
            "template: :{line}: executing {:?}: {message}",
            self.template
        )
    }

    fn step(&mut self, line: usize) -> Result<(), String> {
        self.steps += 1;
        if self.steps > MAX_STEPS {
            return Err(self.error(line, "template runs too long"));
        }
        if self.out.len() > MAX_RESULT {
            return Err(self.error(line, "output is too long"));
        }
        Ok(())
    }

    fn nodes(&mut self, nodes: &'a [Node], dot: &Item<'a>) -> Result<Flow, String> {
        for node in nodes {
            let flow = self.node(node, dot)?;
            if flow != Flow::Next {
                return Ok(flow);
            }
        }
        Ok(Flow::Next)
    }

    fn node(&mut self, node: &'a Node, dot: &Item<'a>) -> Result<Flow, String> {
        match node {
            Node::Text(text) => self.out.push_str(text),
            Node::Break => return Ok(Flow::Break),
            Node::Continue => return Ok(Flow::Continue),
            Node::Action(pipe) => {
                let value = self.pipe(pipe, dot)?;
                if pipe.variables.is_empty() {
                    match value.as_deref() {
                        None | Some(Value::Null) => self.out.push_str("<no value>"),
                        Some(value) => self.out.push_str(&plain(value)),
                    }
                }
            }
            Node::If(branch) => return self.choice(branch, dot, false),
            Node::With(branch) => return self.choice(branch, dot, true),
            Node::Range(branch) => return self.range(branch, dot),
            Node::Call { name, pipe } => self.call(name, pipe.as_ref(), dot)?,
        }
        Ok(Flow::Next)
    }

    fn choice(&mut self, branch: &'a Branch, dot: &Item<'a>, with: bool) -> Result<Flow, String> {
        let mark = self.variables.len();
        let value = self.pipe(&branch.pipe, dot)?;
        let flow = if value.as_deref().is_some_and(truth) {
            let inner = if with { &value } else { dot };
            self.nodes(&branch.body, inner)
        } else {
            self.nodes(&branch.otherwise, dot)
        };
        self.variables.truncate(mark);
        flow
    }

    fn call(
        &mut self,
        name: &'a str,
        pipe: Option<&'a Pipe>,
        dot: &Item<'a>,
    ) -> Result<(), String> {
        let line = pipe.map_or(0, |pipe| pipe.line);
        let templates = self.templates;
        let Some(body) = templates.get(name) else {
            return Err(self.error(line, &format!("template {name:?} not defined")));
        };
        self.step(line)?;
        if self.depth >= MAX_DEPTH {
            return Err(self.error(line, "exceeded maximum template depth"));
        }
        let inner = match pipe {
            Some(pipe) => self.pipe(pipe, dot)?,
            None => None,
        };
        let caller = std::mem::replace(&mut self.template, name);
        let fresh = vec![(String::new(), inner.clone())];
        let outer = std::mem::replace(&mut self.variables, fresh);
        self.depth += 1;
        let result = self.nodes(body, &inner);
        self.depth -= 1;
        self.variables = outer;
        self.template = caller;
        result.map(|_| ())
    }

    fn range(&mut self, branch: &'a Branch, dot: &Item<'a>) -> Result<Flow, String> {
        let mark = self.variables.len();
        let pipe = &branch.pipe;
        let value = self.pipe_value(pipe, dot)?;
        let rounds = self.rounds(value, pipe.line)?;
        if rounds.is_empty() {
            let flow = self.nodes(&branch.otherwise, dot);
            self.variables.truncate(mark);
            return flow;
        }
        for (key, element) in rounds {
            self.step(pipe.line)?;
            let element = Some(element);
            let values = match pipe.variables.len() {
                1 => vec![element.clone()],
                2 => vec![Some(Cow::Owned(key)), element.clone()],
                _ => Vec::new(),
            };
            let inner = self.variables.len();
            for (name, value) in pipe.variables.iter().zip(values) {
                self.bind(name, value, pipe.assigns, pipe.line)?;
            }
            let flow = self.nodes(&branch.body, &element)?;
            self.variables.truncate(inner);
            if flow == Flow::Break {
                break;
            }
        }
        self.variables.truncate(mark);
        Ok(Flow::Next)
    }

    /// Keys and elements, in order; the keys of a struct are sorted.
    fn rounds(&self, value: Item<'a>, line: usize) -> Result<Vec<(Value, Cow<'a, Value>)>, String> {
        let Some(value) = value else {
            return Ok(Vec::new());
        };
        let wrong = |value: &Value| {
            let message = format!("range can't iterate over {}", plain(value));
            Err(self.error(line, &message))
        };
        Ok(match value {
            Cow::Borrowed(Value::List(items)) => (0usize..)
                .zip(items)
                .map(|(i, item)| (Value::int(i), Cow::Borrowed(item)))
                .collect(),
            Cow::Owned(Value::List(items)) => (0usize..)
                .zip(items)
                .map(|(i, item)| (Value::int(i), Cow::Owned(item)))
                .collect(),
            Cow::Borrowed(Value::Struct(fields)) => {
                let mut sorted: Vec<_> = fields.iter().collect();
                sorted.sort_by(|a, b| a.0.cmp(&b.0));
                sorted
                    .into_iter()
                    .map(|(name, value)| (Value::string(name), Cow::Borrowed(value)))
                    .collect()
            }
            Cow::Owned(Value::Struct(mut fields)) => {
                fields.sort_by(|a, b| a.0.cmp(&b.0));
                fields
                    .into_iter()
                    .map(|(name, value)| (Value::String(name), Cow::Owned(value)))
                    .collect()
            }
            value => match value.as_ref() {
                Value::Null => Vec::new(),
                Value::Num(num) if num.is_int() => {
                    let count = num.to_i64().unwrap_or(i64::MAX);
                    if usize::try_from(count).is_ok_and(|count| count > MAX_STEPS) {
                        return wrong(&value);
                    }
                    (0..count)
                        .map(|i| (Value::int(i), Cow::Owned(Value::int(i))))
                        .collect()
                }
                _ => return wrong(&value),
            },
        })
    }

    /// The value of a pipeline; its variable, if it declares one, is set.
    fn pipe(&mut self, pipe: &'a Pipe, dot: &Item<'a>) -> Result<Item<'a>, String> {
        let value = self.pipe_value(pipe, dot)?;
        if let Some(name) = pipe.variables.first() {
            self.bind(name, value.clone(), pipe.assigns, pipe.line)?;
        }
        Ok(value)
    }

    fn bind(
        &mut self,
        name: &str,
        value: Item<'a>,
        assigns: bool,
        line: usize,
    ) -> Result<(), String> {
        if !assigns {
            self.variables.push((name.to_owned(), value));
            return Ok(());
        }
        let slot = self.variables.iter_mut().rev().find(|slot| slot.0 == name);
        match slot {
            Some(slot) => {
                slot.1 = value;
                Ok(())
            }
            None => Err(self.error(line, &format!("undefined variable \"${name}\""))),
        }
    }

    fn pipe_value(&mut self, pipe: &'a Pipe, dot: &Item<'a>) -> Result<Item<'a>, String> {
        let mut last: Option<Item<'a>> = None;
        for command in &pipe.commands {
            self.step(pipe.line)?;
            last = Some(self.command(command, dot, last, pipe.line)?);
        }
        Ok(last.flatten())
    }

    fn command(
        &mut self,
        command: &'a [Operand],
        dot: &Item<'a>,
        piped: Option<Item<'a>>,
        line: usize,
    ) -> Result<Item<'a>, String> {
        let Some((first, rest)) = command.split_first() else {
            return Ok(None);
        };
        let Operand::Function(name) = first else {
            if !rest.is_empty() || piped.is_some() {
                return Err(self.error(line, "can't give argument to non-function"));
            }
            return self.operand(first, dot, line);
        };
        if matches!(name.as_str(), "and" | "or") {
            return self.shortcut(name, rest, dot, piped, line);
        }
        let mut args = Vec::new();
        for operand in rest {
            args.push(self.operand(operand, dot, line)?);
        }
        args.extend(piped);
        let args: Vec<Cow<'a, Value>> = args
            .into_iter()
            .map(|arg| arg.unwrap_or(Cow::Owned(Value::Null)))
            .collect();
        functions::call(name, &args)
            .map(Some)
            .map_err(|message| self.error(line, &format!("error calling {name}: {message}")))
    }

    /// `and` stops at the first false argument, `or` at the first true one.
    fn shortcut(
        &mut self,
        name: &str,
        operands: &'a [Operand],
        dot: &Item<'a>,
        piped: Option<Item<'a>>,
        line: usize,
    ) -> Result<Item<'a>, String> {
        let stop = name == "or";
        let mut last = None;
        let mut seen = false;
        for operand in operands {
            last = self.operand(operand, dot, line)?;
            seen = true;
            if last.as_deref().is_some_and(truth) == stop {
                return Ok(last);
            }
        }
        match piped {
            Some(value) => Ok(value),
            None if seen => Ok(last),
            None => Err(self.error(
                line,
                &format!("wrong number of args for {name}: want at least 1 got 0"),
            )),
        }
    }

    fn operand(
        &mut self,
        operand: &'a Operand,
        dot: &Item<'a>,
        line: usize,
    ) -> Result<Item<'a>, String> {
        let owned = |value: Value| Ok(Some(Cow::Owned(value)));
        match operand {
            Operand::Dot => Ok(dot.clone()),
            Operand::Nil => Err(self.error(line, "nil is not a command")),
            Operand::Bool(value) => owned(Value::Bool(*value)),
            Operand::Number(num) => owned(Value::Num(num.clone())),
            Operand::Text(text) => owned(Value::String(text.clone())),
            Operand::Field(fields) => self.fields(dot.clone(), fields, line),
            Operand::Variable(name, fields) => {
                let found = self.variables.iter().rev().find(|slot| slot.0 == *name);
                match found {
                    Some((_, value)) => self.fields(value.clone(), fields, line),
                    None => Err(self.error(line, &format!("undefined variable \"${name}\""))),
                }
            }
            Operand::Function(_) => self.command(std::slice::from_ref(operand), dot, None, line),
            Operand::Pipe(pipe, fields) => {
                let value = self.pipe(pipe, dot)?;
                self.fields(value, fields, line)
            }
        }
    }

    fn fields(
        &self,
        value: Item<'a>,
        fields: &'a [String],
        line: usize,
    ) -> Result<Item<'a>, String> {
        let mut value = value;
        for name in fields {
            let Some(receiver) = value else {
                return Ok(None);
            };
            let find = |entry: &&'_ (String, Value)| entry.0 == *name;
            value = match receiver {
                Cow::Borrowed(Value::Struct(fields)) => fields
                    .iter()
                    .find(find)
                    .map(|(_, value)| Cow::Borrowed(value)),
                receiver => match receiver.as_ref() {
                    Value::Struct(fields) => fields
                        .iter()
                        .find(find)
                        .map(|(_, value)| Cow::Owned(value.clone())),
                    Value::Null => {
                        let message = format!("nil pointer evaluating interface {{}}.{name}");
                        return Err(self.error(line, &message));
                    }
                    other => {
                        let message =
                            format!("can't evaluate field {name} in type {}", type_name(other));
                        return Err(self.error(line, &message));
                    }
                },
            };
        }
        Ok(value)
    }
}
