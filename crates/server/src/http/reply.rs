//! What goes back: a status, a few headers, a body that is whole or a stream of events.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use hyper::body::{Body, Bytes, Frame, SizeHint};
use tokio::sync::mpsc;

pub enum Payload {
    Whole(Option<Bytes>),
    Events(mpsc::Receiver<Bytes>),
}

impl Body for Payload {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match self.get_mut() {
            Payload::Whole(bytes) => Poll::Ready(bytes.take().map(|b| Ok(Frame::data(b)))),
            Payload::Events(events) => events
                .poll_recv(context)
                .map(|event| event.map(|bytes| Ok(Frame::data(bytes)))),
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Payload::Whole(None))
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Payload::Whole(Some(bytes)) => SizeHint::with_exact(bytes.len() as u64),
            Payload::Whole(None) => SizeHint::with_exact(0),
            Payload::Events(_) => SizeHint::default(),
        }
    }
}

pub struct Reply {
    pub status: u16,
    pub content: &'static str,
    pub etag: Option<String>,
    pub headers: Vec<(&'static str, String)>,
    pub payload: Payload,
}

pub const JSON: &str = "application/json";

impl Reply {
    pub fn new(status: u16, content: &'static str, body: impl Into<Bytes>) -> Reply {
        Reply {
            status,
            content,
            etag: None,
            headers: Vec::new(),
            payload: Payload::Whole(Some(body.into())),
        }
    }

    pub fn json(body: impl Into<Bytes>) -> Reply {
        Reply::new(200, JSON, body)
    }

    pub fn empty(status: u16) -> Reply {
        Reply {
            payload: Payload::Whole(None),
            ..Reply::new(status, "", Bytes::new())
        }
    }

    pub fn etag(mut self, etag: impl Into<String>) -> Reply {
        self.etag = Some(etag.into());
        self
    }

    pub fn header(mut self, name: &'static str, value: impl Into<String>) -> Reply {
        self.headers.push((name, value.into()));
        self
    }

    /// The body, where it is whole.
    pub fn body(&self) -> &[u8] {
        match &self.payload {
            Payload::Whole(Some(bytes)) => bytes,
            _ => &[],
        }
    }
}
