//! Where things lie on a host: for the system, for a user, for another root directory.

use std::path::{Path, PathBuf};

use crate::failure::{Class, Failure, Outcome};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// All other paths but `state` are as seen from here.
    pub root: PathBuf,
    pub quadlets: String,
    pub units: String,
    /// Payloads go below `<payloads>/<root>/`.
    pub payloads: String,
    /// Records of earlier runs, as the outside sees it.
    pub state: PathBuf,
    /// The configuration file of the agent, as the outside sees it.
    pub config: PathBuf,
    /// A directory of the calling user alone, for what does not outlive a run.
    pub scratch: PathBuf,
    pub user: bool,
    /// Whether the running systemd is the one that reads these files.
    pub live: bool,
}

impl Layout {
    pub fn system() -> Layout {
        Layout {
            root: "/".into(),
            quadlets: "/etc/containers/systemd".into(),
            units: "/etc/systemd/system".into(),
            payloads: "/etc".into(),
            state: "/var/lib/lath/host".into(),
            config: "/etc/lath/host.toml".into(),
            scratch: "/run".into(),
            user: false,
            live: true,
        }
    }

    /// Another root directory, without systemd.
    pub fn below(root: &Path) -> Layout {
        let system = Layout::system();
        let move_below = |path: PathBuf| root.join(path.strip_prefix("/").unwrap_or(&path));
        Layout {
            root: root.to_owned(),
            state: move_below(system.state.clone()),
            config: move_below(system.config.clone()),
            scratch: move_below(system.state.clone()),
            live: false,
            ..system
        }
    }

    /// The calling user's, from the environment's home and XDG directories.
    pub fn user(variable: impl Fn(&str) -> Option<PathBuf>) -> Outcome<Layout> {
        let home = variable("HOME").filter(|home| home.is_absolute());
        let home = home.ok_or_else(|| {
            Failure::new(Class::Usage, "`HOME` is not set")
                .help("--user needs the user's home directory")
        })?;
        let or = |name: &str, rest: &str| {
            let set = variable(name).filter(|path| path.is_absolute());
            set.unwrap_or_else(|| home.join(rest))
        };
        // Links on the way to the home directory are the system's; those below it are not followed.
        let config = or("XDG_CONFIG_HOME", ".config");
        let config = config.canonicalize().unwrap_or(config);
        let text = |path: &Path| path.to_string_lossy().into_owned();
        Ok(Layout {
            root: "/".into(),
            quadlets: text(&config.join("containers/systemd")),
            units: text(&config.join("systemd/user")),
            payloads: text(&config),
            state: or("XDG_STATE_HOME", ".local/state").join("lath/host"),
            config: config.join("lath/host.toml"),
            scratch: variable("XDG_RUNTIME_DIR")
                .unwrap_or_else(|| or("XDG_STATE_HOME", ".local/state").join("lath")),
            user: true,
            live: true,
        })
    }

    /// Whether a path is one that a target may hold: below the two unit directories, or below a
    /// directory of its own beside the system's.
    pub fn allows(&self, path: &str) -> bool {
        let plain = path
            .split('/')
            .skip(1)
            .all(|name| !matches!(name, "" | "." | ".."));
        let below = |directory: &str| {
            let rest = path.strip_prefix(directory)?.strip_prefix('/')?;
            (!rest.is_empty()).then_some(rest)
        };
        let unit = below(&self.quadlets).is_some() || below(&self.units).is_some();
        let payload = below(&self.payloads)
            .and_then(|rest| rest.split_once('/'))
            .is_some_and(|(root, _)| root != "containers" && root != "systemd");
        plain && (unit || payload)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_known_directories_may_be_written_to() {
        let layout = Layout::system();
        for path in [
            "/etc/containers/systemd/a.container",
            "/etc/systemd/system/a.socket.d/10.conf",
            "/etc/traefik/traefik.toml",
        ] {
            assert!(layout.allows(path), "{path}");
        }
        for path in [
            "/etc/passwd",
            "/etc/containers/policy.json",
            "/etc/systemd/system.conf",
            "/etc/systemd/system/../x",
            "/etc/traefik/../passwd",
            "/usr/bin/x",
            "etc/traefik/x",
            "/etc//x",
        ] {
            assert!(!layout.allows(path), "{path}");
        }
    }

    #[test]
    fn a_user_has_directories_of_their_own() {
        let layout = Layout::user(|name| (name == "HOME").then(|| "/nowhere/core".into())).unwrap();
        assert_eq!(layout.quadlets, "/nowhere/core/.config/containers/systemd");
        assert!(layout.allows("/nowhere/core/.config/traefik/x"));
        assert!(!layout.allows("/etc/traefik/x"));
        assert!(Layout::user(|_| None).is_err());
    }
}
