//! Against systemd itself: it applies the drop-ins in the order we say, and finds nothing to say
//! about what we install.

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

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use hosts::{Content, Evaluated, HostName, Options, Repository, RepositoryBuilder, evaluate};
use support::{Dice, Scratch, generators};
use units::dropin::{self, Candidate};
use units::{Flavour, UnitName, Version};

/// A program of systemd, as an unprivileged user: its test mode refuses to run as root.
fn systemd(program: &str, directories: &[&Path]) -> Command {
    let found = ["/usr/lib/systemd", "/lib/systemd", "/usr/bin"]
        .map(|directory| PathBuf::from(directory).join(program));
    let program = found.into_iter().find(|path| path.exists());
    let program =
        program.unwrap_or_else(|| panic!("systemd is not installed: run tests/setup/hosts first"));
    let is_root = Command::new("id").arg("-u").output().unwrap().stdout == b"0\n";
    let mut command = match is_root {
        true => {
            let mut command = Command::new("setpriv");
            command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
            command.arg(program);
            command
        }
        false => Command::new(program),
    };
    let paths: Vec<&str> = directories.iter().map(|d| d.to_str().unwrap()).collect();
    // The colon at the end keeps the directories of the system.
    command.env("SYSTEMD_UNIT_PATH", format!("{}:", paths.join(":")));
    command
}

/// The drop-ins of every unit that a target wants, in the order in which systemd applies them.
fn applied(directories: &[&Path], target: &str) -> BTreeMap<String, Vec<PathBuf>> {
    let out = systemd("systemd", directories)
        .args(["--test", "--system", &format!("--unit={target}")])
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    let text = text + &String::from_utf8_lossy(&out.stderr);
    let mut units: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    let mut unit = String::new();
    for line in text.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix("-> Unit ") {
            unit = name.trim_end_matches(':').to_owned();
        } else if let Some(path) = line.strip_prefix("DropIn Path: ") {
            units.entry(unit.clone()).or_default().push(path.into());
        }
    }
    assert!(!units.is_empty(), "systemd --test said: {text}");
    units
}

#[test]
fn native_order_is_systemds_order() {
    let scratch = Scratch::new("systemd-order");
    let mut dice = Dice::new(7);
    let mut wants = String::new();
    let mut wanted: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    for index in 0..60 {
        let extension = ["service", "socket", "timer"][index % 3];
        let stem = match index % 5 {
            0 => format!("u{index}-a-b@one"),
            1 => format!("u{index}-a-b"),
            _ => format!("u{index}-a"),
        };
        let name = UnitName::parse(&format!("{stem}.{extension}")).unwrap();
        let fragment = name.template().unwrap_or(name.clone());
        let text = match extension {
            "service" => "[Service]\nExecStart=/bin/true\n".to_owned(),
            "socket" => format!("[Socket]\nListenStream=/run/{index}\nService=u1-a-b.service\n"),
            _ => "[Timer]\nOnCalendar=daily\nUnit=u1-a-b.service\n".to_owned(),
        };
        scratch.write(&format!("low/{fragment}"), &text);
        wants.push_str(&format!("Wants={name}\n"));
        let mut found: Vec<(String, usize, usize, PathBuf)> = Vec::new();
        // `service.d` would reach the units of the system as well.
        let directories = dropin::directories(&name, Version::NEWEST);
        let own = directories.len() - 1;
        for _ in 0..dice.below(8) {
            let file = format!("{}{}0-x.conf", ["", ".", "z"][dice.below(3)], dice.below(4));
            let (specificity, rank) = (dice.below(own), dice.below(2));
            let path = format!(
                "{}/{}/{file}",
                ["high", "low"][rank],
                directories[specificity]
            );
            scratch.write(&path, "[Unit]\nDocumentation=man:x(1)\n");
            let path = scratch.path().join(path);
            let known = (file, rank, specificity, path);
            if dropin::is_read(Flavour::Systemd, &known.0) && !found.contains(&known) {
                found.push(known);
            }
        }
        let candidates: Vec<Candidate<'_>> = found
            .iter()
            .map(|(file, directory, specificity, _)| Candidate {
                file,
                directory: *directory,
                specificity: *specificity,
            })
            .collect();
        let precedence = dropin::native(Flavour::Systemd, Version::NEWEST);
        let order = dropin::order(precedence, &candidates).applied;
        if !order.is_empty() {
            let paths = order.iter().map(|&index| found[index].3.clone());
            wanted.insert(name.to_string(), paths.collect());
        }
    }
    scratch.write("high/all.target", &format!("[Unit]\n{wants}"));
    let (high, low) = (scratch.path().join("high"), scratch.path().join("low"));
    let got = applied(&[&high, &low], "all.target");
    assert!(wanted.len() > 40);
    for (unit, paths) in &wanted {
        assert_eq!(got.get(unit), Some(paths), "{unit}");
    }
}

fn repository() -> Repository {
    let mut builder = RepositoryBuilder::new();
    let mut directories: Vec<String> = Vec::new();
    let mut texts: Vec<(String, String)> = Vec::new();
    let mut add = |path: &str, text: &str| texts.push((path.to_owned(), text.to_owned()));
    add("hosts/h/host.yaml", "host: h\nservices: [s]\n");
    let base = "services/s/systemd";
    let host = "hosts/h/overrides/systemd";
    add(
        &format!("{base}/web.service"),
        "[Unit]\nDescription=w\n[Service]\nExecStart=/bin/true\n",
    );
    add(
        &format!("{base}/web.socket"),
        "[Socket]\nListenStream=/run/web\n",
    );
    add(&format!("{base}/web.timer"), "[Timer]\nOnCalendar=daily\n");
    add(
        &format!("{base}/job@.service"),
        "[Service]\nType=oneshot\nExecStart=/bin/true %i\n",
    );
    add(
        &format!("{base}/all.target"),
        "[Unit]\nWants=web.service web.socket web.timer job@one.service job@two.service\n",
    );
    // The host's name sorts before the base's, and still comes after it.
    add(
        &format!("{base}/web.socket.d/90-base.conf"),
        "[Socket]\nListenStream=\nListenStream=/run/a\n",
    );
    add(
        &format!("{host}/web.socket.d/10-host.conf"),
        "[Socket]\nListenStream=\nListenStream=/run/b\n",
    );
    add(
        &format!("{base}/web.timer.d/x.conf"),
        "[Timer]\nPersistent=yes\n",
    );
    add(
        &format!("{host}/web.timer.d/x.conf"),
        "[Timer]\nPersistent=no\n",
    );
    add(
        &format!("{base}/service.d/all.conf"),
        "[Service]\nTimeoutStartSec=30\n",
    );
    add(
        &format!("{host}/web.service.d/z.conf"),
        "[Service]\nRestart=on-failure\n",
    );
    add(
        &format!("{base}/web.service.d/gone.conf"),
        "[Service]\nNice=5\n",
    );
    add(&format!("{host}/web.service.d/gone.conf"), "");
    add(
        &format!("{base}/job@.service.d/a.conf"),
        "[Service]\nNice=1\n",
    );
    add(
        &format!("{base}/job@.service.d/b.conf"),
        "[Service]\nNice=2\n",
    );
    add(
        &format!("{base}/job@one.service.d/b.conf"),
        "[Service]\nNice=3\n",
    );
    add(
        &format!("{host}/job@one.service.d/a.conf"),
        "[Service]\nNice=4\n",
    );
    for (path, text) in texts {
        let mut parent = path.as_str();
        while let Some((above, _)) = parent.rsplit_once('/') {
            directories.push(above.to_owned());
            parent = above;
        }
        builder.text(&path, text.into_bytes(), false);
    }
    directories.sort();
    directories.dedup();
    for directory in directories {
        builder.directory(&directory);
    }
    builder.finish()
}

fn install(repository: &Repository, evaluated: &Evaluated, scratch: &Scratch) {
    for file in &evaluated.files {
        let text = match &file.content {
            Content::Text(text) => text.as_str(),
            Content::Copy(entry) => {
                let entry = repository.entry(*entry);
                repository.sources.get(entry.source).text()
            }
            Content::Link(_) => panic!("no links here"),
        };
        scratch.write(&file.target, text);
    }
}

#[test]
fn what_is_installed_makes_native_order_say_base_before_host() {
    let repository = repository();
    let evaluated = evaluate(
        &repository,
        &HostName::new("h").unwrap(),
        &Options::default(),
    );
    // `Nice` is set differently on purpose, which is a warning.
    assert!(!evaluated.has_errors(), "{:#?}", evaluated.findings);
    let scratch = Scratch::new("systemd-installed");
    install(&repository, &evaluated, &scratch);
    let directory = scratch.path().join("etc/systemd/system");
    let got = applied(&[&directory], "all.target");
    let mut seen = 0;
    for unit in &evaluated.units {
        let name = unit.name.to_string();
        // A template itself is never loaded; its second instance stands for it.
        let loaded = name.replace("@.", "@two.");
        let want: Vec<String> = unit
            .parts
            .iter()
            .filter(|part| part.layer != hosts::Layer::Base && !part.is_mask)
            .map(|part| {
                let entry = repository.entry(part.entry);
                repository.sources.get(entry.source).text().to_string()
            })
            .collect();
        let texts = got.get(&loaded).into_iter().flatten();
        let texts: Vec<String> = texts
            .map(|path| std::fs::read_to_string(path).unwrap())
            .filter(|text| !text.is_empty())
            .collect();
        assert_eq!(texts, want, "{name}");
        seen += want.len();
    }
    assert!(seen >= 10, "{seen}");
    verify(
        &[&directory],
        &[
            "web.service",
            "web.socket",
            "web.timer",
            "job@one.service",
            "job@two.service",
        ],
    );
}

/// Any line on standard error is a failure: unknown keys do not change the status.
fn verify(directories: &[&Path], units: &[&str]) {
    let out = systemd("systemd-analyze", directories)
        .args(["verify", "--man=no"])
        .args(units)
        .output()
        .unwrap();
    let said =
        String::from_utf8_lossy(&out.stderr).into_owned() + &String::from_utf8_lossy(&out.stdout);
    assert!(
        out.status.success() && said.trim().is_empty(),
        "{units:?}: {said}"
    );
}

#[test]
fn systemd_finds_nothing_wrong_with_the_example_hosts() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/hosts");
    for host in ["kadath", "rlyeh", "ulthar"] {
        let mut builder = RepositoryBuilder::new();
        list(&root, "", &mut builder);
        let repository = builder.finish();
        let evaluated = evaluate(
            &repository,
            &HostName::new(host).unwrap(),
            &Options::default(),
        );
        assert!(evaluated.findings.is_empty(), "{:#?}", evaluated.findings);
        for generator in generators() {
            let scratch = Scratch::new(&format!("example-{host}-{}", generator.version));
            for file in &evaluated.files {
                match &file.content {
                    Content::Text(text) => scratch.write(&file.target, text),
                    Content::Copy(entry) => {
                        let path = root.join(&repository.entry(*entry).path);
                        scratch.write(&file.target, &std::fs::read_to_string(path).unwrap());
                    }
                    Content::Link(_) => panic!("no links here"),
                }
            }
            let generated = scratch.path().join("generated");
            let out = Command::new(&generator.program)
                .arg("-no-kmsg-log")
                .arg(&generated)
                .env(
                    "QUADLET_UNIT_DIRS",
                    scratch.path().join("etc/containers/systemd"),
                )
                .env("PODMAN", "/bin/true")
                .output()
                .unwrap();
            assert!(
                out.status.success(),
                "{}",
                String::from_utf8_lossy(&out.stderr)
            );
            let units: Vec<&str> = evaluated.start_order.iter().map(String::as_str).collect();
            let native = scratch.path().join("etc/systemd/system");
            verify(&[&native, &generated], &units);
        }
    }
}

fn list(root: &Path, below: &str, builder: &mut RepositoryBuilder) {
    for entry in std::fs::read_dir(root.join(below)).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        let path = [below, &name]
            .iter()
            .filter(|p| !p.is_empty())
            .copied()
            .collect::<Vec<_>>()
            .join("/");
        if entry.file_type().unwrap().is_dir() {
            builder.directory(&path);
            list(root, &path, builder);
        } else {
            builder.text(&path, std::fs::read(entry.path()).unwrap(), false);
        }
    }
}
