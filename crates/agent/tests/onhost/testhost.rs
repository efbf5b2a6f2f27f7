//! A throw-away host: a real systemd and podman in namespaces of their own, over an overlay in
//! memory. `tests/setup/testhost` makes the root directory that it boots.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};

/// How many hosts run at a time: as many as a small machine has cores.
const AT_A_TIME: usize = 2;
static RUNNING: Mutex<usize> = Mutex::new(0);
static ENDED: Condvar = Condvar::new();

/// A place among the running hosts, or all of them; others wait for it.
struct Place(usize);

impl Place {
    fn wait(share: usize) -> Arc<Place> {
        let running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
        let full = |running: &mut usize| *running + share > AT_A_TIME;
        let waited = ENDED.wait_while(running, full);
        *waited.unwrap_or_else(PoisonError::into_inner) += share;
        Arc::new(Place(share))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        *RUNNING.lock().unwrap_or_else(PoisonError::into_inner) -= self.0;
        ENDED.notify_all();
    }
}

pub struct TestHost {
    name: String,
    leader: String,
    _place: Arc<Place>,
}

pub struct Output {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Output {
    #[track_caller]
    pub fn ok(self) -> String {
        assert_eq!(self.code, 0, "failed\n{}{}", self.stdout, self.stderr);
        self.stdout
    }

    #[track_caller]
    pub fn code(self, code: i32) -> Output {
        assert_eq!(
            self.code, code,
            "unexpected status\n{}{}",
            self.stdout, self.stderr
        );
        self
    }
}

fn scripts() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/testhost")
}

/// `lath`, freshly built with its points of failure.
fn binary() -> &'static PathBuf {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| {
        let workspace = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
        let built = Command::new(env!("CARGO"))
            .args(["build", "--quiet", "--locked", "-p", "lath"])
            .current_dir(&workspace)
            .status()
            .expect("cargo runs");
        assert!(built.success(), "lath does not build");
        let own = std::env::current_exe().expect("a test has a path");
        let profile = own.ancestors().nth(2).expect("target/debug/deps/onhost");
        profile.join("lath")
    })
}

fn root() -> PathBuf {
    let home = || PathBuf::from(std::env::var_os("HOME").expect("HOME is set"));
    let cache = std::env::var_os("LATH_CACHE")
        .map(PathBuf::from)
        .unwrap_or_else(|| {
            let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
            cache
                .unwrap_or_else(|| home().join(".cache"))
                .join("lath-test")
        });
    let root = cache.join("testhost");
    assert!(
        root.join("usr/bin/podman").exists(),
        "the test host is missing: run tests/setup/testhost as root (it makes {})",
        root.display()
    );
    root.canonicalize().expect("it was just seen")
}

impl TestHost {
    /// Boots a host with this name, with `lath` in it.
    pub fn boot(name: &str) -> TestHost {
        TestHost::boot_in(name, Place::wait(1))
    }

    /// Boots several hosts that run side by side, while no others do.
    pub fn boot_together<const N: usize>(names: [&str; N]) -> [TestHost; N] {
        let place = Place::wait(AT_A_TIME);
        names.map(|name| TestHost::boot_in(name, Arc::clone(&place)))
    }

    fn boot_in(name: &str, place: Arc<Place>) -> TestHost {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        // The control group's name must be its own; the host's name need not.
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let group = format!("{name}-{}-{number}", std::process::id());
        let output = Command::new(scripts().join("boot"))
            .arg(&group)
            .arg(root())
            .output()
            .expect("the boot script runs");
        assert!(
            output.status.success(),
            "{name} did not boot: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        let host = TestHost {
            name: group,
            leader: String::from_utf8_lossy(&output.stdout).trim().to_owned(),
            _place: place,
        };
        fs::copy(binary(), host.path("/usr/bin/lath")).expect("lath is copied");
        host.run(&["hostname", name]).ok();
        host.write(
            "/root/.gitconfig",
            "[user]\nname = t\nemail = t@example.org\n[init]\ndefaultBranch = main\n",
        );
        host
    }

    /// A path inside, as seen from outside.
    pub fn path(&self, inside: &str) -> PathBuf {
        PathBuf::from(format!("/proc/{}/root{inside}", self.leader))
    }

    pub fn run(&self, command: &[&str]) -> Output {
        self.run_with(&[], command)
    }

    pub fn run_with(&self, variables: &[(&str, &str)], command: &[&str]) -> Output {
        let output = Command::new("nsenter")
            .args(["-t", &self.leader, "-a", "--"])
            .args(command)
            .env_clear()
            .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
            .env("HOME", "/root")
            .env("LC_ALL", "C.UTF-8")
            .envs(variables.iter().copied())
            .output()
            .expect("nsenter runs");
        Output {
            // As a shell counts: a signal is 128 and its number.
            code: output
                .status
                .code()
                .or(output.status.signal().map(|signal| 128 + signal))
                .unwrap_or(-1),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    pub fn sh(&self, script: &str) -> Output {
        self.run(&["sh", "-euc", script])
    }

    pub fn lath(&self, arguments: &[&str]) -> Output {
        let all: Vec<&str> = ["lath", "host"]
            .into_iter()
            .chain(arguments.iter().copied())
            .collect();
        self.run(&all)
    }

    /// Applies the main branch of the repository in /srv/hosts, unless told otherwise.
    pub fn apply(&self, more: &[&str]) -> Output {
        let mut arguments = vec!["apply"];
        for (name, value) in [
            ("--repo", "/srv/hosts"),
            ("--rev", "main"),
            ("--settle", "0.2"),
            ("--timeout", "30"),
        ] {
            if !more.contains(&name) {
                arguments.extend([name, value]);
            }
        }
        arguments.extend(more);
        self.lath(&arguments)
    }

    pub fn plan(&self, more: &[&str]) -> Output {
        let fixed = ["plan", "--repo", "/srv/hosts", "--rev", "main"];
        self.lath(&[&fixed[..], more].concat())
    }

    pub fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().expect("a file has a directory"))
            .expect("directories are made");
        fs::write(path, text).expect("a file is written");
    }

    pub fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    pub fn exists(&self, path: &str) -> bool {
        fs::symlink_metadata(self.path(path)).is_ok()
    }

    pub fn remove(&self, path: &str) {
        fs::remove_file(self.path(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
    }

    /// The image that test containers run.
    pub fn import_image(&self) {
        let command = "CMD [\"/bin/httpd\",\"-f\",\"-p\",\"8080\",\"-h\",\"/www\"]";
        self.run(&[
            "podman",
            "import",
            "-q",
            "-c",
            command,
            "/opt/busybox.tar",
            "localhost/web:1",
        ])
        .ok();
    }

    /// Writes files into the repository in /srv/hosts (an empty text removes one) and commits.
    pub fn commit(&self, files: &[(&str, &str)]) -> String {
        if !self.exists("/srv/hosts/.git") {
            self.run(&["git", "init", "-q", "/srv/hosts"]).ok();
        }
        for (path, text) in files {
            let path = format!("/srv/hosts/{path}");
            match text.is_empty() {
                true => self.remove(&path),
                false => self.write(&path, text),
            }
        }
        self.sh("cd /srv/hosts && git add -A && git commit -q --allow-empty -m change && git rev-parse HEAD")
            .ok()
            .trim()
            .to_owned()
    }

    /// Puts a copy of another host's directory into this one.
    pub fn copy_from(&self, other: &TestHost, directory: &str) {
        let copied = Command::new("cp")
            .arg("-a")
            .args([other.path(directory), self.path(directory)])
            .status()
            .expect("cp runs");
        assert!(copied.success(), "{directory} is not copied");
    }

    /// Installs `lath` as its Debian package brings it, in place of the copied binary.
    pub fn install_package(&self) {
        self.remove("/usr/bin/lath");
        let directory = self.path("/root");
        let packed = Command::new(scripts().join("../../packaging/deb"))
            .args([binary(), &directory])
            // The archive lives for a minute.
            .env("LATH_DEB_OPTIONS", "-Znone")
            .output()
            .expect("the packaging script runs");
        assert!(packed.status.success(), "{packed:?}");
        self.sh("dpkg --install /root/lath_*.deb && rm /root/lath_*.deb")
            .ok();
        self.sh("dpkg --verify lath && test -x /usr/bin/lath").ok();
    }

    pub fn property(&self, unit: &str, name: &str) -> String {
        let output = self.run(&["systemctl", "show", "-P", name, unit]);
        output.ok().trim().to_owned()
    }

    pub fn active(&self, unit: &str) -> String {
        self.property(unit, "ActiveState")
    }

    pub fn invocation(&self, unit: &str) -> String {
        self.property(unit, "InvocationID")
    }
}

impl Drop for TestHost {
    fn drop(&mut self) {
        let _ = Command::new(scripts().join("end"))
            .args([&self.name, &self.leader])
            .status();
    }
}
