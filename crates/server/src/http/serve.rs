//! The listener: one task a connection, limits on everything a client sends, and an orderly end.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use http_body_util::BodyExt;
use hyper::body::{Bytes, Incoming};
use hyper::header::{self, HeaderName, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};

use super::call::Call;
use super::problem::Problem;
use super::reply::{Payload, Reply};
use super::routes::{self, Found, Op};
use crate::identity::{Identity, token_hash};
use crate::state::{State, now};

/// What a write may weigh; a package may weigh more.
const LARGEST_BODY: usize = 1 << 20;
const LARGEST_PACKAGE: usize = 16 << 20;
const MOST_CONNECTIONS: usize = 10_000;
const PATIENCE: Duration = Duration::from_secs(15);
/// How long an end waits for requests under way.
const GRACE: Duration = Duration::from_secs(5);

/// A node that serves; it ends when this is told to.
pub struct Serving {
    pub address: SocketAddr,
    end: watch::Sender<bool>,
    task: tokio::task::JoinHandle<()>,
}

impl Serving {
    /// Takes no more connections, lets requests under way end, and returns.
    pub async fn end(self) {
        let _ = self.end.send(true);
        let _ = self.task.await;
    }
}

pub async fn serve(state: Arc<State>, listener: TcpListener) -> std::io::Result<Serving> {
    let address = listener.local_addr()?;
    let (end, ended) = watch::channel(false);
    let task = tokio::spawn(accept(state, listener, ended));
    Ok(Serving { address, end, task })
}

async fn accept(state: Arc<State>, listener: TcpListener, mut ended: watch::Receiver<bool>) {
    let graceful = GracefulShutdown::new();
    let places = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    let follower = tokio::spawn(Arc::clone(&state).follow());
    loop {
        let place = Arc::clone(&places).acquire_owned();
        let Ok(place) = place.await else { break };
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = ended.wait_for(|ended| *ended) => break,
        };
        let Ok((stream, _)) = accepted else {
            // Out of descriptors: what is open must end before more can come.
            tokio::time::sleep(Duration::from_millis(20)).await;
            continue;
        };
        let _ = stream.set_nodelay(true);
        let state = Arc::clone(&state);
        let service = service_fn(move |request| {
            let state = Arc::clone(&state);
            async move { Ok::<_, Infallible>(answer(state, request).await) }
        });
        let mut builder = http1::Builder::new();
        builder
            .timer(TokioTimer::new())
            .header_read_timeout(PATIENCE)
            .max_buf_size(64 << 10);
        let connection = graceful.watch(builder.serve_connection(TokioIo::new(stream), service));
        tokio::spawn(async move {
            // What goes wrong with a connection is the client's affair.
            let _ = connection.await;
            drop(place);
        });
    }
    drop(listener);
    let _ = tokio::time::timeout(GRACE, graceful.shutdown()).await;
    follower.abort();
}

async fn answer(state: Arc<State>, request: Request<Incoming>) -> Response<Payload> {
    let start = Instant::now();
    let given = request.headers().get("x-request-id");
    let given = given.and_then(|id| id.to_str().ok());
    let given =
        given.filter(|id| (1..=64).contains(&id.len()) && id.bytes().all(|b| b.is_ascii_graphic()));
    let id = given.map_or_else(|| state.next_request(), str::to_owned);
    let reply = match respond(&state, request, &id).await {
        Ok(reply) => reply,
        Err(problem) => problem.reply(&id),
    };
    let spent = u64::try_from(start.elapsed().as_micros()).unwrap_or(u64::MAX);
    state.metrics.replied(reply.status, spent);
    written(&state, reply, &id)
}

fn written(state: &State, reply: Reply, id: &str) -> Response<Payload> {
    let mut response = Response::new(reply.payload);
    *response.status_mut() = hyper::StatusCode::from_u16(reply.status)
        .unwrap_or(hyper::StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    if !reply.content.is_empty() {
        headers.insert(
            header::CONTENT_TYPE,
            HeaderValue::from_static(reply.content),
        );
    }
    let mut put = |name: HeaderName, value: &str| {
        if let Ok(value) = HeaderValue::from_str(value) {
            headers.insert(name, value);
        }
    };
    put(HeaderName::from_static("x-request-id"), id);
    put(header::CACHE_CONTROL, "private, no-cache");
    put(header::X_CONTENT_TYPE_OPTIONS, "nosniff");
    if let Some(etag) = &reply.etag {
        put(header::ETAG, etag);
    }
    if let Some(since) = state.stale_since() {
        put(HeaderName::from_static("lath-stale"), &since.to_string());
    }
    for (name, value) in &reply.headers {
        put(HeaderName::from_static(name), value);
    }
    response
}

async fn respond(
    state: &Arc<State>,
    request: Request<Incoming>,
    id: &str,
) -> Result<Reply, Problem> {
    let (head, body) = request.into_parts();
    let path = head.uri.path();
    let (route, parts) = match routes::find(head.method.as_str(), path) {
        Found::Route(route, parts) => (route, parts),
        Found::OtherMethod(allowed) => {
            let problem = Problem::new(405, "method-not-allowed", format!("allowed: {allowed}"));
            return Ok(problem.reply(id).header("allow", allowed));
        }
        Found::Nothing => return Err(Problem::missing("there is no such route")),
    };
    if let Some(reply) = routes::open(route.op, state, &parts) {
        return reply;
    }
    let now = now();
    let identity = identify(state, head.headers.get(header::AUTHORIZATION), now)?;
    let parts = decoded(parts)?;
    let query = query(head.uri.query().unwrap_or(""))?;
    let largest = match route.op {
        Op::Upload | Op::Import => LARGEST_PACKAGE,
        _ => LARGEST_BODY,
    };
    let body = match route.body {
        Some(_) => whole(body, largest).await?,
        None => Bytes::new(),
    };
    let line = match head.uri.query() {
        Some(query) => format!("{} {path}?{query}", head.method),
        None => format!("{} {path}", head.method),
    };
    let call = Call {
        state: Arc::clone(state),
        identity,
        parts,
        query,
        headers: head.headers,
        body,
        now,
        id: id.to_owned(),
        line,
    };
    routes::run(route.op, &call).await
}

/// Whose token it is.
fn identify(
    state: &State,
    header: Option<&HeaderValue>,
    now: apps::instant::Instant,
) -> Result<Identity, Problem> {
    let unknown = || Problem::new(401, "unauthorized", "a valid bearer token is needed");
    let text = header
        .and_then(|value| value.to_str().ok())
        .ok_or_else(unknown)?;
    let (scheme, token) = text.split_once(' ').ok_or_else(unknown)?;
    if !scheme.eq_ignore_ascii_case("bearer") {
        return Err(unknown());
    }
    let token = token.trim();
    if let Some(known) = state.host().tokens.get(&token_hash(token)) {
        return match known.expires.is_none_or(|end| now < end) {
            true => Ok(known.identity.clone()),
            false => Err(unknown()),
        };
    }
    let oidc = state.oidc.as_ref().ok_or_else(unknown)?;
    oidc.identify(token, now).ok_or_else(unknown)
}

async fn whole(body: Incoming, largest: usize) -> Result<Bytes, Problem> {
    match tokio::time::timeout(PATIENCE, read(body, largest)).await {
        Ok(Some(bytes)) if bytes.len() <= largest => Ok(bytes),
        Ok(Some(_)) => {
            let detail = format!("the body may weigh {largest} bytes");
            Err(Problem::new(413, "too-large", detail))
        }
        Ok(None) => Err(Problem::bad("the body ended too early")),
        Err(_) => Err(Problem::new(408, "too-slow", "the body came too slowly")),
    }
}

/// The whole body, or a little more of it than is wanted: what comes after that is read and thrown away, so that a
/// client that is still sending hears why.
async fn read(mut body: Incoming, largest: usize) -> Option<Bytes> {
    let mut all = Vec::new();
    let mut seen = 0;
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.ok()?.into_data() else {
            continue;
        };
        seen += data.len();
        if all.len() <= largest {
            all.extend_from_slice(&data);
        }
        if seen > 4 * largest {
            break;
        }
    }
    Some(all.into())
}

fn decoded(parts: Vec<(&'static str, String)>) -> Result<Vec<(&'static str, String)>, Problem> {
    let decode = |(name, text): (&'static str, String)| {
        let text = unescape(&text).filter(|text| !text.is_empty() && text.len() <= 1_024);
        let text = text.filter(|text| !text.chars().any(char::is_control));
        text.map(|text| (name, text))
            .ok_or_else(|| Problem::bad("a part of the path cannot be read"))
    };
    parts.into_iter().map(decode).collect()
}

/// The query's names and values; a name given twice is an error, so that no two readers can differ.
fn query(text: &str) -> Result<Vec<(String, String)>, Problem> {
    let mut all: Vec<(String, String)> = Vec::new();
    for pair in text.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let read = |text: &str| unescape(&text.replace('+', "%20"));
        let (Some(name), Some(value)) = (read(name), read(value)) else {
            return Err(Problem::bad("the query cannot be read"));
        };
        if value.chars().any(char::is_control) || all.len() >= 32 {
            return Err(Problem::bad("the query cannot be read"));
        }
        if all.iter().any(|(known, _)| *known == name) {
            return Err(Problem::bad("the query gives a name twice"));
        }
        // An empty value is none: forms send those.
        if !value.is_empty() {
            all.push((name, value));
        }
    }
    Ok(all)
}

/// Percent escapes undone; none if it is not UTF-8 then.
fn unescape(text: &str) -> Option<String> {
    if !text.contains('%') {
        return Some(text.to_owned());
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        match byte {
            b'%' => {
                let digit = |byte: u8| char::from(byte).to_digit(16);
                let (high, low) = (digit(rest.next()?)?, digit(rest.next()?)?);
                bytes.push(u8::try_from(high * 16 + low).ok()?);
            }
            byte => bytes.push(byte),
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_is_read_strictly() {
        let read = query("tenant=a%2Fb&key=x+y&user=").unwrap();
        assert_eq!(
            read,
            [
                ("tenant".into(), "a/b".into()),
                ("key".into(), "x y".into())
            ]
        );
        for bad in ["a=%", "a=%zz", "a=%ff", "a=1&a=2", "a=%00"] {
            assert!(query(bad).is_err(), "{bad}");
        }
    }
}
