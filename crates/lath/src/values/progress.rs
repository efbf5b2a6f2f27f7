//! A word on a terminal when a run takes longer than a moment; gone when it ends.

use std::io::{self, IsTerminal, Write};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

const MOMENT: Duration = Duration::from_millis(700);

/// Says that work is under way, until it is dropped. Nothing where standard error is no terminal.
pub struct Progress(Option<(Sender<()>, JoinHandle<()>)>);

impl Progress {
    pub fn start(what: &'static str) -> Progress {
        if !io::stderr().is_terminal() {
            return Progress(None);
        }
        let (end, ended) = mpsc::channel();
        let thread = thread::spawn(move || {
            if ended.recv_timeout(MOMENT) == Err(RecvTimeoutError::Timeout) {
                // Standard error may be closed; there is nobody left to tell.
                let _ = write!(io::stderr(), "{what}…");
                let _ = ended.recv();
                let _ = write!(io::stderr(), "\r\x1b[K");
            }
        });
        Progress(Some((end, thread)))
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((end, thread)) = self.0.take() {
            drop(end);
            let _ = thread.join();
        }
    }
}
