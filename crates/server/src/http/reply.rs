//! What goes back: a status, a few headers, a body that is whole or a stream of events.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use hyper::body::{Body, Bytes, Frame, SizeHint};
use hyper::header::HeaderValue;
use tokio::sync::mpsc;

use super::listen::UnderWay;

/// What a body is made of.
pub enum Content {
    Whole(Option<Bytes>),
    Events(mpsc::Receiver<Bytes>),
}

/// A body on its way; its request is under way until all of it is taken.
pub struct Payload {
    content: Content,
    _under_way: UnderWay,
}

impl Payload {
    pub fn new(content: Content, under_way: UnderWay) -> Payload {
        Payload {
            content,
            _under_way: under_way,
        }
    }
}

impl Body for Payload {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match &mut self.get_mut().content {
            Content::Whole(bytes) => Poll::Ready(bytes.take().map(|b| Ok(Frame::data(b)))),
            Content::Events(events) => events
                .poll_recv(context)
                .map(|event| event.map(|bytes| Ok(Frame::data(bytes)))),
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self.content, Content::Whole(None))
    }

    fn size_hint(&self) -> SizeHint {
        match &self.content {
            Content::Whole(Some(bytes)) => SizeHint::with_exact(bytes.len() as u64),
            Content::Whole(None) => SizeHint::with_exact(0),
            Content::Events(_) => SizeHint::default(),
        }
    }
}

pub struct Reply {
    pub status: u16,
    /// What the content is.
    pub media: &'static str,
    pub etag: Option<HeaderValue>,
    pub headers: Vec<(&'static str, String)>,
    pub content: Content,
}

pub const JSON: &str = "application/json";

impl Reply {
    pub fn new(status: u16, media: &'static str, body: impl Into<Bytes>) -> Reply {
        Reply {
            status,
            media,
            etag: None,
            headers: Vec::new(),
            content: Content::Whole(Some(body.into())),
        }
    }

    pub fn json(body: impl Into<Bytes>) -> Reply {
        Reply::new(200, JSON, body)
    }

    pub fn empty(status: u16) -> Reply {
        Reply {
            content: Content::Whole(None),
            ..Reply::new(status, "", Bytes::new())
        }
    }

    pub fn etag(self, etag: impl AsRef<str>) -> Reply {
        let etag = HeaderValue::from_str(etag.as_ref());
        Reply {
            etag: etag.ok(),
            ..self
        }
    }

    pub fn header(mut self, name: &'static str, value: impl Into<String>) -> Reply {
        self.headers.push((name, value.into()));
        self
    }

    /// The body, where it is whole.
    pub fn body(&self) -> &[u8] {
        match &self.content {
            Content::Whole(Some(bytes)) => bytes,
            _ => &[],
        }
    }
}
