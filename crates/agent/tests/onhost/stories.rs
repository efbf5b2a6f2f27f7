//! What operators live through, told on a booted host.

use crate::testhost::TestHost;

const WEB: &str = "[Unit]\nDescription=web\n[Container]\nImage=localhost/web:1\nContainerName=web\n\
                   StopSignal=SIGKILL\nPublishPort=80:8080\nVolume=data.volume:/data\n\
                   Volume=/etc/web:/etc/web:ro\n[Install]\nWantedBy=multi-user.target\n";
const PORT: &str = "[Container]\nPublishPort=\nPublishPort=8081:8080\n";

/// A native service that lives until it is stopped.
fn sleeper(more: &str) -> String {
    format!(
        "[Unit]\nDescription=sleeper\n{more}\n[Service]\nExecStart=/usr/bin/sleep infinity\n[Install]\nWantedBy=multi-user.target\n"
    )
}

fn host_file(name: &str, services: &[&str]) -> String {
    let list: String = services
        .iter()
        .map(|service| format!("  - {service}\n"))
        .collect();
    format!("host: {name}\nservices:\n{list}")
}

/// A host with a web container, its volume, its configuration and a host drop-in for its port.
fn web(name: &str) -> TestHost {
    let host = TestHost::boot(name);
    host.import_image();
    host.commit(&[
        ("services/web/quadlet/web.container", WEB),
        ("services/web/quadlet/data.volume", "[Volume]\n"),
        ("services/web/config/etc/web/web.conf", "greeting = base\n"),
        ("services/web/owners.yaml", "/etc/web: \"1000:1000\"\n"),
        (
            &format!("hosts/{name}/host.yaml"),
            &host_file(name, &["web"]),
        ),
        (
            &format!("hosts/{name}/overrides/quadlet/web.container.d/20-port.conf"),
            PORT,
        ),
    ]);
    host
}

/// A host with native services only: quick to start and stop.
fn plain(name: &str, units: &[(&str, &str)]) -> TestHost {
    let host = TestHost::boot(name);
    let mut files = vec![(
        "hosts/plain/host.yaml".to_owned(),
        host_file("plain", &["a"]),
    )];
    files.extend(
        units
            .iter()
            .map(|(unit, text)| (format!("services/a/{unit}"), (*text).to_owned())),
    );
    let files: Vec<(&str, &str)> = files
        .iter()
        .map(|(path, text)| (path.as_str(), text.as_str()))
        .collect();
    host.commit(&files);
    host
}

#[test]
fn a_fresh_host_converges_and_a_second_run_changes_nothing() {
    let host = web("kadath");
    host.plan(&[]).code(3);
    assert!(
        !host.exists("/etc/containers/systemd/web.container"),
        "planning changes nothing"
    );
    host.apply(&[]).ok();
    assert_eq!(
        host.run(&["curl", "-sf", "http://127.0.0.1:8081/"]).ok(),
        "hello\n"
    );
    assert_ne!(host.run(&["curl", "-sf", "http://127.0.0.1:80/"]).code, 0);
    let before = host.invocation("web.service");
    let reloads = host
        .sh("journalctl -b -o cat _PID=1 | grep -c 'Reload requested' || true")
        .ok();
    assert!(host.apply(&[]).ok().starts_with("nothing to do"));
    host.plan(&[]).code(0);
    assert_eq!(host.invocation("web.service"), before);
    assert_eq!(
        host.sh("journalctl -b -o cat _PID=1 | grep -c 'Reload requested' || true")
            .ok(),
        reloads
    );
}

#[test]
fn a_changed_configuration_restarts_its_consumers_once_and_drift_is_repaired() {
    let host = web("kadath");
    host.apply(&[]).ok();
    let first = host.invocation("web.service");
    host.commit(&[("services/web/config/etc/web/web.conf", "greeting = new\n")]);
    let plan = host.plan(&[]).code(3).stdout;
    assert!(
        plan.contains("-greeting = base") && plan.contains("+greeting = new"),
        "{plan}"
    );
    assert!(
        plan.contains("dependency changed: /etc/web/web.conf changed"),
        "{plan}"
    );
    host.apply(&[]).ok();
    let second = host.invocation("web.service");
    assert_ne!(first, second);
    let starts = host
        .sh("journalctl -b -o cat -u web.service | grep -c '^Started web' || true")
        .ok();
    assert_eq!(starts.trim(), "2", "restarted once");
    // Drift: edited, removed, stopped.
    host.write("/etc/web/web.conf", "by hand\n");
    host.remove("/etc/containers/systemd/data.volume");
    let plan = host.plan(&[]).code(3).stdout;
    assert!(plan.contains("drift: edited by hand since"), "{plan}");
    assert!(plan.contains("drift: removed by hand"), "{plan}");
    host.apply(&[]).ok();
    assert_eq!(host.read("/etc/web/web.conf"), "greeting = new\n");
    assert!(host.exists("/etc/containers/systemd/data.volume"));
    assert_eq!(
        host.sh("cat /var/lib/lath/host/replaced/*/etc/web/web.conf")
            .ok(),
        "by hand\n"
    );
    // An owner is put back, and restarts nothing.
    let owner = || host.run(&["stat", "-c", "%u:%g", "/etc/web/web.conf"]).ok();
    assert_eq!(owner(), "1000:1000\n");
    let before = host.invocation("web.service");
    host.run(&["chown", "0:0", "/etc/web/web.conf"]).ok();
    host.apply(&[]).ok();
    assert_eq!(owner(), "1000:1000\n");
    assert_eq!(host.invocation("web.service"), before);
    host.run(&["systemctl", "stop", "web.service"]).ok();
    let plan = host.plan(&[]).code(3).stdout;
    assert!(plan.contains("drift: it "), "{plan}");
    host.apply(&[]).ok();
    assert_eq!(host.active("web.service"), "active");
    host.plan(&[]).code(0);
}

#[test]
fn a_removed_service_is_stopped_and_its_volume_is_kept_until_purged() {
    let host = web("kadath");
    host.apply(&[]).ok();
    host.write("/etc/web/foreign.conf", "mine\n");
    host.commit(&[
        ("hosts/kadath/host.yaml", "host: kadath\nservices: []\n"),
        (
            "hosts/kadath/overrides/quadlet/web.container.d/20-port.conf",
            "",
        ),
    ]);
    let plan = host.plan(&[]).code(3).stdout;
    assert!(plan.contains("stop     web.service"), "{plan}");
    assert!(plan.contains("volume systemd-data of"), "{plan}");
    host.apply(&[]).ok();
    assert_eq!(host.property("web.service", "LoadState"), "not-found");
    assert!(!host.exists("/etc/containers/systemd/web.container"));
    assert!(
        host.exists("/etc/web/foreign.conf"),
        "a foreign file keeps its directory"
    );
    assert!(
        host.run(&["podman", "volume", "ls", "-q"])
            .ok()
            .contains("systemd-data")
    );
    assert_eq!(host.run(&["podman", "ps", "-q"]).ok(), "");
    assert_eq!(
        host.run(&["systemctl", "--failed", "--plain", "--no-legend"])
            .ok(),
        ""
    );
    // Selected again and removed again, with its volume.
    host.commit(&[("hosts/kadath/host.yaml", &host_file("kadath", &["web"]))]);
    host.apply(&[]).ok();
    host.commit(&[("hosts/kadath/host.yaml", "host: kadath\nservices: []\n")]);
    host.apply(&["--purge-volumes"]).ok();
    assert!(
        !host
            .run(&["podman", "volume", "ls", "-q"])
            .ok()
            .contains("systemd-data")
    );
}

#[test]
fn renamed_services_and_service_names_stop_the_old_unit_first() {
    let host = web("kadath");
    host.apply(&[]).ok();
    // The same port, the same container's name: both can only run one after the other.
    host.commit(&[(
        "services/web/quadlet-overrides/web.container.d/10-name.conf",
        "[Container]\nServiceName=front\n",
    )]);
    let plan = host.plan(&[]).code(3).stdout;
    assert!(plan.contains("its name becomes front.service"), "{plan}");
    host.apply(&[]).ok();
    assert_eq!(host.active("front.service"), "active");
    assert_eq!(host.property("web.service", "LoadState"), "not-found");
    // The file itself is renamed.
    host.commit(&[
        (
            "services/web/quadlet-overrides/web.container.d/10-name.conf",
            "",
        ),
        ("services/web/quadlet/web.container", ""),
        ("services/web/quadlet/site.container", WEB),
        (
            "hosts/kadath/overrides/quadlet/web.container.d/20-port.conf",
            "",
        ),
        (
            "hosts/kadath/overrides/quadlet/site.container.d/20-port.conf",
            PORT,
        ),
    ]);
    host.apply(&[]).ok();
    assert_eq!(host.active("site.service"), "active");
    assert_eq!(host.property("front.service", "LoadState"), "not-found");
    assert_eq!(
        host.run(&["curl", "-sf", "http://127.0.0.1:8081/"]).ok(),
        "hello\n"
    );
}

#[test]
fn comments_restart_nothing() {
    let host = web("kadath");
    host.apply(&[]).ok();
    let before = host.invocation("web.service");
    host.commit(&[
        (
            "hosts/kadath/overrides/quadlet/web.container.d/20-port.conf",
            "",
        ),
        (
            "hosts/kadath/overrides/quadlet/web.container.d/30-port.conf",
            &format!("# why\n{PORT}# end\n"),
        ),
    ]);
    let plan = host.plan(&[]).code(3).stdout;
    assert!(!plan.contains("restart"), "{plan}");
    host.apply(&[]).ok();
    assert_eq!(host.invocation("web.service"), before);
    assert!(
        host.read("/etc/containers/systemd/web.container")
            .contains("30-port.conf")
    );
    host.plan(&[]).code(0);
}

#[test]
fn a_socket_drop_in_changes_while_its_service_runs() {
    let socket = "[Socket]\nListenStream=127.0.0.1:7001\n[Install]\nWantedBy=sockets.target\n";
    let service = "[Unit]\nDescription=echo\n[Service]\nExecStart=/usr/bin/sleep infinity\n";
    let host = plain(
        "plain",
        &[
            ("systemd/echo.socket", socket),
            ("systemd/echo.service", service),
        ],
    );
    host.apply(&[]).ok();
    assert_eq!(host.active("echo.socket"), "active");
    assert_eq!(
        host.active("echo.service"),
        "inactive",
        "an idle service behind its socket is well"
    );
    host.run(&["systemctl", "start", "echo.service"]).ok();
    host.commit(&[(
        "hosts/plain/overrides/systemd/echo.socket.d/50-port.conf",
        "[Socket]\nListenStream=\nListenStream=127.0.0.1:7002\n",
    )]);
    let plan = host.plan(&[]).code(3).stdout;
    assert!(plan.contains("stop     echo.service"), "{plan}");
    host.apply(&[]).ok();
    assert_eq!(host.active("echo.socket"), "active");
    assert!(host.property("echo.socket", "Listen").contains("7002"));
    assert_eq!(host.active("echo.service"), "inactive");
    host.sh("exec 3<>/dev/tcp/127.0.0.1/7002").code(2);
    host.run(&["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/7002"])
        .ok();
    host.sh("for i in $(seq 50); do systemctl is-active -q echo.service && exit; sleep 0.05; done; exit 1").ok();
    host.plan(&[]).code(0);
}

#[test]
fn template_edits_restart_the_running_instances() {
    let template = |more: &str| {
        format!(
            "[Unit]\nDescription=worker %i\n[Service]\n{more}ExecStart=/usr/bin/sleep infinity\n"
        )
    };
    let host = plain("plain", &[("systemd/worker@.service", &template(""))]);
    host.apply(&[]).ok();
    host.run(&[
        "systemctl",
        "start",
        "worker@one.service",
        "worker@two.service",
    ])
    .ok();
    let before = host.invocation("worker@one.service");
    host.commit(&[(
        "services/a/systemd/worker@.service",
        &template("Environment=A=1\n"),
    )]);
    host.apply(&[]).ok();
    assert_ne!(host.invocation("worker@one.service"), before);
    assert_eq!(host.active("worker@two.service"), "active");
    host.plan(&[]).code(0);
    host.commit(&[
        ("services/a/systemd/worker@.service", ""),
        ("services/a/systemd/other.service", &sleeper("")),
    ]);
    host.apply(&[]).ok();
    assert_ne!(host.active("worker@one.service"), "active");
    assert_eq!(host.active("other.service"), "active");
}

#[test]
fn a_quadlet_template_has_a_default_instance_and_others() {
    let host = TestHost::boot("plain");
    host.import_image();
    let template = |more: &str| {
        format!(
            "[Container]\nImage=localhost/web:1\nContainerName=w-%i\nStopSignal=SIGKILL\n{more}\
             [Install]\nDefaultInstance=one\nWantedBy=multi-user.target\n"
        )
    };
    host.commit(&[
        ("hosts/plain/host.yaml", &host_file("plain", &["a"])),
        ("services/a/quadlet/w@.container", &template("")),
    ]);
    host.apply(&[]).ok();
    assert_eq!(host.active("w@one.service"), "active");
    host.run(&["systemctl", "start", "w@two.service"]).ok();
    host.plan(&[]).code(0);
    let names = || host.run(&["podman", "ps", "--format", "{{.Names}}"]).ok();
    assert_eq!(names().lines().count(), 2);
    let before = ["w@one.service", "w@two.service"].map(|unit| host.invocation(unit));
    host.commit(&[(
        "hosts/plain/overrides/quadlet/w@.container.d/50-env.conf",
        "[Container]\nEnvironment=A=1\n",
    )]);
    let plan = host.plan(&[]).code(3).stdout;
    assert!(plan.contains("restart  w@one.service"), "{plan}");
    assert!(plan.contains("restart  w@two.service"), "{plan}");
    host.apply(&[]).ok();
    for (unit, before) in ["w@one.service", "w@two.service"].iter().zip(before) {
        assert_eq!(host.active(unit), "active");
        assert_ne!(host.invocation(unit), before);
    }
    let env = host.run(&["podman", "exec", "w-two", "/bin/env"]).ok();
    assert!(env.contains("A=1"), "{env}");
    host.plan(&[]).code(0);
    // A new definition that does not come up: the instances go back with their template.
    host.commit(&[(
        "hosts/plain/overrides/quadlet/w@.container.d/50-env.conf",
        "[Container]\nEnvironment=A=2\nExec=/bin/false\n[Service]\nType=oneshot\n",
    )]);
    host.apply(&["--timeout", "20"]).code(1);
    for name in ["w-one", "w-two"] {
        let env = host.run(&["podman", "exec", name, "/bin/env"]).ok();
        assert!(env.contains("A=1"), "{name}: {env}");
    }
    // Gone, with all instances.
    host.commit(&[("hosts/plain/host.yaml", "host: plain\nservices: []\n")]);
    host.apply(&[]).ok();
    assert_eq!(names(), "");
}

#[test]
fn a_unit_that_the_generator_would_drop_fails_the_plan() {
    let host = web("kadath");
    host.apply(&[]).ok();
    let before = host.read("/etc/containers/systemd/web.container");
    // Right by its syntax and keys; Quadlet itself refuses the value.
    host.commit(&[(
        "services/web/quadlet-overrides/web.container.d/10-bad.conf",
        "[Container]\nUserNS=keep-id\nRemapUsers=manual\n",
    )]);
    let plan = host.plan(&[]).code(1);
    assert!(plan.stderr.contains("web.container"), "{}", plan.stderr);
    assert!(plan.stderr.contains("preflight"), "{}", plan.stderr);
    let apply = host.apply(&[]).code(1);
    assert!(
        apply.stderr.contains("the host was not touched"),
        "{}",
        apply.stderr
    );
    assert_eq!(host.read("/etc/containers/systemd/web.container"), before);
    assert_eq!(host.active("web.service"), "active");
}

#[test]
fn a_service_that_fails_is_rolled_back_and_its_commit_held() {
    let host = plain("plain", &[("systemd/a.service", &sleeper(""))]);
    host.apply(&[]).ok();
    let good = host.read("/etc/systemd/system/a.service");
    let bad = "[Unit]\nDescription=a\n[Service]\nExecStart=/usr/bin/false\nType=oneshot\n[Install]\nWantedBy=multi-user.target\n";
    let commit = host.commit(&[
        ("services/a/systemd/a.service", bad),
        ("services/a/systemd/b.service", &sleeper("")),
    ]);
    let apply = host.apply(&[]).code(1);
    assert!(
        apply.stderr.contains("generation 1 was restored"),
        "{}",
        apply.stderr
    );
    assert_eq!(host.read("/etc/systemd/system/a.service"), good);
    assert_eq!(host.active("a.service"), "active");
    assert!(!host.exists("/etc/systemd/system/b.service"));
    assert!(!host.exists("/etc/systemd/system/multi-user.target.wants/b.service"));
    let status = host.lath(&["status", "--json"]).ok();
    assert!(status.contains(&commit), "{status}");
    // Not tried again, but the installed generation is still looked after.
    let before = host.invocation("a.service");
    let held = host.apply(&[]).code(1);
    assert!(held.stdout.contains("held back"), "{}", held.stdout);
    assert_eq!(host.invocation("a.service"), before);
    host.run(&["systemctl", "stop", "a.service"]).ok();
    host.apply(&[]).code(1);
    assert_eq!(host.active("a.service"), "active");
    host.apply(&["--retry"]).code(1);
    // A new commit is tried.
    host.commit(&[("services/a/systemd/a.service", &sleeper("# better"))]);
    host.apply(&[]).ok();
    assert_eq!(host.active("b.service"), "active");
    // By hand: back, and held.
    host.lath(&["rollback", "1", "--settle", "0.2"]).ok();
    assert!(!host.exists("/etc/systemd/system/b.service"));
    assert!(
        host.apply(&[])
            .code(1)
            .stdout
            .contains("rolled back by hand")
    );
    assert!(!host.exists("/etc/systemd/system/b.service"));
    host.apply(&["--retry"]).ok();
    assert_eq!(host.active("b.service"), "active");
    assert!(host.lath(&["history"]).ok().contains("rollback to 1"));
}

#[test]
fn a_failing_unit_is_kept_when_asked_or_when_there_is_nothing_to_go_back_to() {
    let bad = "[Unit]\nDescription=a\n[Service]\nExecStart=/usr/bin/sh -c 'sleep 0.1; exit 1'\n[Install]\nWantedBy=multi-user.target\n";
    let host = plain("plain", &[("systemd/a.service", bad)]);
    let apply = host.apply(&["--settle", "1"]).code(1);
    assert!(
        apply.stderr.contains("no earlier generation"),
        "{}",
        apply.stderr
    );
    assert!(host.exists("/etc/systemd/system/a.service"));
    assert!(host.apply(&[]).code(1).stdout.contains("held back"));
    host.commit(&[("services/a/systemd/a.service", &sleeper(""))]);
    host.apply(&[]).ok();
    host.commit(&[("services/a/systemd/a.service", bad)]);
    host.apply(&["--no-rollback", "--settle", "1"]).code(1);
    assert!(
        host.read("/etc/systemd/system/a.service")
            .contains("exit 1")
    );
    host.commit(&[("services/a/systemd/a.service", &sleeper("# again"))]);
    host.apply(&[]).ok();
    assert_eq!(host.active("a.service"), "active");
}

#[test]
fn foreign_files_are_conflicts_until_adopted() {
    let host = plain(
        "plain",
        &[
            ("systemd/a.service", &sleeper("")),
            ("config/etc/a/a.conf", "ours\n"),
        ],
    );
    host.write(
        "/etc/systemd/system/a.service",
        "[Service]\nExecStart=/usr/bin/sleep 1000\n",
    );
    host.write(
        "/etc/systemd/system/foreign.service",
        "[Service]\nExecStart=/usr/bin/sleep 1000\n",
    );
    host.write("/etc/a/other.conf", "foreign\n");
    let plan = host.plan(&[]).code(1);
    assert!(
        plan.stdout.contains("was not put there by Lath"),
        "{}",
        plan.stdout
    );
    host.apply(&[]).code(1);
    assert!(!host.exists("/etc/a/a.conf"), "nothing is done by halves");
    host.apply(&["--adopt"]).ok();
    host.write(
        "/run/systemd/system/a.service.d/x.conf",
        "[Service]\nNice=3\n",
    );
    let told = host.plan(&[]).stdout;
    assert!(
        told.contains("`/run/systemd/system/a.service.d/x.conf` changes a.service"),
        "{told}"
    );
    assert!(
        host.sh("cat /var/lib/lath/host/replaced/*/etc/systemd/system/a.service")
            .ok()
            .contains("sleep 1000")
    );
    assert_eq!(host.active("a.service"), "active");
    host.commit(&[("hosts/plain/host.yaml", "host: plain\nservices: []\n")]);
    host.apply(&[]).ok();
    assert!(!host.exists("/etc/systemd/system/a.service"));
    assert!(host.exists("/etc/systemd/system/foreign.service"));
    assert_eq!(host.read("/etc/a/other.conf"), "foreign\n");
}

#[test]
fn a_changed_network_is_reported_and_a_link_on_the_way_is_not_followed() {
    let host = TestHost::boot("plain");
    host.import_image();
    host.commit(&[
        ("hosts/plain/host.yaml", &host_file("plain", &["a"])),
        (
            "services/a/quadlet/n.network",
            "[Network]\nSubnet=10.99.0.0/24\n",
        ),
        (
            "services/a/quadlet/c.container",
            "[Container]\nImage=localhost/web:1\nStopSignal=SIGKILL\nNetwork=n.network\n",
        ),
        ("services/a/config/etc/a/a.conf", "one\n"),
    ]);
    host.apply(&[]).ok();
    assert_eq!(host.active("c.service"), "active");
    let before = host.invocation("c.service");
    host.commit(&[(
        "services/a/quadlet/n.network",
        "[Network]\nSubnet=10.98.0.0/24\n",
    )]);
    let plan = host.plan(&[]).code(3).stdout;
    assert!(plan.contains("podman keeps the network as it is"), "{plan}");
    host.apply(&[]).ok();
    assert_eq!(host.invocation("c.service"), before);
    host.plan(&[]).code(0);
    // Somebody puts a link in place of the directory.
    host.sh("mv /etc/a /root/a && ln -s /root/a /etc/a").ok();
    host.commit(&[("services/a/config/etc/a/a.conf", "two\n")]);
    let apply = host.apply(&[]).code(1);
    assert!(apply.stderr.contains("confined"), "{}", apply.stderr);
    assert_eq!(host.read("/root/a/a.conf"), "one\n");
}
