//! Where results go: standard output or a file that is not overwritten by accident.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use data::Number;
use data::write::{Json, Writer};

/// Writes a whole result. The error is told to the user.
pub fn write(path: &str, content: &[u8], force: bool) -> Result<(), String> {
    if path == "-" {
        let mut out = io::stdout().lock();
        return told(out.write_all(content).and_then(|()| out.flush()));
    }
    if !force && Path::new(path).exists() {
        return Err(format!("error writing {path:?}: file already exists"));
    }
    fs::write(path, content).map_err(|error| format!("error writing {path:?}: {error}"))
}

/// Nobody minds a reader of standard output that has seen enough.
fn told(written: io::Result<()>) -> Result<(), String> {
    match written {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(format!("cannot write to standard output: {error}"))
        }
        _ => Ok(()),
    }
}

/// How much is held back.
const HELD: usize = 1 << 16;

/// JSON that goes to standard output while it is being made: a large result is never in memory as text.
pub struct Stream {
    json: Json,
    result: io::Result<()>,
}

impl Stream {
    pub fn new(json: Json) -> Stream {
        let result = Ok(());
        Stream { json, result }
    }

    fn send(&mut self) {
        if self.result.is_ok() {
            let text = self.json.written().as_bytes();
            self.result = io::stdout().lock().write_all(text);
        }
        self.json.clear();
    }

    fn settle(&mut self) {
        if self.json.written().len() >= HELD {
            self.send();
        }
    }

    /// The last of it, and a line break.
    pub fn finish(mut self) -> Result<(), String> {
        self.send();
        let mut out = io::stdout().lock();
        told(
            self.result
                .and_then(|()| out.write_all(b"\n"))
                .and_then(|()| out.flush()),
        )
    }
}

impl Writer for Stream {
    fn null(&mut self) {
        self.json.null();
    }

    fn bool(&mut self, value: bool) {
        self.json.bool(value);
    }

    fn number(&mut self, number: Number<'_>) {
        self.json.number(number);
    }

    fn string(&mut self, value: &str) {
        self.json.string(value);
        self.settle();
    }

    fn bytes(&mut self, base64: &str) {
        self.json.bytes(base64);
        self.settle();
    }

    fn begin_list(&mut self) {
        self.json.begin_list();
    }

    fn end_list(&mut self) {
        self.json.end_list();
        self.settle();
    }

    fn begin_map(&mut self) {
        self.json.begin_map();
    }

    fn key(&mut self, name: &str) {
        self.json.key(name);
    }

    fn end_map(&mut self) {
        self.json.end_map();
        self.settle();
    }
}
