//! Tells the service manager how a run comes along (`sd_notify`), when one asked to be told.

use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};

/// Sends lines such as `STATUS=planning`. Without a listener nothing happens: the messages are
/// for whoever watches, the run does not depend on them.
pub fn notify(message: &str) {
    let Some(name) = std::env::var_os("NOTIFY_SOCKET") else {
        return;
    };
    let name = name.to_string_lossy();
    let address = match name.strip_prefix('@') {
        Some(name) => SocketAddr::from_abstract_name(name),
        None => SocketAddr::from_pathname(&*name),
    };
    if let (Ok(address), Ok(socket)) = (address, UnixDatagram::unbound()) {
        let _ = socket.send_to_addr(message.as_bytes(), &address);
    }
}
