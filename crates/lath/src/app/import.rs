//! `lath app import`: documents from files and folders, sent to a node as desired state.
//!
//! Everything is read and checked here first: with a finding in one file nothing is sent. Then one request carries all of
//! them, each document is a write of its own, and the node's answer about each is a line.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};
use server::fetch::Fetch;

use super::load::{self, Failure, Loaded};
use super::{Done, Out};
use crate::columns;

/// How long a node may take for all writes of an import.
const PATIENCE: Duration = Duration::from_secs(120);

pub fn import(
    loaded: &mut Loaded,
    paths: &[PathBuf],
    to: &str,
    dry: bool,
    out: Out,
) -> Result<Done, Failure> {
    loaded.documents(paths)?;
    if loaded.findings.iter().any(base::Diagnostic::is_error) {
        return Err(Failure::Findings);
    }
    let mut files = serde_json::Map::new();
    for path in paths {
        for file in load::document_files(path)? {
            let text = fs::read(&file).map_err(|e| load::unopenable(&file, &e))?;
            let name = file.to_string_lossy().into_owned();
            files.insert(name, json!(String::from_utf8_lossy(&text)));
        }
    }
    if files.is_empty() {
        let message = "there is no document: files end in .yaml, .yml, .json or .cue";
        return Err(Failure::World(message.to_owned()));
    }
    let token = std::env::var("LATH_TOKEN").unwrap_or_default();
    if token.is_empty() {
        let message = "LATH_TOKEN must hold a token of the node";
        return Err(Failure::World(message.to_owned()));
    }
    let answer = send(to, &token, &json!({"files": files}), dry).map_err(Failure::World)?;
    Ok(told(&answer, dry, out))
}

/// What the node says about the documents.
fn send(to: &str, token: &str, body: &Value, dry: bool) -> Result<Value, String> {
    let base = to.trim_end_matches('/');
    let url = format!("{base}/v1/documents?format=files&dryRun={dry}");
    let bearer = format!("Bearer {token}");
    let fetch = Fetch {
        method: "POST",
        url: &url,
        headers: &[("authorization", &bearer)],
        body: body.to_string().into_bytes(),
        patience: PATIENCE,
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|e| format!("cannot start: {e}"))?;
    let (status, body) = runtime.block_on(fetch.send())?;
    let answer: Option<Value> = serde_json::from_slice(&body).ok();
    let documents = answer
        .as_ref()
        .is_some_and(|a| a.get("documents").is_some());
    match (status, answer) {
        (200, Some(answer)) if documents => Ok(answer),
        (_, Some(problem)) if problem.get("detail").is_some() => {
            let detail = problem.get("detail").and_then(Value::as_str);
            Err(format!("{to} refuses: {}", detail.unwrap_or_default()))
        }
        _ => Err(format!("{to} is no node of Lath: it answers {status}")),
    }
}

fn told(answer: &Value, dry: bool, out: Out) -> Done {
    let none = Vec::new();
    let documents = answer.get("documents").and_then(Value::as_array);
    let documents = documents.unwrap_or(&none);
    let refused = documents.iter().filter(|d| d.get("problem").is_some());
    let refused = refused.count();
    let code = u8::from(refused > 0);
    if out == Out::Json {
        let text = format!("{answer}\n");
        return Done { text, code };
    }
    let text = |value: &Value, name: &str| {
        let found = value.get(name).and_then(Value::as_str);
        found.unwrap_or_default().to_owned()
    };
    let mut rows = Vec::new();
    let mut changed = 0;
    for document in documents {
        let (verdict, more) = match (document.get("problem"), document.get("result")) {
            (Some(problem), _) => ("refused".to_owned(), text(problem, "detail")),
            (None, Some(result)) => {
                let verdict = text(result, "verdict");
                // Defaults and environments say no more than their revision.
                let verdict = if verdict.is_empty() {
                    "accepted".to_owned()
                } else {
                    verdict
                };
                changed += usize::from(verdict != "unchanged");
                let review = result.get("review").map(|id| format!("review {id}"));
                (verdict, review.unwrap_or_default())
            }
            _ => continue,
        };
        let (kind, of, place) = (
            text(document, "kind"),
            text(document, "of"),
            text(document, "place"),
        );
        rows.push(vec![verdict, kind, of, place, more]);
    }
    // What went wrong is read first.
    rows.sort_by_key(|row| row.first().is_none_or(|verdict| verdict != "refused"));
    let mut text = columns::lay_out(&rows, "");
    let all = documents.len();
    let ending = if dry { " Nothing was written." } else { "" };
    text.push_str(&format!(
        "{all} documents: {changed} changed, {} unchanged, {refused} refused.{ending}\n",
        all - changed - refused
    ));
    Done { text, code }
}
