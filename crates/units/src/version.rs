//! Versions of Podman, as far as Quadlet's rules depend on them.

use std::fmt;

/// A release of Podman: `5.4`, `5.4.2`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    pub major: u16,
    pub minor: u16,
    pub patch: u16,
}

impl Version {
    pub const fn new(major: u16, minor: u16) -> Version {
        Version {
            major,
            minor,
            patch: 0,
        }
    }

    /// The newest release whose keys the tables hold.
    pub const NEWEST: Version = Version::new(6, 0);

    /// The release that first had Quadlet.
    pub const OLDEST: Version = Version::new(4, 4);

    /// Reads `5`, `5.4`, `5.4.2` or `v5.4.2-rc1`. The error says what is wrong, for the user.
    pub fn parse(text: &str) -> Result<Version, String> {
        let wrong = || format!("`{text}` is no podman version; write it as `5.4` or `5.4.2`");
        let numbers = text.strip_prefix('v').unwrap_or(text);
        let numbers = numbers.split(['-', '+', '~']).next().unwrap_or("");
        let mut parts = numbers.split('.').map(|part| part.parse::<u16>().ok());
        let major = parts.next().flatten().ok_or_else(wrong)?;
        let mut next = || match parts.next() {
            None => Ok(0),
            Some(number) => number.ok_or_else(wrong),
        };
        let (minor, patch) = (next()?, next()?);
        if parts.next().is_some() {
            return Err(wrong());
        }
        let version = Version {
            major,
            minor,
            patch,
        };
        if version < Version::OLDEST {
            return Err(format!(
                "podman {version} has no Quadlet; the first with it is {}",
                Version::OLDEST
            ));
        }
        Ok(version)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)?;
        if self.patch != 0 {
            write!(f, ".{}", self.patch)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_and_ordered() {
        let read = |text| Version::parse(text).unwrap();
        assert!(read("4.9.5") < read("5.0"));
        assert!(read("5.10") > read("5.9.9"));
        assert_eq!(read("v5.8.0-rc1"), read("5.8"));
        assert_eq!(read("5.4.2").to_string(), "5.4.2");
        for wrong in ["", "x", "5.x", "5.4.2.1", "4.3"] {
            assert!(Version::parse(wrong).is_err(), "{wrong}");
        }
    }
}
