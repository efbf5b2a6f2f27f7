//! Laws of planning, on hosts that exist only here.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::*;

const PATH: &str = "/etc/systemd/system/a.service";
const CONF: &str = "/etc/a/a.conf";

fn file(role: Role, content: &str) -> File {
    File {
        role,
        sha256: Hash::of(content.as_bytes()),
        link: false,
        mode: 0o644,
        uid: 0,
        gid: 0,
        service: "a".to_owned(),
        layers: Vec::new(),
    }
}

/// One service that reads one payload.
fn target(unit: &str, conf: &str) -> Target {
    let mut target = Target::default();
    for (path, role, content) in [(PATH, Role::Unit, unit), (CONF, Role::Payload, conf)] {
        let content_bytes: Arc<[u8]> = content.as_bytes().into();
        target.insert(path.to_owned(), file(role, content), content_bytes);
    }
    let inputs = [(PATH, unit), (CONF, conf)]
        .map(|(path, text)| (path.to_owned(), Hash::of(text.as_bytes())));
    let made = Unit {
        artifact: PATH.to_owned(),
        nature: Nature::Process,
        start: Start::Always,
        inputs: BTreeMap::from(inputs),
        after: Vec::new(),
        bound: Vec::new(),
        triggers: Vec::new(),
        volume: None,
    };
    target.units.insert("a.service".to_owned(), made);
    target
}

fn applied(target: &Target) -> Applied {
    Applied {
        files: target.files.clone(),
        units: target.units.clone(),
        ..Applied::default()
    }
}

fn found(content: &str) -> Found {
    Found::Regular {
        sha256: Hash::of(content.as_bytes()),
        mode: 0o644,
        uid: 0,
        gid: 0,
        modified: "today".to_owned(),
    }
}

fn observed(files: &[(&str, &str)], active: Active, invocation: &str) -> Observed {
    let state = State {
        loaded: true,
        active,
        invocation: invocation.to_owned(),
        stale: false,
    };
    Observed {
        files: files
            .iter()
            .map(|(path, text)| ((*path).to_owned(), found(text)))
            .collect(),
        units: Some(BTreeMap::from([("a.service".to_owned(), state)])),
        instances: BTreeMap::new(),
    }
}

fn told(plan: &Plan) -> Vec<String> {
    let units = |actions: &[UnitAction]| {
        let words = actions
            .iter()
            .map(|action| format!("{} {}", action.verb.word(), action.unit));
        words.collect::<Vec<_>>()
    };
    let files = plan.files.iter().map(|action| {
        format!(
            "{:?} {} ({})",
            action.verb,
            action.path,
            action.cause.reason.word()
        )
    });
    [units(&plan.before), files.collect(), units(&plan.after)].concat()
}

#[test]
fn what_is_as_it_should_be_needs_nothing() {
    let target = target("u", "c");
    let observed = observed(&[(PATH, "u"), (CONF, "c")], Active::Active, "1");
    assert!(plan(&target, &applied(&target), &observed, Options::default()).is_empty());
}

#[test]
fn three_ways_tell_change_from_drift() {
    let (old, new) = (target("u", "c"), target("u", "d"));
    let change = observed(&[(PATH, "u"), (CONF, "c")], Active::Active, "1");
    let drift = observed(&[(PATH, "u"), (CONF, "x")], Active::Active, "1");
    let told_of = |target: &Target, observed: &Observed| {
        told(&plan(target, &applied(&old), observed, Options::default()))
    };
    assert_eq!(
        told_of(&new, &change),
        [
            "Replace /etc/a/a.conf (desired change)",
            "restart a.service"
        ]
    );
    assert_eq!(
        told_of(&old, &drift),
        ["Replace /etc/a/a.conf (drift)", "restart a.service"]
    );
}

#[test]
fn a_foreign_file_is_a_conflict_and_nothing_else_happens_to_it() {
    let target = target("u", "c");
    let observed = observed(&[(PATH, "x")], Active::Inactive, "");
    let refused = plan(&target, &Applied::default(), &observed, Options::default());
    assert_eq!(refused.conflicts.len(), 1);
    assert!(refused.files.iter().all(|action| action.path != PATH));
    let adopt = Options {
        adopt: true,
        ..Options::default()
    };
    let adopted = plan(&target, &Applied::default(), &observed, adopt);
    assert!(adopted.conflicts.is_empty());
    assert!(
        adopted
            .files
            .iter()
            .any(|action| action.path == PATH && action.keep)
    );
}

#[test]
fn what_goes_is_stopped_before_its_file_goes() {
    let old = target("u", "c");
    let observed = observed(&[(PATH, "u"), (CONF, "c")], Active::Active, "1");
    let plan = plan(
        &Target::default(),
        &applied(&old),
        &observed,
        Options::default(),
    );
    assert_eq!(
        told(&plan),
        [
            "stop a.service",
            "Remove /etc/a/a.conf (removed)",
            "Remove /etc/systemd/system/a.service (removed)",
            "reload systemd",
            "reset a.service",
        ]
    );
}

/// A run was cut short at some point; whatever it had done, the next plan does the rest.
#[test]
fn a_run_that_was_cut_short_is_finished_and_not_repeated() {
    let (old, new) = (target("u", "c"), target("v", "d"));
    let before = observed(&[(PATH, "u"), (CONF, "c")], Active::Active, "1");
    let first = plan(&new, &applied(&old), &before, Options::default());
    let mut intent = Intent::announce("run", "commit", &new, &applied(&old), &first);
    for due in intent.due.values_mut() {
        due.invocation = "1".to_owned();
    }
    let next = |intent: &Intent, observed: &Observed| {
        let applied = intent.resume(&applied(&old), observed);
        told(&plan(&new, &applied, observed, Options::default()))
    };
    // Cut while files were written: one is there, the reload and the restart are not.
    let half = observed(&[(PATH, "v"), (CONF, "c")], Active::Active, "1");
    assert_eq!(
        next(&intent, &half),
        [
            "Replace /etc/a/a.conf (desired change)",
            "reload systemd",
            "restart a.service"
        ]
    );
    // All files are there; nothing else happened.
    let written = observed(&[(PATH, "v"), (CONF, "d")], Active::Active, "1");
    assert_eq!(
        next(&intent, &written),
        ["reload systemd", "restart a.service"]
    );
    // The unit came up by itself meanwhile, perhaps from old files: it is restarted all the same.
    let by_itself = observed(&[(PATH, "v"), (CONF, "d")], Active::Active, "2");
    assert_eq!(
        next(&intent, &by_itself),
        ["reload systemd", "restart a.service"]
    );
    // Units were being started; this one still runs its old invocation, or its new one.
    intent.phase = Phase::Units;
    assert_eq!(next(&intent, &written), ["restart a.service"]);
    assert_eq!(next(&intent, &by_itself), [""; 0]);
    // Back to the old state instead: what was restarted is restarted again, the rest is not.
    let back = |observed: &Observed| {
        let applied = intent.resume(&applied(&old), observed);
        told(&plan(&old, &applied, observed, Options::default()))
    };
    let both = [
        "Replace /etc/a/a.conf (desired change)",
        "Replace /etc/systemd/system/a.service (desired change)",
        "reload systemd",
    ];
    assert_eq!(back(&written), both);
    assert_eq!(
        back(&by_itself),
        [&both[..], &["restart a.service"]].concat()
    );
}

/// A run was cut short after a start that went wrong, or that was not over: nobody has found it
/// good, so the next run makes it again, whatever systemd's invocation says.
#[test]
fn a_start_that_nobody_found_good_is_made_again() {
    let (old, new) = (target("u", "c"), target("v", "d"));
    let before = observed(&[(PATH, "u"), (CONF, "c")], Active::Active, "1");
    let first = plan(&new, &applied(&old), &before, Options::default());
    let mut intent = Intent::announce("run", "commit", &new, &applied(&old), &first);
    intent.phase = Phase::Units;
    for due in intent.due.values_mut() {
        due.invocation = "1".to_owned();
    }
    let next = |target: &Target, active: Active| {
        let observed = observed(&[(PATH, "v"), (CONF, "d")], active, "2");
        let applied = intent.resume(&applied(&old), &observed);
        let plan = plan(target, &applied, &observed, Options::default());
        let causes = plan.after.iter().flat_map(|action| &action.causes);
        assert!(causes.clone().count() >= 1 || plan.is_empty());
        told(&plan)
    };
    assert_eq!(next(&new, Active::Failed), ["start a.service"]);
    assert_eq!(next(&new, Active::Changing), ["restart a.service"]);
    assert_eq!(next(&new, Active::Active), [""; 0]);
    // On the way back the failed start is made again as well, from the old files.
    let last = |active| next(&old, active).pop();
    assert_eq!(last(Active::Failed).as_deref(), Some("start a.service"));
    assert_eq!(last(Active::Changing).as_deref(), Some("restart a.service"));
}

/// A template with these running instances.
fn template(text: &str) -> Target {
    let mut target = target(text, "c");
    let unit = target.units.remove("a.service").expect("it was just made");
    let template = Unit {
        start: Start::Template,
        ..unit
    };
    target.units.insert("a@.service".to_owned(), template);
    target
}

fn instances(text: &str, states: &[(&str, Active, &str)]) -> Observed {
    let mut seen = observed(&[(PATH, text), (CONF, "c")], Active::Inactive, "");
    let state = |active, invocation: &str| State {
        loaded: true,
        active,
        invocation: invocation.to_owned(),
        stale: false,
    };
    let all = states
        .iter()
        .map(|(name, active, invocation)| ((*name).to_owned(), state(*active, invocation)));
    let all: BTreeMap<String, State> = all.collect();
    let running = all.iter().filter(|(_, state)| state.is_running());
    let running = running.map(|(name, _)| name.clone()).collect();
    seen.instances.insert("a@.service".to_owned(), running);
    seen.units = Some(all);
    seen
}

/// Instances are restarted once each, also by the run after one that was cut short, and go back
/// with their template.
#[test]
fn instances_that_a_run_left_behind_are_finished_and_not_repeated() {
    use Active::{Active as Up, Failed, Inactive};
    let (old, new) = (template("u"), template("v"));
    let before = instances(
        "u",
        &[
            ("a@1.service", Up, "1"),
            ("a@2.service", Up, "2"),
            ("a@3.service", Up, "3"),
        ],
    );
    let first = plan(&new, &applied(&old), &before, Options::default());
    assert_eq!(first.after.len(), 4, "a reload and three restarts");
    let mut intent = Intent::announce("run", "commit", &new, &applied(&old), &first);
    intent.phase = Phase::Units;
    for (name, due) in &mut intent.due {
        due.invocation = name.chars().filter(char::is_ascii_digit).collect();
    }
    // The first was restarted, the second failed to, the third had not had its turn.
    let cut = [
        ("a@1.service", Up, "9"),
        ("a@2.service", Failed, "8"),
        ("a@3.service", Up, "3"),
    ];
    let next = |target: &Target, seen: &Observed| {
        let applied = intent.resume(&applied(&old), seen);
        let plan = plan(target, &applied, seen, Options::default());
        told(&plan)
            .into_iter()
            .filter(|line| line.contains("a@"))
            .collect::<Vec<_>>()
    };
    let seen = instances("v", &cut);
    assert_eq!(
        next(&new, &seen),
        ["start a@2.service", "restart a@3.service"]
    );
    assert_eq!(
        next(&old, &seen),
        ["restart a@1.service", "start a@2.service"]
    );
    // It was stopped for its restart, and then nothing came.
    let stopped = [
        ("a@1.service", Up, "9"),
        ("a@2.service", Inactive, ""),
        ("a@3.service", Up, "7"),
    ];
    let seen = instances("v", &stopped);
    assert_eq!(next(&new, &seen), ["start a@2.service"]);
}

/// A run was cut short, and the run that undid it was cut short as well: what the first one wrote is
/// still ours, and no edit by hand.
#[test]
fn what_an_earlier_run_wrote_is_not_taken_for_an_edit() {
    let (old, new) = (target("u", "c"), target("v", "d"));
    let before = observed(&[(PATH, "u"), (CONF, "c")], Active::Active, "1");
    let first = plan(&new, &applied(&old), &before, Options::default());
    let forth = Intent::announce("1", "", &new, &applied(&old), &first);
    let written = observed(&[(PATH, "v"), (CONF, "d")], Active::Active, "1");
    let resumed = forth.resume(&applied(&old), &written);
    let second = plan(&old, &resumed, &written, Options::default());
    let back = Intent::announce("2", "", &old, &resumed, &second);
    // Nothing was put back yet, or one of the two.
    for conf in ["d", "c"] {
        let seen = observed(&[(PATH, "v"), (CONF, conf)], Active::Active, "1");
        let resumed = back.resume(&applied(&old), &seen);
        let third = plan(&old, &resumed, &seen, Options::default());
        let kept = third.files.iter().filter(|action| action.keep).count();
        assert_eq!(kept, 0, "{:?}", told(&third));
        assert!(!told(&third).iter().any(|line| line.contains("drift")));
        let gone = plan(&Target::default(), &resumed, &seen, Options::default());
        assert!(gone.files.iter().all(|action| !action.keep));
    }
    // What nobody announced is an edit all the same.
    let edited = observed(&[(PATH, "x"), (CONF, "c")], Active::Active, "1");
    let resumed = back.resume(&applied(&old), &edited);
    let third = plan(&old, &resumed, &edited, Options::default());
    assert_eq!(third.files.iter().filter(|action| action.keep).count(), 1);
}
