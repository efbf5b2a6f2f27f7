//! From a request to its answer: which route, who is asking, what they send, and the headers of what goes back.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use http_body_util::BodyExt;
use hyper::body::{Bytes, Incoming};
use hyper::header::{self, HeaderName, HeaderValue};
use hyper::{Request, Response, StatusCode};

use super::call::Call;
use super::listen::UnderWay;
use super::problem::Problem;
use super::query::{decoded, query};
use super::reply::{Payload, Reply};
use super::routes::{self, Found, Op, Route};
use crate::identity::{Identity, token_hash};
use crate::state::{State, now};

/// What a write may weigh; a package may weigh more.
const LARGEST_BODY: usize = 1 << 20;
const LARGEST_PACKAGE: usize = 16 << 20;
/// How long a body may take to come.
const PATIENCE: Duration = Duration::from_secs(15);
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

pub async fn answer(
    state: &Arc<State>,
    request: Request<Incoming>,
    peer: SocketAddr,
    under_way: UnderWay,
) -> Response<Payload> {
    let start = Instant::now();
    let given = request.headers().get(REQUEST_ID);
    let given = given.filter(|id| {
        (1..=64).contains(&id.len()) && id.as_bytes().iter().all(u8::is_ascii_graphic)
    });
    let id = given.cloned().unwrap_or_else(|| state.next_request());
    let told = id.to_str().unwrap_or_default();
    let reply = match respond(state, request, peer, told).await {
        Ok(reply) => reply,
        Err(problem) => problem.reply(told),
    };
    let spent = u64::try_from(start.elapsed().as_micros()).unwrap_or(u64::MAX);
    state.metrics.replied(reply.status, spent);
    written(state, reply, id, under_way)
}

fn written(state: &State, reply: Reply, id: HeaderValue, under_way: UnderWay) -> Response<Payload> {
    let ending = under_way.is_ending();
    let mut response = Response::new(Payload::new(reply.content, under_way));
    *response.status_mut() =
        StatusCode::from_u16(reply.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    if !reply.media.is_empty() {
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(reply.media));
    }
    headers.insert(REQUEST_ID, id);
    let cache = HeaderValue::from_static("private, no-cache");
    headers.insert(header::CACHE_CONTROL, cache);
    let sniffing = HeaderValue::from_static("nosniff");
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, sniffing);
    if let Some(etag) = reply.etag {
        headers.insert(header::ETAG, etag);
    }
    if ending {
        headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    let mut put = |name: HeaderName, value: &str| {
        if let Ok(value) = HeaderValue::from_str(value) {
            headers.insert(name, value);
        }
    };
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
    peer: SocketAddr,
    id: &str,
) -> Result<Reply, Problem> {
    let (head, body) = request.into_parts();
    let (route, parts) = match routes::find(head.method.as_str(), head.uri.path()) {
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
    let target = head
        .uri
        .path_and_query()
        .map_or("", |target| target.as_str());
    let line = (head.method.as_str(), target);
    let authorization = head.headers.get(header::AUTHORIZATION);
    let Some(identity) = identify(state, authorization, now).await else {
        state.turned_away(line, peer, now, id).await;
        let detail = "a valid bearer token is needed";
        return Err(Problem::new(401, "unauthorized", detail));
    };
    let mut call = Call {
        state,
        identity,
        parts: Default::default(),
        query: Default::default(),
        headers: &head.headers,
        body: Bytes::new(),
        now,
        id,
        line,
        dry: false,
    };
    let tried = async {
        state.limits.take(&call)?;
        call.parts = decoded(parts)?;
        call.query = query(head.uri.query().unwrap_or(""))?;
        if route.body.is_some() {
            call.body = whole(body, largest(route)).await?;
        }
        routes::run(route.op, &call).await
    };
    match tried.await {
        Err(problem) => Err(state.refused(&call, route, problem).await),
        done => done,
    }
}

fn largest(route: &Route) -> usize {
    match route.op {
        Op::Upload | Op::Import => LARGEST_PACKAGE,
        _ => LARGEST_BODY,
    }
}

/// Whose token it is.
async fn identify(
    state: &State,
    header: Option<&HeaderValue>,
    now: apps::instant::Instant,
) -> Option<Arc<Identity>> {
    let (scheme, token) = header?.to_str().ok()?.split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("bearer") {
        return None;
    }
    let token = token.trim();
    let hash = token_hash(token);
    let known = state.with_host(|host| {
        let known = host.tokens.get(&hash)?;
        let good = known.expires.is_none_or(|end| now < end);
        Some(good.then(|| Arc::clone(&known.identity)))
    });
    match known {
        Some(known) => known,
        None => Some(Arc::new(state.oidc.as_ref()?.identify(token, now).await?)),
    }
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
