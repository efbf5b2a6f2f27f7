//! Config payloads: whole files, placed below `/etc/<root>/`, a host's in place of the base's.
//!
//! A *root* is the first name below `/etc`. A service claims the roots its payloads use; a host may
//! override below claimed roots only. Files are replaced as a whole and directories layered; what is
//! inside a payload is never looked at (FR-014).

use std::collections::{BTreeMap, BTreeSet};

use base::Diagnostic;

use crate::catalog::{Catalog, Definitions, Payload, span};
use crate::codes;
use crate::evaluate::{Content, DesiredFile};
use crate::owners;
use crate::repository::{EntryId, EntryKind, Repository};

/// Names below `/etc` that belong to the system and are refused as roots. A `*` at the end stands
/// for any rest.
pub const RESERVED_ROOTS: [&str; 68] = [
    "NetworkManager",
    "X11",
    "alternatives",
    "apparmor",
    "apparmor.d",
    "apt",
    "audit",
    "binfmt.d",
    "ca-certificates",
    "containers",
    "cron*",
    "crypto-policies",
    "cryptsetup-keys.d",
    "dbus-1",
    "default",
    "depmod.d",
    "dnf",
    "dpkg",
    "dracut.conf.d",
    "environment.d",
    "firewalld",
    "fstab.d",
    "gnupg",
    "grub.d",
    "gss",
    "init.d",
    "initramfs-tools",
    "iproute2",
    "iptables",
    "issue.d",
    "kernel",
    "krb5.conf.d",
    "lath",
    "ld.so.conf.d",
    "logrotate.d",
    "lvm",
    "modprobe.d",
    "modules-load.d",
    "motd.d",
    "netplan",
    "network",
    "nftables",
    "opt",
    "ostree",
    "pam.d",
    "pki",
    "polkit-1",
    "profile.d",
    "rc*",
    "rpm",
    "rsyslog.d",
    "security",
    "selinux",
    "skel",
    "ssh",
    "ssl",
    "sssd",
    "subgid.d",
    "sudoers.d",
    "sysconfig",
    "sysctl.d",
    "systemd",
    "sysusers.d",
    "tmpfiles.d",
    "udev",
    "ufw",
    "xdg",
    "yum*",
];

fn is_reserved(root: &str) -> bool {
    let matches = |reserved: &&str| match reserved.strip_suffix('*') {
        Some(start) => root.starts_with(start),
        None => root.eq_ignore_ascii_case(reserved),
    };
    root.starts_with('.') || RESERVED_ROOTS.iter().any(matches)
}

/// The first name below `/etc`, and whether anything follows it.
fn root(target: &str) -> (&str, bool) {
    let rest = target.strip_prefix("/etc/").unwrap_or("");
    match rest.split_once('/') {
        Some((root, _)) => (root, true),
        None => (rest, false),
    }
}

/// Layers the payloads of the selected services and of the host.
pub(crate) fn layer(
    repository: &Repository,
    catalog: &Catalog,
    selected: &BTreeMap<&str, &Definitions>,
    host: Option<&Definitions>,
    findings: &mut Vec<Diagnostic>,
) -> Vec<DesiredFile> {
    let mut files: BTreeMap<&str, DesiredFile> = BTreeMap::new();
    let mut claimed: BTreeMap<&str, &str> = BTreeMap::new();
    for (&service, definitions) in selected {
        for payload in &definitions.payloads {
            if !placed_well(repository, payload, findings) {
                continue;
            }
            claimed.entry(root(&payload.target).0).or_insert(service);
            if let Some(first) = files.get(payload.target.as_str()) {
                findings.push(twice(repository, payload, first, service));
                continue;
            }
            if let Some(file) = desired(repository, payload, service, None, findings) {
                files.insert(&payload.target, file);
            }
        }
    }
    for payload in host.iter().flat_map(|host| &host.payloads) {
        if !placed_well(repository, payload, findings) {
            continue;
        }
        let Some(&service) = claimed.get(root(&payload.target).0) else {
            findings.push(unclaimed(repository, catalog, payload));
            continue;
        };
        let replaced = files.get(payload.target.as_str());
        let replaces = replaced.and_then(|file| file.origin);
        let service = replaced
            .map_or(service, |file| file.service.as_str())
            .to_owned();
        if let Some(file) = desired(repository, payload, &service, replaces, findings) {
            files.insert(&payload.target, file);
        }
    }
    clashes(repository, &files, findings);
    for (&service, definitions) in selected {
        let Some(entry) = definitions.owners.map(|entry| repository.entry(entry)) else {
            continue;
        };
        let owners = owners::read(entry, repository.sources.get(entry.source).text());
        findings.extend_from_slice(&owners.findings);
        let own = files.values_mut().filter(|file| file.service == service);
        owners.apply(own, findings);
    }
    files.into_values().collect()
}

fn placed_well(repo: &Repository, payload: &Payload, findings: &mut Vec<Diagnostic>) -> bool {
    let (root, nested) = root(&payload.target);
    let place = span(repo, payload.entry);
    // A reserved name is said even for a file of that name directly in `/etc`.
    if is_reserved(root) {
        findings.push(
            Diagnostic::error(
                codes::RESERVED_ROOT,
                format!("`/etc/{}` belongs to the system", root.escape_debug()),
            )
            .primary(place, "")
            .help("use a root of the service's own, such as `/etc/traefik`, and mount it where it is needed"),
        );
        return false;
    }
    if !nested {
        findings.push(
            Diagnostic::error(
                codes::FILE_IN_ETC,
                format!("`{}` would lie directly in `/etc`", payload.target),
            )
            .primary(place, "")
            .help("put it into a directory of the service's own: `config/etc/<root>/`"),
        );
    }
    nested
}

fn desired(
    repository: &Repository,
    payload: &Payload,
    service: &str,
    replaces: Option<EntryId>,
    findings: &mut Vec<Diagnostic>,
) -> Option<DesiredFile> {
    let entry = repository.entry(payload.entry);
    let content = match &entry.kind {
        EntryKind::Link(target) => {
            if let Err(why) = stays_inside(&payload.target, target) {
                findings.push(
                    Diagnostic::error(
                        codes::UNSAFE_LINK,
                        format!("the link to `{}` {why}", target.escape_debug()),
                    )
                    .primary(entry.span(), "")
                    .help("link relatively, to something below the same `/etc/<root>`"),
                );
                return None;
            }
            Content::Link(target.clone())
        }
        _ => Content::Copy(payload.entry),
    };
    Some(DesiredFile {
        target: payload.target.clone(),
        executable: entry.executable,
        content,
        service: service.to_owned(),
        origin: Some(payload.entry),
        replaces,
        owner: None,
    })
}

/// A link may only name something below its own root.
fn stays_inside(target: &str, link: &str) -> Result<(), &'static str> {
    if link.starts_with('/') {
        return Err("is absolute");
    }
    let mut depth: usize = target.split('/').filter(|name| !name.is_empty()).count() - 1;
    for name in link.split('/') {
        match name {
            "" | "." => {}
            ".." if depth <= 2 => return Err("leads out of its root"),
            ".." => depth -= 1,
            _ => depth += 1,
        }
    }
    Ok(())
}

fn twice(repo: &Repository, payload: &Payload, first: &DesiredFile, service: &str) -> Diagnostic {
    let finding = Diagnostic::error(
        codes::PAYLOAD_CLAIMED_TWICE,
        format!(
            "`{}` is claimed by `{}` and by `{service}`",
            payload.target, first.service
        ),
    )
    .primary(span(repo, payload.entry), "claimed again");
    let finding = match first.origin {
        Some(origin) => finding.secondary(span(repo, origin), "claimed first"),
        None => finding,
    };
    finding.help("rename one of them, or do not select both services")
}

fn unclaimed(repository: &Repository, catalog: &Catalog, payload: &Payload) -> Diagnostic {
    let (root, _) = root(&payload.target);
    let uses = |definitions: &Definitions| {
        let mut roots = definitions.payloads.iter();
        roots.any(|other| self::root(&other.target).0 == root)
    };
    let owner = catalog.services.iter().find(|(_, d)| uses(d));
    let place = span(repository, payload.entry);
    match owner {
        Some((service, _)) => Diagnostic::error(
            codes::UNSELECTED_ROOT,
            format!("`/etc/{root}` belongs to `{service}`, which the host does not select"),
        )
        .primary(place, "")
        .help(format!(
            "select `{service}` in the host file, or remove the override"
        )),
        None => Diagnostic::error(
            codes::UNCLAIMED_ROOT,
            format!("no selected service has a payload below `/etc/{root}`"),
        )
        .primary(place, "")
        .help(format!(
            "put a base file into `services/<service>/config/etc/{root}/`, or remove the override"
        )),
    }
}

/// A target that another target needs as a directory.
fn clashes(
    repository: &Repository,
    files: &BTreeMap<&str, DesiredFile>,
    findings: &mut Vec<Diagnostic>,
) {
    let mut said: BTreeSet<&str> = BTreeSet::new();
    for (target, file) in files {
        let mut above = *target;
        while let Some((parent, _)) = above.rsplit_once('/') {
            above = parent;
            let Some(blocking) = files.get(parent) else {
                continue;
            };
            if !said.insert(parent) {
                continue;
            }
            let places = [blocking.origin, file.origin];
            let [blocking, below] = places.map(|o| o.map(|o| span(repository, o)));
            let mut finding = Diagnostic::error(
                codes::PAYLOAD_CLASH,
                format!("`{parent}` would be a file and a directory"),
            );
            if let Some(place) = blocking {
                finding = finding.primary(place, "a file or link here");
            }
            if let Some(place) = below {
                finding = finding.secondary(place, "a directory here");
            }
            findings.push(finding.help("rename one of them"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_of_the_system_are_reserved() {
        for root in [
            "ssh",
            "systemd",
            "cron.d",
            "crontab",
            "rc3.d",
            "SSH",
            ".git",
            "containers",
        ] {
            assert!(is_reserved(root), "{root}");
        }
        for root in ["traefik", "immich", "sshd-proxy", "vector"] {
            assert!(!is_reserved(root), "{root}");
        }
        assert!(RESERVED_ROOTS.is_sorted());
    }

    #[test]
    fn links_stay_below_their_root() {
        let inside = |link| stays_inside("/etc/a/b/c", link).is_ok();
        assert!(inside("d"));
        assert!(inside("../x/./y"));
        assert!(!inside("../../etc/passwd"));
        assert!(!inside("../../x"));
        assert!(!inside("/etc/a/b"));
        assert!(!inside("x/../../../y"));
    }
}
