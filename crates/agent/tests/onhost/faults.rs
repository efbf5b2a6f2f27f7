//! The world fails: a clear class of failure, nothing lost, and the next good run converges.

use crate::testhost::TestHost;

fn host() -> TestHost {
    let host = TestHost::boot("plain");
    host.commit(&[
        ("hosts/plain/host.yaml", "host: plain\nservices: [app]\n"),
        ("services/app/systemd/app.service", "[Service]\nExecStart=/usr/bin/sleep infinity\nEnvironment=C=/etc/app/app.conf\n[Install]\nWantedBy=multi-user.target\n"),
        ("services/app/config/etc/app/app.conf", "one\n"),
    ]);
    host
}

#[track_caller]
fn fails(host: &TestHost, more: &[&str], class: &str) -> String {
    let output = host.apply(more).code(1);
    assert!(
        output.stderr.starts_with(&format!("lath: {class}:")),
        "{}",
        output.stderr
    );
    let status = host.lath(&["status", "--json"]);
    assert!(
        status.code != 0 || status.stdout.contains(&format!("\"class\": \"{class}\"")),
        "{}",
        status.stdout
    );
    output.stderr
}

#[track_caller]
fn converges(host: &TestHost) {
    host.apply(&[]).ok();
    assert_eq!(host.active("app.service"), "active");
    host.plan(&[]).code(0);
}

#[test]
fn a_full_or_read_only_disk() {
    let host = host();
    host.sh("mkdir /etc/app && mount -t tmpfs -o size=32k tmpfs /etc/app")
        .ok();
    converges(&host);
    let before = host.invocation("app.service");
    let unit = host.read("/etc/systemd/system/app.service");
    host.commit(&[
        (
            "services/app/config/etc/app/app.conf",
            &"two\n".repeat(20_000),
        ),
        (
            "services/app/systemd/app.service",
            &unit.replace("C=", "D=1 C="),
        ),
    ]);
    fails(&host, &[], "disk");
    assert_eq!(host.read("/etc/app/app.conf"), "one\n");
    assert_eq!(
        host.read("/etc/systemd/system/app.service"),
        unit,
        "what had been begun was undone"
    );
    assert_eq!(host.invocation("app.service"), before);
    host.run(&["mount", "-o", "remount,size=1m", "/etc/app"])
        .ok();
    converges(&host);
    assert_ne!(host.invocation("app.service"), before);
    // Read-only.
    host.commit(&[("services/app/config/etc/app/app.conf", "three\n")]);
    host.run(&["mount", "-o", "remount,ro", "/etc/app"]).ok();
    let said = fails(&host, &[], "disk");
    assert!(said.contains("make the file system writable"), "{said}");
    host.run(&["mount", "-o", "remount,rw", "/etc/app"]).ok();
    converges(&host);
    assert_eq!(host.read("/etc/app/app.conf"), "three\n");
}

#[test]
fn the_bus_is_gone_and_a_reload_is_refused() {
    let host = host();
    converges(&host);
    host.commit(&[("services/app/config/etc/app/app.conf", "two\n")]);
    host.run(&["systemctl", "stop", "dbus.socket", "dbus.service"])
        .ok();
    let said = fails(&host, &[], "systemd");
    assert!(said.contains("is dbus running"), "{said}");
    assert_eq!(host.read("/etc/app/app.conf"), "one\n");
    host.run(&["systemctl", "start", "dbus.socket"]).ok();
    converges(&host);
    // systemd refuses to reload with less than 16 MiB left in /run.
    let unit = host.read("/etc/systemd/system/app.service");
    host.commit(&[(
        "services/app/systemd/app.service",
        &unit.replace("C=", "D=1 C="),
    )]);
    let before = host.invocation("app.service");
    host.sh("mount -o remount,size=40m /run && fallocate -l 30m /run/ballast")
        .ok();
    fails(&host, &[], "systemd");
    assert_eq!(host.invocation("app.service"), before);
    host.remove("/run/ballast");
    converges(&host);
    assert_ne!(host.invocation("app.service"), before);
}

#[test]
fn records_are_damaged() {
    let host = host();
    converges(&host);
    let before = host.invocation("app.service");
    for damage in [
        "truncate -s 100",
        "truncate -s 0",
        "rm",
        "sed -i s/app/axx/g",
    ] {
        host.sh(&format!("{damage} /var/lib/lath/host/state.json"))
            .ok();
        host.apply(&[]).ok();
        assert_eq!(host.invocation("app.service"), before, "{damage}");
        host.plan(&[]).code(0);
    }
    host.sh("echo x > /var/lib/lath/host/state.json; echo x > /var/lib/lath/host/generations/00000001.json").ok();
    let said = fails(&host, &[], "state");
    assert!(said.contains("--adopt"), "{said}");
    host.sh("rm /var/lib/lath/host/state.json /var/lib/lath/host/generations/*")
        .ok();
    fails(&host, &[], "conflict");
    host.apply(&["--adopt"]).ok();
    converges(&host);
}

/// What a run remembers is put in order by numbers, never by the clock.
#[test]
fn the_clock_moves_by_decades() {
    let host = host();
    converges(&host);
    let at = |time: &str| {
        let clock = ["env", "DONT_FAKE_MONOTONIC=1", "faketime", time];
        let apply = [
            "lath",
            "host",
            "apply",
            "--repo",
            "/srv/hosts",
            "--rev",
            "main",
        ];
        host.run(&[&clock[..], &apply, &["--settle", "0.2"]].concat())
    };
    let times = [
        "2099-01-01 00:00:00",
        "1971-01-01 00:00:00",
        "2038-01-19 03:14:08",
    ];
    for (number, time) in times.into_iter().enumerate() {
        let before = host.invocation("app.service");
        let text = format!("{number}\n");
        host.commit(&[("services/app/config/etc/app/app.conf", &text)]);
        at(time).ok();
        assert_eq!(host.read("/etc/app/app.conf"), text);
        assert_ne!(host.invocation("app.service"), before);
        assert!(at(time).ok().starts_with("nothing to do"));
        let status = host.lath(&["status", "--json"]).ok();
        assert!(status.contains(&time[..10]), "{status}");
    }
    // Files and records of the future and of the past, and the right time again.
    host.sh("find /etc/app /etc/systemd/system /var/lib/lath -exec touch -h -d 2099-01-01 {} +")
        .ok();
    host.commit(&[("services/app/config/etc/app/app.conf", "now\n")]);
    converges(&host);
    assert_eq!(host.read("/etc/app/app.conf"), "now\n");
    // The last good generation is the one before, whatever its date says.
    let unit = host.read("/etc/systemd/system/app.service");
    let bad = unit.replace("sleep infinity", "false\nType=oneshot");
    host.commit(&[("services/app/systemd/app.service", &bad)]);
    let said = fails(&host, &[], "unit");
    assert!(said.contains("generation 5 was restored"), "{said}");
    assert_eq!(host.read("/etc/app/app.conf"), "now\n");
}

#[test]
fn git_is_unreachable_or_broken() {
    let host = host();
    converges(&host);
    let commit = host.commit(&[("services/app/config/etc/app/app.conf", "two\n")]);
    fails(&host, &["--repo", "file:///srv/nowhere"], "source");
    fails(&host, &["--repo", "ssh://127.0.0.1/srv/hosts"], "source");
    fails(&host, &["--rev", "nothing"], "source");
    // An object is missing, another one is cut off.
    let tree = host
        .sh(&format!("cd /srv/hosts && git rev-parse {commit}^{{tree}}"))
        .ok();
    let (a, b) = tree.trim().split_at(2);
    let object = format!("/srv/hosts/.git/objects/{a}/{b}");
    host.sh(&format!(
        "cp {object} /root/object && chmod +w {object} && truncate -s 20 {object}"
    ))
    .ok();
    fails(&host, &[], "source");
    host.sh(&format!("rm -f {object}")).ok();
    fails(&host, &[], "source");
    assert_eq!(host.read("/etc/app/app.conf"), "one\n");
    host.sh(&format!("cp /root/object {object}")).ok();
    // The cache is damaged: it is made anew.
    host.sh("cd /var/lib/lath/host/git/* && echo garbage > HEAD && find objects -type f -exec truncate -s 3 {} +").ok();
    converges(&host);
    assert_eq!(host.read("/etc/app/app.conf"), "two\n");
}
