//! Killed with SIGKILL at every step: the next run converges to what an undisturbed one gives, and
//! in between nothing that is loadable is half-written.

use std::collections::BTreeSet;

use crate::testhost::TestHost;

const TREES: &str = "etc/systemd/system etc/containers/systemd etc/app";

/// Everything below the managed directories, each with its content.
fn files(host: &TestHost) -> BTreeSet<String> {
    let script = format!(
        "cd /; for d in {TREES}; do test -d $d || continue; find $d -type f -exec sha256sum {{}} +; \
         find $d -type l -printf '%l %p\\n'; find $d -printf '%m %p\\n'; done"
    );
    host.sh(&script).ok().lines().map(str::to_owned).collect()
}

/// Files, what runs, and what is remembered.
fn shows(host: &TestHost, units: &[&str]) -> String {
    let mut all: String = files(host).into_iter().map(|line| line + "\n").collect();
    let command = [
        &[
            "systemctl",
            "show",
            "-p",
            "Id,LoadState,ActiveState,NeedDaemonReload",
        ][..],
        units,
    ]
    .concat();
    all.push_str(&host.run(&command).ok());
    all.push_str(&host.sh("ls -A /var/lib/lath/host | sort; sed 's/.*\"failed\"/failed/; s/\"time\":\"[^\"]*\"//g' /var/lib/lath/host/state.json").ok());
    all
}

struct Story<'a> {
    host: &'a TestHost,
    units: &'a [&'a str],
    /// The status that an undisturbed run may have besides 0.
    code: i32,
    /// What is applied between two attempts, so that a failure is forgotten.
    between: &'a [&'a str],
}

impl Story<'_> {
    fn arguments(tree: &str) -> [&str; 8] {
        [
            "lath", "host", "apply", "--repo", tree, "--settle", "0", "--host",
        ]
    }

    fn run(&self, tree: &str, variables: &[(&str, &str)]) -> i32 {
        let command = [&Self::arguments(tree)[..], &["plain"]].concat();
        let output = self.host.run_with(variables, &command);
        if !variables.iter().any(|(name, _)| *name == "LATH_FAULT_KILL") {
            assert!(
                output.code == self.code || output.code == 0,
                "{tree}: {}\n{}{}",
                output.code,
                output.stdout,
                output.stderr
            );
        }
        output.code
    }

    /// How many points a run towards `tree` passes.
    fn points(&self, tree: &str) -> Vec<String> {
        let _ = std::fs::remove_file(self.host.path("/tmp/trace"));
        self.run(tree, &[("LATH_FAULT_TRACE", "/tmp/trace")]);
        self.host
            .read("/tmp/trace")
            .lines()
            .map(str::to_owned)
            .collect()
    }

    /// Kills runs from `from` to `to` at each `step`-th point; each time the next run must converge.
    fn kill_all(&self, from: &str, to: &str, step: usize, start: usize) -> usize {
        self.run(from, &[]);
        let before = files(self.host);
        // The first run has more to do (contents are stored); the second shows the steady state.
        self.points(to);
        let expected = shows(self.host, self.units);
        let after = files(self.host);
        self.back(from);
        let points = self.points(to);
        self.back(from);
        let sums = format!("find {to}/services -type f -exec sha256sum {{}} + | cut -d' ' -f1");
        let whole = self.host.sh(&sums).ok();
        let whole: BTreeSet<&str> = whole.lines().collect();
        let mut killed = 0;
        for (number, what) in points.iter().enumerate().skip(start).step_by(step) {
            let number = (number + 1).to_string();
            let code = self.run(to, &[("LATH_FAULT_KILL", &number)]);
            assert_eq!(code, 137, "killed at {what}");
            killed += 1;
            for line in files(self.host) {
                let loadable = !line.ends_with(".tmp");
                // Content comes first in its line; modes and links are shorter.
                let content = line.split(' ').next().filter(|word| word.len() == 64);
                let is_whole = content.is_none_or(|content| whole.contains(content));
                assert!(
                    !loadable || is_whole || before.contains(&line) || after.contains(&line),
                    "after a kill at {what} there is `{line}`"
                );
            }
            self.run(to, &[]);
            assert_eq!(
                shows(self.host, self.units),
                expected,
                "after a kill at {what}"
            );
            self.back(from);
        }
        println!("{killed} of {} points from {from} to {to}", points.len());
        killed
    }

    fn back(&self, from: &str) {
        for tree in self.between {
            self.run(tree, &[]);
        }
        self.run(from, &[]);
    }
}

fn service(more: &str) -> String {
    format!(
        "[Service]\nExecStart=/usr/bin/sleep infinity\n{more}[Install]\nWantedBy=multi-user.target\n"
    )
}

fn tree(host: &TestHost, name: &str, files: &[(&str, &str)]) {
    host.write(
        &format!("/srv/{name}/hosts/plain/host.yaml"),
        "host: plain\nservices: [app]\n",
    );
    for (path, text) in files {
        host.write(&format!("/srv/{name}/services/app/{path}"), text);
    }
}

const UNITS: [&str; 6] = [
    "app.service",
    "old.service",
    "new.service",
    "s.socket",
    "s.service",
    "t.timer",
];

fn two_trees(host: &TestHost) {
    let timer =
        "[Timer]\nOnCalendar=2099-01-01\nUnit=old.service\n[Install]\nWantedBy=timers.target\n";
    let socket = |port: &str| {
        format!("[Socket]\nListenStream=127.0.0.1:{port}\n[Install]\nWantedBy=sockets.target\n")
    };
    tree(
        host,
        "one",
        &[
            (
                "systemd/app.service",
                &service("Environment=CONF=/etc/app/app.conf\n"),
            ),
            (
                "systemd/old.service",
                "[Service]\nExecStart=/usr/bin/sleep infinity\n",
            ),
            ("systemd/t.timer", timer),
            ("systemd/s.socket", &socket("7001")),
            (
                "systemd/s.service",
                "[Service]\nExecStart=/usr/bin/sleep infinity\n",
            ),
            ("config/etc/app/app.conf", "one\n"),
        ],
    );
    tree(
        host,
        "two",
        &[
            (
                "systemd/app.service",
                &service("Environment=CONF=/etc/app/app.conf TWO=2\n"),
            ),
            ("systemd/new.service", &service("")),
            ("systemd/s.socket", &socket("7002")),
            (
                "systemd/s.service",
                "[Service]\nExecStart=/usr/bin/sleep infinity\n",
            ),
            ("config/etc/app/app.conf", "two\n"),
            ("config/etc/app/more/more.conf", "two\n"),
        ],
    );
}

/// Both directions of a change with new, changed and removed units, sockets and payloads. Two
/// tests, so that two cores share the points.
fn there_and_back(start: usize) {
    let host = TestHost::boot("plain");
    two_trees(&host);
    let story = Story {
        host: &host,
        units: &UNITS,
        code: 0,
        between: &[],
    };
    let killed = story.kill_all("/srv/one", "/srv/two", 2, start)
        + story.kill_all("/srv/two", "/srv/one", 2, start);
    assert!(killed >= 70, "only {killed} kill points");
}

#[test]
fn killed_at_every_odd_step_of_a_change() {
    there_and_back(0);
}

#[test]
fn killed_at_every_even_step_of_a_change() {
    there_and_back(1);
}

#[test]
fn killed_at_every_step_of_a_rollback() {
    let host = TestHost::boot("plain");
    two_trees(&host);
    tree(
        &host,
        "bad",
        &[
            (
                "systemd/app.service",
                &service("Environment=BAD=1\n").replace("sleep infinity", "false\nType=oneshot"),
            ),
            ("systemd/new.service", &service("")),
        ],
    );
    let story = Story {
        host: &host,
        units: &UNITS,
        code: 1,
        between: &["/srv/two"],
    };
    let killed = story.kill_all("/srv/one", "/srv/bad", 2, 0);
    assert!(killed >= 55, "only {killed} kill points");
}

#[test]
fn killed_while_containers_change() {
    let host = TestHost::boot("plain");
    host.import_image();
    let container = |more: &str| {
        format!(
            "[Container]\nImage=localhost/web:1\nStopSignal=SIGKILL\n{more}Volume=/etc/app:/etc/app:ro\nVolume=v.volume:/v\n[Install]\nWantedBy=multi-user.target\n"
        )
    };
    tree(
        &host,
        "one",
        &[
            ("quadlet/app.container", &container("")),
            ("quadlet/v.volume", "[Volume]\n"),
            ("config/etc/app/app.conf", "one\n"),
        ],
    );
    tree(
        &host,
        "two",
        &[
            (
                "quadlet/app.container",
                &container("ServiceName=front\nPublishPort=8081:8080\n"),
            ),
            ("quadlet/v.volume", "[Volume]\n"),
            ("config/etc/app/app.conf", "two\n"),
        ],
    );
    let story = Story {
        host: &host,
        units: &["app.service", "front.service", "v-volume.service"],
        code: 0,
        between: &[],
    };
    let killed = story.kill_all("/srv/one", "/srv/two", 4, 1);
    assert!(killed >= 8, "only {killed} kill points");
}
