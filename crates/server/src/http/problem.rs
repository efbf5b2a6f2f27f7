//! Refusals as `application/problem+json`: what happened, a stable code, the conflicts or findings behind it.
//!
//! A problem never repeats what was sent, except names of keys: what was sent may hold a credential.

use apps::conflict::Conflict;
use apps::value::write_string;
use apps::write::all_conflicts;
use base::Diagnostic;

use super::reply::Reply;
use crate::store::Failure;

#[derive(Clone, Debug)]
pub struct Problem {
    pub status: u16,
    pub code: &'static str,
    pub detail: String,
    pub conflicts: Vec<Conflict>,
    pub findings: Vec<Diagnostic>,
    /// Further members, as JSON.
    pub more: Vec<(&'static str, String)>,
}

impl Problem {
    pub fn new(status: u16, code: &'static str, detail: impl Into<String>) -> Problem {
        Problem {
            status,
            code,
            detail: detail.into(),
            conflicts: Vec::new(),
            findings: Vec::new(),
            more: Vec::new(),
        }
    }

    pub fn bad(detail: impl Into<String>) -> Problem {
        Problem::new(400, "bad-request", detail)
    }

    /// The same words whatever exists: a refusal tells nothing.
    pub fn forbidden() -> Problem {
        let detail = "your role does not reach that far";
        Problem::new(403, "forbidden", detail)
    }

    pub fn missing(detail: impl Into<String>) -> Problem {
        Problem::new(404, "not-found", detail)
    }

    pub fn unreadable(findings: Vec<Diagnostic>) -> Problem {
        let first = findings.iter().find(|finding| finding.is_error());
        let detail = first.map_or_else(
            || "it cannot be read".to_owned(),
            |finding| finding.message.to_string(),
        );
        Problem {
            findings,
            ..Problem::new(422, "unreadable", detail)
        }
    }

    pub fn refused(conflicts: Vec<Conflict>) -> Problem {
        let first = conflicts.iter().find(|conflict| conflict.is_error());
        let detail = first.map_or_else(
            || "the write is refused".to_owned(),
            |conflict| conflict.message.clone(),
        );
        let code = first.map_or("refused", |conflict| conflict.code.0);
        Problem {
            conflicts,
            ..Problem::new(422, code, detail)
        }
    }

    pub fn more(mut self, name: &'static str, json: impl Into<String>) -> Problem {
        self.more.push((name, json.into()));
        self
    }

    fn title(&self) -> &'static str {
        match self.status {
            400 => "Bad request",
            401 => "Unauthorized",
            403 => "Forbidden",
            404 => "Not found",
            405 => "Method not allowed",
            409 | 412 => "Conflict",
            413 => "Too large",
            415 => "Unsupported media type",
            422 => "Refused",
            429 => "Too many requests",
            _ => "Unavailable",
        }
    }

    pub fn json(&self, request: &str) -> String {
        let mut out = String::from("{\"type\":");
        write_string(&mut out, &format!("urn:lath:problem:{}", self.code));
        out.push_str(",\"title\":");
        write_string(&mut out, self.title());
        out.push_str(&format!(",\"status\":{},\"code\":", self.status));
        write_string(&mut out, self.code);
        out.push_str(",\"detail\":");
        write_string(&mut out, &self.detail);
        out.push_str(",\"request\":");
        write_string(&mut out, request);
        if !self.conflicts.is_empty() {
            out.push_str(",\"conflicts\":");
            all_conflicts(&mut out, &self.conflicts, None);
        }
        if !self.findings.is_empty() {
            out.push_str(",\"findings\":[");
            for (at, finding) in self.findings.iter().enumerate() {
                out.push_str(if at > 0 { ",{\"code\":" } else { "{\"code\":" });
                write_string(&mut out, finding.code.0);
                out.push_str(",\"severity\":");
                write_string(&mut out, finding.severity.word());
                out.push_str(",\"message\":");
                write_string(&mut out, &finding.message);
                out.push('}');
            }
            out.push(']');
        }
        for (name, json) in &self.more {
            out.push_str(&format!(",\"{name}\":{json}"));
        }
        out.push('}');
        out
    }

    pub fn reply(&self, request: &str) -> Reply {
        let reply = Reply::new(self.status, "application/problem+json", self.json(request));
        match self.status {
            401 => reply.header("www-authenticate", "Bearer"),
            503 => reply.header("retry-after", "1"),
            _ => reply,
        }
    }
}

impl From<Failure> for Problem {
    fn from(failure: Failure) -> Problem {
        match failure {
            Failure::Moved => Problem::new(409, "busy", "others write at the same time; try again"),
            // What the database says is for the log, not for whoever asks.
            Failure::Lost(_) => Problem::new(
                503,
                "database-lost",
                "the database cannot be reached; reads are served as last known, writes are not taken",
            ),
        }
    }
}
