//! The public YAML test suite: is each text taken or refused as it should be, and does it mean what
//! the suite says.
//!
//! `cargo test -p data --test yaml_suite -- --nocapture` prints the score. The suite lies beside the
//! repository in `../shared` (or where `LATH_SHARED` says) and is not part of it. The ledger lists
//! every case that differs, with the reason; it must be exact, so the score can only rise.
//!
//! A text counts as taken when it has no syntax finding. Unknown tags, complex and duplicate keys
//! are valid YAML that we refuse for other reasons; they do not count as syntax.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use base::{Code, Sources, Symbols};
use data::{Format, Options, codes, number, write};
use serde_json::Value;

const LEDGER: &str = include_str!("yaml_suite.ledger");

fn shared() -> PathBuf {
    match std::env::var_os("LATH_SHARED") {
        Some(path) => path.into(),
        None => PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared")),
    }
}

#[test]
fn the_yaml_test_suite() {
    let path = shared().join("conformance/yaml/suite.jsonl");
    if !path.exists() {
        println!("skipped: ../shared is not here");
        return;
    }
    let suite = fs::read_to_string(path).expect("the suite can be read");
    let mut differences = BTreeMap::new();
    let mut total = 0;
    for line in suite.lines() {
        let case: Value = serde_json::from_str(line).expect("each line is a case");
        total += 1;
        if let Err(reason) = check(&case) {
            differences.insert(case["id"].as_str().expect("an id").to_owned(), reason);
        }
    }
    let right = total - differences.len();
    println!(
        "yaml test suite: {right} of {total} ({:.1} %)",
        100.0 * right as f64 / f64::from(u32::try_from(total).expect("few cases"))
    );
    for (id, reason) in &differences {
        println!("  {id}: {reason}");
    }
    let ledger: Vec<&str> = LEDGER
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| line.split_whitespace().next().expect("an id"))
        .collect();
    let found: Vec<&str> = differences.keys().map(String::as_str).collect();
    assert_eq!(found, ledger, "the ledger is not exact");
    assert!(right * 100 >= total * 98, "under 98 %");
}

fn check(case: &Value) -> Result<(), String> {
    let text = case["yaml"].as_str().expect("a text");
    let mut sources = Sources::new();
    let mut symbols = Symbols::new();
    let id = sources.add("case.yaml", text);
    let text = sources.get(id).text().clone();
    let parsed = data::parse(Format::Yaml, id, text, &mut symbols, &Options::default());
    let syntax: [Code; 2] = [codes::YAML_SYNTAX, codes::UNKNOWN_ANCHOR];
    let refused = parsed.findings.iter().find(|f| syntax.contains(&f.code));
    let must_fail = case["fail"].as_bool().expect("a verdict");
    match refused {
        Some(_) if must_fail => return Ok(()),
        Some(finding) => return Err(format!("refused: {}", finding.message)),
        None if must_fail => return Err("taken, must be refused".to_owned()),
        None => {}
    }
    let Some(json) = case["json"].as_str() else {
        return Ok(());
    };
    let wanted: Vec<Value> = serde_json::Deserializer::from_str(json)
        .into_iter()
        .collect::<Result<_, _>>()
        .expect("JSON documents");
    let found: Vec<Value> = parsed
        .documents
        .iter()
        .map(|tree| {
            let mut writer = write::Json::compact();
            write::node(&mut writer, tree, tree.root(), &symbols);
            serde_json::from_str(&writer.finish()).expect("we write JSON")
        })
        .collect();
    let same = wanted.len() == found.len() && wanted.iter().zip(&found).all(|(a, b)| same(a, b));
    if same {
        return Ok(());
    }
    let show = |values: &[Value]| serde_json::to_string(values).expect("JSON");
    Err(format!("{} instead of {}", show(&found), show(&wanted)))
}

/// Equal values; numbers by value, since the suite writes some floats as integers.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => {
            number::compare(&a.to_string(), &b.to_string()).is_eq()
        }
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.iter()
                    .all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
        }
        _ => a == b,
    }
}
