//! The listener: one task a connection, limits on what a client may leave undone, and an orderly end.
//!
//! A connection carries a [`Pulse`], and one janitor looks at all of them: what is silent, or takes no bytes, for too long
//! is ended. So a request costs no timer of its own. What a request says is none of this file's business.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::rt::{Read, ReadBufCursor, Write};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::AbortHandle;

use super::answer::answer;
use crate::state::State;

const MOST_CONNECTIONS: usize = 10_000;
/// How many seconds a connection may take for the head of a request.
const HEAD: u32 = 15;
/// How many seconds it may wait between requests.
const IDLE: u32 = 75;
/// How many seconds a client may take no byte of an answer.
const BLOCKAGE: u32 = 60;
const TICK: Duration = Duration::from_secs(1);
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

/// What a connection is doing.
pub struct Pulse {
    /// The head of a request is awaited, or came in part.
    heading: AtomicBool,
    /// A request came, and its answer is not all written.
    under_way: AtomicBool,
    /// The client takes no more bytes for now.
    blocked: AtomicBool,
    /// The tick of the last change.
    since: AtomicU32,
    ending: AtomicBool,
}

impl Pulse {
    /// Of a connection that is new, and has to say something soon.
    fn new(now: u32) -> Pulse {
        Pulse {
            heading: AtomicBool::new(true),
            under_way: AtomicBool::new(false),
            blocked: AtomicBool::new(false),
            since: AtomicU32::new(now),
            ending: AtomicBool::new(false),
        }
    }

    /// Bytes came.
    fn heard(&self, clock: &AtomicU32) {
        let told = self.under_way.load(Ordering::Relaxed) || self.heading.load(Ordering::Relaxed);
        if !told {
            self.since
                .store(clock.load(Ordering::Relaxed), Ordering::Relaxed);
            self.heading.store(true, Ordering::Relaxed);
        }
    }

    fn is_idle(&self) -> bool {
        !self.under_way.load(Ordering::Acquire) && !self.blocked.load(Ordering::Acquire)
    }

    fn is_overdue(&self, now: u32) -> bool {
        let quiet = now.saturating_sub(self.since.load(Ordering::Relaxed));
        let is = |what: &AtomicBool| what.load(Ordering::Relaxed);
        if is(&self.blocked) {
            quiet > BLOCKAGE
        } else if is(&self.under_way) {
            false
        } else {
            quiet > if is(&self.heading) { HEAD } else { IDLE }
        }
    }

    /// Whether this connection takes no further request.
    pub fn is_ending(&self) -> bool {
        self.ending.load(Ordering::Relaxed)
    }
}

/// A request under way; ends with what it is kept in.
pub struct UnderWay {
    pulse: Arc<Pulse>,
    clock: Arc<AtomicU32>,
}

impl UnderWay {
    fn begin(pulse: &Arc<Pulse>, clock: &Arc<AtomicU32>) -> UnderWay {
        pulse.under_way.store(true, Ordering::Release);
        pulse.heading.store(false, Ordering::Relaxed);
        UnderWay {
            pulse: Arc::clone(pulse),
            clock: Arc::clone(clock),
        }
    }

    pub fn is_ending(&self) -> bool {
        self.pulse.is_ending()
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        let now = self.clock.load(Ordering::Relaxed);
        self.pulse.since.store(now, Ordering::Relaxed);
        self.pulse.under_way.store(false, Ordering::Release);
    }
}

/// All connections of a node.
#[derive(Default)]
struct Connections {
    open: Mutex<BTreeMap<u64, (AbortHandle, Arc<Pulse>)>>,
    clock: Arc<AtomicU32>,
}

impl Connections {
    /// Ends those of which `end` says so.
    fn sweep(&self, end: impl Fn(&Pulse) -> bool) {
        let open = self.open.lock().expect("nothing panics under the lock");
        for (task, pulse) in open.values() {
            if end(pulse) {
                task.abort();
            }
        }
    }

    fn is_empty(&self) -> bool {
        let open = self.open.lock().expect("nothing panics under the lock");
        open.is_empty()
    }

    async fn watch(&self) {
        loop {
            tokio::time::sleep(TICK).await;
            let now = self.clock.fetch_add(1, Ordering::Relaxed) + 1;
            self.sweep(|pulse| pulse.is_overdue(now));
        }
    }

    /// Lets requests under way end, for a while.
    async fn end(&self) {
        self.sweep(|pulse| {
            pulse.ending.store(true, Ordering::Relaxed);
            false
        });
        let all = async {
            while !self.is_empty() {
                self.sweep(Pulse::is_idle);
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        let _ = tokio::time::timeout(GRACE, all).await;
        self.sweep(|_| true);
    }
}

/// Takes a connection off the list, however its task ends.
struct Listed {
    connections: Arc<Connections>,
    number: u64,
}

impl Drop for Listed {
    fn drop(&mut self) {
        let open = self.connections.open.lock();
        let mut open = open.expect("nothing panics under the lock");
        open.remove(&self.number);
    }
}

async fn accept(state: Arc<State>, listener: TcpListener, mut ended: watch::Receiver<bool>) {
    let connections = Arc::new(Connections::default());
    let places = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    let follower = tokio::spawn(Arc::clone(&state).follow());
    let watched = Arc::clone(&connections);
    let janitor = tokio::spawn(async move { watched.watch().await });
    for number in 0.. {
        let place = Arc::clone(&places).acquire_owned();
        let place = tokio::select! {
            place = place => place,
            _ = ended.wait_for(|ended| *ended) => break,
        };
        let Ok(place) = place else { break };
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = ended.wait_for(|ended| *ended) => break,
        };
        let Ok((stream, peer)) = accepted else {
            // Out of descriptors: what is open must end before more can come.
            tokio::time::sleep(Duration::from_millis(20)).await;
            continue;
        };
        let _ = stream.set_nodelay(true);
        let clock = Arc::clone(&connections.clock);
        let pulse = Arc::new(Pulse::new(clock.load(Ordering::Relaxed)));
        let served = connection(Arc::clone(&state), stream, peer, Arc::clone(&pulse), clock);
        let listed = Listed {
            connections: Arc::clone(&connections),
            number,
        };
        // Listed before it can end: the lock is held until it stands there.
        let mut open = connections
            .open
            .lock()
            .expect("nothing panics under the lock");
        let task = tokio::spawn(async move {
            served.await;
            drop((listed, place));
        });
        open.insert(number, (task.abort_handle(), pulse));
    }
    drop(listener);
    let _ = state.ending.send(true);
    connections.end().await;
    state.end().await;
    janitor.abort();
    follower.abort();
}

async fn connection(
    state: Arc<State>,
    stream: TcpStream,
    peer: SocketAddr,
    pulse: Arc<Pulse>,
    clock: Arc<AtomicU32>,
) {
    let io = Watched {
        stream: TokioIo::new(stream),
        pulse: Arc::clone(&pulse),
        clock: Arc::clone(&clock),
    };
    let service = service_fn(move |request| {
        let state = Arc::clone(&state);
        let under_way = UnderWay::begin(&pulse, &clock);
        async move { Ok::<_, Infallible>(answer(&state, request, peer, under_way).await) }
    });
    let mut builder = http1::Builder::new();
    builder.max_buf_size(64 << 10);
    // What goes wrong with a connection is the client's affair.
    let _ = builder.serve_connection(io, service).await;
}

/// A stream that notes when the client takes no more.
struct Watched {
    stream: TokioIo<TcpStream>,
    pulse: Arc<Pulse>,
    clock: Arc<AtomicU32>,
}

impl Watched {
    fn note<T>(&self, written: Poll<T>) -> Poll<T> {
        let blocked = written.is_pending();
        if blocked != self.pulse.blocked.load(Ordering::Relaxed) {
            let now = self.clock.load(Ordering::Relaxed);
            self.pulse.since.store(now, Ordering::Relaxed);
            self.pulse.blocked.store(blocked, Ordering::Release);
        }
        written
    }
}

impl Read for Watched {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<std::io::Result<()>> {
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        if read.is_ready() {
            self.pulse.heard(&self.clock);
        }
        read
    }
}

impl Write for Watched {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.note(written)
    }

    fn poll_flush(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[std::io::IoSlice<'_>],
    ) -> Poll<std::io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, parts);
        self.note(written)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_that_is_silent_or_takes_nothing_is_overdue() {
        let (pulse, clock) = (Arc::new(Pulse::new(0)), Arc::new(AtomicU32::new(0)));
        assert!(!pulse.is_overdue(HEAD) && pulse.is_overdue(HEAD + 1));
        let request = UnderWay::begin(&pulse, &clock);
        assert!(!pulse.is_overdue(1_000) && !pulse.is_idle());
        clock.store(80, Ordering::Relaxed);
        drop(request);
        assert!(!pulse.is_overdue(80 + IDLE) && pulse.is_overdue(81 + IDLE));
        // The next head begins, and then comes byte by byte.
        clock.store(100, Ordering::Relaxed);
        pulse.heard(&clock);
        clock.store(110, Ordering::Relaxed);
        pulse.heard(&clock);
        assert!(!pulse.is_overdue(100 + HEAD) && pulse.is_overdue(101 + HEAD));
        pulse.blocked.store(true, Ordering::Relaxed);
        assert!(!pulse.is_idle());
        assert!(!pulse.is_overdue(100 + BLOCKAGE) && pulse.is_overdue(101 + BLOCKAGE));
    }
}
