//! The audit trail: structured records in the journal, by its native protocol.
//!
//! One datagram a record, fields as `NAME=value` lines, or with a length in front where a value
//! has line breaks. A record too large for a datagram is cut, never dropped.

use std::os::unix::net::UnixDatagram;

const SOCKET: &str = "/run/systemd/journal/socket";

/// Values longer than this are cut. A datagram holds at least 200 KiB on any Linux.
const LONGEST: usize = 32 << 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Priority {
    Error = 3,
    Warning = 4,
    Notice = 5,
    Info = 6,
}

/// Writes records that all carry the same first fields.
#[derive(Debug)]
pub struct Journal {
    socket: Option<UnixDatagram>,
    common: Vec<(&'static str, String)>,
}

impl Journal {
    /// Where there is no journal (another root directory, a container) records go nowhere.
    pub fn open() -> Journal {
        let socket = UnixDatagram::unbound().ok();
        Journal {
            socket: socket.filter(|socket| socket.connect(SOCKET).is_ok()),
            common: Vec::new(),
        }
    }

    pub fn silent() -> Journal {
        Journal {
            socket: None,
            common: Vec::new(),
        }
    }

    /// Sets a field of all records to come.
    pub fn set(&mut self, name: &'static str, value: impl Into<String>) {
        self.common.retain(|(known, _)| *known != name);
        self.common.push((name, value.into()));
    }

    pub fn record(&self, priority: Priority, message: &str, fields: &[(&str, &str)]) {
        let Some(socket) = &self.socket else {
            return;
        };
        let level = (priority as u8).to_string();
        let mut datagram = Vec::new();
        let first = [
            ("MESSAGE", message),
            ("PRIORITY", level.as_str()),
            ("SYSLOG_IDENTIFIER", "lath"),
        ];
        let common = self
            .common
            .iter()
            .map(|(name, value)| (*name, value.as_str()));
        for (name, value) in first
            .into_iter()
            .chain(common)
            .chain(fields.iter().copied())
        {
            field(&mut datagram, name, value);
        }
        // The journal may be restarting; a run does not end because nobody listens.
        let _ = socket.send(&datagram);
    }
}

fn field(datagram: &mut Vec<u8>, name: &str, value: &str) {
    let mut end = value.len().min(LONGEST);
    while !value.is_char_boundary(end) {
        end -= 1;
    }
    let value = value.get(..end).unwrap_or_default();
    datagram.extend_from_slice(name.as_bytes());
    if value.contains('\n') {
        datagram.push(b'\n');
        datagram.extend_from_slice(&(value.len() as u64).to_le_bytes());
    } else {
        datagram.push(b'=');
    }
    datagram.extend_from_slice(value.as_bytes());
    datagram.push(b'\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_with_line_breaks_carry_their_length() {
        let mut datagram = Vec::new();
        field(&mut datagram, "A", "x=y");
        field(&mut datagram, "B", "1\n2");
        assert_eq!(datagram, b"A=x=y\nB\n\x03\0\0\0\0\0\0\x001\n2\n");
    }
}
