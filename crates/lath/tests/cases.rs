//! Runs every case of the workspace against the binary; see `crates/casebook/README.md`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

fn main() -> ExitCode {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let binary = PathBuf::from(env!("CARGO_BIN_EXE_lath"));
    let folder = binary.parent().map(Path::to_path_buf);
    let examples = root.join("examples").to_string_lossy().into_owned();
    let setup = casebook::Setup {
        path: folder.into_iter().collect(),
        env: vec![("EXAMPLES".to_owned(), examples)],
    };
    casebook::main(&root, &setup)
}
