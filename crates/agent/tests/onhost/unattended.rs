//! Nobody watches: the timer, the lock, the audit trail, a user's own units, several hosts.

use std::collections::BTreeSet;
use std::thread;

use crate::testhost::TestHost;

const APP: &str = "[Service]\nExecStart=/usr/bin/sleep infinity\nEnvironment=C=/etc/app/app.conf\n[Install]\nWantedBy=multi-user.target\n";

fn host() -> TestHost {
    let host = TestHost::boot("plain");
    host.commit(&[
        ("hosts/plain/host.yaml", "host: plain\nservices: [app]\n"),
        ("services/app/systemd/app.service", APP),
        ("services/app/config/etc/app/app.conf", "base\n"),
        ("hosts/plain/overrides/config/etc/app/app.conf", "host\n"),
        (
            "hosts/plain/overrides/systemd/app.service.d/20-nice.conf",
            "[Service]\nNice=5\n",
        ),
        ("services/app/quadlet/data.volume", "[Volume]\n"),
        (
            "services/app/quadlet-overrides/data.volume.d/10-label.conf",
            "[Volume]\nLabel=a=base\n",
        ),
        (
            "hosts/plain/overrides/quadlet/data.volume.d/10-label.conf",
            "[Volume]\nLabel=a=host\n",
        ),
    ]);
    host
}

fn records(host: &TestHost, run: &str) -> Vec<serde_json::Value> {
    host.run(&["journalctl", "--sync"]).ok();
    let text = host
        .run(&[
            "journalctl",
            "-o",
            "json",
            "--no-pager",
            &format!("LATH_RUN_ID={run}"),
        ])
        .ok();
    text.lines()
        .map(|line| serde_json::from_str(line).expect("journalctl prints JSON"))
        .collect()
}

fn last_run(host: &TestHost) -> String {
    let status: serde_json::Value =
        serde_json::from_str(&host.read("/var/lib/lath/host/status.json")).expect("a status");
    status["run"].as_str().expect("a run").to_owned()
}

#[test]
fn the_journal_tells_the_whole_story_of_a_run() {
    let host = host();
    host.apply(&[]).ok();
    let all = records(&host, &last_run(&host));
    for record in &all {
        let is = |name: &str| record[name].as_str().is_some_and(|text| !text.is_empty());
        let bracket = ["begin", "end"].map(serde_json::Value::from);
        let whole = is("LATH_UNIT") ^ is("LATH_PATH") && is("LATH_CAUSE");
        assert!(is("LATH_RESULT") && is("LATH_COMMIT") && is("MESSAGE"));
        assert!(
            whole || bracket.contains(&record["LATH_ACTION"]),
            "{record}"
        );
    }
    let layers = |path: &str| {
        let mut records = all.iter();
        let record = records.find(|record| record["LATH_PATH"] == path);
        record.expect("a record of it")["LATH_LAYER"].clone()
    };
    assert_eq!(
        layers("/etc/containers/systemd/data.volume"),
        serde_json::json!([
            "base services/app/quadlet/data.volume applied",
            "host hosts/plain/overrides/quadlet/data.volume.d/10-label.conf applied",
            "base services/app/quadlet-overrides/data.volume.d/10-label.conf masked"
        ])
    );
    assert_eq!(
        layers("/etc/systemd/system/app.service.d/50-host-20-nice.conf"),
        "host hosts/plain/overrides/systemd/app.service.d/20-nice.conf applied"
    );
    let commit = host.commit(&[(
        "hosts/plain/overrides/config/etc/app/app.conf",
        "host two\n",
    )]);
    host.apply(&[]).ok();
    let all = records(&host, &last_run(&host));
    let told: Vec<(String, String, String)> = all
        .iter()
        .map(|record| {
            let field = |name: &str| record[name].as_str().unwrap_or("").to_owned();
            assert_eq!(field("LATH_COMMIT"), commit);
            assert_eq!(field("LATH_HOST"), "plain");
            (
                field("LATH_ACTION"),
                field("LATH_RESULT"),
                field("LATH_UNIT") + &field("LATH_PATH"),
            )
        })
        .collect();
    let told: Vec<(&str, &str, &str)> = told
        .iter()
        .map(|(a, b, c)| (a.as_str(), b.as_str(), c.as_str()))
        .collect();
    assert_eq!(
        told,
        [
            ("begin", "done", ""),
            ("replace", "done", "/etc/app/app.conf"),
            ("restart", "done", "app.service"),
            ("end", "converged", ""),
        ]
    );
    assert_eq!(all[1]["LATH_CAUSE"], "desired change");
    assert_eq!(
        all[1]["LATH_LAYER"],
        serde_json::json!([
            "base services/app/config/etc/app/app.conf replaced",
            "host hosts/plain/overrides/config/etc/app/app.conf applied"
        ])
    );
    assert_eq!(
        all[2]["LATH_CAUSE"],
        "dependency changed: /etc/app/app.conf changed"
    );
    // A failure is told as well.
    host.commit(&[(
        "services/app/systemd/app.service",
        &APP.replace("sleep infinity", "false\nType=oneshot"),
    )]);
    host.apply(&[]).code(1);
    let all = records(&host, &last_run(&host));
    let actions: Vec<&str> = all
        .iter()
        .filter_map(|record| record["LATH_ACTION"].as_str())
        .collect();
    assert!(
        actions.contains(&"failure") && actions.contains(&"rollback"),
        "{actions:?}"
    );
    assert_eq!(all.last().expect("an end")["LATH_CLASS"], "unit");
    // And the plan says the same as data.
    host.run(&["git", "-C", "/srv/hosts", "revert", "--no-edit", "HEAD"])
        .ok();
    let plan: serde_json::Value =
        serde_json::from_str(&host.plan(&["--json"]).code(0).stdout).expect("JSON");
    let layers = plan["artifacts"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|artifact| artifact["layers"].as_array().map_or(0, Vec::len));
    assert!(layers.min() >= Some(1), "every artifact names its layers");
}

#[test]
fn the_timer_drives_the_agent_and_two_agents_do_not_meet() {
    let host = host();
    host.install_package();
    host.write(
        "/etc/systemd/system/lath-host.timer.d/soon.conf",
        "[Timer]\nOnBootSec=\nOnActiveSec=100ms\nOnUnitInactiveSec=300ms\nRandomizedDelaySec=0\nAccuracySec=1ms\n",
    );
    host.lath(&["init", "--repo", "/srv/hosts", "--rev", "main"])
        .ok();
    host.lath(&["init", "--repo", "/srv/hosts"]).code(2);
    host.sh("systemctl daemon-reload && systemctl start lath-host.timer")
        .ok();
    host.sh("for i in $(seq 600); do grep -qs converged /var/lib/lath/host/status.json && exit; sleep 0.05; done; journalctl -u lath-host; exit 1").ok();
    assert_eq!(host.active("app.service"), "active");
    host.commit(&[(
        "hosts/plain/overrides/config/etc/app/app.conf",
        "by timer\n",
    )]);
    host.sh("for i in $(seq 600); do grep -qs 'by timer' /etc/app/app.conf && exit; sleep 0.05; done; exit 1").ok();
    host.sh("systemctl stop lath-host.timer; while systemctl is-active -q lath-host.service; do sleep 0.05; done").ok();
    // Another run holds the lock.
    host.run(&[
        "systemd-run",
        "-q",
        "--unit=holder",
        "flock",
        "/var/lib/lath/host/lock",
        "sleep",
        "infinity",
    ])
    .ok();
    host.sh("for i in $(seq 100); do flock -n /var/lib/lath/host/lock true || exit 0; sleep 0.05; done; exit 1").ok();
    let busy = host.apply(&[]).code(1);
    assert!(busy.stderr.starts_with("lath: busy:"), "{}", busy.stderr);
    host.lath(&["agent"]).ok();
    host.sh("(sleep 0.5; systemctl kill -s KILL holder) & lath host apply --wait")
        .ok();
}

#[test]
fn a_user_has_units_of_their_own() {
    let host = TestHost::boot("plain");
    host.sh("loginctl enable-linger core; for i in $(seq 200); do test -S /run/user/1000/bus && exit; sleep 0.05; done; exit 1").ok();
    host.write(
        "/srv/user/hosts/plain/host.yaml",
        "host: plain\nservices: [app]\n",
    );
    host.write(
        "/srv/user/services/app/systemd/app.service",
        &APP.replace("/etc/app", "%h/.config/app")
            .replace("multi-user", "default"),
    );
    host.write("/srv/user/services/app/config/etc/app/app.conf", "one\n");
    host.write(
        "/srv/user/services/app/quadlet/box.container",
        "[Container]\nImage=localhost/web:1\nStopSignal=SIGKILL\nNetwork=none\n[Install]\nWantedBy=default.target\n",
    );
    let core = |command: &[&str]| {
        let become_core = [
            "setpriv",
            "--reuid=1000",
            "--regid=1000",
            "--init-groups",
            "env",
            "HOME=/home/core",
            "XDG_RUNTIME_DIR=/run/user/1000",
        ];
        host.run(&[&become_core[..], command].concat())
    };
    core(&[
        "podman",
        "import",
        "-q",
        "-c",
        "CMD [\"/bin/sleep\",\"1000\"]",
        "/opt/busybox.tar",
        "localhost/web:1",
    ])
    .ok();
    let apply = || {
        core(&[
            "lath",
            "host",
            "apply",
            "--user",
            "--repo",
            "/srv/user",
            "--settle",
            "0.2",
        ])
    };
    apply().ok();
    let state = |unit: &str| core(&["systemctl", "--user", "show", "-P", "ActiveState", unit]).ok();
    assert_eq!(state("app.service"), "active\n");
    assert_eq!(state("box.service"), "active\n");
    assert_eq!(host.read("/home/core/.config/app/app.conf"), "one\n");
    let before = core(&[
        "systemctl",
        "--user",
        "show",
        "-P",
        "InvocationID",
        "app.service",
    ])
    .ok();
    assert!(apply().ok().starts_with("nothing to do"));
    host.write("/srv/user/services/app/config/etc/app/app.conf", "two\n");
    apply().ok();
    assert_ne!(
        core(&[
            "systemctl",
            "--user",
            "show",
            "-P",
            "InvocationID",
            "app.service"
        ])
        .ok(),
        before
    );
    assert!(!host.exists("/etc/containers/systemd/box.container"));
}

#[test]
fn three_hosts_converge_from_one_repository() {
    let hosts = TestHost::boot_together(["kadath", "rlyeh", "ulthar"]);
    let mut files = vec![
        (
            "services/app/systemd/app.service".to_owned(),
            APP.to_owned(),
        ),
        (
            "services/app/config/etc/app/app.conf".to_owned(),
            "shared\n".to_owned(),
        ),
        (
            "services/extra/systemd/extra.service".to_owned(),
            APP.replace("C=/etc/app/app.conf", "E=1"),
        ),
    ];
    for (name, services) in [
        ("kadath", "[app]"),
        ("rlyeh", "[app, extra]"),
        ("ulthar", "[extra]"),
    ] {
        files.push((
            format!("hosts/{name}/host.yaml"),
            format!("host: {name}\nservices: {services}\n"),
        ));
    }
    files.push((
        "hosts/rlyeh/overrides/config/etc/app/app.conf".to_owned(),
        "of rlyeh\n".to_owned(),
    ));
    let files: Vec<(&str, &str)> = files
        .iter()
        .map(|(path, text)| (path.as_str(), text.as_str()))
        .collect();
    // One repository, made once: all three apply the same commit.
    let commit = hosts[0].commit(&files);
    for host in &hosts[1..] {
        host.copy_from(&hosts[0], "/srv/hosts");
    }
    thread::scope(|scope| {
        for host in &hosts {
            scope.spawn(|| host.apply(&[]).ok());
        }
    });
    for host in &hosts {
        host.plan(&[]).code(0);
        let status = host.lath(&["status", "--json"]).ok();
        assert!(status.contains(&commit), "{status}");
    }
    let shows = |host: &TestHost| {
        let conf = if host.exists("/etc/app/app.conf") {
            host.read("/etc/app/app.conf")
        } else {
            String::new()
        };
        (
            conf,
            host.active("app.service") == "active",
            host.active("extra.service") == "active",
        )
    };
    let [kadath, rlyeh, ulthar] = &hosts;
    assert_eq!(shows(kadath), ("shared\n".to_owned(), true, false));
    assert_eq!(shows(rlyeh), ("of rlyeh\n".to_owned(), true, true));
    assert_eq!(shows(ulthar), (String::new(), false, true));
}

#[test]
fn a_thousand_artifacts_are_each_read_once() {
    let host = TestHost::boot("plain");
    host.sh("mkdir -p /srv/many/hosts/plain /srv/many/services/app/systemd /srv/many/services/app/config/etc/app; cd /srv/many; \
             printf 'host: plain\\nservices: [app]\\n' > hosts/plain/host.yaml; \
             for i in $(seq 500); do printf '[Service]\\nExecStart=/usr/bin/sleep %d\\n' $i > services/app/systemd/unit-$i.service; \
             echo $i > services/app/config/etc/app/conf-$i; done").ok();
    host.lath(&["apply", "--repo", "/srv/many"]).ok();
    let strace = "strace -y -e trace=openat -o /tmp/trace lath host plan --repo /srv/many";
    host.sh(strace).ok();
    let trace = host.read("/tmp/trace");
    let opened = |directory: &str, name: &str| {
        let wanted = format!("<{directory}>, \"{name}\"");
        trace.lines().filter(|line| line.contains(&wanted)).count()
    };
    let mut counts = BTreeSet::new();
    for number in 1..=500 {
        counts.insert(opened(
            "/etc/systemd/system",
            &format!("unit-{number}.service"),
        ));
        counts.insert(opened("/etc/app", &format!("conf-{number}")));
    }
    assert_eq!(counts, BTreeSet::from([1]), "each once");
    let start = std::time::Instant::now();
    host.lath(&["plan", "--repo", "/srv/many"]).code(0);
    println!("planning 1,000 unchanged artifacts: {:?}", start.elapsed());
}
