//! Against the real Quadlet generators: what they make of our merged file is what they make of the
//! unit with its native drop-ins, and they accept exactly the keys of our tables.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::unreachable,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test fails by panicking, and says which releases it asked"
)]

mod support;

use std::collections::{BTreeMap, BTreeSet};

use hosts::{Content, HostName, Options, RepositoryBuilder, evaluate};
use support::{Dice, Generated, Generator, Scratch, generators};
use units::keys::{self, Arity, Key};
use units::{Kind, Version};

/// Sets of a unit and its drop-ins, for each release.
const SETS: usize = 600;

/// Units that others may name.
const REFERENCES: [(&str, &str); 5] = [
    ("ref.volume", "[Volume]\n"),
    ("ref.network", "[Network]\n"),
    ("ref.image", "[Image]\nImage=example.org/ref:1\n"),
    (
        "ref.build",
        "[Build]\nImageTag=localhost/ref\nFile=/ref/Containerfile\n",
    ),
    ("ref.pod", "[Pod]\n"),
];

#[test]
fn the_merged_file_means_what_the_unit_and_its_drop_ins_mean() {
    for generator in generators() {
        let mut dice = Dice::new(42);
        let sets: Vec<Set> = (0..SETS)
            .map(|i| set(i, &mut dice, generator.version))
            .collect();
        let broad = broad_drop_ins(generator.version);
        let native = Scratch::new(&format!("native-{}", generator.version));
        let merged = Scratch::new(&format!("merged-{}", generator.version));
        for (file, text) in REFERENCES {
            native.write(file, text);
        }
        for (path, text) in &broad {
            native.write(path, text);
        }
        let mut builder = RepositoryBuilder::new();
        for directory in ["hosts", "hosts/h", "services", "services/s"] {
            builder.directory(directory);
        }
        let mut text = |path: String, text: &str| builder.text(&path, text.into(), false);
        text("hosts/h/host.yaml".into(), "host: h\nservices: [s]\n");
        for (file, content) in REFERENCES {
            text(format!("services/s/quadlet/{file}"), content);
        }
        let mut directories = BTreeSet::new();
        for (path, content) in &broad {
            let (directory, _) = path.split_once('/').unwrap();
            directories.insert(format!("services/s/quadlet-overrides/{directory}"));
            text(format!("services/s/quadlet-overrides/{path}"), content);
        }
        for set in &sets {
            native.write(&set.file, &set.base);
            text(format!("services/s/quadlet/{}", set.file), &set.base);
            for (directory, file, content) in &set.drop_ins {
                native.write(&format!("{directory}/{file}"), content);
                // Names from 50 on are the host's, so that native order is base before host; a hidden
                // name sorts before all others.
                let host = file.as_bytes()[0] >= b'5';
                let place = match host {
                    true => format!("hosts/h/overrides/quadlet/{directory}"),
                    false => format!("services/s/quadlet-overrides/{directory}"),
                };
                text(format!("{place}/{file}"), content);
                directories.insert(place);
            }
        }
        for directory in directories {
            builder.directory(&directory);
        }
        let repository = builder.finish();
        let options = Options {
            podman: generator.version,
            strict: false,
        };
        let evaluated = evaluate(&repository, &HostName::new("h").unwrap(), &options);
        let errors: Vec<_> = evaluated.findings.iter().filter(|f| f.is_error()).collect();
        assert!(errors.is_empty(), "{errors:#?}");
        for file in &evaluated.files {
            let name = file
                .target
                .strip_prefix("/etc/containers/systemd/")
                .unwrap();
            let Content::Text(text) = &file.content else {
                panic!("{name} is not merged");
            };
            merged.write(name, text);
        }
        let (want, got) = (generator.run(native.path()), generator.run(merged.path()));
        compare(&generator, &want, &got);
        let names: BTreeSet<String> = evaluated
            .units
            .iter()
            .filter_map(|unit| unit.generates.clone())
            .collect();
        for name in want.services.keys() {
            let name = name.trim_start_matches('/');
            assert!(names.contains(name), "we did not foresee {name}");
        }
        let made = want.services.len();
        assert!(made > SETS * 9 / 10, "only {made} of {SETS}: {}", want.said);
        eprintln!(
            "podman {}: {made} services of {SETS} sets agree",
            generator.version
        );
    }
}

fn compare(generator: &Generator, want: &Generated, got: &Generated) {
    let names = |generated: &Generated| generated.services.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(got), names(want), "{}\n{}", want.said, got.said);
    for (name, lines) in &want.services {
        assert_eq!(
            &got.services[name], lines,
            "podman {}: {name}",
            generator.version
        );
    }
}

/// A unit with its drop-ins.
struct Set {
    file: String,
    base: String,
    /// Directory, file name, text.
    drop_ins: Vec<(String, String, String)>,
}

const KINDS: [Kind; 8] = [
    Kind::Container,
    Kind::Volume,
    Kind::Network,
    Kind::Pod,
    Kind::Kube,
    Kind::Image,
    Kind::Build,
    Kind::Artifact,
];

fn set(index: usize, dice: &mut Dice, version: Version) -> Set {
    let kinds: Vec<Kind> = KINDS
        .into_iter()
        .filter(|kind| keys::kind_since(*kind) <= version)
        .collect();
    let kind = kinds[index % kinds.len()];
    let extension = kind.extension();
    // Every third is an instance, every fourth a template.
    let (stem, template) = match index % 12 {
        0 | 3 | 6 | 9 => (
            format!("s{index}-web-app@one"),
            Some(format!("s{index}-web-app@")),
        ),
        1 | 5 => (format!("s{index}-web@"), None),
        _ => (format!("s{index}-web-app"), None),
    };
    let file = format!("{stem}.{extension}");
    let mut directories = vec![format!("{file}.d"), format!("s{index}-.{extension}.d")];
    directories.extend(template.map(|template| format!("{template}.{extension}.d")));
    if stem.contains('@') {
        directories.push(format!("s{index}-@.{extension}.d"));
    }
    let base = format!("{}{}", required(kind), lines(kind, index, dice, version, 6));
    let mut drop_ins = Vec::new();
    let mut used = BTreeSet::new();
    for number in 0..dice.below(5) {
        let tens = [10, 20, 30, 55, 70, 90][dice.below(6)];
        let hidden = if dice.below(12) == 0 { "." } else { "" };
        let name = format!("{hidden}{tens}-{}.conf", ["a", "b"][dice.below(2)]);
        let directory = dice.pick(&directories).clone();
        if used.insert((directory.clone(), name.clone())) {
            let text = match dice.below(12) {
                0 => String::new(),
                _ => lines(kind, 10_000 + index * 10 + number, dice, version, 5),
            };
            drop_ins.push((directory, name, text));
        }
    }
    // A base and a host file of one name: the native rule and ours differ by design, so no two
    // layers share a name here, and the tens decide the layer.
    Set {
        file,
        base,
        drop_ins,
    }
}

/// Drop-ins for all units of a kind.
fn broad_drop_ins(version: Version) -> Vec<(String, String)> {
    let kinds = KINDS.into_iter();
    let kinds = kinds.filter(|kind| keys::kind_since(*kind) <= version);
    kinds
        .map(|kind| {
            let text = format!(
                "[Unit]\nDocumentation=https://example.org/{}\n",
                kind.extension()
            );
            (format!("{}.d/40-all.conf", kind.extension()), text)
        })
        .collect()
}

fn required(kind: Kind) -> &'static str {
    match kind {
        Kind::Container => "[Container]\nImage=example.org/a:1\nUser=10\n",
        Kind::Volume => "[Volume]\nDevice=tmpfs\n",
        Kind::Network => "[Network]\nSubnet=10.0.0.0/24\nSubnet=10.0.1.0/24\n",
        Kind::Pod => "[Pod]\n",
        Kind::Kube => "[Kube]\nYaml=/a/b.yaml\n",
        Kind::Image => "[Image]\nImage=example.org/i:1\n",
        Kind::Build => "[Build]\nImageTag=localhost/b:1\nFile=/a/Containerfile\n",
        Kind::Artifact => "[Artifact]\nArtifact=example.org/art:1\n",
        _ => unreachable!("only Quadlets"),
    }
}

/// Some lines in the unit's own section and in those that are passed on, with every trick of the
/// format: comments, continuations, resets, odd spacing, repeated headers.
fn lines(kind: Kind, index: usize, dice: &mut Dice, version: Version, most: usize) -> String {
    let section = kind.section().unwrap();
    let known: Vec<&Key> = keys::quadlet_section(section)
        .iter()
        .filter(|key| key.since <= version && !delicate(kind, key.name))
        .collect();
    let mut out = format!("[{section}]\n");
    for _ in 0..dice.below(most) + 1 {
        let key = dice.pick(&known);
        match dice.below(9) {
            0 => out.push_str("# a comment = with an assignment\n"),
            1 => out.push_str("\n; another \\\n"),
            2 => out.push_str(&format!("  [{section}]\t\n")),
            _ => {}
        }
        if dice.below(6) == 0 && !is_required(kind, key.name) && key.name != "ServiceName" {
            out.push_str(&format!("{}=\n", key.name));
            continue;
        }
        let value = value(kind, key, index, dice);
        let line = match dice.below(8) {
            0 => format!("{} =  {value}  \r\n", key.name),
            1 if value.contains(' ') => {
                let (a, b) = value.split_once(' ').unwrap();
                format!("{}={a} \\\n# inside\n\n   {b}\n", key.name)
            }
            2 => format!("\t{}={value}\n", key.name),
            _ => format!("{}={value}\n", key.name),
        };
        out.push_str(&line);
    }
    match dice.below(6) {
        0 => out.push_str("[Service]\nTimeoutStartSec=90\nEnvironment=A=1 \"B=2 3\"\n"),
        1 => out.push_str("[Service]\nExecStartPre=/bin/echo \"a b\" \\\n  c\nExecStartPre=\n"),
        2 => out.push_str("[Unit]\nAfter=ref.volume x.service\nDescription=d e f\n"),
        3 => out.push_str("[Install]\nWantedBy=default.target\n[X-Mine]\nA=b\n"),
        _ => {}
    }
    if dice.below(10) == 0 {
        // No line end at the end of the file.
        out.truncate(out.trim_end().len());
    }
    out
}

/// Keys that only some combinations of others allow; the second test gives each a valid unit.
fn delicate(kind: Kind, key: &str) -> bool {
    key.starts_with("Remap")
        || matches!(
            (kind, key),
            (Kind::Container, "Rootfs" | "ReloadSignal" | "Pod" | "Group")
                | (Kind::Network, "Gateway" | "IPRange" | "Subnet")
                | (Kind::Volume, "Driver" | "Image" | "Device")
        )
}

fn is_required(kind: Kind, key: &str) -> bool {
    required(kind).contains(&format!("\n{key}=")) || matches!(key, "User")
}

fn value(kind: Kind, key: &Key, index: usize, dice: &mut Dice) -> String {
    let n = dice.below(50);
    match (kind, key.name) {
        (_, "ServiceName") => format!("svc-{index}-{n}"),
        (_, "ExposeHostPort") => format!("{}", 8000 + n),
        (_, "PublishPort") => format!("{}:80", 8000 + n),
        (_, "Volume") => (*dice.pick(&["ref.volume:/a", "/etc/x:/x:ro", "anon:/b", "/c"])).into(),
        (Kind::Container, "Network") => {
            (*dice.pick(&["host", "ref.network", "ref.network:ip=10.0.0.9"])).into()
        }
        (_, "Network") => (*dice.pick(&["ref.network", "example"])).into(),
        (_, "Mount") => (*dice.pick(&[
            "type=tmpfs,destination=/t",
            "type=volume,source=ref.volume,destination=/v",
        ]))
        .into(),
        (_, "AddDevice") => "/dev/fuse".into(),
        (Kind::Container, "Image") => {
            (*dice.pick(&["example.org/b:2", "ref.image", "ref.build"])).into()
        }
        (_, "SetWorkingDirectory") => "unit".into(),
        (_, "Yaml" | "ConfigMap" | "EnvironmentFile" | "File") => format!("/a/f{n}"),
        (_, "Type") => "tmpfs".into(),
        (_, "User" | "UID" | "GID" | "Group") => format!("{n}"),
        (_, "Sysctl") => format!("net.a={n}"),
        (_, "LogOpt" | "Ulimit" | "AddHost") => format!("k{}=v{n}", n % 5),
        _ => match key.arity {
            Arity::Bool => (*dice.pick(&["true", "no", "1", "off", "Yes"])).into(),
            Arity::Map => (*dice.pick(&[
                "A=1",
                "A=2 B=3",
                "\"C=4 5\" A=6",
                "D=%h/x",
                "E='f g'",
                "NAME",
                "B=${NOT_OURS}",
            ]))
            .into(),
            Arity::List => {
                (*dice.pick(&["one", "two three", "\"four five\"", "%t/x", "a\\tb"])).into()
            }
            _ => {
                (*dice.pick(&["plain", "two words", "\"in quotes\"", "%i-%n", "ä ö", "a=b"])).into()
            }
        },
    }
}

#[test]
fn the_generators_accept_exactly_the_keys_of_our_tables() {
    let names: BTreeSet<&str> = KINDS
        .iter()
        .flat_map(|kind| keys::quadlet_section(kind.section().unwrap()))
        .map(|key| key.name)
        .collect();
    for generator in generators() {
        let scratch = Scratch::new(&format!("keys-{}", generator.version));
        let mut asked: BTreeMap<String, (&str, &str, bool)> = BTreeMap::new();
        for kind in KINDS {
            if keys::kind_since(kind) > generator.version {
                continue;
            }
            let section = kind.section().unwrap();
            for name in &names {
                let known = keys::lookup(kind, section, name, generator.version);
                let file = format!("{section}-{name}.{}", kind.extension());
                scratch.write(&file, &format!("{}{name}=x\n", required(kind)));
                asked.insert(file, (section, name, matches!(known, keys::Known::Yes(_))));
            }
        }
        let said = generator.run(scratch.path()).said;
        let mut accepted = 0;
        for (file, (section, name, known)) in &asked {
            let refused = said.contains(&format!(
                "unsupported key '{name}' in group '{section}' in DIR/{file}"
            ));
            assert_eq!(
                !refused, *known,
                "podman {}: [{section}] {name}",
                generator.version
            );
            accepted += usize::from(!refused);
        }
        assert!(accepted >= 200, "{accepted}");
        eprintln!(
            "podman {}: {accepted} keys of {} asked",
            generator.version,
            asked.len()
        );
    }
}

/// The manual lists the keys that a release documents; every one of them is in the tables.
#[test]
fn every_documented_key_is_known() {
    for generator in generators() {
        let manual = std::fs::read_to_string(&generator.manual).unwrap();
        let (mut section, mut found) = ("", 0);
        for line in manual.lines() {
            if let Some(heading) = line.strip_prefix(".SH ") {
                section = heading
                    .split_once('[')
                    .and_then(|(_, rest)| rest.split_once(']'))
                    .map_or("", |(name, _)| name);
            }
            let key = line
                .strip_prefix(".SS \\fB")
                .and_then(|l| l.split_once('='));
            let (Some((key, _)), false) = (key, section.is_empty()) else {
                continue;
            };
            if keys::quadlet_section(section).is_empty() {
                continue;
            }
            let known = keys::quadlet_section(section)
                .iter()
                .find(|k| k.name == key);
            let known = known.unwrap_or_else(|| panic!("[{section}] {key} is not in the tables"));
            assert!(known.since <= generator.version, "[{section}] {key}");
            found += 1;
        }
        assert!(
            found > 150,
            "only {found} keys in the manual of {}",
            generator.version
        );
        eprintln!("podman {}: {found} documented keys", generator.version);
    }
}

/// The facts that were collected from the generator's sources say the same.
#[test]
fn the_tables_agree_with_the_collected_facts() {
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared");
    let shared = std::env::var("LATH_SHARED").unwrap_or_else(|_| beside.to_owned());
    let Ok(text) = std::fs::read_to_string(format!("{shared}/conformance/quadlet/keys.json"))
    else {
        println!("skipped: ../shared is not here");
        return;
    };
    let facts: BTreeMap<String, BTreeMap<String, BTreeMap<String, String>>> =
        serde_json::from_str(&text).unwrap();
    for (section, facts) in &facts {
        for (name, fact) in facts {
            let known = keys::quadlet_section(section)
                .iter()
                .find(|k| k.name == name);
            let known = known.unwrap_or_else(|| panic!("[{section}] {name} is missing"));
            let single = matches!(known.arity, Arity::Scalar | Arity::Bool);
            assert_eq!(single, fact["kind"] != "list", "[{section}] {name}");
            let since = fact["since"].trim_start_matches("<=");
            let since = Version::parse(since).unwrap_or(Version::NEWEST);
            assert!(known.since <= since, "[{section}] {name}");
        }
    }
}
