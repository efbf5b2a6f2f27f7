//! Where results go: standard output or a file that is not overwritten by accident.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

/// Writes a whole result. The error is told to the user.
pub fn write(path: &str, content: &[u8], force: bool) -> Result<(), String> {
    if path == "-" {
        let mut out = io::stdout().lock();
        let written = out.write_all(content).and_then(|()| out.flush());
        return match written {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                Err(format!("cannot write to standard output: {error}"))
            }
            _ => Ok(()),
        };
    }
    if !force && Path::new(path).exists() {
        return Err(format!("error writing {path:?}: file already exists"));
    }
    fs::write(path, content).map_err(|error| format!("error writing {path:?}: {error}"))
}
