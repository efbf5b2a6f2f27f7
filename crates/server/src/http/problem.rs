//! Refusals as `application/problem+json`: what happened, a stable code, the conflicts or findings behind it.
//!
//! A problem never repeats what was sent, except names of keys: what was sent may hold a credential.

use apps::conflict::Conflict;
use apps::value::write_string;
use apps::write::all_conflicts;
use base::Diagnostic;

use super::reply::Reply;
use crate::store::Failure;

/// Something wrong in what was sent.
#[derive(Clone, Debug)]
pub struct Finding {
    pub code: &'static str,
    pub severity: &'static str,
    pub message: String,
    /// File, line and column, where a file was sent.
    pub place: Option<String>,
}

#[derive(Clone, Debug)]
pub struct Problem {
    pub status: u16,
    pub code: &'static str,
    pub detail: String,
    pub conflicts: Vec<Conflict>,
    pub findings: Vec<Finding>,
    /// Further members, as JSON.
    pub more: Vec<(&'static str, String)>,
    /// After how many seconds to come again; 0 where that is not said.
    pub after: u32,
    /// Whether it is in the audit.
    pub recorded: bool,
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
            after: u32::from(status == 503),
            recorded: false,
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
        Problem::unreadable_at(&findings, |_| None)
    }

    /// The same with the places that a finding's span stands for.
    pub fn unreadable_at(
        findings: &[Diagnostic],
        place: impl Fn(base::Span) -> Option<String>,
    ) -> Problem {
        let first = findings.iter().find(|finding| finding.is_error());
        let detail = first.map_or_else(
            || "it cannot be read".to_owned(),
            |finding| finding.message.to_string(),
        );
        let told = |finding: &Diagnostic| Finding {
            code: finding.code.0,
            severity: finding.severity.word(),
            message: finding.message.to_string(),
            place: finding.labels.first().and_then(|label| place(label.span)),
        };
        Problem {
            findings: findings.iter().map(told).collect(),
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

    pub fn after(self, seconds: u32) -> Problem {
        let after = seconds;
        Problem { after, ..self }
    }

    fn title(&self) -> &'static str {
        match self.status {
            400 => "Bad request",
            401 => "Unauthorized",
            403 => "Forbidden",
            404 => "Not found",
            405 => "Method not allowed",
            408 => "Too slow",
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
                write_string(&mut out, finding.code);
                out.push_str(",\"severity\":");
                write_string(&mut out, finding.severity);
                out.push_str(",\"message\":");
                write_string(&mut out, &finding.message);
                if let Some(place) = &finding.place {
                    out.push_str(",\"place\":");
                    write_string(&mut out, place);
                }
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
        let reply = match self.status {
            401 => reply.header("www-authenticate", "Bearer"),
            _ => reply,
        };
        match self.after {
            0 => reply,
            seconds => reply.header("retry-after", seconds.to_string()),
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
