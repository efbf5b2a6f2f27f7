//! What a merged unit names: other units it needs, and paths of the host it reads.
//!
//! Names are taken from the lines that count. `a.volume` in `Volume=a.volume:/data` is a unit;
//! `/etc/a` in `Volume=/etc/a:/etc/a:ro` is a path. Specifiers (`%h`) are not resolved.

use base::Span;

use crate::merge::{Line, Merged};
use crate::name::{Kind, UnitName};
use crate::words::{unquoted, words};

/// Keys of `[Unit]` whose words are units.
pub const DEPENDENCIES: [&str; 15] = [
    "After",
    "Before",
    "BindsTo",
    "Conflicts",
    "OnFailure",
    "OnSuccess",
    "PartOf",
    "PropagatesReloadTo",
    "PropagatesStopTo",
    "ReloadPropagatedFrom",
    "Requires",
    "Requisite",
    "StopPropagatedFrom",
    "Upholds",
    "Wants",
];

/// A name in a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// A unit's name, or a path of the host.
    pub name: String,
    pub key: &'static str,
    pub span: Span,
}

/// The units that a unit names outside `[Unit]`'s dependencies: those it cannot do without.
pub fn needed(kind: Kind, merged: &Merged) -> Vec<Reference> {
    let mut found = Vec::new();
    let Some(section) = kind.section() else {
        return found;
    };
    for line in merged.standing(section, "Volume") {
        let source = line.value.split(':').next().unwrap_or("");
        found.extend(quadlet("Volume", source, line));
    }
    for line in merged.standing(section, "Mount") {
        if let Some(source) = mount_source(&line.value) {
            found.extend(quadlet("Mount", source, line));
        }
    }
    for line in merged.standing(section, "Network") {
        let source = line.value.split(':').next().unwrap_or("");
        found.extend(quadlet("Network", source, line));
    }
    for key in ["Image", "Pod"] {
        if let Some((value, line)) = merged.value(section, key) {
            found.extend(quadlet(key, value, line));
        }
    }
    let activated = match kind {
        Kind::Socket => Some("Service"),
        Kind::Timer | Kind::Path => Some("Unit"),
        _ => None,
    };
    if let Some(key) = activated
        && let Some((value, line)) = merged.value(section, key)
    {
        found.push(reference(key, value, line));
    }
    found
}

/// The units in `[Unit]`'s dependencies, with the key that names them.
pub fn dependencies(merged: &Merged) -> Vec<Reference> {
    let mut found = Vec::new();
    for key in DEPENDENCIES {
        for line in merged.standing("Unit", key) {
            let names = words(&line.value);
            found.extend(names.iter().map(|name| reference(key, name, line)));
        }
    }
    found
}

/// The absolute paths of the host that a unit mounts or reads.
pub fn paths(kind: Kind, merged: &Merged) -> Vec<Reference> {
    let mut found = Vec::new();
    let mut add = |key: &'static str, path: &str, line: &Line| {
        let path = path.strip_prefix('-').unwrap_or(path);
        if path.starts_with('/') {
            found.push(reference(key, path, line));
        }
    };
    if let Some(section) = kind.section() {
        for line in merged.standing(section, "Volume") {
            add("Volume", line.value.split(':').next().unwrap_or(""), line);
        }
        for line in merged.standing(section, "Mount") {
            add("Mount", mount_source(&line.value).unwrap_or(""), line);
        }
        for key in ["EnvironmentFile", "Yaml", "ConfigMap", "File", "AuthFile"] {
            for line in merged.standing(section, key) {
                for path in words(&line.value) {
                    add(key, &path, line);
                }
            }
        }
    }
    for line in merged.standing("Service", "EnvironmentFile") {
        add("EnvironmentFile", &line.value, line);
    }
    for line in merged.standing("Unit", "RequiresMountsFor") {
        for path in words(&line.value) {
            add("RequiresMountsFor", &path, line);
        }
    }
    found.dedup();
    found
}

fn quadlet(key: &'static str, name: &str, line: &Line) -> Option<Reference> {
    let name = unquoted(name.trim());
    let is_unit = UnitName::parse(name).is_some_and(|unit| {
        matches!(
            (key, unit.kind),
            ("Volume", Kind::Volume | Kind::Artifact)
                | ("Mount", Kind::Volume | Kind::Image | Kind::Artifact)
                | ("Network", Kind::Network | Kind::Container)
                | ("Image", Kind::Image | Kind::Build)
                | ("Pod", Kind::Pod)
        )
    });
    (is_unit && !name.contains('/')).then(|| reference(key, name, line))
}

fn reference(key: &'static str, name: &str, line: &Line) -> Reference {
    Reference {
        name: name.to_owned(),
        key,
        span: line.origin.span,
    }
}

/// `source=` of `type=bind,source=/etc/a,destination=/a`.
fn mount_source(value: &str) -> Option<&str> {
    value.split(',').find_map(|token| {
        let (key, source) = token.trim().split_once('=')?;
        matches!(key, "source" | "src").then_some(source)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::merge::{Part, merge};
    use crate::syntax::parse;
    use base::{LayerId, SourceId};

    #[test]
    fn units_and_paths_are_found() {
        let text = "[Unit]\nAfter=b.service c.container\n[Container]\nImage=i.build\nPod=p.pod\n\
                    Volume=v.volume:/data\nVolume=/etc/a:/etc/a:ro\nVolume=anon\n\
                    Network=n.network:alias=x\nNetwork=host\nMount=type=bind,source=/etc/m,dst=/m\n";
        let file = parse(SourceId(0), text.into(), Kind::Container.flavour()).0;
        let part = Part {
            layer: LayerId(0),
            file: &file,
        };
        let merged = merge(Kind::Container, &[part]);
        let names = |all: Vec<Reference>| all.into_iter().map(|r| r.name).collect::<Vec<_>>();
        assert_eq!(
            names(needed(Kind::Container, &merged)),
            ["v.volume", "n.network", "i.build", "p.pod"]
        );
        assert_eq!(names(dependencies(&merged)), ["b.service", "c.container"]);
        assert_eq!(names(paths(Kind::Container, &merged)), ["/etc/a", "/etc/m"]);
    }
}
