//! Import paths: `example.com/mod/pkg@v0:name`.

use crate::syntax::literal::is_identifier;

/// An import path taken apart.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ImportPath {
    /// Without version and name.
    pub path: String,
    /// `v0`, or empty.
    pub version: String,
    /// The package's name: what follows `:`, else the last element of the path if it can be a
    /// name, else empty.
    pub name: String,
    /// The name was given with `:`.
    pub explicit: bool,
}

impl ImportPath {
    pub fn parse(text: &str) -> ImportPath {
        let last = text.rfind('/').map_or(0, |at| at + 1);
        let (rest, name) = match text.rfind(':') {
            Some(at) if at >= last => {
                let (rest, name) = text.split_at_checked(at).unwrap_or((text, ""));
                (rest, name.strip_prefix(':'))
            }
            _ => (text, None),
        };
        let (path, version) = rest.split_once('@').unwrap_or((rest, ""));
        let explicit = name.is_some();
        let name = match name {
            Some(name) => name,
            None => {
                let base = path.rsplit('/').next().unwrap_or(path);
                if is_package_name(base) { base } else { "" }
            }
        };
        ImportPath {
            path: path.to_owned(),
            version: version.to_owned(),
            name: name.to_owned(),
            explicit,
        }
    }

    /// Whether the path is one of the language's own packages: no dot in its first element.
    pub fn is_standard(&self) -> bool {
        let first = self.path.split('/').next().unwrap_or("");
        !first.is_empty() && !first.contains('.')
    }

    /// Whether the path is relative to a directory.
    pub fn is_local(&self) -> bool {
        is_local(&self.path)
    }

    /// The path with the name that identifies a package: `mod.com/x:x`.
    pub fn identity(&self) -> String {
        format!("{}:{}", self.path, self.name)
    }
}

pub(super) fn is_local(path: &str) -> bool {
    matches!(path, "." | "..") || path.starts_with("./") || path.starts_with("../")
}

fn is_package_name(text: &str) -> bool {
    is_identifier(text) && !text.starts_with(['#', '_'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts() {
        let parts = |text| {
            let p = ImportPath::parse(text);
            (p.path, p.version, p.name, p.explicit)
        };
        let want = |path: &str, version: &str, name: &str, explicit| {
            (
                path.to_owned(),
                version.to_owned(),
                name.to_owned(),
                explicit,
            )
        };
        assert_eq!(parts("a.b/c"), want("a.b/c", "", "c", false));
        assert_eq!(parts("a.b/c@v1:d"), want("a.b/c", "v1", "d", true));
        assert_eq!(parts("a.b/1x"), want("a.b/1x", "", "", false));
        assert_eq!(parts(".:p"), want(".", "", "p", true));
        assert!(ImportPath::parse("strings").is_standard());
        assert!(!ImportPath::parse("a.b/strings").is_standard());
    }
}
