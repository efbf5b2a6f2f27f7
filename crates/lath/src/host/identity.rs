//! Which host this is: `--host`, then `LATH_HOST`, then the machine's own name (FR-004).

use std::fs;
use std::path::Path;

use base::{Code, Diagnostic};
use hosts::HostName;

use super::HostArgs;

/// No name was given and the machine has none of its own.
const MISSING_IDENTITY: Code = Code("missing-identity");

/// The host's name; inside, the finding that there is none. The outer error is a wrong name.
pub(super) fn host(args: &HostArgs) -> Result<Result<HostName, Box<Diagnostic>>, String> {
    if let Some(name) = &args.host {
        return HostName::new(name).map(Ok);
    }
    if let Some(name) = std::env::var_os("LATH_HOST").filter(|name| !name.is_empty()) {
        let name = name.to_str().ok_or("`LATH_HOST` is not UTF-8")?;
        let named = HostName::new(name).map_err(|why| format!("`LATH_HOST`: {why}"))?;
        return Ok(Ok(named));
    }
    let own = match &args.root {
        Some(root) => hostname_file(root),
        None => rustix::system::uname()
            .nodename()
            .to_str()
            .ok()
            .map(str::to_owned),
    };
    // What a system without a name of its own calls itself.
    let unnamed = ["", "(none)", "localhost", "localhost.localdomain"];
    match own.filter(|name| !unnamed.contains(&name.as_str())) {
        Some(name) => HostName::new(&name).map(Ok),
        None => Ok(Err(Box::new(
            Diagnostic::error(MISSING_IDENTITY, "the host's name cannot be determined")
                .help("say which host this is: `--host NAME` or `LATH_HOST=NAME`")
                .note(
                    "note",
                    "the machine's own name is taken when it has one: `hostnamectl hostname NAME`",
                ),
        ))),
    }
}

/// The name in a system's `/etc/hostname`.
fn hostname_file(root: &Path) -> Option<String> {
    let text = fs::read_to_string(root.join("etc/hostname")).ok()?;
    let mut lines = text.lines().map(str::trim);
    lines
        .find(|line| !line.is_empty() && !line.starts_with('#'))
        .map(str::to_owned)
}
