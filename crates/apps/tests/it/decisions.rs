//! Writes, reviews, policies and orphans, decided.

use apps::Snapshot;
use apps::codes;
use apps::constraint::Constraint;
use apps::decide::{Change, Command, Decision, Review, Verdict, Write, decide};
use apps::glob::Glob;
use apps::instant::Instant;
use apps::layer::{Authority, Scope};
use apps::overlay::Meta;
use apps::policy::{Effect, Mode, Rule};
use apps::resolve::{Context, resolve};
use apps::value::Stored;

use crate::world;

const PROPERTIES: &str = r#"{
    "size": {"type": "integer", "default": 10},
    "phrases": {"type": "array", "default": [], "x-overlay": {"merge": "union", "review": true}},
    "gone": {"type": "string"}
}"#;

fn snapshot() -> Snapshot {
    world::snapshot(&world::package("1", PROPERTIES))
}

fn write(key: &str, json: &str) -> Write {
    Write {
        scope: Scope::tenant("t"),
        changes: vec![(key.to_owned(), Change::Set(world::value(json)))],
        author: Some("ada".into()),
        time: Instant::parse("2026-11-15"),
        revision: Some(1),
        base: None,
    }
}

fn rule(id: &str, effect: Effect) -> Rule {
    Rule {
        id: id.to_owned(),
        authority: Authority::Tenant {
            tenant: "t".to_owned(),
        },
        keys: vec![Glob::parse("size").unwrap()],
        effect,
        reason: "house rule".to_owned(),
        contact: Some("boss@t".to_owned()),
        mode: Mode::Enforce,
        not_before: None,
        expires: None,
        span: None,
    }
}

fn range(text: &str) -> Effect {
    Effect::Range(Constraint::read(&world::value(&format!("\"{text}\""))).unwrap())
}

fn try_write(snapshot: &Snapshot, write: &Write) -> Decision {
    decide(snapshot, Instant(0), Command::Overlay(write))
}

#[test]
fn a_good_write_is_accepted_and_serves() {
    let mut snapshot = snapshot();
    let write = write("size", "20");
    let decision = try_write(&snapshot, &write);
    assert_eq!(decision.verdict, Verdict::Accepted);
    snapshot.set_overlay(&write.scope, decision.overlay.unwrap());
    let context = Context::of(&write.scope, Instant(0));
    let answer = resolve(&snapshot, &context).find("size").unwrap();
    assert_eq!(answer.value.unwrap().json(), "20");
}

#[test]
fn a_refused_user_is_told_the_reason_and_whom_to_ask() {
    let mut snapshot = snapshot();
    let authority = Authority::Tenant {
        tenant: "t".to_owned(),
    };
    snapshot.set_rules(&authority, vec![rule("cap", range("<=15"))]);
    let mut write = write("size", "20");
    write.scope = Scope::user("t", "w", "u");
    let decision = try_write(&snapshot, &write);
    assert_eq!(decision.verdict, Verdict::Refused);
    let conflict = &decision.conflicts[0];
    assert_eq!(conflict.code, codes::POLICY_OUT_OF_RANGE);
    assert!(conflict.message.contains("house rule") && conflict.message.contains("boss@t"));
    assert!(!conflict.message.contains("20"));
}

#[test]
fn a_write_of_a_wrong_kind_is_refused_with_its_code() {
    let snapshot = snapshot();
    for (key, json, code) in [
        ("size", "\"many\"", codes::SCHEMA_INVALID),
        ("sise", "1", codes::UNKNOWN_KEY),
    ] {
        let decision = try_write(&snapshot, &write(key, json));
        assert_eq!(decision.verdict, Verdict::Refused);
        assert_eq!(decision.conflicts[0].code, code);
    }
}

#[test]
fn a_write_on_a_moved_base_names_who_and_when() {
    let mut snapshot = snapshot();
    let first = write("size", "20");
    let accepted = try_write(&snapshot, &first);
    snapshot.set_overlay(&first.scope, accepted.overlay.unwrap());
    let late = Write {
        base: Some(0),
        ..write("size", "30")
    };
    let decision = try_write(&snapshot, &late);
    assert_eq!(decision.conflicts[0].code, codes::VERSION_CONFLICT);
    let message = &decision.conflicts[0].message;
    assert!(
        message.contains("ada") && message.contains("2026-11-15"),
        "{message}"
    );
    let right = Write {
        base: Some(1),
        ..write("size", "30")
    };
    assert_eq!(try_write(&snapshot, &right).verdict, Verdict::Accepted);
}

#[test]
fn a_reviewed_key_waits_for_another_person_and_is_void_when_its_base_moved() {
    let mut snapshot = snapshot();
    let proposed = Write {
        base: Some(0),
        ..write("phrases", "[\"a\"]")
    };
    let decision = try_write(&snapshot, &proposed);
    assert_eq!(decision.verdict, Verdict::Pending);
    assert_eq!(decision.conflicts[0].code, codes::REVIEW_PENDING);
    let review = Review { write: proposed };
    let approve = |snapshot: &Snapshot, approver| {
        decide(
            snapshot,
            Instant(0),
            Command::Approve {
                review: &review,
                approver,
            },
        )
    };
    assert_eq!(approve(&snapshot, "ada").verdict, Verdict::Refused);
    assert_eq!(approve(&snapshot, "bob").verdict, Verdict::Accepted);
    let other = write("size", "20");
    let accepted = try_write(&snapshot, &other);
    snapshot.set_overlay(&other.scope, accepted.overlay.unwrap());
    let void = approve(&snapshot, "bob");
    assert_eq!(void.conflicts[0].code, codes::VERSION_CONFLICT);
}

#[test]
fn a_policy_that_nothing_can_satisfy_is_refused() {
    let mut snapshot = snapshot();
    let host = Rule {
        authority: Authority::Host,
        ..rule("floor", range(">=10"))
    };
    snapshot.set_rules(&Authority::Host, vec![host]);
    let authority = Authority::Tenant {
        tenant: "t".to_owned(),
    };
    let now = Instant::parse("2026-11-15").unwrap();
    let try_rule = |rule: Rule| {
        let rules = [rule];
        let command = Command::Policy {
            authority: &authority,
            rules: &rules,
            now,
        };
        decide(&snapshot, now, command)
    };
    assert_eq!(
        try_rule(rule("cap", range("<=20"))).verdict,
        Verdict::Accepted
    );
    let refused = try_rule(rule("cap", range("<5")));
    assert_eq!(refused.verdict, Verdict::Refused);
    assert_eq!(refused.conflicts[0].code, codes::POLICY_CONTRADICTION);
    let lock = Effect::Mandatory(Stored::new(world::value("3")));
    assert_eq!(try_rule(rule("lock", lock)).verdict, Verdict::Refused);
    let wrong = Effect::Mandatory(Stored::new(world::value("\"x\"")));
    assert_eq!(try_rule(rule("lock", wrong)).verdict, Verdict::Refused);
    let past = Rule {
        expires: Instant::parse("2026-01-01"),
        ..rule("cap", range("<5"))
    };
    assert_eq!(try_rule(past).verdict, Verdict::Accepted);
}

#[test]
fn an_orphan_is_kept_revived_and_removed_by_an_admin_only() {
    let (old, new) = (
        world::package("1", PROPERTIES),
        world::package("2", r#"{"size": {"type": "integer"}}"#),
    );
    let scope = Scope::tenant("t");
    let values = || {
        let meta = Meta {
            version: Some("1".into()),
            ..Meta::default()
        };
        world::assignments(&[("gone", "\"kept\"")], meta)
    };
    let mut after = world::snapshot(&new);
    let overlay = after.compile(scope.layer(), values());
    after.set_overlay(&scope, overlay);
    assert!(after.overlay(&scope).unwrap().entries().is_empty());
    assert_eq!(
        after.overlay(&scope).unwrap().strays()[0]
            .value
            .json
            .as_ref(),
        "\"kept\""
    );
    let mut before = world::snapshot(&old);
    let stored = after.overlay(&scope).unwrap().assignments(&new.keys);
    let revived = before.compile(scope.layer(), stored);
    before.set_overlay(&scope, revived);
    let context = Context::of(&scope, Instant(0));
    let answer = resolve(&before, &context).find("gone").unwrap();
    assert_eq!(answer.value.unwrap().json(), "\"kept\"");
    let remove = |by_admin| {
        decide(
            &after,
            Instant(0),
            Command::RemoveOrphan {
                scope: &scope,
                key: "gone",
                by_admin,
            },
        )
    };
    assert_eq!(remove(false).verdict, Verdict::Refused);
    let removed = remove(true);
    assert_eq!(removed.verdict, Verdict::Accepted);
    assert!(removed.overlay.unwrap().is_empty());
}

#[test]
fn an_empty_policy_clears_nothing_of_another_authority() {
    let mut snapshot = snapshot();
    let host = Rule {
        authority: Authority::Host,
        ..rule("cap", range("<=5"))
    };
    snapshot.set_rules(&Authority::Host, vec![host]);
    snapshot.set_rules(
        &Authority::Tenant {
            tenant: "t".to_owned(),
        },
        Vec::new(),
    );
    assert_eq!(
        try_write(&snapshot, &write("size", "20")).verdict,
        Verdict::Refused
    );
}
