//! Package `encoding/csv`: RFC 4180 as Go reads and writes it. Every record has as many fields as the first.

use data::write::Json;

use super::super::call::{as_list, fatal};
use super::super::member::{DATA, TEXT, function};
use super::super::{Args, Error, Kinds, Package, Value};
use super::plain;

pub(in super::super) const PACKAGE: Package = Package {
    path: "encoding/csv",
    cue: None,
    members: &[
        function("Encode", &[DATA], Kinds::STRING, encode),
        function("Decode", &[TEXT], Kinds::LIST, decode),
    ],
};

fn encode(args: Args<'_>) -> Result<Value, Error> {
    let mut out = String::new();
    for row in as_list(args.value(0))? {
        for (i, cell) in as_list(row)?.iter().enumerate() {
            if i > 0 {
                out.push(',');
            }
            match cell {
                Value::String(text) => field(&mut out, text),
                other => {
                    let mut json = Json::compact();
                    plain::write(&mut json, other)?;
                    field(&mut out, &json.finish());
                }
            }
        }
        out.push('\n');
    }
    Ok(out.into())
}

fn field(out: &mut String, text: &str) {
    let quoted = text == "\\."
        || text.contains([',', '"', '\r', '\n'])
        || text.starts_with(char::is_whitespace);
    if quoted {
        out.push('"');
        out.push_str(&text.replace('"', "\"\""));
        out.push('"');
    } else {
        out.push_str(text);
    }
}

fn decode(args: Args<'_>) -> Result<Value, Error> {
    let text = args.text(0)?.replace("\r\n", "\n");
    let mut reader = Reader {
        rest: &text,
        line: 1,
    };
    let mut records: Vec<Value> = Vec::new();
    let mut width = None;
    while let Some((start, fields)) = reader.record()? {
        if *width.get_or_insert(fields.len()) != fields.len() {
            return Err(fatal(format!(
                "record on line {start}: wrong number of fields"
            )));
        }
        records.push(Value::strings(fields));
    }
    Ok(Value::List(records))
}

struct Reader<'a> {
    rest: &'a str,
    line: usize,
}

impl Reader<'_> {
    /// The next record and the line where it starts; empty lines are skipped.
    fn record(&mut self) -> Result<Option<(usize, Vec<String>)>, Error> {
        while let Some(rest) = self.rest.strip_prefix('\n') {
            self.rest = rest;
            self.line += 1;
        }
        if self.rest.is_empty() {
            return Ok(None);
        }
        let start = self.line;
        let mut fields = Vec::new();
        let mut column = 1;
        loop {
            let field = match self.rest.strip_prefix('"') {
                Some(rest) => {
                    self.rest = rest;
                    self.quoted(start, &mut column)?
                }
                None => self.plain(start, &mut column)?,
            };
            fields.push(field);
            if let Some(rest) = self.rest.strip_prefix(',') {
                self.rest = rest;
                column += 1;
                continue;
            }
            if let Some(rest) = self.rest.strip_prefix('\n') {
                self.rest = rest;
                self.line += 1;
            }
            return Ok(Some((start, fields)));
        }
    }

    fn plain(&mut self, start: usize, column: &mut usize) -> Result<String, Error> {
        let end = self.rest.find([',', '\n']).unwrap_or(self.rest.len());
        let (field, rest) = self.rest.split_at(end);
        if let Some(at) = field.find('"') {
            return Err(self.error(start, *column + at, "bare \" in non-quoted-field"));
        }
        *column += end;
        self.rest = rest;
        Ok(field.to_owned())
    }

    fn quoted(&mut self, start: usize, column: &mut usize) -> Result<String, Error> {
        const REASON: &str = "extraneous or missing \" in quoted-field";
        let mut field = String::new();
        *column += 1;
        loop {
            let Some(end) = self.rest.find('"') else {
                let (done, last) = self.rest.rsplit_once('\n').unwrap_or(("", self.rest));
                if self.rest.contains('\n') {
                    self.line += done.matches('\n').count() + 1;
                    *column = 1;
                }
                let column = *column + last.len();
                return Err(self.error(start, column, REASON));
            };
            let (part, rest) = self.rest.split_at(end);
            field.push_str(part);
            let breaks = part.matches('\n').count();
            self.line += breaks;
            *column = match part.rsplit_once('\n') {
                Some((_, last)) => last.len() + 2,
                None => *column + end + 1,
            };
            self.rest = rest.strip_prefix('"').unwrap_or("");
            if let Some(rest) = self.rest.strip_prefix('"') {
                field.push('"');
                *column += 1;
                self.rest = rest;
            } else if self.rest.is_empty() || self.rest.starts_with([',', '\n']) {
                return Ok(field);
            } else {
                return Err(self.error(start, *column - 1, REASON));
            }
        }
    }

    fn error(&self, start: usize, column: usize, reason: &str) -> Error {
        let line = self.line;
        let place = format!("parse error on line {line}, column {column}: {reason}");
        if line == start {
            fatal(place)
        } else {
            fatal(format!("record on line {start}; {place}"))
        }
    }
}
