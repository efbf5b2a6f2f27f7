//! Killed with SIGKILL at every step: the next run converges to what an undisturbed one gives, and
//! in between every loadable file is whole, as it was before or as it was meant to be.
//!
//! A story is a cycle of trees that are applied one after the other. The first time round nothing
//! is disturbed, and what each step leads to is written down, with the points it passes. From then on
//! each step is killed at a later point than the time before, and run again, until all points that
//! the story asks for have had their turn.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::thread;

use crate::testhost::TestHost;

/// What line 3 of the acceptance asks for.
const WANTED: usize = 200;

/// Everything below the managed directories, each with its content, its mode, its target.
const FILES: &str = "for d in etc/systemd/system etc/containers/systemd etc/app; do test -d $d || continue; \
     find $d -type f -exec sha256sum {} +; find $d -type l -printf '%l %p\\n'; find $d -printf '%m %p\\n'; done";

fn lines(text: &str) -> BTreeSet<String> {
    text.lines().map(str::to_owned).collect()
}

struct Step {
    tree: String,
    /// With which status an undisturbed run ends.
    code: i32,
    /// Which points are killed: each `stride`-th from `first`; from the first one on also all that are
    /// about units; none with a stride of 0.
    first: usize,
    stride: usize,
}

impl Step {
    fn points(&self, trace: &str) -> Vec<usize> {
        let about_units = |what: &str| what.contains("Unit ") || what.contains("Reload");
        // A later run has more to do at its end: old generations are removed.
        let passed = trace.lines().map(about_units).chain([false; 8]);
        let wanted = passed.enumerate().filter(|(number, always)| {
            let number = number + 1;
            let in_turn = number >= self.first && (number - self.first) % self.stride.max(1) == 0;
            self.stride > 0 && (in_turn || *always && self.first == 1)
        });
        wanted.map(|(number, _)| number + 1).collect()
    }
}

/// What an undisturbed step leads to.
struct Undisturbed {
    shows: String,
    /// Where it is to be killed from now on.
    points: Vec<usize>,
    /// All that may lie on the host while the step is under way.
    allowed: BTreeSet<String>,
}

struct Story<'a> {
    name: &'a str,
    host: &'a TestHost,
    units: &'a str,
    /// Prints more of what an undisturbed run and a finished one must agree in.
    more: &'a str,
    steps: Vec<Step>,
}

impl Story<'_> {
    fn run(&self, step: &Step, variables: &[(&str, &str)]) -> (i32, String) {
        let command = [
            "lath", "host", "apply", "--repo", &step.tree, "--settle", "0", "--host", "plain",
        ];
        let output = self.host.run_with(variables, &command);
        (output.code, format!("{}{}", output.stdout, output.stderr))
    }

    #[track_caller]
    fn undisturbed(&self, step: &Step) {
        let (code, said) = self.run(step, &[]);
        assert_eq!(code, step.code, "{}, {}: {said}", self.name, step.tree);
    }

    /// Files, what runs, what is remembered.
    fn shows(&self) -> String {
        let script = format!(
            "cd /; {FILES} | sort; systemctl show -p Id,LoadState,ActiveState,NeedDaemonReload {}; \
             ls -A /var/lib/lath/host | sort; \
             sed 's/.*\"failed\"/failed/; s/\"time\":\"[^\"]*\"//g' /var/lib/lath/host/state.json; {}",
            self.units, self.more
        );
        self.host.sh(&script).ok()
    }

    fn files(&self) -> BTreeSet<String> {
        lines(&self.host.sh(&format!("cd /; {FILES}")).ok())
    }

    /// What the tree puts on a host that has nothing else.
    fn installs(&self, step: &Step) -> BTreeSet<String> {
        let script = format!(
            "rm -rf /tmp/alone; mkdir /tmp/alone; lath host apply --root /tmp/alone --repo {} --host plain > /dev/null; \
             cd /tmp/alone; {FILES}",
            step.tree
        );
        lines(&self.host.sh(&script).ok())
    }

    fn tell(&self) -> BTreeSet<String> {
        // Once to store all contents, once to write down what is right.
        for step in &self.steps {
            self.undisturbed(step);
        }
        let mut right = Vec::new();
        let mut before = self.files();
        for step in &self.steps {
            let points = step.points(&self.traced(step));
            let after = self.files();
            let mut allowed = self.installs(step);
            allowed.extend(before);
            allowed.extend(after.iter().cloned());
            right.push(Undisturbed {
                shows: self.shows(),
                points,
                allowed,
            });
            before = after;
        }
        let mut killed = BTreeSet::new();
        let rounds = right.iter().map(|right| right.points.len()).max();
        for round in 0..rounds.unwrap_or(0) {
            for (step, right) in self.steps.iter().zip(&right) {
                let point = right.points.get(round);
                let what = point.and_then(|point| self.kill(step, *point, right));
                self.undisturbed(step);
                if let Some(what) = what {
                    let what = format!("{}, to {}: {what}", self.name, step.tree);
                    assert_eq!(self.shows(), right.shows, "after a kill: {what}");
                    killed.insert(what);
                }
            }
        }
        println!("{} kill points: {}", killed.len(), self.name);
        killed
    }

    /// The points that an undisturbed run passes.
    fn traced(&self, step: &Step) -> String {
        let _ = std::fs::remove_file(self.host.path("/tmp/trace"));
        let (code, said) = self.run(step, &[("LATH_FAULT_TRACE", "/tmp/trace")]);
        assert_eq!(code, step.code, "{}, {}: {said}", self.name, step.tree);
        self.host.read("/tmp/trace")
    }

    /// Kills a run at a point, and looks at what it leaves; the point's name, if there is one.
    fn kill(&self, step: &Step, point: usize, right: &Undisturbed) -> Option<String> {
        let _ = std::fs::remove_file(self.host.path("/tmp/trace"));
        let number = point.to_string();
        let variables = [
            ("LATH_FAULT_KILL", number.as_str()),
            ("LATH_FAULT_TRACE", "/tmp/trace"),
        ];
        let (code, said) = self.run(step, &variables);
        if code == step.code {
            return None;
        }
        assert_eq!(code, 137, "{}: {said}", self.name);
        let trace = self.host.read("/tmp/trace");
        let what = trace.lines().last().expect("it was killed at a point");
        for line in self.files() {
            // A temporary name ends in what neither systemd nor Quadlet loads.
            assert!(
                line.ends_with(".tmp") || right.allowed.contains(&line),
                "{}, killed at {what}, there is `{line}`",
                self.name
            );
        }
        Some(what.to_owned())
    }
}

fn steps(prefix: &str, cycle: &[(&str, i32, usize)], first: usize) -> Vec<Step> {
    cycle
        .iter()
        .map(|(tree, code, stride)| Step {
            tree: format!("/srv/{prefix}-{tree}"),
            code: *code,
            first,
            stride: *stride,
        })
        .collect()
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

const IDLE: &str = "[Service]\nExecStart=/usr/bin/sleep infinity\n";

fn service(more: &str) -> String {
    format!("{IDLE}{more}[Install]\nWantedBy=multi-user.target\n")
}

const UNITS: &str = "app.service old.service new.service s.socket s.service t.timer";

/// Units, sockets and payloads that are new, changed and removed; and a tree that does not come up.
fn native(host: &TestHost) {
    let timer =
        "[Timer]\nOnCalendar=2099-01-01\nUnit=old.service\n[Install]\nWantedBy=timers.target\n";
    let socket = |port: &str| {
        format!("[Socket]\nListenStream=127.0.0.1:{port}\n[Install]\nWantedBy=sockets.target\n")
    };
    let app = |more: &str| service(&format!("Environment=CONF=/etc/app/app.conf {more}\n"));
    let one = [
        ("systemd/app.service", &*app("")),
        ("systemd/old.service", IDLE),
        ("systemd/t.timer", timer),
        ("systemd/s.socket", &socket("7001")),
        ("systemd/s.service", IDLE),
        ("config/etc/app/app.conf", "one\n"),
    ];
    let two = [
        ("systemd/app.service", &*app("TWO=2")),
        ("systemd/new.service", &service("")),
        ("systemd/s.socket", &socket("7002")),
        ("systemd/s.service", IDLE),
        ("config/etc/app/app.conf", "two\n"),
        ("config/etc/app/more/more.conf", "two\n"),
    ];
    let fails = app("BAD=1").replace("sleep infinity", "false\nType=oneshot");
    let bad = [
        ("systemd/app.service", fails.as_str()),
        ("systemd/new.service", &service("")),
    ];
    tree(host, "native-one", &one);
    tree(host, "native-two", &two);
    tree(host, "native-bad", &bad);
}

/// Both directions of a change.
fn there_and_back(host: &TestHost, first: usize, stride: usize) -> BTreeSet<String> {
    native(host);
    let cycle = [("one", 0, stride), ("two", 0, stride)];
    let story = Story {
        name: "a change",
        host,
        units: UNITS,
        more: "",
        steps: steps("native", &cycle, first),
    };
    story.tell()
}

/// A commit that does not come up, from two states, and the way back to each of them.
fn rollback(host: &TestHost, first: usize, stride: usize) -> BTreeSet<String> {
    native(host);
    let cycle = [("one", 0, 0), ("bad", 1, stride), ("two", 0, 0)];
    let story = Story {
        name: "a rollback",
        host,
        units: UNITS,
        more: "",
        steps: steps("native", &cycle, first),
    };
    story.tell()
}

/// A template is edited while two of its instances run.
fn instances(host: &TestHost, first: usize, stride: usize) -> BTreeSet<String> {
    for (name, more) in [("t-one", ""), ("t-two", "Environment=TWO=2\n")] {
        let unit = format!("{IDLE}{more}");
        tree(host, name, &[("systemd/w@.service", &unit)]);
    }
    let cycle = [("one", 0, stride), ("two", 0, stride)];
    let story = Story {
        name: "instances",
        host,
        units: "w@1.service w@2.service",
        // Each runs what its template says now.
        more: "systemctl show -p Environment w@1.service w@2.service; \
               for i in 1 2; do tr '\\0' '\\n' < /proc/$(systemctl show -P MainPID w@$i)/environ | grep TWO || true; done",
        steps: steps("t", &cycle, first),
    };
    story.undisturbed(&story.steps[0]);
    host.run(&["systemctl", "start", "w@1.service", "w@2.service"])
        .ok();
    story.tell()
}

/// Containers are renamed and changed, with their volume and configuration.
fn containers(host: &TestHost, first: usize, stride: usize) -> BTreeSet<String> {
    host.import_image();
    let container = |more: &str| {
        format!(
            "[Container]\nImage=localhost/web:1\nStopSignal=SIGKILL\n{more}Volume=/etc/app:/etc/app:ro\nVolume=v.volume:/v\n[Install]\nWantedBy=multi-user.target\n"
        )
    };
    for (name, more, conf) in [
        ("c-one", "", "one\n"),
        (
            "c-two",
            "ServiceName=front\nPublishPort=8081:8080\n",
            "two\n",
        ),
    ] {
        let files = [
            ("quadlet/app.container", &*container(more)),
            ("quadlet/v.volume", "[Volume]\n"),
            ("config/etc/app/app.conf", conf),
        ];
        tree(host, name, &files);
    }
    let cycle = [("one", 0, stride), ("two", 0, stride)];
    let story = Story {
        name: "containers",
        host,
        units: "app.service front.service v-volume.service",
        more: "podman ps -a --format '{{.Names}} {{.State}}'; podman volume ls -q; \
               /usr/libexec/podman/quadlet -dryrun 2> /dev/null | grep SourcePath=",
        steps: steps("c", &cycle, first),
    };
    story.tell()
}

type Tell = fn(&TestHost, usize, usize) -> BTreeSet<String>;

/// Two hosts take the stories from one list, so that two cores share the points.
#[test]
fn killed_at_every_step_the_next_run_converges() {
    let stories: [(Tell, usize, usize); 5] = [
        (there_and_back, 1, 2),
        (there_and_back, 2, 2),
        (containers, 1, 3),
        (rollback, 1, 2),
        (instances, 1, 2),
    ];
    let left = Mutex::new(stories.into_iter());
    let killed: Mutex<BTreeSet<String>> = Mutex::default();
    let work = || {
        let host = TestHost::boot("plain");
        loop {
            let next = left.lock().expect("no other panicked").next();
            let Some((tell, first, stride)) = next else {
                return;
            };
            let more = tell(&host, first, stride);
            killed.lock().expect("no other panicked").extend(more);
        }
    };
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(work);
        }
    });
    let killed = killed.into_inner().expect("no thread panicked");
    let of = |verb: &str| {
        let named = |line: &&String| line.contains(&format!(" {verb} "));
        killed.iter().filter(named).count()
    };
    println!(
        "{} distinct kill points; among them {} writes, {} renames, {} starts and restarts asked for or under way",
        killed.len(),
        of("write"),
        of("rename"),
        of("StartUnit") + of("RestartUnit"),
    );
    for step in [
        "write",
        "rename",
        "remove",
        "StopUnit",
        "StartUnit",
        "RestartUnit",
    ] {
        assert!(of(step) > 0, "no kill at {step}");
    }
    assert!(killed.iter().any(|line| line.ends_with(" Reload")));
    let starts = |line: &&String| line.starts_with("containers") && line.contains("StartUnit");
    assert!(
        killed.iter().filter(starts).count() >= 4,
        "container starts"
    );
    assert!(killed.len() >= WANTED, "only {} kill points", killed.len());
}
