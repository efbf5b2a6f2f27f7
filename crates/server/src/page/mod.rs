//! The page's own files, in the binary. They hold no data: the page asks for that with a token.

use rust_embed::RustEmbed;

use crate::http::{Problem, Reply};

#[derive(RustEmbed)]
#[folder = "src/page/assets"]
struct Assets;

/// Nothing from elsewhere, nothing inline.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
                      connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

pub fn asset(name: &str) -> Result<Reply, Problem> {
    let file = Assets::get(name).ok_or_else(|| Problem::missing("there is no such file"))?;
    let content = match name.rsplit_once('.') {
        Some((_, "html")) => "text/html; charset=utf-8",
        Some((_, "js")) => "text/javascript; charset=utf-8",
        Some((_, "css")) => "text/css; charset=utf-8",
        Some((_, "svg")) => "image/svg+xml",
        _ => "application/octet-stream",
    };
    let reply = Reply::new(200, content, file.data.into_owned());
    Ok(reply
        .header("content-security-policy", POLICY)
        .header("referrer-policy", "no-referrer"))
}
