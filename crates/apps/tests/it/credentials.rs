//! Planted credentials: more than forty kinds, made up here at run time from parts, so that no literal
//! in this tree looks like one. Each is planted in many places; nothing that comes out may hold it.

use std::sync::Arc;

use apps::assemble::{assemble, stray_conflicts};
use apps::bundle::{FingerprintKey, bundle};
use apps::decide::{Change, Command, Verdict, Write, decide};
use apps::documents::Documents;
use apps::instant::Instant;
use apps::layer::Scope;
use apps::package::Reading;
use apps::resolve::{Context, resolve};
use apps::secrets::Scanner;
use apps::value::Value;
use apps::{codes, conflicts, readiness};
use base::render::{json, sarif, short, text};
use base::{Sources, Symbols};

use crate::world;

const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const HEX: &str = "0123456789abcdef";

/// Characters that look random and are the same in every run.
fn noise(seed: u64, alphabet: &str, count: usize) -> String {
    let alphabet: Vec<char> = alphabet.chars().collect();
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        alphabet[usize::try_from(state >> 11).unwrap() % alphabet.len()]
    };
    (0..count).map(|_| next()).collect()
}

/// The kinds: a name, and the credential from its parts.
fn planted() -> Vec<(&'static str, String)> {
    let word = format!("{UPPER}{}0123456789", UPPER.to_lowercase());
    let w = |seed, count| noise(seed, &word, count);
    let h = |seed, count| noise(seed, HEX, count);
    let u = |seed, count| noise(seed, &format!("{UPPER}234567"), count);
    let join = |parts: &[&str]| parts.concat();
    vec![
        ("aws access key", join(&["AK", "IA", &u(1, 16)])),
        ("aws session key", join(&["AS", "IA", &u(2, 16)])),
        ("github token", join(&["gh", "p_", &w(3, 36)])),
        ("github oauth", join(&["gh", "o_", &w(4, 36)])),
        ("github app", join(&["gh", "s_", &w(5, 36)])),
        ("github refresh", join(&["gh", "r_", &w(6, 40)])),
        ("github fine grained", join(&["github", "_pat_", &w(7, 60)])),
        ("gitlab token", join(&["gl", "pat-", &w(8, 20)])),
        ("gitlab runner", join(&["gl", "rt-", &w(9, 20)])),
        (
            "slack bot",
            join(&["xo", "xb-", &noise(10, "0123456789", 11), "-", &w(10, 24)]),
        ),
        (
            "slack app",
            join(&["xa", "pp-1-", &u(11, 11), "-", &w(11, 30)]),
        ),
        (
            "slack webhook",
            join(&["T", &u(12, 8), "/B", &u(13, 8), "/", &w(12, 24)]),
        ),
        ("stripe live", join(&["sk", "_live_", &w(14, 24)])),
        ("stripe restricted", join(&["rk", "_test_", &w(15, 24)])),
        ("stripe webhook", join(&["wh", "sec_", &w(16, 32)])),
        ("model vendor one", join(&["sk", "-proj-", &w(17, 48)])),
        ("model vendor two", join(&["sk", "-ant-", &w(18, 40)])),
        ("model vendor three", join(&["gs", "k_", &w(19, 52)])),
        ("model vendor four", join(&["pp", "lx-", &w(20, 48)])),
        ("model hub", join(&["h", "f_", &w(21, 34)])),
        ("model runner", join(&["r", "8_", &w(22, 37)])),
        ("cloud api key", join(&["AI", "za", &w(23, 35)])),
        ("cloud client secret", join(&["GOC", "SPX-", &w(24, 28)])),
        ("cloud oauth", join(&["ya", "29.", &w(25, 40)])),
        (
            "web token",
            join(&[
                "ey",
                "J",
                &w(26, 20),
                ".ey",
                "J",
                &w(27, 30),
                ".",
                &w(28, 40),
            ]),
        ),
        ("npm token", join(&["np", "m_", &w(29, 36)])),
        ("pypi token", join(&["py", "pi-", &w(30, 60)])),
        ("gems key", join(&["ruby", "gems_", &h(31, 48)])),
        ("container hub", join(&["dckr", "_pat_", &w(32, 27)])),
        ("mail one", join(&["S", "G.", &w(33, 22), ".", &w(34, 43)])),
        ("mail two", join(&["ke", "y-", &h(35, 32)])),
        ("mail three", join(&[&h(36, 32), "-u", "s12"])),
        ("phone", join(&["S", "K", &h(37, 32)])),
        ("droplets", join(&["do", "p_v1_", &h(38, 64)])),
        ("shop", join(&["shp", "at_", &h(39, 32)])),
        ("lakehouse", join(&["da", "pi", &h(40, 32)])),
        ("vault", join(&["hv", "s.", &w(41, 30)])),
        (
            "terraform",
            join(&[&w(42, 14), ".atl", "asv1.", &w(43, 60)]),
        ),
        ("messenger bot", join(&["123456789", ":A", "A", &w(44, 33)])),
        ("payments", join(&["sq0", "atp-", &w(45, 22)])),
        ("monitoring", join(&["NR", "AK-", &noise(46, UPPER, 27)])),
        (
            "dashboards",
            join(&["gl", "sa_", &w(47, 32), "_", &h(48, 8)]),
        ),
        ("issue tracker", join(&["lin", "_api_", &w(49, 40)])),
        ("notes", join(&["nt", "n_", &w(50, 46)])),
        ("design", join(&["fi", "gd_", &w(51, 40)])),
        (
            "requests",
            join(&["PM", "AK-", &h(52, 24), "-", &h(53, 34)]),
        ),
        ("wiki", join(&["ATA", "TT3", &w(54, 60)])),
        ("tables", join(&["pa", "t", &w(55, 14), ".", &h(56, 64)])),
        (
            "age",
            join(&[
                "AGE-SEC",
                "RET-KEY-1",
                &noise(57, &format!("{UPPER}0123456789"), 58),
            ]),
        ),
        (
            "password in a url",
            join(&["p", "4ssw0rd", "Xy", &w(58, 4)]),
        ),
        ("random token", w(59, 40)),
    ]
}

/// How a credential stands in a text; most stand alone.
fn dressed(kind: &str, credential: &str) -> String {
    match kind {
        "slack webhook" => format!("https://hooks.{}/services/{credential}", "slack.com"),
        "password in a url" => format!("postgres://app:{credential}@db.example/app"),
        _ => credential.to_owned(),
    }
}

/// A document with the credential in one of several places.
fn documents(dressed: &str) -> Vec<(&'static str, String)> {
    let head = "kind: Overlay\napp: app\nscope: {tenant: t}\n";
    let quoted = serde_json::to_string(dressed).unwrap();
    let escaped: String = dressed
        .chars()
        .map(|c| format!("\\u{:04x}", u32::from(c)))
        .collect();
    vec![
        ("value.yaml", format!("{head}values: {{text: {quoted}}}\n")),
        (
            "list.yaml",
            format!("{head}values:\n  list:\n  - fine\n  - {quoted}\n"),
        ),
        (
            "map.yaml",
            format!("{head}values:\n  map: {{a: {{b: {quoted}}}}}\n"),
        ),
        (
            "name.yaml",
            format!("{head}values:\n  map: {{{quoted}: 1}}\n"),
        ),
        (
            "unknown.yaml",
            format!("{head}values: {{nobody.knows: {quoted}}}\n"),
        ),
        (
            "number.yaml",
            format!("{head}values: {{number: {quoted}}}\n"),
        ),
        (
            "handle.yaml",
            format!("{head}values: {{handle: {quoted}}}\n"),
        ),
        (
            "comment.yaml",
            format!("{head}# {dressed}\nvalues: {{number: wrong}}\n"),
        ),
        (
            "escaped.json",
            format!(
                "{{\"kind\": \"Overlay\", \"app\": \"app\", \"scope\": {{\"tenant\": \"t\"}}, \"values\": {{\"text\": \"{escaped}\"}}}}"
            ),
        ),
        (
            "policy.yaml",
            format!(
                "kind: Policy\nauthority: {{tenant: t}}\nrules:\n- {{id: r, keys: text, effect: mandatory, value: {quoted}, reason: why}}\n"
            ),
        ),
    ]
}

const PROPERTIES: &str = r#"{
    "text": {"type": "string"}, "number": {"type": "number"}, "handle": {"x-overlay": {"secret": true}},
    "list": {"type": "array", "default": [], "x-overlay": {"merge": "union"}},
    "map": {"type": "object", "x-overlay": {"merge": "deep"}}
}"#;

/// Everything that can come out for a document, and whether it was refused as plaintext.
fn everything(name: &str, document: &str) -> (String, bool) {
    let package = world::package("1", PROPERTIES);
    let scanner = Arc::new(Scanner::new());
    let (mut sources, mut symbols) = (Sources::new(), Symbols::new());
    let (mut read, mut findings) = (Documents::default(), Vec::new());
    let mut reading = Reading {
        sources: &mut sources,
        symbols: &mut symbols,
        scanner: &scanner,
    };
    read.read(
        name,
        document.as_bytes().to_vec(),
        &mut reading,
        &mut findings,
    );
    let snapshot = assemble(package, &read, &symbols, scanner, &mut findings);
    for span in snapshot.plaintext_spans() {
        sources.cover(span);
    }
    let context = Context::of(&Scope::tenant("t"), Instant(0));
    let resolved = resolve(&snapshot, &context);
    let mut out = String::new();
    for answer in resolved.all() {
        apps::write::resolved_value(&mut out, &resolved, &answer, Some(&sources));
        findings.extend(
            conflicts::of(&resolved, &answer)
                .iter()
                .map(|c| c.diagnostic()),
        );
    }
    findings.extend(stray_conflicts(&resolved).iter().map(|c| c.diagnostic()));
    out.push_str(&bundle(&resolved, &FingerprintKey::new(*b"key"), "test"));
    readiness(&resolved).write_json(&mut out);
    out.push_str(&text::render(&findings, &sources, text::Options::default()));
    out.push_str(&short::render(&findings, &sources));
    out.push_str(&json::render(&findings, &sources));
    out.push_str(&sarif::render(&findings, &sources, "test"));
    let refused = findings.iter().any(|f| f.code == codes::PLAINTEXT_SECRET);
    (out, refused)
}

#[test]
fn planted_credentials_are_refused_and_never_come_out() {
    let kinds = planted();
    assert!(kinds.len() >= 40);
    let mut places = 0;
    for (kind, credential) in &kinds {
        for (name, document) in documents(&dressed(kind, credential)) {
            let (out, refused) = everything(name, &document);
            assert!(refused, "{kind} in {name} was let through");
            let shown = out.lines().find(|line| line.contains(credential.as_str()));
            assert!(shown.is_none(), "{kind} in {name} came out: {shown:?}");
            places += 1;
        }
    }
    println!(
        "{} kinds in {places} places: all refused, none came out",
        kinds.len()
    );
}

#[test]
fn writes_with_planted_credentials_are_refused_and_not_echoed() {
    let package = world::package("1", PROPERTIES);
    let snapshot = world::snapshot(&package);
    for (kind, credential) in planted() {
        for key in ["text", "handle", "list"] {
            let text = Value::string(dressed(kind, &credential));
            let value = if key == "list" {
                Value::List([text].into())
            } else {
                text
            };
            let write = Write {
                scope: Scope::tenant("t"),
                changes: vec![(key.to_owned(), Change::Set(value.clone()))],
                author: None,
                time: None,
                revision: None,
                base: None,
            };
            let decision = decide(&snapshot, Instant(0), Command::Overlay(&write));
            assert_eq!(decision.verdict, Verdict::Refused, "{kind} in {key}");
            assert_eq!(decision.conflicts[0].code, codes::PLAINTEXT_SECRET);
            assert!(!format!("{:?}", decision.conflicts).contains(&credential));
            let values = [(key.to_owned(), value)];
            let context = Context::default();
            let runtime = Command::Runtime {
                context: &context,
                values: &values,
            };
            let decision = decide(&snapshot, Instant(0), runtime);
            assert_eq!(
                decision.verdict,
                Verdict::Refused,
                "{kind} in runtime {key}"
            );
            assert!(!format!("{decision:?}").contains(&credential));
        }
    }
}

/// What overlays hold on an ordinary day.
fn ordinary() -> Vec<String> {
    let mut all: Vec<String> = [
        "0.86",
        "true",
        "brand-pack",
        "campaign-pack-2026-q4",
        "small",
        "gpt-class-large-v2",
        "docx",
        "publishing_workspace_token",
        "vault/acme/marketing#token",
        "https://acme.example/brand/guide?lang=de#tone",
        "s3://acme-content/campaigns/2026/11/",
        "eu-central-1",
        "legal review 2026-04",
        "Never say: best ever!",
        "2026-11-15T22:30:00+01:00",
        "acme.marketing.ContentCalendarWorkflowV2",
        "ada.lovelace@acme.example",
        "6ba7b810-9dad-11d1-80b4-00c04fd430c8",
        "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "d41d8cd98f00b204e9800998ecf8427e",
        "registry.example/acme/content-factory:1.4.0",
        "#a3c2f0",
        "+49 30 1234567",
        "DE89 3704 0044 0532 0130 00",
        "arn:aws:iam::123456789012:role/ContentFactory",
        "/var/lib/content/Exports2026/final_v3.docx",
        "token: see the vault",
        "password: ask your admin",
        "api_key: {{ handle }}",
        "The secret: write for people, not for search engines.",
        "ERR_TOO_MANY_REDIRECTS",
        "v1.4.0-rc.2+build.7",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "0 3 * * 1-5",
        "PT15M",
        "key-value-store",
        "sk-SK",
        "pat",
        "SG",
        "Rindfleischetikettierungsüberwachungsaufgabenübertragungsgesetz",
        "data:image/svg+xml;utf8,<svg/>",
        "日本語のブランド名",
        "ContentFactory2026SpringCampaignLandingPageHeader",
    ]
    .map(str::to_owned)
    .to_vec();
    let words = [
        "brand", "Tone", "content", "Factory", "review", "2026", "export", "draft", "V2", "team",
        "EU", "launch",
    ];
    for (a, first) in words.iter().enumerate() {
        for (b, second) in words.iter().enumerate() {
            let third = words[(a * 5 + b * 7) % words.len()];
            all.push(format!("{first}-{second}-{third}"));
            all.push(format!("{first}{second}{third}Settings"));
            all.push(format!("{first}/{second}/{third}.md"));
            all.push(format!("{first} {second} {third}."));
            let seed = u64::try_from(a * 100 + b).unwrap();
            all.push(noise(seed + 1000, HEX, 40));
            all.push(format!(
                "{}-{}",
                noise(seed + 2000, HEX, 8),
                noise(seed + 3000, HEX, 4)
            ));
        }
    }
    all
}

#[test]
fn ordinary_values_are_not_taken_for_credentials() {
    let scanner = Scanner::new();
    let values = ordinary();
    let wrong: Vec<&String> = values
        .iter()
        .filter(|value| !scanner.scan(value).is_empty())
        .collect();
    let rate = 100.0 * wrong.len() as f64 / values.len() as f64;
    println!(
        "{} of {} ordinary values were taken for credentials: {rate:.2} %",
        wrong.len(),
        values.len()
    );
    assert!(rate <= 0.5, "{wrong:?}");
}
