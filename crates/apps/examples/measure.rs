//! What the resolver costs in process, as multiples of peers measured in the same run: a look-up in a
//! hash map, and serde_json writing the same bytes. `bench/apps` runs it.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a program for the developer's terminal"
)]

use std::collections::HashMap;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant as Clock;

use apps::constraint::Constraint;
use apps::glob::Glob;
use apps::instant::Instant;
use apps::layer::{Authority, Layer, Scope};
use apps::overlay::{Assignment, Meta};
use apps::package::{File, Package, Reading};
use apps::policy::{Effect, Mode, Rule};
use apps::resolve::{Context, resolve};
use apps::secrets::Scanner;
use apps::value::{Stored, Value};
use apps::{Snapshot, Table, write};
use base::{Sources, Symbols};
use serde::{Deserialize, Serialize};

mod keys;

use keys::{KEYS, name};

const ROUNDS: usize = 15;

fn main() {
    let snapshot = snapshot();
    let context = Context::of(&Scope::user("t1", "w1", "u1"), Instant(1_800_000_000));
    let names: Vec<String> = (0..KEYS).map(|i| name(i * 37 % KEYS)).collect();
    one_key(&snapshot, &context, &names);
    all_keys(&snapshot, &context);
    million();
}

fn package() -> Arc<Package> {
    let files = keys::files().map(|(path, text)| File {
        path: path.to_owned(),
        bytes: text.into_bytes(),
    });
    let (mut sources, mut symbols) = (Sources::new(), Symbols::new());
    let mut reading = Reading {
        sources: &mut sources,
        symbols: &mut symbols,
        scanner: &Scanner::new(),
    };
    Package::read("bench", &files, &mut reading).0.unwrap()
}

/// A value of the type of key `i`.
fn value(i: usize, salt: usize) -> Value {
    match i % 4 {
        0 => Value::Number(format!("0.{}", salt % 89 + 10).into(), false),
        1 => Value::string(format!("set by {salt}")),
        2 => Value::Bool(salt.is_multiple_of(2)),
        _ => Value::Number((salt % 1000).to_string().into(), true),
    }
}

fn put(snapshot: &mut Snapshot, scope: &Scope, keys: impl Iterator<Item = usize>, salt: usize) {
    let meta = Arc::new(Meta {
        revision: Some(salt as u64),
        actor: Some("u9".into()),
        time: Some(Instant(1_790_000_000)),
        ..Meta::default()
    });
    let assignments = keys.map(|i| {
        let assignment = Assignment {
            name: name(i),
            value: value(i, salt),
            span: None,
            withheld: None,
        };
        (assignment, Arc::clone(&meta))
    });
    let overlay = snapshot.compile(scope.layer(), assignments.collect::<Vec<_>>());
    snapshot.set_overlay(scope, overlay);
}

/// Three layers that set a third of the keys each, and rules on a tenth of them.
fn snapshot() -> Snapshot {
    let mut snapshot = Snapshot::new(package(), Arc::new(Scanner::new()));
    put(
        &mut snapshot,
        &Scope::tenant("t1"),
        (0..KEYS).step_by(3),
        11,
    );
    put(
        &mut snapshot,
        &Scope::workspace("t1", "w1"),
        (1..KEYS).step_by(3),
        12,
    );
    put(
        &mut snapshot,
        &Scope::user("t1", "w1", "u1"),
        (0..KEYS).step_by(5),
        13,
    );
    let authority = Authority::Tenant {
        tenant: "t1".to_owned(),
    };
    let rule = |i: usize, effect| Rule {
        id: format!("rule-{i}"),
        authority: authority.clone(),
        keys: vec![Glob::parse(&name(i)).unwrap()],
        effect,
        reason: "legal review 2026-04".to_owned(),
        contact: Some("legal@t1".to_owned()),
        mode: Mode::Enforce,
        not_before: None,
        expires: None,
        span: None,
    };
    let range = Constraint::read(&Value::string(">=0.05")).unwrap();
    let ranges = (0..KEYS)
        .step_by(12)
        .map(|i| rule(i, Effect::Range(range.clone())));
    let locks = (1..KEYS)
        .step_by(48)
        .map(|i| rule(i, Effect::Mandatory(Stored::new(value(i, 5)))));
    let rules = ranges.chain(locks).collect();
    snapshot.set_rules(&authority, rules);
    snapshot
}

/// The median CPU time of one call in nanoseconds: other programs on the machine do not count.
fn time(calls: usize, mut round: impl FnMut()) -> f64 {
    let mut times: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let (cpu, wall) = (on_cpu(), Clock::now());
            round();
            let wall = wall.elapsed().as_secs_f64() * 1e9;
            let spent = on_cpu().zip(cpu).map_or(wall, |(end, start)| end - start);
            spent / calls as f64
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times.get(ROUNDS / 2).copied().unwrap()
}

/// Nanoseconds that this thread was on a processor, where the system tells.
fn on_cpu() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse().ok()
}

fn told(what: &str, ours: f64, peer: f64, goal: f64) {
    let ratio = ours / peer;
    let verdict = if ratio <= goal { "holds" } else { "MISSED" };
    println!("{what:<44} {ours:>10.1} ns  {ratio:>5.2} of the peer  goal {goal}  {verdict}");
}

fn one_key(snapshot: &Snapshot, context: &Context, names: &[String]) {
    // Long enough that the system's account of processor time moves in every round.
    let repeats = 10_000;
    let calls = repeats * names.len();
    let map: HashMap<String, Value> = (0..KEYS).map(|i| (name(i), value(i, 1))).collect();
    let lookup = time(calls, || {
        for _ in 0..repeats {
            for name in names {
                black_box(map.get(black_box(name.as_str())));
            }
        }
    });
    let keys = &snapshot.package.keys;
    let view = resolve(snapshot, context);
    let table = Table::new(&view);
    let plain = time(calls, || {
        for _ in 0..repeats {
            for name in names {
                let row = black_box(&table).find(black_box(name)).unwrap();
                black_box((&row.value, row.source));
            }
        }
    });
    let chain = time(calls, || {
        for _ in 0..repeats {
            for name in names {
                let row = black_box(&table).find(black_box(name)).unwrap();
                for step in &row.chain {
                    black_box((step.layer, step.outcome, &step.value));
                }
            }
        }
    });
    let settle = time(500, || {
        for _ in 0..500 {
            black_box(Table::new(black_box(&view)));
        }
    });
    let direct = time(calls, || {
        for _ in 0..repeats {
            for name in names {
                let id = keys.find(black_box(name)).unwrap();
                black_box(view.value(id));
            }
        }
    });
    let direct_chain = time(calls, || {
        for _ in 0..repeats {
            for name in names {
                black_box(view.find(black_box(name)));
            }
        }
    });
    let fresh = time(calls, || {
        for _ in 0..repeats {
            for name in names {
                let view = resolve(snapshot, black_box(context));
                black_box(view.value(keys.find(black_box(name)).unwrap()));
            }
        }
    });
    println!("peer: a std HashMap look-up, {KEYS} keys       {lookup:>10.1} ns");
    told(
        "one key of a table, its value and layer",
        plain,
        lookup,
        2.0,
    );
    told(
        "one key of a table, its whole chain read",
        chain,
        lookup,
        4.0,
    );
    for (what, ours) in [
        ("a table of one context, settled once", settle),
        ("one key without a table, its value and layer", direct),
        ("one key without a table, its whole chain", direct_chain),
    ] {
        println!(
            "{what:<44} {ours:>10.1} ns  {:>5.2} of the peer",
            ours / lookup
        );
    }
    println!(
        "one key, overlays of the context looked up too {fresh:>8.1} ns  {:>5.2} of the peer",
        fresh / lookup
    );
}

/// The same answer as serde_json has it.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    key: String,
    value: serde_json::Value,
    source: Option<String>,
    overrides: Vec<String>,
    locked_by_policy: bool,
    chain: Vec<Link>,
    policies: Vec<Policy>,
    editable: Editable,
    merge: String,
    conflicts: Vec<Conflict>,
}

#[derive(Serialize, Deserialize)]
struct Conflict {
    code: String,
    severity: String,
    key: String,
    layer: Option<String>,
    outcome: String,
    policy: Option<String>,
    message: String,
    remedy: String,
    fixer: String,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Link {
    layer: String,
    outcome: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<serde_json::Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    policy: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    refused_by: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    revision: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    actor: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    time: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct Policy {
    id: String,
    authority: String,
    effect: String,
    mode: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    constraint: Option<String>,
    reason: String,
    contact: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct Editable {
    tenant: bool,
    workspace: bool,
    user: bool,
    runtime: bool,
}

fn all_json(snapshot: &Snapshot, context: &Context, out: &mut String) {
    out.clear();
    let view = resolve(snapshot, context);
    out.push('[');
    for (at, answer) in view.all().enumerate() {
        if at > 0 {
            out.push(',');
        }
        write::resolved_value(out, &view, &answer, None);
    }
    out.push(']');
}

fn all_keys(snapshot: &Snapshot, context: &Context) {
    let mut ours = String::new();
    all_json(snapshot, context, &mut ours);
    let parsed: Vec<Answer> = serde_json::from_str(&ours).unwrap();
    let theirs = serde_json::to_string(&parsed).unwrap();
    let same = ours == theirs;
    let repeats = 100;
    let mut buffer = Vec::new();
    let peer = time(repeats, || {
        for _ in 0..repeats {
            buffer.clear();
            serde_json::to_writer(&mut buffer, black_box(&parsed)).unwrap();
            black_box(&buffer);
        }
    });
    let mut out = String::new();
    let computed = time(repeats, || {
        for _ in 0..repeats {
            all_json(black_box(snapshot), context, &mut out);
            black_box(&out);
        }
    });
    println!(
        "peer: serde_json writes the same {} bytes      {peer:>10.1} ns  (bytes equal: {same})",
        ours.len()
    );
    told(
        "200 keys with provenance, computed as JSON",
        computed,
        peer,
        1.5,
    );
}

/// A thousand tenants, each with 20 workspaces of 49 users: 1,001,000 overlays of four values.
fn million() {
    let before = resident();
    let start = Clock::now();
    let mut snapshot = Snapshot::new(package(), Arc::new(Scanner::new()));
    let mut count = 0;
    for tenant in 0..1_000 {
        let t = format!("tenant-{tenant}");
        put(&mut snapshot, &Scope::tenant(&t), four(count), count);
        count += 1;
        for workspace in 0..20 {
            let w = format!("workspace-{workspace}");
            put(&mut snapshot, &Scope::workspace(&t, &w), four(count), count);
            count += 1;
            for user in 0..49 {
                let u = format!("user-{tenant}-{user}");
                put(&mut snapshot, &Scope::user(&t, &w, u), four(count), count);
                count += 1;
            }
        }
    }
    let loaded = start.elapsed();
    let megabytes = (resident() - before) / 1024;
    let verdict = if megabytes <= 1024 { "holds" } else { "MISSED" };
    println!(
        "{count} overlays of 4 values: {megabytes} MB, loaded in {:.1} s  goal 1024 MB  {verdict}",
        loaded.as_secs_f64()
    );
    let scope = Scope::user("tenant-500", "workspace-7", "user-500-7");
    let changed = time(1, || put(&mut snapshot, &scope, four(9), 9));
    println!("one overlay of them changed: {:.1} µs", changed / 1e3);
    let context = Context::of(&scope, Instant(0));
    let mut table = Table::new(&resolve(&snapshot, &context));
    put(&mut snapshot, &scope, four(10), 10);
    let settled = table.update(&resolve(&snapshot, &context), Layer::User);
    println!("its table after a change of 4 values: {settled} of {KEYS} keys settled again");
    let id = snapshot.package.keys.find(&name(9)).unwrap();
    let fresh = time(1, || {
        black_box(resolve(&snapshot, &context).value(id));
    });
    println!("one key of a scope among them, cold: {fresh:.0} ns");
    debug_assert_eq!(scope.layer(), Layer::User);
}

fn four(salt: usize) -> impl Iterator<Item = usize> {
    (0..4).map(move |i| (salt * 7 + i * 51) % KEYS)
}

/// Kilobytes of memory in use.
fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    let number = line.and_then(|line| line.split_whitespace().nth(1));
    number.and_then(|n| n.parse().ok()).unwrap_or(0)
}
