//! The tree of a template: text, pipelines and blocks.

use std::collections::BTreeMap;

use super::super::super::quote::{Keep, quote};
use super::lex::{self, Kind, Piece, Token};
use crate::number::Num;

/// Templates by name; the main one has the empty name.
pub(super) type Templates = BTreeMap<String, Vec<Node>>;

#[derive(Clone, Debug)]
pub(super) enum Node {
    Text(String),
    Action(Pipe),
    If(Branch),
    With(Branch),
    Range(Branch),
    Call { name: String, pipe: Option<Pipe> },
    Break,
    Continue,
}

#[derive(Clone, Debug)]
pub(super) struct Branch {
    pub(super) pipe: Pipe,
    pub(super) body: Vec<Node>,
    pub(super) otherwise: Vec<Node>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Pipe {
    pub(super) variables: Vec<String>,
    /// The variables exist already.
    pub(super) assigns: bool,
    pub(super) commands: Vec<Vec<Operand>>,
    pub(super) line: usize,
}

#[derive(Clone, Debug)]
pub(super) enum Operand {
    Dot,
    Nil,
    Bool(bool),
    Number(Num),
    Text(String),
    /// Fields of the current value.
    Field(Vec<String>),
    Variable(String, Vec<String>),
    Function(String),
    Pipe(Box<Pipe>, Vec<String>),
}

/// Blocks and parentheses within one another.
const MAX_DEPTH: usize = 100;

pub(super) fn parse(template: &str) -> Result<Templates, String> {
    let mut parser = Parser {
        pieces: lex::lex(template)?.into_iter(),
        templates: Templates::new(),
        line: 1,
        loops: 0,
        depth: 0,
    };
    let (nodes, end) = parser.list()?;
    match end {
        None => {
            parser.templates.insert(String::new(), nodes);
            Ok(parser.templates)
        }
        Some(End::Else(_)) => Err(parser.error("unexpected {{else}}")),
        Some(End::End) => Err(parser.error("unexpected {{end}}")),
    }
}

/// What ended a list of nodes.
enum End {
    End,
    /// With the tokens behind the word: `{{else if …}}`.
    Else(Vec<Token>),
}

struct Parser {
    pieces: std::vec::IntoIter<Piece>,
    templates: Templates,
    line: usize,
    /// How many loops are open here.
    loops: usize,
    depth: usize,
}

impl Parser {
    fn error(&self, message: &str) -> String {
        format!("template: :{}: {message}", self.line)
    }

    fn list(&mut self) -> Result<(Vec<Node>, Option<End>), String> {
        let mut nodes = Vec::new();
        while let Some(piece) = self.pieces.next() {
            let (tokens, line) = match piece {
                Piece::Text(text) => {
                    nodes.push(Node::Text(text));
                    continue;
                }
                Piece::Action { tokens, line } => (tokens, line),
            };
            self.line = line;
            let keyword = match tokens.first().map(|token| &token.kind) {
                Some(Kind::Word(word)) => word.clone(),
                Some(_) => String::new(),
                None => return Err(self.error("missing value for command")),
            };
            let behind = || tokens.get(1..).unwrap_or(&[]);
            match keyword.as_str() {
                "end" => return Ok((nodes, Some(End::End))),
                "else" => return Ok((nodes, Some(End::Else(behind().to_vec())))),
                "if" => nodes.push(Node::If(self.branch(behind(), "if")?)),
                "with" => nodes.push(Node::With(self.branch(behind(), "with")?)),
                "range" => {
                    self.loops += 1;
                    let branch = self.branch(behind(), "range");
                    self.loops -= 1;
                    nodes.push(Node::Range(branch?));
                }
                "break" | "continue" if behind().is_empty() => {
                    if self.loops == 0 {
                        let message = format!("{{{{{keyword}}}}} outside {{{{range}}}}");
                        return Err(self.error(&message));
                    }
                    nodes.push(if keyword == "break" {
                        Node::Break
                    } else {
                        Node::Continue
                    });
                }
                "define" => self.define(behind())?,
                "template" => {
                    let (name, rest) = self.name(behind(), "template clause")?;
                    let pipe = self.optional_pipe(rest, "template clause")?;
                    nodes.push(Node::Call { name, pipe });
                }
                "block" => {
                    let (name, rest) = self.name(behind(), "block clause")?;
                    let pipe = self.pipe(rest, "block clause")?;
                    let body = self.block()?;
                    self.templates.entry(name.clone()).or_insert(body);
                    nodes.push(Node::Call {
                        name,
                        pipe: Some(pipe),
                    });
                }
                _ => nodes.push(Node::Action(self.pipe(&tokens, "command")?)),
            }
        }
        Ok((nodes, None))
    }

    fn deeper(&mut self) -> Result<(), String> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.error("template is nested too deeply"));
        }
        Ok(())
    }

    fn block(&mut self) -> Result<Vec<Node>, String> {
        self.deeper()?;
        let (nodes, end) = self.list()?;
        self.depth -= 1;
        match end {
            Some(End::End) => Ok(nodes),
            Some(End::Else(_)) => Err(self.error("unexpected {{else}}")),
            None => Err(self.error("unexpected EOF")),
        }
    }

    fn branch(&mut self, tokens: &[Token], context: &str) -> Result<Branch, String> {
        let pipe = self.pipe(tokens, context)?;
        self.deeper()?;
        let (body, end) = self.list()?;
        let otherwise = match end {
            Some(End::End) => Vec::new(),
            Some(End::Else(tokens)) => match tokens.first().map(|token| &token.kind) {
                None => self.block()?,
                // `{{else if}}` shares the end of the whole.
                Some(Kind::Word(word)) if word == context && matches!(context, "if" | "with") => {
                    let inner = self.branch(tokens.get(1..).unwrap_or(&[]), context)?;
                    vec![if context == "if" {
                        Node::If(inner)
                    } else {
                        Node::With(inner)
                    }]
                }
                Some(_) => return Err(self.error("unexpected operand in else")),
            },
            None => return Err(self.error("unexpected EOF")),
        };
        self.depth -= 1;
        Ok(Branch {
            pipe,
            body,
            otherwise,
        })
    }

    fn define(&mut self, tokens: &[Token]) -> Result<(), String> {
        let (name, rest) = self.name(tokens, "define clause")?;
        if !rest.is_empty() {
            return Err(self.error("unexpected operand in define clause"));
        }
        let body = self.block()?;
        // An empty definition does not replace one that has content.
        let empty = body
            .iter()
            .all(|node| matches!(node, Node::Text(text) if text.trim().is_empty()));
        if !empty || !self.templates.contains_key(&name) {
            self.templates.insert(name, body);
        }
        Ok(())
    }

    fn name<'t>(
        &self,
        tokens: &'t [Token],
        context: &str,
    ) -> Result<(String, &'t [Token]), String> {
        match tokens.split_first() {
            Some((
                Token {
                    kind: Kind::Text(name),
                    ..
                },
                rest,
            )) => Ok((name.clone(), rest)),
            _ => Err(self.error(&format!("unexpected operand in {context}"))),
        }
    }

    fn optional_pipe(&mut self, tokens: &[Token], context: &str) -> Result<Option<Pipe>, String> {
        if tokens.is_empty() {
            return Ok(None);
        }
        self.pipe(tokens, context).map(Some)
    }

    fn pipe(&mut self, tokens: &[Token], context: &str) -> Result<Pipe, String> {
        let mut rest = tokens;
        let pipe = self.pipeline(&mut rest, context)?;
        match rest {
            [] => Ok(pipe),
            _ => Err(self.error(&format!("unexpected right paren in {context}"))),
        }
    }

    /// Up to the end or a closing parenthesis, which is left.
    fn pipeline(&mut self, rest: &mut &[Token], context: &str) -> Result<Pipe, String> {
        let mut pipe = Pipe {
            line: self.line,
            ..Pipe::default()
        };
        let kinds: Vec<&Kind> = rest.iter().take(4).map(|token| &token.kind).collect();
        let declared = match kinds.as_slice() {
            [Kind::Variable(a), Kind::Declare | Kind::Assign, ..] => Some((vec![a], 1)),
            [
                Kind::Variable(a),
                Kind::Comma,
                Kind::Variable(b),
                Kind::Declare | Kind::Assign,
            ] if context == "range" => Some((vec![a, b], 3)),
            _ => None,
        };
        if let Some((variables, at)) = declared {
            pipe.assigns = matches!(kinds.get(at), Some(Kind::Assign));
            pipe.variables = variables.into_iter().cloned().collect();
            *rest = rest.get(at + 1..).unwrap_or(&[]);
        }
        loop {
            let mut command = Vec::new();
            while let Some(token) = rest.first() {
                if matches!(token.kind, Kind::Pipe | Kind::Close) {
                    break;
                }
                command.push(self.operand(rest)?);
            }
            if command.is_empty() {
                return Err(self.error(&format!("missing value for {context}")));
            }
            pipe.commands.push(command);
            match rest.split_first() {
                Some((token, behind)) if token.kind == Kind::Pipe => *rest = behind,
                _ => return Ok(pipe),
            }
        }
    }

    fn operand(&mut self, rest: &mut &[Token]) -> Result<Operand, String> {
        let Some((token, behind)) = rest.split_first() else {
            return Err(self.error("missing value for command"));
        };
        *rest = behind;
        let operand = match &token.kind {
            Kind::Dot => Operand::Dot,
            Kind::Word(word) => match word.as_str() {
                "nil" => Operand::Nil,
                "true" => Operand::Bool(true),
                "false" => Operand::Bool(false),
                _ if super::functions::exists(word) => Operand::Function(word.clone()),
                _ => {
                    let word = quote(word, Keep::Printable);
                    return Err(self.error(&format!("function {word} not defined")));
                }
            },
            Kind::Field(name) => {
                let mut fields = vec![name.clone()];
                fields.extend(chain(rest));
                Operand::Field(fields)
            }
            Kind::Variable(name) => Operand::Variable(name.clone(), chain(rest)),
            Kind::Number(text) => match Num::parse_literal(text) {
                Ok(num) => Operand::Number(num),
                Err(_) => {
                    let text = quote(text, Keep::Printable);
                    return Err(self.error(&format!("bad number syntax: {text}")));
                }
            },
            Kind::Character(c) => Operand::Number(Num::int(u32::from(*c))),
            Kind::Text(text) => Operand::Text(text.clone()),
            Kind::Open => {
                self.deeper()?;
                let pipe = self.pipeline(rest, "parenthesized pipeline")?;
                self.depth -= 1;
                match rest.split_first() {
                    Some((token, behind)) if token.kind == Kind::Close => *rest = behind,
                    _ => return Err(self.error("unclosed left paren")),
                }
                Operand::Pipe(Box::new(pipe), chain(rest))
            }
            Kind::Pipe | Kind::Declare | Kind::Assign | Kind::Comma | Kind::Close => {
                return Err(self.error("unexpected token in operand"));
            }
        };
        Ok(operand)
    }
}

/// The fields that follow without a space.
fn chain(rest: &mut &[Token]) -> Vec<String> {
    let mut fields = Vec::new();
    while let Some((
        Token {
            kind: Kind::Field(name),
            spaced: false,
        },
        behind,
    )) = rest.split_first()
    {
        fields.push(name.clone());
        *rest = behind;
    }
    fields
}
