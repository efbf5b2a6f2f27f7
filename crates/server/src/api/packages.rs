//! Packages: uploaded by the host's admins, listed for everyone.

use apps::value::{Value, write_string};

use super::{event, quoted};
use crate::documents;
use crate::http::{Call, Problem, Reply};
use crate::identity::Role;
use crate::state::{Apply, Plan};
use crate::store::Statement;

/// `GET /v1/packages`
pub fn list(call: &Call<'_>) -> Result<Reply, Problem> {
    let host = call.state.host();
    let mut out = String::from("{\"packages\":[");
    for (at, ((app, version), uploaded)) in host.packages.iter().enumerate() {
        out.push_str(if at > 0 { ",{\"app\":" } else { "{\"app\":" });
        write_string(&mut out, app);
        for (name, text) in [
            ("version", version.as_str()),
            ("hash", &uploaded.package.hash),
            ("actor", &uploaded.actor),
            ("time", &uploaded.time),
        ] {
            out.push_str(&format!(",\"{name}\":"));
            write_string(&mut out, text);
        }
        out.push('}');
    }
    out.push_str("]}");
    Ok(Reply::json(out))
}

/// `GET /v1/packages/{app}/{version}`: the keys that it declares.
pub fn show(call: &Call<'_>) -> Result<Reply, Problem> {
    let host = call.state.host();
    let (app, version) = (call.part("app"), call.part("version"));
    let package = host
        .package(app, version)
        .ok_or_else(|| Problem::missing("there is no such package"))?;
    let mut out = String::from("{\"app\":");
    write_string(&mut out, app);
    for (name, text) in [("version", version), ("hash", package.hash.as_str())] {
        out.push_str(&format!(",\"{name}\":"));
        write_string(&mut out, text);
    }
    out.push_str(",\"keys\":[");
    for (at, (_, key)) in package.keys.iter().enumerate() {
        out.push_str(if at > 0 { ",{\"key\":" } else { "{\"key\":" });
        write_string(&mut out, &key.name);
        out.push_str(",\"type\":");
        write_string(&mut out, &key.check.type_text());
        out.push_str(",\"default\":");
        out.push_str(key.default.as_ref().map_or("null", |stored| &stored.json));
        out.push_str(",\"description\":");
        match &key.description {
            Some(text) => write_string(&mut out, text),
            None => out.push_str("null"),
        }
        out.push_str(",\"from\":");
        write_string(&mut out, key.floor.word());
        out.push_str(",\"merge\":");
        write_string(&mut out, &key.merge.text());
        for (name, flag) in [
            ("secret", key.secret),
            ("review", key.review),
            ("deprecated", key.deprecated),
        ] {
            out.push_str(&format!(",\"{name}\":{flag}"));
        }
        out.push('}');
    }
    out.push_str("]}");
    Ok(Reply::json(out))
}

/// `POST /v1/packages` with `{"files": {path: text}}`. A version is never replaced by other files.
pub async fn upload(call: &Call<'_>) -> Result<Reply, Problem> {
    if call.identity.role != Role::Host {
        return Err(Problem::forbidden());
    }
    let body = call.object()?;
    let files = body
        .get("files")
        .filter(|files| matches!(files, Value::Map(_)))
        .ok_or_else(|| Problem::bad("the body must be {\"files\": {path: text}}"))?;
    let text = files.json();
    let read = documents::files(&text)
        .ok_or_else(|| Problem::bad("every file of a package must be a text"))?;
    let (package, findings) = documents::package(&read).map_err(Problem::unreadable)?;
    let (app, version) = (&package.manifest.name, &package.manifest.version);
    call.state
        .transact_host(call, |host| {
            let mut event = event(call, "package.upload");
            event.app = Some(app.clone());
            event.detail = Some(format!("{version} {}", package.hash));
            let told = format!(
                "{{\"app\":{},\"version\":{},\"hash\":{},\"keys\":{},\"warnings\":{}}}",
                quoted(app),
                quoted(version),
                quoted(&package.hash),
                package.keys.len(),
                findings.len()
            );
            match host.package(app, version) {
                Some(known) if known.hash == package.hash => {
                    return Ok(Plan::nothing(event, Reply::json(told)));
                }
                Some(_) => {
                    event.outcome = "refused";
                    event.codes = vec!["version-taken".to_owned()];
                    let detail = "this version is there with other files; a changed package needs a new version";
                    return Ok(Plan::refusal(event, Problem::new(409, "version-taken", detail)));
                }
                None => {}
            }
            event.revision = Some(host.revision + 1);
            let statement = Statement::new(
                "INSERT INTO packages (app, version, hash, files, actor, time) VALUES ($1, $2, $3, $4, $5, $6)",
                vec![
                    app.as_str().into(),
                    version.as_str().into(),
                    package.hash.as_str().into(),
                    text.as_str().into(),
                    call.identity.name.as_str().into(),
                    call.now.to_string().into(),
                ],
            );
            Ok(Plan {
                statements: vec![statement],
                event,
                moves: true,
                apply: Apply::Reload,
                reply: Ok(Reply::new(201, crate::http::JSON, told)),
            })
        })
        .await
}
