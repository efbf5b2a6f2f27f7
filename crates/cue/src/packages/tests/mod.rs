//! One table per package: a call with its arguments in JSON-like CUE, and what it gives.

mod data;
mod names;
mod templates;
mod values;

use super::*;
use crate::number::Num;

/// Reads `[1, "x", 'y', {a: true}]`, enough for tables.
struct Reader<'a>(&'a str);

impl Reader<'_> {
    fn space(&mut self) {
        self.0 = self.0.trim_start_matches([' ', '\n', ',']);
    }

    fn take(&mut self, prefix: &str) -> bool {
        self.space();
        match self.0.strip_prefix(prefix) {
            Some(rest) => {
                self.0 = rest;
                true
            }
            None => false,
        }
    }

    fn quoted(&mut self, mark: char) -> String {
        let mut out = String::new();
        let mut chars = self.0.char_indices();
        while let Some((at, c)) = chars.next() {
            match c {
                '\\' => match chars.next().expect("an escape").1 {
                    'n' => out.push('\n'),
                    't' => out.push('\t'),
                    other => out.push(other),
                },
                c if c == mark => {
                    self.0 = self.0.get(at + 1..).expect("behind the quote");
                    return out;
                }
                c => out.push(c),
            }
        }
        panic!("no closing quote");
    }

    fn value(&mut self) -> Value {
        self.space();
        if self.take("[") {
            let mut items = Vec::new();
            while !self.take("]") {
                items.push(self.value());
            }
            return Value::List(items);
        }
        if self.take("{") {
            let mut fields = Vec::new();
            while !self.take("}") {
                self.space();
                let (name, rest) = self.0.split_once(':').expect("a field");
                let name = name.trim_matches('"').to_owned();
                self.0 = rest;
                fields.push((name, self.value()));
            }
            return Value::Struct(fields);
        }
        if self.take("\"") {
            return Value::String(self.quoted('"'));
        }
        if self.take("'") {
            return Value::Bytes(self.quoted('\'').into_bytes());
        }
        for (word, value) in [
            ("null", Value::Null),
            ("true", Value::Bool(true)),
            ("false", Value::Bool(false)),
            (
                "opaque",
                Value::Opaque(Opaque {
                    id: 7,
                    kinds: Kinds::STRUCT,
                }),
            ),
        ] {
            if self.take(word) {
                return value;
            }
        }
        let end = self
            .0
            .find(|c: char| !(c.is_ascii_alphanumeric() || "+-._".contains(c)))
            .unwrap_or(self.0.len());
        let (number, rest) = self.0.split_at(end);
        self.0 = rest;
        Value::Num(Num::parse_literal(number).unwrap_or_else(|e| panic!("{number}: {e}")))
    }
}

/// Calls `path.Name` with the arguments in `args`; errors come out as `error: …`.
fn call(path: &str, name: &str, args: &str) -> String {
    let member = lookup(path, name).unwrap_or_else(|| panic!("no {path}.{name}"));
    let mut reader = Reader(args);
    let mut values = Vec::new();
    while !reader.0.trim().is_empty() {
        values.push(reader.value());
        reader.space();
    }
    let Body::Pure(function, run) = &member.body else {
        panic!("{path}.{name} is no pure function");
    };
    for param in function.params.iter().skip(values.len()) {
        values.push(Value::string(param.default.expect("an argument")));
    }
    for (param, value) in function.params.iter().zip(&values) {
        assert!(
            param.kind.meets(value.kinds()),
            "{path}.{name}({args}): {value} is no {}",
            param.kind
        );
    }
    match run(Args(&values)) {
        Ok(value) => {
            assert!(
                function.result.meets(value.kinds()),
                "{path}.{name} returns {value}, no {}",
                function.result
            );
            value.to_string()
        }
        Err(error) => format!("error: {}", error.message()),
    }
}

/// Checks rows of `name, arguments, result`.
fn check(path: &str, rows: &[(&str, &str, &str)]) {
    for (name, args, wanted) in rows {
        assert_eq!(call(path, name, args), *wanted, "{path}.{name}({args})");
    }
}

#[test]
fn members_are_unique_and_described() {
    for package in packages() {
        for (i, member) in package.members.iter().enumerate() {
            let twins = package.members.iter().skip(i + 1);
            assert!(
                twins.into_iter().all(|other| other.name != member.name),
                "{}.{}",
                package.path,
                member.name
            );
            if let Body::Constant(constant) = &member.body {
                constant.value();
            }
        }
    }
    let paths: Vec<_> = packages().iter().map(|package| package.path).collect();
    assert!(paths.is_sorted(), "{paths:?}");
}
