//! Points at which a run may be cut short: one before every effect.
//!
//! In a debug build `LATH_FAULT_KILL=N` kills the process with SIGKILL at the N-th point, and
//! `LATH_FAULT_TRACE=FILE` lists the points that were passed. A release build has neither.

/// A point before the effect that `what` names.
#[cfg(debug_assertions)]
pub fn point(what: &str) {
    use std::io::Write;
    use std::sync::atomic::{AtomicU32, Ordering};

    static PASSED: AtomicU32 = AtomicU32::new(0);
    let number = PASSED.fetch_add(1, Ordering::Relaxed) + 1;
    if let Some(path) = std::env::var_os("LATH_FAULT_TRACE")
        && let Ok(mut file) = std::fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(path)
    {
        let _ = writeln!(file, "{number} {what}");
    }
    let kill = std::env::var("LATH_FAULT_KILL")
        .ok()
        .and_then(|text| text.parse().ok());
    if kill == Some(number) {
        let _ =
            rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
    }
}

#[cfg(not(debug_assertions))]
pub fn point(_what: &str) {}
