//! Runs another program, bounded in time, and keeps what it said.

use std::fs::File;
use std::io::Read;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::failure::{Class, Failure, Outcome};

#[derive(Debug)]
pub struct Output {
    pub status: ExitStatus,
    pub stdout: Vec<u8>,
    pub stderr: String,
}

impl Output {
    /// The lines on standard error.
    pub fn said(&self) -> Vec<String> {
        let lines = self.stderr.lines().map(str::trim_end);
        lines
            .filter(|line| !line.is_empty())
            .map(str::to_owned)
            .collect()
    }
}

/// Runs to the end or until the time is over; then the program is killed, and that is a failure.
pub fn run(class: Class, command: &mut Command, timeout: Duration) -> Outcome<Output> {
    run_with(class, command, timeout, None)
}

/// The same, with a file as standard input.
pub fn run_with(
    class: Class,
    command: &mut Command,
    timeout: Duration,
    input: Option<File>,
) -> Outcome<Output> {
    let name = command.get_program().to_string_lossy().into_owned();
    let failed =
        |error: std::io::Error| Failure::new(class, format!("cannot run `{name}`: {error}"));
    command
        .stdin(input.map_or(Stdio::null(), Stdio::from))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().map_err(failed)?;
    let stdout = reader(child.stdout.take());
    let stderr = reader(child.stderr.take());
    let status = wait(&mut child, timeout).map_err(failed)?;
    let Some(status) = status else {
        let message = format!("`{name}` did not end within {} s", timeout.as_secs());
        return Err(Failure::new(class, message));
    };
    let stdout = stdout.join().unwrap_or_default();
    let stderr = stderr.join().unwrap_or_default();
    Ok(Output {
        status,
        stdout,
        stderr: String::from_utf8_lossy(&stderr).into_owned(),
    })
}

fn reader(pipe: Option<impl Read + Send + 'static>) -> thread::JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut all = Vec::new();
        // What was read up to an error is still worth showing.
        let _ = pipe.map(|mut pipe| pipe.read_to_end(&mut all));
        all
    })
}

fn wait(child: &mut Child, timeout: Duration) -> std::io::Result<Option<ExitStatus>> {
    let deadline = Instant::now() + timeout;
    let mut pause = Duration::from_micros(200);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if Instant::now() >= deadline {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}
