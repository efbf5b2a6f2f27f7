//! The unit of `bench/values`: what parsing three JSON layers, merging them and writing the result costs
//! with `serde_json` and nothing else: no places, no provenance, no locks.
//!
//! `limit module.json platform.json user.json > merged.json`

use std::io::{self, Write};

use serde_json::Value;

fn main() -> io::Result<()> {
    let mut merged = Value::Null;
    for file in std::env::args().skip(1) {
        let text = std::fs::read_to_string(file)?;
        lay(&mut merged, serde_json::from_str(&text)?);
    }
    let text = serde_json::to_vec(&merged)?;
    io::stdout().lock().write_all(&text)?;
    // Like every program of this kind, it leaves the freeing to the system.
    std::process::exit(0)
}

/// Maps merge, everything else is replaced.
fn lay(below: &mut Value, above: Value) {
    match (below, above) {
        (Value::Object(old), Value::Object(new)) => {
            for (name, value) in new {
                match old.get_mut(&name) {
                    Some(known) => lay(known, value),
                    None => {
                        old.insert(name, value);
                    }
                }
            }
        }
        (below, above) => *below = above,
    }
}
