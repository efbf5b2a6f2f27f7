//! Command-line inputs: which arguments are packages, which are files, and of what kind.
//!
//! A bare qualifier such as `json:` says what the files after it are; without one the extension
//! does. What has neither is a package.

use super::import_path::ImportPath;
use crate::jsonschema::{Interpretation, Strict};
use crate::syntax::literal::is_identifier;

/// How a file is read or written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Encoding {
    Cue,
    Json,
    JsonLines,
    Yaml,
    Toml,
    /// The whole file is one string.
    Text,
    /// The whole file is one sequence of bytes.
    Binary,
}

impl Encoding {
    /// The encoding of a file name by its extension; none if it is unknown.
    pub fn of_name(name: &str) -> Option<Encoding> {
        Some(match extension(name) {
            ".cue" => Encoding::Cue,
            ".json" => Encoding::Json,
            ".jsonl" | ".ldjson" | ".ndjson" => Encoding::JsonLines,
            ".yaml" | ".yml" => Encoding::Yaml,
            ".toml" => Encoding::Toml,
            ".txt" => Encoding::Text,
            ".wasm" => Encoding::Binary,
            _ => return None,
        })
    }

    /// The encoding a qualifier or `--out` names.
    pub fn of_word(word: &str) -> Option<Encoding> {
        Some(match word {
            "cue" => Encoding::Cue,
            "json" => Encoding::Json,
            "jsonl" => Encoding::JsonLines,
            "yaml" => Encoding::Yaml,
            "toml" => Encoding::Toml,
            "text" => Encoding::Text,
            "binary" => Encoding::Binary,
            _ => return None,
        })
    }
}

/// What the data of a file is taken for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Meaning {
    /// A schema if the document says that it is one, else data.
    #[default]
    Auto,
    Data,
    Schema(Interpretation),
}

/// A file as it is given: `-` is standard input or output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileArgument {
    pub path: String,
    pub encoding: Encoding,
    pub meaning: Meaning,
    pub strict: Strict,
}

/// What a qualifier says.
#[derive(Clone, Copy, Debug, Default)]
struct Scope {
    encoding: Option<Encoding>,
    meaning: Meaning,
    strict: Strict,
}

impl FileArgument {
    /// One argument with its qualifier in front: `json:data.txt`, `out.yaml`, `-`.
    pub fn parse(argument: &str, default: Encoding) -> Result<FileArgument, String> {
        let (scope, path) = match argument.split_once(':') {
            Some(("", _)) => return Err(format!("empty filetype prefix in {argument:?}")),
            Some((scope, path)) if !argument.starts_with('/') => (Some(scope), path),
            _ => (None, argument),
        };
        if path.is_empty() {
            return Err(match argument {
                "" => "empty file name".to_owned(),
                _ => format!("empty file name in {argument:?}"),
            });
        }
        let scope = scope.map(parse_scope).transpose()?.unwrap_or_default();
        file(path, scope, default)
    }
}

/// The inputs of a command, apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inputs {
    pub packages: Vec<String>,
    pub files: Vec<FileArgument>,
}

impl Inputs {
    /// Tells packages from files. The error is the reference implementation's.
    pub fn parse(arguments: &[String]) -> Result<Inputs, String> {
        let mut inputs = Inputs::default();
        let mut scope: Option<Scope> = None;
        let mut pending: Option<&str> = None;
        for argument in arguments {
            if let Some(word) = qualifier(argument) {
                if let Some(before) = pending {
                    return Err(format!("scoped qualifier \"{before}:\" without file"));
                }
                scope = Some(parse_scope(word)?);
                pending = Some(word);
                continue;
            }
            if scope.is_none() && is_package(argument) {
                inputs.packages.push(argument.clone());
                continue;
            }
            if argument.is_empty() {
                return Err("empty file name".to_owned());
            }
            if !argument.starts_with('/')
                && let Some((scope, path)) = argument.split_once(':')
            {
                if scope.is_empty() {
                    return Err(format!("empty filetype prefix in {argument:?}"));
                }
                let meant = format!("{scope}: {path}");
                return Err(format!(
                    "cannot combine file type and file name; did you mean {meant:?}?"
                ));
            }
            let file = file(argument, scope.unwrap_or_default(), Encoding::Cue)?;
            inputs.files.push(file);
            pending = None;
        }
        match pending {
            Some(word) => Err(format!("scoped qualifier \"{word}:\" without file")),
            None => Ok(inputs),
        }
    }
}

fn qualifier(argument: &str) -> Option<&str> {
    let word = argument.strip_suffix(':')?;
    (!word.is_empty() && !word.contains(':') && !word.contains('/')).then_some(word)
}

/// The parts of a qualifier: `json+strict`.
fn parse_scope(text: &str) -> Result<Scope, String> {
    let mut scope = Scope::default();
    for part in text.split('+') {
        let (word, given) = part.split_once('=').unwrap_or((part, "1"));
        let on = !matches!(given, "0" | "false" | "f");
        match Encoding::of_word(word) {
            Some(found) => {
                scope.encoding = Some(found);
                if scope.meaning == Meaning::Auto {
                    scope.meaning = Meaning::Data;
                }
            }
            None => match word {
                "schema" | "graph" => {}
                "data" => scope.meaning = Meaning::Data,
                "auto" => scope.meaning = Meaning::Auto,
                "strict" => {
                    scope.strict = Strict {
                        keywords: on,
                        features: on,
                    };
                }
                "strictFeatures" => scope.strict.features = on,
                "strictKeywords" => scope.strict.keywords = on,
                "openapi" => scope.meaning = Meaning::Schema(Interpretation::OpenApi),
                "jsonschema" => scope.meaning = Meaning::Schema(Interpretation::JsonSchema),
                "proto" | "textproto" | "go" | "xml" | "ini" | "pb" | "koala" | "crd" => {
                    return Err(format!("unsupported encoding {word:?}"));
                }
                _ => return Err(format!("unknown filetype {word}")),
            },
        }
    }
    Ok(scope)
}

fn file(path: &str, scope: Scope, default: Encoding) -> Result<FileArgument, String> {
    let is_schema = matches!(scope.meaning, Meaning::Schema(_));
    let encoding = match scope.encoding {
        Some(encoding) => encoding,
        None if path == "-" && is_schema => Encoding::Json,
        None if path == "-" => default,
        None => match (Encoding::of_name(path), extension(path)) {
            (Some(encoding), _) => encoding,
            (None, "") => return Err(format!("no encoding specified for file {path:?}")),
            (None, ".go" | ".proto" | ".textproto" | ".textpb" | ".ini" | ".xml") => {
                let word = extension(path).trim_start_matches('.');
                return Err(format!("unsupported encoding {word:?}"));
            }
            (None, extension) => return Err(format!("unknown file extension {extension}")),
        },
    };
    Ok(FileArgument {
        path: path.to_owned(),
        encoding,
        meaning: scope.meaning,
        strict: scope.strict,
    })
}

fn is_package(argument: &str) -> bool {
    match argument {
        "." | ".." => return true,
        "" | "-" => return false,
        _ => {}
    }
    let path = ImportPath::parse(argument);
    if path.explicit {
        if path.path.contains(':') || path.path == "-" {
            return false;
        }
        return is_identifier(&path.name) || path.path.contains('/');
    }
    if !path.version.is_empty() {
        return !path.version.contains('/');
    }
    extension(argument).trim_start_matches('.').is_empty()
}

/// The extension with its dot. A name that is all extension (`.foo`) has none.
pub(super) fn extension(path: &str) -> &str {
    let base = path.rsplit('/').next().unwrap_or(path);
    match base.rfind('.') {
        Some(0) | None => "",
        Some(at) => base.get(at..).unwrap_or(""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Told = (Vec<String>, Vec<(String, Encoding)>);

    fn inputs(arguments: &[&str]) -> Result<Told, String> {
        let arguments: Vec<String> = arguments.iter().map(|&a| a.to_owned()).collect();
        let inputs = Inputs::parse(&arguments)?;
        let files = inputs.files.into_iter().map(|f| (f.path, f.encoding));
        Ok((inputs.packages, files.collect()))
    }

    #[test]
    fn packages_and_files_are_told_apart() {
        let (packages, files) =
            inputs(&[".", "a.cue", "./b/...", "x.com/y:z", "json:", "data", "-"]).expect("valid");
        assert_eq!(packages, [".", "./b/...", "x.com/y:z"]);
        let want = [
            ("a.cue", Encoding::Cue),
            ("data", Encoding::Json),
            ("-", Encoding::Json),
        ];
        assert_eq!(files, want.map(|(path, e)| (path.to_owned(), e)));
    }

    #[test]
    fn wrong_inputs_are_explained() {
        for (arguments, want) in [
            (vec![""], "empty file name"),
            (vec!["a.bar"], "unknown file extension .bar"),
            (vec!["cue+date:", "a.cue"], "unknown filetype date"),
            (vec!["json:"], "scoped qualifier \"json:\" without file"),
        ] {
            assert_eq!(inputs(&arguments), Err(want.to_owned()));
        }
    }
}
