//! A package: the files of one version of an app, read and hashed.
//!
//! The hash is SHA-256 over all files in the order of their paths, each as its path, a zero byte, its
//! length and its bytes. Overlays live elsewhere and cannot change it. Nothing of a package is executed.

use std::sync::Arc;

use base::{Diagnostic, Severity, Sources, Span, Symbols};
use data::{Format, Tree};
use serde_json::json;
use sha2::{Digest, Sha256};

use crate::codes;
use crate::cursor::Cursor;
use crate::evaluate;
use crate::key::{Key, Keys};
use crate::layer::Layer;
use crate::manifest::{self, Manifest};
use crate::schema::{self, Check};
use crate::secrets::Scanner;
use crate::value::{Stored, Value};
use crate::words;

/// One file of a package, its path relative to the package's folder, with `/` between its parts.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct File {
    pub path: String,
    pub bytes: Vec<u8>,
}

#[derive(Clone, Debug)]
pub struct Package {
    pub manifest: Manifest,
    pub keys: Keys,
    /// SHA-256 in hex.
    pub hash: String,
}

/// What everything that reads text shares in one run.
pub struct Reading<'r> {
    pub sources: &'r mut Sources,
    pub symbols: &'r mut Symbols,
    pub scanner: &'r Scanner,
}

impl Package {
    /// The name and version, for people.
    pub fn title(&self) -> String {
        format!("{} {}", self.manifest.name, self.manifest.version)
    }

    /// Reads a package. `folder` is how its place is shown. There is no package when a finding is
    /// an error.
    pub fn read(
        folder: &str,
        files: &[File],
        reading: &mut Reading<'_>,
    ) -> (Option<Arc<Package>>, Vec<Diagnostic>) {
        let mut findings = Vec::new();
        let mut files: Vec<&File> = files.iter().collect();
        files.sort();
        let hash = hash(&files);
        let manifests = manifest_files(folder, &files, reading, &mut findings);
        if manifests.is_empty() && findings.is_empty() {
            findings.push(
                Diagnostic::error(codes::NO_MANIFEST, format!("`{folder}` is no app package")).help(
                    "a package has an APP.md with YAML front matter, or an app.yaml, app.json or app.cue",
                ),
            );
        }
        let manifest = {
            let symbols = &*reading.symbols;
            let cursors: Vec<Cursor<'_>> = manifests
                .iter()
                .map(|tree| Cursor::root(tree, symbols))
                .collect();
            if cursors.is_empty() {
                return (None, findings);
            }
            manifest::read(&cursors, &mut findings)
        };
        let mut keys = manifest_keys(&manifest);
        for template in &manifest.templates {
            let Some((path, span)) = &template.schema else {
                continue;
            };
            let floor = manifest::floor(template.scope.as_deref());
            let read = template_keys(folder, path, *span, &files, reading, &mut findings);
            keys.extend(read.into_iter().map(|key| Key {
                template: Some(template.key.as_str().into()),
                floor,
                ..key
            }));
        }
        let (keys, repeated) = Keys::new(keys);
        for key in repeated {
            let message = format!("the key `{}` is declared twice", key.name);
            let mut finding = Diagnostic::error(codes::DUPLICATE_DECLARATION, message);
            if let Some(span) = key.span {
                finding = finding.primary(span, "again here");
            }
            if let Some(first) = keys.find(&key.name).and_then(|id| keys.get(id).span) {
                finding = finding.secondary(first, "first here");
            }
            findings.push(finding);
        }
        let failed = findings.iter().any(|f| f.severity == Severity::Error);
        let package = (!failed).then(|| {
            Arc::new(Package {
                manifest,
                keys,
                hash,
            })
        });
        (package, findings)
    }
}

fn hash(files: &[&File]) -> String {
    let mut digest = Sha256::new();
    for file in files {
        digest.update(file.path.as_bytes());
        digest.update([0]);
        digest.update((file.bytes.len() as u64).to_be_bytes());
        digest.update(&file.bytes);
    }
    hex(&digest.finalize())
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The manifest's files, low to high: `APP.md`, then `app.yaml|json|cue`, then `app.*.yaml`.
fn manifest_files(
    folder: &str,
    files: &[&File],
    reading: &mut Reading<'_>,
    findings: &mut Vec<Diagnostic>,
) -> Vec<Tree> {
    let rank = |path: &str| match path {
        "APP.md" => Some(0),
        "app.yaml" | "app.yml" | "app.json" | "app.cue" => Some(1),
        _ => {
            let middle = path.strip_prefix("app.")?;
            let middle = middle.strip_suffix(".yaml").or(middle.strip_suffix(".yml"));
            middle.filter(|m| !m.contains('/')).map(|_| 2)
        }
    };
    let mut chosen: Vec<(i32, &File)> = files
        .iter()
        .filter_map(|file| Some((rank(&file.path)?, *file)))
        .collect();
    chosen.sort();
    if chosen.iter().all(|(rank, _)| *rank == 2) {
        return Vec::new();
    }
    let mut trees = Vec::new();
    for (_, file) in chosen {
        trees.extend(tree(folder, file, reading, findings));
    }
    trees
}

/// Reads one file of plain data. Credentials are covered before anything else sees the text.
fn tree(
    folder: &str,
    file: &File,
    reading: &mut Reading<'_>,
    findings: &mut Vec<Diagnostic>,
) -> Option<Tree> {
    let name = format!("{}/{}", folder.trim_end_matches('/'), file.path);
    let cue = file.path.ends_with(".cue");
    let format = match file.path.as_str() {
        "APP.md" => Format::Yaml,
        _ if cue => Format::Json,
        path => match Format::from_name(path) {
            Some(format) => format,
            None => {
                let message = format!("`{name}` is in a language that is not read here");
                let help = "write it as YAML, JSON or CUE";
                findings.push(Diagnostic::error(codes::SCHEMA_UNUSABLE, message).help(help));
                return None;
            }
        },
    };
    let (source, text) = load(name, file.bytes.clone(), reading, findings)?;
    let (source, text) = match cue {
        true => exported(source, &text, reading, findings)?,
        false => (source, text),
    };
    let text: Arc<str> = match file.path.as_str() {
        "APP.md" => match front_matter(&text) {
            Some(front) => front.into(),
            None => {
                let message = "APP.md does not begin with YAML front matter";
                let help = "put the manifest between two lines `---` at its top";
                let place = Span::new(source, 0..0);
                let finding = Diagnostic::error(codes::MANIFEST_INVALID, message);
                findings.push(finding.primary(place, "").help(help));
                return None;
            }
        },
        _ => text,
    };
    let options = data::Options::default();
    let parsed = data::parse(format, source, text, reading.symbols, &options);
    findings.extend(parsed.findings);
    let root = parsed.documents.into_iter().next()?;
    if !matches!(root.value(root.root()), data::Value::Map(_)) {
        let message = "the file must hold a map";
        let span = root.span(root.root());
        findings.push(Diagnostic::error(codes::MANIFEST_INVALID, message).primary(span, ""));
        return None;
    }
    Some(root)
}

/// What a CUE file comes to, as a JSON text of its own: its places are places in the result.
pub(crate) fn exported(
    source: base::SourceId,
    text: &Arc<str>,
    reading: &mut Reading<'_>,
    findings: &mut Vec<Diagnostic>,
) -> Option<(base::SourceId, Arc<str>)> {
    match evaluate::export(source, text) {
        Ok(json) => {
            let name = format!("{} (evaluated)", reading.sources.get(source).name());
            let source = reading.sources.add(name, json);
            Some((source, Arc::clone(reading.sources.get(source).text())))
        }
        Err(complaints) => {
            findings.extend(complaints.into_iter().map(|(message, span)| {
                let finding = Diagnostic::error(codes::CUE_INVALID, message);
                match span {
                    Some(span) => finding.primary(span, ""),
                    None => finding,
                }
            }));
            None
        }
    }
}

/// Adds a text to the sources with its credentials covered, and tells of each.
pub(crate) fn load(
    name: String,
    bytes: Vec<u8>,
    reading: &mut Reading<'_>,
    findings: &mut Vec<Diagnostic>,
) -> Option<(base::SourceId, Arc<str>)> {
    let masked = std::str::from_utf8(&bytes).map(|text| reading.scanner.mask(text));
    let (source, bad) = match &masked {
        Ok((text, _)) => (reading.sources.add(name, text.as_str()), None),
        Err(_) => reading.sources.add_bytes(name, bytes),
    };
    if let Some(bad) = bad {
        findings.push(bad);
        return None;
    }
    for hit in masked.map(|(_, hits)| hits).unwrap_or_default() {
        findings.push(plaintext(Span::new(source, hit.range), hit.rule));
    }
    Some((source, Arc::clone(reading.sources.get(source).text())))
}

pub(crate) fn plaintext(span: Span, rule: &str) -> Diagnostic {
    let message = format!("a plaintext credential ({rule}) stands here; it is not shown");
    Diagnostic::error(codes::PLAINTEXT_SECRET, message)
        .primary(span, "covered")
        .help("revoke it, keep it in the host's secret store, and write a handle: {\"$secret\": \"provider/path#field\"}")
        .fact("rule", rule)
}

/// The text up to the line that ends the front matter, from the very start, so that places agree.
fn front_matter(text: &str) -> Option<&str> {
    let body = text.strip_prefix('\u{feff}').unwrap_or(text);
    let first = body.lines().next()?;
    if first.trim_end() != "---" {
        return None;
    }
    let mut at = text.len() - body.len();
    for (number, line) in body.split_inclusive('\n').enumerate() {
        if number > 0 && matches!(line.trim_end(), "---" | "...") {
            return text.get(..at);
        }
        at += line.len();
    }
    None
}

/// The keys that follow from the manifest itself.
fn manifest_keys(manifest: &Manifest) -> Vec<Key> {
    let mut keys = Vec::new();
    let mut add = |name: String, schema: serde_json::Value, span, default: Option<Value>| {
        let check = Check::from_schema(&schema).expect("these schemas are written here");
        let mut key = Key::new(name, check);
        key.default = default.map(Stored::new);
        key.span = span;
        key.public = true;
        keys.push(key);
    };
    for slot in &manifest.knowledge {
        let schema = json!({"type": ["string", "null"]});
        add(format!("knowledge.{}", slot.key), schema, slot.span, None);
    }
    for tool in manifest.tools.iter().filter(|tool| !tool.required) {
        let (schema, default) = (json!({"type": "boolean"}), Value::Bool(tool.enabled));
        add(
            format!("tools.{}.enabled", tool.key),
            schema,
            tool.span,
            Some(default),
        );
    }
    for entry in &manifest.entries {
        let schema = json!({"type": "string", "enum": words::VISIBILITIES});
        let default = entry.visibility.as_deref().unwrap_or("default");
        let default = words::VISIBILITIES
            .contains(&default)
            .then(|| Value::string(default));
        add(
            format!("entries.{}.visibility", entry.key),
            schema,
            entry.span,
            default,
        );
    }
    for eval in &manifest.evals {
        let schema = json!({"type": "number"});
        add(
            format!("evals.{}.threshold", eval.key),
            schema,
            eval.span,
            eval.threshold.clone(),
        );
    }
    debug_assert!(keys.iter().all(|key| key.floor == Layer::Tenant));
    keys
}

fn template_keys(
    folder: &str,
    path: &str,
    span: Span,
    files: &[&File],
    reading: &mut Reading<'_>,
    findings: &mut Vec<Diagnostic>,
) -> Vec<Key> {
    let wanted = path.trim_start_matches("./");
    let Some(file) = files.iter().find(|file| file.path == wanted) else {
        let message = format!("the package has no file `{wanted}`");
        let finding = Diagnostic::error(codes::SCHEMA_UNUSABLE, message);
        findings.push(finding.primary(span, "named here as a schema"));
        return Vec::new();
    };
    if file.path.ends_with(".cue") {
        let name = format!("{}/{}", folder.trim_end_matches('/'), file.path);
        let Some((source, text)) = load(name, file.bytes.clone(), reading, findings) else {
            return Vec::new();
        };
        return schema::cue::keys(source, &text, findings);
    }
    match tree(folder, file, reading, findings) {
        Some(tree) => schema::json::keys(Cursor::root(&tree, reading.symbols), findings),
        None => Vec::new(),
    }
}
