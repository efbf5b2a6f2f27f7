//! The URL of a database, with what it says about TLS in PostgreSQL's own words.
//!
//! `sslmode` is `disable`, `prefer` (if none is given: TLS where the server has it, unchecked), `require` (TLS, the server's
//! certificate unchecked unless `sslrootcert` is given) or `verify-full` (certificate and name checked);
//! `sslrootcert` names a file of roots, or is `system`.

use tokio_postgres::Config;
use tokio_postgres::config::SslMode;

use crate::tls::Trust;

#[derive(Debug)]
pub struct Url {
    pub config: Config,
    pub trust: Trust,
}

impl Url {
    pub fn parse(url: &str) -> Result<Url, String> {
        let told = |why: &str| format!("`--database` is no PostgreSQL URL: {why}");
        let (base, query) = url.split_once('?').unwrap_or((url, ""));
        let (mut mode, mut root, mut rest) = (None, None, Vec::new());
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            match pair.split_once('=') {
                Some(("sslmode", value)) => mode = Some(value),
                Some(("sslrootcert", value)) => root = Some(value.replace("%2F", "/")),
                _ => rest.push(pair),
            }
        }
        let base = match rest.is_empty() {
            true => base.to_owned(),
            false => format!("{base}?{}", rest.join("&")),
        };
        let mut config: Config = base.parse().map_err(|e: tokio_postgres::Error| {
            use std::error::Error;
            told(&e.source().map_or(e.to_string(), ToString::to_string))
        })?;
        let (mode, checked) = match mode.unwrap_or("prefer") {
            "disable" => (SslMode::Disable, false),
            "prefer" => (SslMode::Prefer, false),
            "require" => (SslMode::Require, root.is_some()),
            "verify-full" => (SslMode::Require, true),
            other => {
                let known = "disable, prefer, require or verify-full";
                return Err(told(&format!("`sslmode` is `{other}`, not {known}")));
            }
        };
        config.ssl_mode(mode);
        let trust = match root.as_deref() {
            _ if !checked => Trust::Anyone,
            None | Some("system") => Trust::System,
            Some(file) => Trust::File(file.into()),
        };
        Ok(Url { config, trust })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tls_is_told_in_the_words_of_postgresql() {
        let read = |query: &str| {
            let url = Url::parse(&format!("postgres://lath@db/lath{query}")).unwrap();
            (url.config.get_ssl_mode(), url.trust)
        };
        let file = || Trust::File("/etc/ca.pem".into());
        for (query, mode, trust) in [
            ("", SslMode::Prefer, Trust::Anyone),
            ("?sslmode=disable", SslMode::Disable, Trust::Anyone),
            ("?sslmode=require", SslMode::Require, Trust::Anyone),
            ("?sslmode=verify-full", SslMode::Require, Trust::System),
            (
                "?sslmode=require&sslrootcert=%2Fetc/ca.pem",
                SslMode::Require,
                file(),
            ),
            (
                "?sslrootcert=/etc/ca.pem&sslmode=verify-full",
                SslMode::Require,
                file(),
            ),
            (
                "?sslmode=verify-full&sslrootcert=system",
                SslMode::Require,
                Trust::System,
            ),
        ] {
            assert_eq!(read(query), (mode, trust), "{query}");
        }
        let url = Url::parse("postgres://lath@db/lath?sslmode=require&application_name=x").unwrap();
        assert_eq!(url.config.get_application_name(), Some("x"));
        for bad in [
            "mysql://x",
            "postgres://lath@db/lath?sslmode=maybe",
            "postgres://lath@db/lath?colour=red",
        ] {
            let told = Url::parse(bad).unwrap_err();
            assert!(told.contains("is no PostgreSQL URL"), "{told}");
        }
    }
}
