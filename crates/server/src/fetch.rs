//! One request to another server and its whole answer: an OIDC issuer's keys, documents sent to a node.
//!
//! No redirects, no connection kept. Plain `http` goes only to this machine: what is asked for, or sent, is not for
//! others to read or change.

use std::time::Duration;

use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper::{Request, Uri, header};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

use crate::tls::{self, Trust};

/// What an answer may weigh.
const LARGEST: usize = 16 << 20;

pub struct Fetch<'f> {
    pub method: &'f str,
    pub url: &'f str,
    pub headers: &'f [(&'f str, &'f str)],
    pub body: Vec<u8>,
    pub patience: Duration,
}

impl<'f> Fetch<'f> {
    pub fn get(url: &'f str) -> Fetch<'f> {
        Fetch {
            method: "GET",
            url,
            headers: &[],
            body: Vec::new(),
            patience: Duration::from_secs(5),
        }
    }

    /// The answer's status and body.
    pub async fn send(self) -> Result<(u16, Bytes), String> {
        let url = self.url.to_owned();
        let told = |why: String| format!("cannot reach {url}: {why}");
        match tokio::time::timeout(self.patience, self.exchange()).await {
            Ok(answer) => answer.map_err(told),
            Err(_) => Err(told("it does not answer in time".to_owned())),
        }
    }

    async fn exchange(self) -> Result<(u16, Bytes), String> {
        let uri: Uri = self.url.parse().map_err(|_| "that is no URL".to_owned())?;
        let host = uri.host().ok_or("it names no host")?;
        let host = host.trim_matches(['[', ']']);
        let secure = match uri.scheme_str() {
            Some("https") => true,
            Some("http") if is_here(host) => false,
            Some("http") => return Err("plain http is for this machine only; use https".to_owned()),
            _ => return Err("only http and https URLs are known".to_owned()),
        };
        let port = uri.port_u16().unwrap_or(if secure { 443 } else { 80 });
        let stream = TcpStream::connect((host, port)).await;
        let stream = stream.map_err(|e| e.to_string())?;
        match secure {
            true => {
                let connector = tls::connector(&Trust::System)?;
                let stream = connector.connect(tls::name(host)?, stream).await;
                self.over(&uri, stream.map_err(|e| e.to_string())?).await
            }
            false => self.over(&uri, stream).await,
        }
    }

    async fn over<S>(self, uri: &Uri, stream: S) -> Result<(u16, Bytes), String>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let broken = |e: hyper::Error| format!("it does not speak HTTP: {e}");
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream))
            .await
            .map_err(broken)?;
        let driven = tokio::spawn(connection);
        let target = uri.path_and_query().map_or("/", |target| target.as_str());
        let host = uri.authority().map_or("", |authority| authority.as_str());
        let mut request = Request::builder()
            .method(self.method)
            .uri(target)
            .header(header::HOST, host)
            .header(header::CONNECTION, "close");
        for (name, value) in self.headers {
            request = request.header(*name, *value);
        }
        let request = request
            .body(Full::new(Bytes::from(self.body)))
            .map_err(|e| format!("that cannot be sent: {e}"))?;
        let answer = sender.send_request(request).await.map_err(broken)?;
        let status = answer.status().as_u16();
        let body = Limited::new(answer.into_body(), LARGEST).collect().await;
        driven.abort();
        let body = body.map_err(|e| format!("its answer cannot be read: {e}"))?;
        Ok((status, body.to_bytes()))
    }
}

/// Whether a host is this machine.
fn is_here(host: &str) -> bool {
    let address: Option<std::net::IpAddr> = host.parse().ok();
    host == "localhost" || address.is_some_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_http_is_for_this_machine_only() {
        assert!(is_here("localhost") && is_here("127.0.0.1") && is_here("::1"));
        assert!(
            !is_here("10.0.0.1") && !is_here("localhost.example") && !is_here("127.0.0.1.example")
        );
    }
}
