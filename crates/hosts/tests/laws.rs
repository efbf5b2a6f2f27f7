//! Laws of evaluation on the pure entry point: the order of the listing never shows, and nothing
//! but files, directories and links is ever part of a state.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "a test fails by panicking"
)]

mod support;

use hosts::{HostName, Options, Repository, RepositoryBuilder, check, evaluate};
use support::Dice;

enum Kind {
    Directory,
    Text(&'static str),
    Payload,
    Link(&'static str),
    Special(&'static str),
}

/// A repository with something of everything, also with findings.
fn listing() -> Vec<(&'static str, Kind)> {
    use Kind::{Directory, Link, Payload, Special, Text};
    vec![
        ("hosts", Directory),
        ("hosts/a", Directory),
        ("hosts/a/host.yaml", Text("host: a\nservices: [web, db]\n")),
        ("hosts/a/overrides", Directory),
        ("hosts/a/overrides/quadlet", Directory),
        ("hosts/a/overrides/quadlet/web.container.d", Directory),
        (
            "hosts/a/overrides/quadlet/web.container.d/20.conf",
            Text("[Container]\nHostName=b\n"),
        ),
        (
            "hosts/a/overrides/quadlet/web.container.d/10.conf",
            Text("[Container]\nHostName=a\n"),
        ),
        ("hosts/a/overrides/quadlet/nobody.container.d", Directory),
        (
            "hosts/a/overrides/quadlet/nobody.container.d/x.conf",
            Text("[Container]\n"),
        ),
        ("services", Directory),
        ("services/web", Directory),
        ("services/web/quadlet", Directory),
        (
            "services/web/quadlet/web.container",
            Text("[Container]\nImage=a/b\nVolume=db.volume:/d\n"),
        ),
        (
            "services/web/quadlet/web@.container",
            Text("[Container]\nImage=a/b\n"),
        ),
        (
            "services/web/quadlet/web@i.container",
            Link("web@.container"),
        ),
        ("services/web/config", Directory),
        ("services/web/config/etc", Directory),
        ("services/web/config/etc/web", Directory),
        ("services/web/config/etc/web/x", Payload),
        ("services/web/config/etc/web/y", Link("x")),
        (
            "services/web/config/etc/web/null",
            Special("a character device"),
        ),
        (
            "services/web/config/etc/web/disk",
            Special("a block device"),
        ),
        ("services/db", Directory),
        ("services/db/quadlet", Directory),
        (
            "services/db/quadlet/db.volume",
            Text("[Volume]\nColour=red\n"),
        ),
        ("services/db/quadlet/DB.volume", Text("[Volume]\n")),
    ]
}

fn build(listing: Vec<(&str, Kind)>) -> Repository {
    let mut builder = RepositoryBuilder::new();
    for (path, kind) in listing {
        match kind {
            Kind::Directory => builder.directory(path),
            Kind::Text(text) => builder.text(path, text.into(), false),
            Kind::Payload => builder.file(path, 1 << 40, true),
            Kind::Link(target) => builder.link(path, target),
            Kind::Special(what) => builder.special(path, what),
        }
    }
    builder.finish()
}

#[test]
fn the_order_of_the_listing_never_shows() {
    let shown = |repository: &Repository| {
        let host = HostName::new("a").unwrap();
        let evaluated = evaluate(repository, &host, &Options::default());
        let all = check(repository, &Options::default());
        format!("{evaluated:#?}{all:#?}")
    };
    let want = shown(&build(listing()));
    assert!(want.contains("missing-artifact"), "{want}");
    let mut dice = Dice::new(1);
    for _ in 0..50 {
        let mut shuffled = listing();
        for at in (1..shuffled.len()).rev() {
            shuffled.swap(at, dice.below(at + 1));
        }
        assert_eq!(shown(&build(shuffled)), want);
    }
}

#[test]
fn devices_are_refused_and_large_payloads_are_only_named() {
    let repository = build(listing());
    let host = HostName::new("a").unwrap();
    let evaluated = evaluate(&repository, &host, &Options::default());
    let devices = evaluated
        .findings
        .iter()
        .filter(|f| f.code.0 == "special-file");
    assert_eq!(devices.count(), 2);
    let targets: Vec<&str> = evaluated.files.iter().map(|f| f.target.as_str()).collect();
    assert!(targets.contains(&"/etc/web/x"));
    assert!(
        !targets
            .iter()
            .any(|target| target.contains("null") || target.contains("disk"))
    );
}

/// A few hundred repositories of nonsense: findings, never a panic.
#[test]
fn nonsense_is_survived() {
    let names = [
        "hosts",
        "services",
        "a",
        "host.yaml",
        "overrides",
        "quadlet",
        "quadlet-overrides",
        "systemd",
        "config",
        "etc",
        "web",
        "web.container",
        "web.container.d",
        ".d",
        "container.d",
        "@.service",
        "web@.socket",
        "web@i.socket.d",
        "x.conf",
        ".conf",
        "..",
        ".",
        "",
        "ssh",
        "a-.volume.d",
    ];
    let texts = [
        "",
        "[",
        "[Container]\nImage=\\",
        "host: a\nservices: [web, 1, web]",
        "=\n[]\n[Unit]\nAfter=a.container",
        "[Socket]\nService=%i\nAccept=yes",
        "[Container]\nServiceName=\"\nVolume=:\nMount=source=\nNetwork=.network\n",
        "services: &a [*a]",
    ];
    let mut dice = Dice::new(3);
    for _ in 0..400 {
        let mut builder = RepositoryBuilder::new();
        for _ in 0..dice.below(25) {
            let depth = 1 + dice.below(7);
            let path: Vec<&str> = (0..depth).map(|_| *dice.pick(&names)).collect();
            let path = path.join("/");
            match dice.below(5) {
                0 => builder.directory(&path),
                1 => builder.link(&path, dice.pick::<&str>(&names)),
                2 => builder.refused(&path, "no"),
                _ => builder.text(&path, (*dice.pick(&texts)).into(), false),
            }
        }
        // What a real listing would hold, so that the nonsense is reached.
        for directory in [
            "hosts",
            "hosts/a",
            "services",
            "services/web",
            "services/web/quadlet",
        ] {
            builder.directory(directory);
        }
        builder.text(
            "hosts/a/host.yaml",
            b"host: a\nservices: [web]\n".to_vec(),
            false,
        );
        let repository = builder.finish();
        let evaluated = evaluate(
            &repository,
            &HostName::new("a").unwrap(),
            &Options::default(),
        );
        for file in &evaluated.files {
            let mut names = file.target.strip_prefix("/etc/").unwrap().split('/');
            let climbs = names.any(|name| matches!(name, "" | "." | ".."));
            assert!(!climbs, "{}", file.target);
        }
        check(&repository, &Options::default());
    }
}
