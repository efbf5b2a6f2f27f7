//! Names of unit files: what kind a file is, which flavour's rules hold for it, whether it is a
//! template or an instance, and which service a Quadlet generates.
//!
//! A name says nothing about where the file lies or what is in it; `ServiceName=` is the merge's
//! business.

use std::fmt;

use crate::version::Version;

/// Whose rules hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Flavour {
    Systemd,
    Quadlet,
}

impl Flavour {
    pub fn word(self) -> &'static str {
        match self {
            Flavour::Systemd => "systemd",
            Flavour::Quadlet => "Quadlet",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    Container,
    Volume,
    Network,
    Pod,
    Kube,
    Image,
    Build,
    Artifact,
    Socket,
    Timer,
    Path,
    Target,
    Service,
    Mount,
}

impl Kind {
    pub const ALL: [Kind; 14] = [
        Kind::Container,
        Kind::Volume,
        Kind::Network,
        Kind::Pod,
        Kind::Kube,
        Kind::Image,
        Kind::Build,
        Kind::Artifact,
        Kind::Socket,
        Kind::Timer,
        Kind::Path,
        Kind::Target,
        Kind::Service,
        Kind::Mount,
    ];

    /// What follows the last dot of the file name.
    pub fn extension(self) -> &'static str {
        match self {
            Kind::Container => "container",
            Kind::Volume => "volume",
            Kind::Network => "network",
            Kind::Pod => "pod",
            Kind::Kube => "kube",
            Kind::Image => "image",
            Kind::Build => "build",
            Kind::Artifact => "artifact",
            Kind::Socket => "socket",
            Kind::Timer => "timer",
            Kind::Path => "path",
            Kind::Target => "target",
            Kind::Service => "service",
            Kind::Mount => "mount",
        }
    }

    pub fn from_extension(extension: &str) -> Option<Kind> {
        Kind::ALL
            .into_iter()
            .find(|kind| kind.extension() == extension)
    }

    pub fn flavour(self) -> Flavour {
        match self {
            Kind::Container
            | Kind::Volume
            | Kind::Network
            | Kind::Pod
            | Kind::Kube
            | Kind::Image
            | Kind::Build
            | Kind::Artifact => Flavour::Quadlet,
            _ => Flavour::Systemd,
        }
    }

    /// The section that only this kind has. A target has none.
    pub fn section(self) -> Option<&'static str> {
        Some(match self {
            Kind::Container => "Container",
            Kind::Volume => "Volume",
            Kind::Network => "Network",
            Kind::Pod => "Pod",
            Kind::Kube => "Kube",
            Kind::Image => "Image",
            Kind::Build => "Build",
            Kind::Artifact => "Artifact",
            Kind::Socket => "Socket",
            Kind::Timer => "Timer",
            Kind::Path => "Path",
            Kind::Service => "Service",
            Kind::Mount => "Mount",
            Kind::Target => return None,
        })
    }

    /// What a Quadlet adds to its name to name its service.
    fn service_suffix(self) -> &'static str {
        match self {
            Kind::Volume => "-volume",
            Kind::Network => "-network",
            Kind::Pod => "-pod",
            Kind::Image => "-image",
            Kind::Build => "-build",
            Kind::Artifact => "-artifact",
            _ => "",
        }
    }
}

/// The name of a unit file, taken apart.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnitName {
    pub kind: Kind,
    /// What precedes `@` or, without one, the extension.
    pub prefix: String,
    /// Behind `@`: empty for a template, the instance otherwise.
    pub instance: Option<String>,
}

/// The first release of Podman that generates templates from all kinds of templates; earlier ones put
/// their suffix behind the `@`.
const TEMPLATES_SINCE: Version = Version::new(5, 7);

/// The longest name systemd takes, extension included.
const LONGEST: usize = 255;

impl UnitName {
    /// Takes a file name apart; `None` when its extension is none of ours or nothing precedes it.
    pub fn parse(file: &str) -> Option<UnitName> {
        let (stem, extension) = file.rsplit_once('.')?;
        let kind = Kind::from_extension(extension)?;
        if stem.is_empty() {
            return None;
        }
        let (prefix, instance) = match stem.split_once('@') {
            Some((prefix, instance)) => (prefix, Some(instance.to_owned())),
            None => (stem, None),
        };
        Some(UnitName {
            kind,
            prefix: prefix.to_owned(),
            instance,
        })
    }

    /// Whether systemd would take a unit of this name.
    pub fn is_valid(&self) -> bool {
        let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, ':' | '-' | '_' | '.' | '\\');
        let instance = self.instance.as_deref().unwrap_or("");
        !self.prefix.is_empty()
            && self.prefix.chars().all(fits)
            && instance.chars().all(|c| fits(c) || c == '@')
            && self.to_string().len() <= LONGEST
    }

    pub fn is_template(&self) -> bool {
        self.instance.as_deref() == Some("")
    }

    /// The template of an instance.
    pub fn template(&self) -> Option<UnitName> {
        let instance = self.instance.as_deref()?;
        (!instance.is_empty()).then(|| UnitName {
            instance: Some(String::new()),
            ..self.clone()
        })
    }

    /// The service that stands for this unit when nothing says otherwise: what a Quadlet generates,
    /// with its extension; `None` for a unit that is no service and generates none.
    pub fn service(&self, podman: Version) -> Option<String> {
        let suffix = self.kind.service_suffix();
        let UnitName {
            prefix, instance, ..
        } = self;
        match self.kind.flavour() {
            Flavour::Systemd if self.kind != Kind::Service => None,
            // `a@.volume` becomes `a-volume@.service`, but `a@i.volume` becomes `a@i-volume.service`.
            _ => Some(match instance.as_deref() {
                None => format!("{prefix}{suffix}.service"),
                Some("") if podman < TEMPLATES_SINCE => format!("{prefix}@{suffix}.service"),
                Some("") => format!("{prefix}{suffix}@.service"),
                Some(instance) => format!("{prefix}@{instance}{suffix}.service"),
            }),
        }
    }

    /// Which unit this one activates by default: `a.socket` activates `a.service`.
    pub fn activates(&self) -> Option<String> {
        match self.kind {
            Kind::Socket | Kind::Timer | Kind::Path => Some(
                UnitName {
                    kind: Kind::Service,
                    ..self.clone()
                }
                .to_string(),
            ),
            _ => None,
        }
    }
}

impl fmt::Display for UnitName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.prefix)?;
        if let Some(instance) = &self.instance {
            write!(f, "@{instance}")?;
        }
        write!(f, ".{}", self.kind.extension())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_taken_apart_and_printed_back() {
        for (file, service) in [
            ("a.container", Some("a.service")),
            ("a.volume", Some("a-volume.service")),
            ("a@.volume", Some("a-volume@.service")),
            ("a@i.volume", Some("a@i-volume.service")),
            ("a@.container", Some("a@.service")),
            ("a@i.container", Some("a@i.service")),
            ("a.b-c.network", Some("a.b-c-network.service")),
            ("a.socket", None),
            ("a.service", Some("a.service")),
        ] {
            let name = UnitName::parse(file).unwrap();
            assert_eq!(name.to_string(), file);
            assert_eq!(name.service(Version::NEWEST).as_deref(), service, "{file}");
        }
        let old = UnitName::parse("a@.volume")
            .unwrap()
            .service(Version::new(5, 4));
        assert_eq!(old.as_deref(), Some("a@-volume.service"));
        assert_eq!(UnitName::parse("a.conf"), None);
        assert_eq!(UnitName::parse(".container"), None);
        assert_eq!(UnitName::parse("container"), None);
    }

    #[test]
    fn systemd_takes_only_some_characters() {
        let valid = |file| UnitName::parse(file).unwrap().is_valid();
        assert!(valid("a@b@c.service"));
        assert!(valid(r"a\x2db.socket"));
        assert!(!valid("a b.container"));
        assert!(!valid("ä.container"));
        assert!(!valid("@x.container"));
        assert!(!valid(&format!("{}.container", "a".repeat(250))));
    }
}
