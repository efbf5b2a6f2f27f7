//! The OpenAPI 3.1 document and the reference for people, both made from the table of routes.

use serde_json::{Map, Value, json};

use super::routes::{ROUTES, Route, is_open};

/// The document that `/openapi.json` answers.
pub fn document() -> Value {
    let mut paths = Map::new();
    for route in ROUTES {
        let path = paths
            .entry(route.path)
            .or_insert_with(|| Value::Object(Map::new()));
        if let Value::Object(methods) = path {
            methods.insert(route.method.to_lowercase(), operation(route));
        }
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Lath",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Overlays of installed apps: resolved, explained, written under policy.",
        },
        "paths": paths,
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": schemas(),
            "responses": {"Problem": {
                "description": "What is wrong, with a stable `code`",
                "content": {"application/problem+json": {"schema": reference_to("Problem")}},
            }},
        },
        "security": [{"token": []}],
    })
}

fn reference_to(schema: &str) -> Value {
    json!({"$ref": format!("#/components/schemas/{schema}")})
}

fn content(schema: &str) -> Value {
    match schema {
        "EventStream" => json!({"text/event-stream": {"schema": {"type": "string"}}}),
        "Documents" => json!({"application/yaml": {"schema": {"type": "string"}}}),
        "Html" => json!({"text/html": {"schema": {"type": "string"}}}),
        "Text" => json!({"text/plain": {"schema": {"type": "string"}}}),
        schema => json!({"application/json": {"schema": reference_to(schema)}}),
    }
}

fn parameters(route: &Route) -> Vec<Value> {
    let text = json!({"type": "string", "minLength": 1, "maxLength": 1024});
    let mut all = Vec::new();
    let parts = route.path.split('/');
    for name in parts.filter_map(|part| part.strip_prefix('{')?.strip_suffix('}')) {
        all.push(json!({"name": name, "in": "path", "required": true, "schema": text}));
    }
    for (name, required, description) in route.query {
        let schema = match *name {
            "after" | "before" => json!({"type": "integer", "minimum": 0}),
            "format" => json!({"enum": ["yaml", "json", "cue", "files"]}),
            "dryRun" => json!({"enum": ["true", "false"]}),
            _ => text.clone(),
        };
        all.push(json!({"name": name, "in": "query", "required": required,
            "description": description, "schema": schema}));
    }
    if route.guarded.0 {
        all.push(json!({"name": "If-Match", "in": "header", "required": false, "schema": {"type": "string"},
            "description": "the ETag that the author saw: the write is refused with 412 if it has moved"}));
    }
    if route.guarded.1 {
        all.push(
            json!({"name": "Idempotency-Key", "in": "header", "required": false,
            "schema": {"type": "string", "minLength": 1, "maxLength": 255},
            "description": "the same key and request again get the first answer, for a day"}),
        );
    }
    all
}

fn operation(route: &Route) -> Value {
    let (status, schema) = route.answer;
    let good = match schema {
        "" => json!({"description": route.summary}),
        schema => json!({"description": route.summary, "content": content(schema)}),
    };
    let mut responses = Map::new();
    responses.insert(status.to_string(), good);
    if status == 201 {
        let again = json!({"description": "It was there already", "content": content(schema)});
        responses.insert("200".to_owned(), again);
    }
    if schema == "Written" {
        let pending = json!({"description": "It waits for a review", "content": content(schema)});
        responses.insert("202".to_owned(), pending);
    }
    if schema == "Resolved" {
        let same = json!({"description": "As the ETag in If-None-Match says"});
        responses.insert("304".to_owned(), same);
    }
    responses.insert(
        "default".to_owned(),
        json!({"$ref": "#/components/responses/Problem"}),
    );
    let mut operation = Map::new();
    let mut put = |name: &str, value: Value| operation.insert(name.to_owned(), value);
    put("operationId", json!(format!("{:?}", route.op)));
    put("summary", json!(route.summary));
    put("parameters", json!(parameters(route)));
    put("responses", json!(responses));
    if let Some(body) = route.body {
        let body = json!({"required": true, "content": content(body)});
        put("requestBody", body);
    }
    if is_open(route.op) {
        put("security", json!([]));
    }
    Value::Object(operation)
}

fn schemas() -> Value {
    let text = json!({"type": "string"});
    let number = json!({"type": "integer", "minimum": 0});
    let any = json!({});
    let list = |of: Value| json!({"type": "array", "items": of});
    let object = |required: &[&str], properties: Value| json!({"type": "object", "required": required, "properties": properties});
    let map = json!({"type": "object"});
    let all = [
        ("Object", map.clone()),
        (
            "Value",
            json!({"description": "any JSON value; {\"$unset\": true} withdraws, {\"$secret\": \"provider/path#field\"} is a handle"}),
        ),
        (
            "Problem",
            object(
                &["type", "title", "status", "code", "detail", "request"],
                json!({
            "type": text, "title": text, "status": number, "code": text, "detail": text, "request": text,
            "conflicts": list(reference_to("Conflict")), "findings": list(map.clone()),
            "currentRevision": number, "changedBy": text, "changedAt": text}),
            ),
        ),
        (
            "Conflict",
            object(
                &["code", "severity", "key", "message"],
                json!({
            "code": text, "severity": {"enum": ["error", "warning", "note"]}, "key": text,
            "layer": {"type": ["string", "null"]}, "outcome": text, "policy": {"type": ["string", "null"]},
            "message": text, "remedy": text, "fixer": text}),
            ),
        ),
        (
            "ResolvedValue",
            object(
                &[
                    "key",
                    "value",
                    "source",
                    "overrides",
                    "lockedByPolicy",
                    "chain",
                ],
                json!({
            "key": text, "value": any, "source": {"type": ["string", "null"]}, "overrides": list(text.clone()),
            "lockedByPolicy": {"type": "boolean"}, "chain": list(map.clone()), "policies": list(map.clone()),
            "editable": map, "merge": text, "leaves": map, "conflicts": list(reference_to("Conflict"))}),
            ),
        ),
        (
            "Resolved",
            object(
                &["revision", "values"],
                json!({
            "revision": number, "hostRevision": number, "version": text,
            "values": list(reference_to("ResolvedValue")), "conflicts": list(reference_to("Conflict"))}),
            ),
        ),
        (
            "WhatIf",
            object(
                &[],
                json!({
            "changes": {"type": "object", "additionalProperties": reference_to("Value")},
            "runtime": {"type": "object", "additionalProperties": reference_to("Value")}}),
            ),
        ),
        (
            "WhatIfResult",
            object(
                &["revision", "verdict", "refusals", "values"],
                json!({
            "revision": number, "verdict": {"enum": ["accepted", "pending", "refused"]},
            "refusals": list(reference_to("Conflict")), "values": list(reference_to("ResolvedValue"))}),
            ),
        ),
        (
            "Readiness",
            object(
                &["status", "checks", "entries"],
                json!({
            "status": {"enum": ["ready", "degraded", "needs-setup", "blocked", "failed"]},
            "checks": list(map.clone()), "entries": list(map.clone())}),
            ),
        ),
        (
            "Overlay",
            object(
                &["revision", "scope", "values"],
                json!({"revision": number, "scope": text, "values": map}),
            ),
        ),
        (
            "Changes",
            object(
                &["changes"],
                json!({
            "changes": {"type": "object", "maxProperties": super::MOST_CHANGES, "additionalProperties": reference_to("Value")}}),
            ),
        ),
        (
            "OneValue",
            object(&["value"], json!({"value": reference_to("Value")})),
        ),
        (
            "Written",
            object(
                &["revision", "verdict"],
                json!({
            "revision": number, "verdict": {"enum": ["accepted", "pending", "rejected"]}, "review": number,
            "conflicts": list(reference_to("Conflict"))}),
            ),
        ),
        (
            "Revision",
            object(&["revision"], json!({"revision": number})),
        ),
        (
            "History",
            object(&["history"], json!({"history": list(map.clone())})),
        ),
        ("Rollback", object(&["to"], json!({"to": number}))),
        (
            "Orphans",
            object(&["orphans"], json!({"orphans": list(map.clone())})),
        ),
        (
            "UpgradeReport",
            object(
                &["verdict"],
                json!({"verdict": {"enum": ["safe", "needs-review", "blocked"]}}),
            ),
        ),
        (
            "Switch",
            object(
                &["to"],
                json!({"to": text, "reviewed": {"type": "boolean"}}),
            ),
        ),
        (
            "Switched",
            object(
                &["revision", "to"],
                json!({"revision": number, "from": {"type": ["string", "null"]}, "to": text}),
            ),
        ),
        (
            "Contexts",
            object(&["apps"], json!({"apps": list(map.clone())})),
        ),
        (
            "Policy",
            object(
                &["revision", "rules"],
                json!({"revision": number, "rules": list(map.clone())}),
            ),
        ),
        (
            "Rules",
            object(
                &["rules"],
                json!({"rules": list(object(&["id", "keys", "effect", "reason"], json!({
            "id": text, "keys": any, "effect": {"enum": ["mandatory", "recommended", "range", "deny", "require-review"]},
            "reason": text, "contact": text, "mode": {"enum": ["enforce", "warn", "dry-run"]}, "value": any,
            "constraint": any, "values": list(any.clone()), "notBefore": text, "expires": text})))}),
            ),
        ),
        (
            "Reviews",
            object(&["reviews"], json!({"reviews": list(map.clone())})),
        ),
        (
            "Audit",
            object(&["records"], json!({"records": list(map.clone())})),
        ),
        (
            "Verified",
            object(
                &["records", "head", "intact"],
                json!({
            "records": number, "head": text, "intact": {"type": "boolean"}, "brokenAt": number, "why": text}),
            ),
        ),
        (
            "Imported",
            object(
                &["documents", "dryRun"],
                json!({"documents": list(map.clone()), "dryRun": {"type": "boolean"}}),
            ),
        ),
        (
            "Identity",
            object(
                &["name", "role"],
                json!({"name": text, "role": text, "tenant": text, "workspace": text, "user": text}),
            ),
        ),
        (
            "Tenants",
            object(&["tenants"], json!({"tenants": list(text.clone())})),
        ),
        (
            "Tokens",
            object(&["tokens"], json!({"tokens": list(map.clone())})),
        ),
        (
            "NewToken",
            object(
                &["name", "role"],
                json!({
            "name": text, "role": {"enum": ["host-admin", "tenant-admin", "workspace-admin", "user", "support"]},
            "tenant": text, "workspace": text, "user": text, "expires": text}),
            ),
        ),
        (
            "Token",
            object(&["id", "token"], json!({"id": text, "token": text})),
        ),
        (
            "Packages",
            object(&["packages"], json!({"packages": list(map.clone())})),
        ),
        (
            "Package",
            object(
                &["app", "version", "hash", "keys"],
                json!({
            "app": text, "version": text, "hash": text, "keys": list(map.clone())}),
            ),
        ),
        (
            "Upload",
            object(
                &["files"],
                json!({"files": {"type": "object", "additionalProperties": text}}),
            ),
        ),
        (
            "Uploaded",
            object(
                &["app", "version", "hash"],
                json!({"app": text, "version": text, "hash": text, "keys": number}),
            ),
        ),
        (
            "Environment",
            object(
                &[],
                json!({
            "tools": list(text.clone()), "knowledge": list(text.clone()), "secrets": list(text.clone()),
            "models": list(text.clone()), "evals": {"type": "object", "additionalProperties": {"type": "number"}}}),
            ),
        ),
        ("Values", object(&["values"], json!({"values": map}))),
        (
            "Health",
            object(
                &["status", "database"],
                json!({"status": {"enum": ["ok", "stale"]}, "database": text}),
            ),
        ),
    ];
    let all = all
        .into_iter()
        .map(|(name, schema)| (name.to_owned(), schema));
    Value::Object(all.collect())
}

/// The reference for people: Markdown, a line a route.
pub fn reference() -> String {
    let mut out = String::from(
        "# API reference\n\nMade from the OpenAPI document that a node answers at `/openapi.json`; a test keeps the two the \
         same. All but the last five need `Authorization: Bearer TOKEN`. Refusals are `application/problem+json` with a \
         stable `code`.\n\n| method | path | query | body | answer | what |\n|---|---|---|---|---|---|\n",
    );
    for route in ROUTES {
        let query: Vec<String> = route
            .query
            .iter()
            .map(|(name, required, _)| match required {
                true => format!("`{name}`"),
                false => format!("`{name}`?"),
            })
            .collect();
        let body = route.body.map_or(String::new(), |body| format!("`{body}`"));
        let (status, schema) = route.answer;
        let answer = match schema {
            "" => status.to_string(),
            schema => format!("{status} `{schema}`"),
        };
        out.push_str(&format!(
            "| {} | `{}` | {} | {body} | {answer} | {} |\n",
            route.method,
            route.path,
            query.join(", "),
            route.summary
        ));
    }
    out.push_str("\n## Shapes\n\n");
    if let Value::Object(schemas) = schemas() {
        for (name, schema) in &schemas {
            let Some(Value::Object(properties)) = schema.get("properties") else {
                continue;
            };
            let required: Vec<&str> = schema["required"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
                .collect();
            let fields: Vec<String> = properties
                .keys()
                .map(|field| match required.contains(&field.as_str()) {
                    true => format!("`{field}`"),
                    false => format!("`{field}`?"),
                })
                .collect();
            out.push_str(&format!("- `{name}`: {}\n", fields.join(", ")));
        }
    }
    out
}
