//! A small HTTP client: one connection, JSON in and out.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::Value;

pub struct Client {
    address: SocketAddr,
    token: String,
    stream: Option<BufReader<TcpStream>>,
}

pub struct Answer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(n, _)| n == name);
        found.map(|(_, value)| value.as_str())
    }

    pub fn text(&self) -> String {
        String::from_utf8(self.body.clone()).unwrap()
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&self.body)))
    }

    /// The JSON of an answer that must have this status.
    #[track_caller]
    pub fn ok(self, status: u16) -> Value {
        let text = String::from_utf8_lossy(&self.body).into_owned();
        assert_eq!(self.status, status, "{text}");
        if self.body.is_empty() {
            Value::Null
        } else {
            self.json()
        }
    }
}

impl Client {
    pub fn new(address: SocketAddr, token: &str) -> Client {
        Client {
            address,
            token: token.to_owned(),
            stream: None,
        }
    }

    pub fn get(&mut self, path: &str) -> Answer {
        self.send("GET", path, &[], b"")
    }

    pub fn put(&mut self, path: &str, body: &Value) -> Answer {
        self.send("PUT", path, &[], body.to_string().as_bytes())
    }

    pub fn post(&mut self, path: &str, body: &Value) -> Answer {
        self.send("POST", path, &[], body.to_string().as_bytes())
    }

    pub fn patch(&mut self, path: &str, body: &Value) -> Answer {
        self.send("PATCH", path, &[], body.to_string().as_bytes())
    }

    pub fn delete(&mut self, path: &str) -> Answer {
        self.send("DELETE", path, &[], b"")
    }

    pub fn send(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Answer {
        self.try_send(method, path, headers, body).unwrap()
    }

    pub fn try_send(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> std::io::Result<Answer> {
        let mut text = format!(
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n",
            body.len()
        );
        if !self.token.is_empty() {
            text.push_str(&format!("Authorization: Bearer {}\r\n", self.token));
        }
        for (name, value) in headers {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        text.push_str("\r\n");
        let mut bytes = text.into_bytes();
        bytes.extend_from_slice(body);
        let answer = self.exchange(&bytes);
        if !matches!(&answer, Ok(answer) if answer.header("connection") != Some("close")) {
            self.stream = None;
        }
        answer
    }

    /// Raw bytes out, one answer in.
    pub fn exchange(&mut self, bytes: &[u8]) -> std::io::Result<Answer> {
        if self.stream.is_none() {
            let stream = TcpStream::connect(self.address)?;
            stream.set_read_timeout(Some(Duration::from_secs(60)))?;
            stream.set_nodelay(true)?;
            self.stream = Some(BufReader::new(stream));
        }
        let stream = self.stream.as_mut().unwrap();
        stream.get_mut().write_all(bytes)?;
        read(stream)
    }
}

fn read(stream: &mut BufReader<TcpStream>) -> std::io::Result<Answer> {
    let gone = || std::io::Error::from(std::io::ErrorKind::UnexpectedEof);
    let mut line = String::new();
    if stream.read_line(&mut line)? == 0 {
        return Err(gone());
    }
    let status = line
        .split(' ')
        .nth(1)
        .and_then(|s| s.parse().ok())
        .ok_or_else(gone)?;
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        stream.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(':') else {
            break;
        };
        headers.push((name.to_lowercase(), value.trim().to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length = length.map_or(0, |(_, value)| value.parse().unwrap());
    let mut body = vec![0; length];
    stream.read_exact(&mut body)?;
    Ok(Answer {
        status,
        headers,
        body,
    })
}

/// A stream of events, read line by line until `enough` says so.
pub fn events(
    address: SocketAddr,
    token: &str,
    path: &str,
    last: Option<i64>,
) -> BufReader<TcpStream> {
    let mut stream = TcpStream::connect(address).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(20)))
        .unwrap();
    let last = last.map_or(String::new(), |id| format!("Last-Event-ID: {id}\r\n"));
    let request =
        format!("GET {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n{last}\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    BufReader::new(stream)
}

/// The next event's id and data.
pub fn next_event(stream: &mut BufReader<TcpStream>) -> (i64, Value) {
    let mut id = 0;
    loop {
        let mut line = String::new();
        assert!(stream.read_line(&mut line).unwrap() > 0, "the stream ended");
        if let Some(text) = line.strip_prefix("id: ") {
            id = text.trim().parse().unwrap();
        }
        if let Some(text) = line.strip_prefix("data: ") {
            return (id, serde_json::from_str(text).unwrap());
        }
    }
}
