//! Where the desired state comes from: git over every transport, signed or not, forwards only.

use crate::testhost::TestHost;

fn host() -> TestHost {
    let host = TestHost::boot("plain");
    host.commit(&[
        ("hosts/plain/host.yaml", "host: plain\nservices: [app]\n"),
        ("services/app/config/etc/app/app.conf", "one\n"),
    ]);
    host
}

fn set(host: &TestHost, text: &str) -> String {
    host.commit(&[("services/app/config/etc/app/app.conf", text)])
}

#[test]
fn branches_tags_and_commits_forwards_only() {
    let host = host();
    let apply = |rev: &str, more: &[&str]| {
        host.lath(&[&["apply", "--repo", "/srv/hosts", "--rev", rev][..], more].concat())
    };
    let first = set(&host, "first\n");
    host.run(&["git", "-C", "/srv/hosts", "tag", "-a", "v1", "-m", "v1"])
        .ok();
    let second = set(&host, "second\n");
    host.sh("cd /srv/hosts && git checkout -q -b side && git checkout -q main")
        .ok();
    apply("v1", &[]).ok();
    assert_eq!(host.read("/etc/app/app.conf"), "first\n");
    apply(&second, &[]).ok();
    assert_eq!(host.read("/etc/app/app.conf"), "second\n");
    let back = apply(&first, &[]).code(1);
    assert!(back.stderr.starts_with("lath: rewind:"), "{}", back.stderr);
    assert_eq!(host.read("/etc/app/app.conf"), "second\n");
    apply(&first, &["--allow-rewind"]).ok();
    assert_eq!(host.read("/etc/app/app.conf"), "first\n");
    apply("side", &[]).ok();
    assert_eq!(host.read("/etc/app/app.conf"), "second\n");
    // History was rewritten: the branch no longer contains what was applied.
    host.sh("cd /srv/hosts && git reset -q --hard HEAD~1 && git commit -q --amend -m rewritten")
        .ok();
    assert!(
        apply("main", &[])
            .code(1)
            .stderr
            .starts_with("lath: rewind:")
    );
    // A directory is taken as it is.
    host.write(
        "/srv/hosts/services/app/config/etc/app/app.conf",
        "not committed\n",
    );
    host.lath(&["apply", "--repo", "/srv/hosts"]).ok();
    assert_eq!(host.read("/etc/app/app.conf"), "not committed\n");
}

#[test]
fn a_large_history_is_fetched_shallow() {
    let host = host();
    let mut stream = String::new();
    for number in 1..=3000 {
        let from = if number == 1 {
            "from refs/heads/main^0\n"
        } else {
            ""
        };
        let text = format!("{number}\n");
        stream.push_str(&format!(
            "commit refs/heads/main\ncommitter t <t@example.org> {number} +0000\ndata 1\nx\n{from}M 100644 inline services/app/config/etc/app/app.conf\ndata {}\n{text}\n",
            text.len()
        ));
    }
    host.write("/tmp/stream", &stream);
    host.sh("cd /srv/hosts && git fast-import --quiet < /tmp/stream && git reset -q --hard main")
        .ok();
    let count = || {
        host.sh("git -C /var/lib/lath/host/git/* rev-list --count refs/lath/fetched")
            .ok()
            .trim()
            .parse::<u32>()
            .unwrap()
    };
    host.apply(&[]).ok();
    assert_eq!(host.read("/etc/app/app.conf"), "3000\n");
    assert_eq!(count(), 1);
    set(&host, "next\n");
    host.apply(&[]).ok();
    assert!(count() <= 65, "{}", count());
}

#[test]
fn commits_must_be_signed_by_an_allowed_signer() {
    let host = host();
    host.sh(
        "for k in good bad; do ssh-keygen -q -t ed25519 -N '' -f /root/$k; done; \
             echo \"t@example.org namespaces=\\\"git\\\" $(cat /root/good.pub)\" > /root/signers; \
             git config --global gpg.format ssh",
    )
    .ok();
    let sign = |key: &str| {
        host.sh(&format!(
            "cd /srv/hosts && git commit -q --allow-empty -S/root/{key} -m signed"
        ))
        .ok()
    };
    let apply = || host.apply(&["--require-signed-by", "/root/signers"]);
    let refused = |why: &str| {
        let output = apply().code(1);
        assert!(
            output.stderr.starts_with("lath: signature:") && output.stderr.contains(why),
            "{}",
            output.stderr
        );
        assert!(!host.exists("/etc/app/app.conf"));
    };
    refused("is not signed");
    sign("bad");
    refused("is not signed by an allowed signer");
    sign("good");
    // The commit was changed after it was signed.
    host.sh("cd /srv/hosts && git cat-file commit HEAD | sed 's/^signed$/forged/' > /tmp/c && git update-ref refs/heads/main $(git hash-object -t commit -w /tmp/c)").ok();
    refused("is not signed by an allowed signer");
    sign("good");
    apply().ok();
    assert_eq!(host.read("/etc/app/app.conf"), "one\n");
}

#[test]
fn ssh_knows_its_hosts() {
    let host = host();
    host.sh("mkdir -p /run/sshd /root/.ssh; ssh-keygen -A > /dev/null; ssh-keygen -q -t ed25519 -N '' -f /root/key; \
             cp /root/key.pub /root/.ssh/authorized_keys; chmod 700 /root/.ssh; \
             echo \"[127.0.0.1]:2222 $(cut -d' ' -f1,2 /etc/ssh/ssh_host_ed25519_key.pub)\" > /root/hosts; \
             ssh-keygen -q -t ed25519 -N '' -f /root/other; \
             echo \"[127.0.0.1]:2222 $(cut -d' ' -f1,2 /root/other.pub)\" > /root/wrong; \
             systemd-run -q /usr/sbin/sshd -D -p 2222; for i in $(seq 100); do ss -ltn | grep -q :2222 && exit; sleep 0.05; done").ok();
    let url = "ssh://root@127.0.0.1:2222/srv/hosts";
    let apply = |known: &str| {
        host.lath(&[
            "apply",
            "--repo",
            url,
            "--rev",
            "main",
            "--ssh-key",
            "/root/key",
            "--known-hosts",
            known,
        ])
    };
    let unknown = apply("/dev/null").code(1);
    assert!(
        unknown
            .stderr
            .contains("add the host's key to `known_hosts`"),
        "{}",
        unknown.stderr
    );
    apply("/root/wrong").code(1);
    assert!(!host.exists("/etc/app/app.conf"));
    apply("/root/hosts").ok();
    assert_eq!(host.read("/etc/app/app.conf"), "one\n");
}

#[test]
fn https_takes_a_token_from_a_file() {
    let host = host();
    host.write(
        "/root/web.conf",
        r#"
server.modules = ("mod_alias", "mod_setenv", "mod_auth", "mod_authn_file", "mod_cgi", "mod_openssl")
server.document-root = "/var/empty"
server.port = 8443
server.bind = "127.0.0.1"
ssl.engine = "enable"
ssl.pemfile = "/root/tls.pem"
auth.backend = "plain"
auth.backend.plain.userfile = "/root/users"
auth.require = ("/git" => ("method" => "basic", "realm" => "git", "require" => "valid-user"))
$HTTP["url"] =~ "^/git" {
  alias.url = ("/git" => "/usr/lib/git-core/git-http-backend")
  cgi.assign = ("" => "")
  setenv.add-environment = ("GIT_PROJECT_ROOT" => "/srv", "GIT_HTTP_EXPORT_ALL" => "1")
}
"#,
    );
    host.sh("mkdir -p /var/empty; echo x-access-token:s3cret > /root/users; echo s3cret > /root/token; echo wrong > /root/bad; \
             openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 3000 -subj /CN=git \
               -addext subjectAltName=IP:127.0.0.1 -keyout /root/tls.key -out /root/tls.crt 2> /dev/null; \
             cat /root/tls.key /root/tls.crt > /root/tls.pem; \
             systemd-run -q /usr/sbin/lighttpd -D -f /root/web.conf; for i in $(seq 100); do ss -ltn | grep -q :8443 && exit; sleep 0.05; done; exit 1").ok();
    let url = "https://127.0.0.1:8443/git/hosts/.git";
    let apply = |token: &[&str]| {
        host.lath(&[&["apply", "--repo", url, "--rev", "main"][..], token].concat())
    };
    // Without the certificate's authority nothing is sent.
    let unknown = apply(&["--token-file", "/root/token"]).code(1);
    assert!(unknown.stderr.contains("certificate"), "{}", unknown.stderr);
    host.run(&[
        "git",
        "config",
        "--global",
        "http.sslCAInfo",
        "/root/tls.crt",
    ])
    .ok();
    assert!(apply(&[]).code(1).stderr.contains("name a token file"));
    apply(&["--token-file", "/root/bad"]).code(1);
    assert!(!host.exists("/etc/app/app.conf"));
    apply(&["--token-file", "/root/token"]).ok();
    assert_eq!(host.read("/etc/app/app.conf"), "one\n");
    assert!(
        !host
            .sh("cat /var/lib/lath/host/git/*/config")
            .ok()
            .contains("s3cret")
    );
}
