//! A program that runs beside a test and ends with it.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

pub struct Running {
    pub child: Child,
    /// What follows the awaited words in its output.
    pub told: String,
}

impl Running {
    /// Starts a program and waits for a line that holds some words.
    pub fn start(
        program: &str,
        arguments: &[&str],
        env: &[(&str, &str)],
        awaited: &str,
    ) -> Running {
        let mut child = Command::new(program)
            .args(arguments)
            .envs(env.iter().copied())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap_or_else(|e| panic!("{program} is installed by tests/setup/service: {e}"));
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let told = lines.find_map(|line| {
            let line = line.ok()?;
            line.split_once(awaited).map(|(_, rest)| rest.to_owned())
        });
        let told = told.unwrap_or_else(|| panic!("{program} never said `{awaited}`"));
        // What it says later must not fill the pipe.
        std::thread::spawn(move || lines.for_each(drop));
        Running { child, told }
    }

    /// Starts this very program.
    pub fn lath(arguments: &[&str], env: &[(&str, &str)], awaited: &str) -> Running {
        Running::start(env!("CARGO_BIN_EXE_lath"), arguments, env, awaited)
    }

    /// The address that a node told.
    pub fn address(&self) -> std::net::SocketAddr {
        self.told.trim_start_matches("http://").parse().unwrap()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
