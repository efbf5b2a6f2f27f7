//! One text as a program, for the tests of the evaluator.

use std::sync::Arc;

use base::Sources;
use cue::runtime::Failed;
use cue::{Runtime, Value};

/// A runtime with the program in it, not yet evaluated.
pub struct Program {
    pub runtime: Runtime,
    pub value: Result<Value, Failed>,
}

impl Program {
    pub fn new(text: &str) -> Program {
        let text: Arc<str> = text.into();
        let mut sources = Sources::new();
        let id = sources.add("in.cue", &*text);
        let mut runtime = Runtime::new();
        let parsed = cue::syntax::parse_file(id, &text, runtime.symbols());
        assert!(parsed.errors.is_empty(), "{text}: {:?}", parsed.errors);
        runtime.know_sources(&sources);
        let value = runtime.build("_", &[&parsed.file]);
        Program { runtime, value }
    }
}

/// Runs on a thread whose stack is deep enough.
pub fn deep<T: Send + 'static>(run: impl FnOnce() -> T + Send + 'static) -> T {
    let worker = std::thread::Builder::new()
        .stack_size(256 << 20)
        .spawn(run)
        .expect("a thread can be started");
    worker.join().expect("the evaluator does not panic")
}
