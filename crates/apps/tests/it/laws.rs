//! The laws, on worlds made at random, against the naive resolver.

use std::sync::{Arc, OnceLock};

use apps::constraint::Constraint;
use apps::decide::{Change, Command, Verdict, Write, decide};
use apps::glob::Glob;
use apps::instant::Instant;
use apps::layer::{Authority, Layer, Scope};
use apps::overlay::Meta;
use apps::policy::{self, Mode};
use apps::resolve::{Context, Outcome, resolve};
use apps::value::Stored;
use apps::{Package, Snapshot, Table};
use proptest::prelude::*;
use serde_json::{Value as Json, json};

use crate::naive::{self, Effect, Merge};
use crate::world;

/// Every strategy, each with its key.
const KEYS: [(&str, Merge); 9] = [
    ("plain", Merge::Replace),
    ("least", Merge::Min),
    ("most", Merge::Max),
    ("any", Merge::Any),
    ("all", Merge::All),
    ("union", Merge::Union),
    ("append", Merge::Append),
    ("deep", Merge::Deep),
    ("keyed", Merge::Keyed),
];

fn package() -> &'static Arc<Package> {
    static PACKAGE: OnceLock<Arc<Package>> = OnceLock::new();
    PACKAGE.get_or_init(|| {
        let properties = json!({
            "plain": {"type": "integer", "default": 3},
            "least": {"type": "integer", "default": 4, "x-overlay": {"merge": "min"}},
            "most": {"type": "integer", "x-overlay": {"merge": "max"}},
            "any": {"type": "boolean", "default": false, "x-overlay": {"merge": "any"}},
            "all": {"type": "boolean", "default": true, "x-overlay": {"merge": "all"}},
            "union": {"type": "array", "default": [1], "x-overlay": {"merge": "union"}},
            "append": {"type": "array", "x-overlay": {"merge": "append"}},
            "deep": {"type": "object", "default": {"a": 1}, "x-overlay": {"merge": "deep"}},
            "keyed": {"type": "array", "x-overlay": {"merge": "keyed(id)"}},
        });
        world::package("1", &properties.to_string())
    })
}

fn default_of(key: &str) -> Option<Json> {
    match key {
        "plain" => Some(json!(3)),
        "least" => Some(json!(4)),
        "any" => Some(json!(false)),
        "all" => Some(json!(true)),
        "union" => Some(json!([1])),
        "deep" => Some(json!({"a": 1})),
        _ => None,
    }
}

fn fits(merge: Merge, value: &Json) -> bool {
    match merge {
        Merge::Replace | Merge::Min | Merge::Max => value.is_i64(),
        Merge::Any | Merge::All => value.is_boolean(),
        Merge::Union | Merge::Append | Merge::Keyed => value.is_array(),
        Merge::Deep => value.is_object(),
    }
}

/// A value for a key: mostly of its type, sometimes not.
fn a_value(merge: Merge) -> BoxedStrategy<Json> {
    let small = 0..6i64;
    let right = match merge {
        Merge::Replace | Merge::Min | Merge::Max => small.prop_map(|n| json!(n)).boxed(),
        Merge::Any | Merge::All => any::<bool>().prop_map(|b| json!(b)).boxed(),
        Merge::Union | Merge::Append => prop::collection::vec(0..4i64, 0..3)
            .prop_map(|items| json!(items))
            .boxed(),
        Merge::Deep => prop::collection::btree_map("[abc]", 0..4i64, 0..3)
            .prop_map(|fields| json!(fields))
            .boxed(),
        Merge::Keyed => prop::collection::vec((0..3i64, "[ab]", 0..4i64), 0..3)
            .prop_map(|items| {
                let item = |(id, name, value): &(i64, String, i64)| {
                    json!({"id": id, (name.as_str()): value})
                };
                json!(items.iter().map(item).collect::<Vec<_>>())
            })
            .boxed(),
    };
    prop_oneof![9 => right, 1 => Just(json!("wrong")), 1 => Just(Json::Null)].boxed()
}

fn a_rule(merge: Merge) -> impl Strategy<Value = naive::Rule> {
    let lists = matches!(merge, Merge::Union | Merge::Append | Merge::Keyed);
    let range = match (merge, lists) {
        (_, true) => (0..3usize).prop_map(Effect::AtMostItems).boxed(),
        (Merge::Any | Merge::All | Merge::Deep, _) => Just(Effect::DenyKey).boxed(),
        _ => (0..5i64).prop_map(Effect::AtLeast).boxed(),
    };
    let denied = match lists {
        true => (0..4i64).prop_map(|n| json!(n)).boxed(),
        false => a_value(merge),
    };
    let effect = prop_oneof![
        2 => a_value(merge).prop_map(Effect::Mandatory),
        2 => a_value(merge)
            .prop_filter("a rule's own value", move |v| fits(merge, v))
            .prop_map(Effect::Recommended),
        4 => range,
        1 => Just(Effect::DenyKey),
        2 => denied.prop_map(Effect::Deny),
        1 => Just(Effect::Review),
    ];
    let at = prop::sample::select(vec![0usize, 2, 3]);
    (at, effect, prop::bool::weighted(0.85)).prop_map(|(at, effect, enforced)| naive::Rule {
        at,
        effect,
        enforced,
    })
}

/// One key, what every layer says of it, and the rules on it.
#[derive(Clone, Debug)]
struct World {
    key: &'static str,
    merge: Merge,
    layers: [Option<Json>; 6],
    rules: Vec<naive::Rule>,
}

fn a_world() -> impl Strategy<Value = World> {
    prop::sample::select(KEYS.to_vec()).prop_flat_map(|(key, merge)| {
        let said = || prop::option::weighted(0.6, a_value(merge));
        let rules = prop::collection::vec(a_rule(merge), 0..4);
        (said(), said(), said(), said(), said(), rules).prop_map(
            move |(host, tenant, workspace, user, runtime, mut rules)| {
                // The real one asks host, tenant, workspace, in this order.
                rules.sort_by_key(|rule| rule.at);
                World {
                    key,
                    merge,
                    layers: [host, default_of(key), tenant, workspace, user, runtime],
                    rules,
                }
            },
        )
    })
}

fn authority(at: usize) -> Authority {
    let (tenant, workspace) = ("t".to_owned(), "w".to_owned());
    match at {
        0 => Authority::Host,
        2 => Authority::Tenant { tenant },
        _ => Authority::Workspace { tenant, workspace },
    }
}

fn real_rule(number: usize, key: &str, rule: &naive::Rule) -> policy::Rule {
    let value = |json: &Json| world::value(&json.to_string());
    policy::Rule {
        id: format!("r{number}"),
        authority: authority(rule.at),
        keys: vec![Glob::parse(key).unwrap()],
        effect: match &rule.effect {
            Effect::Mandatory(v) => policy::Effect::Mandatory(Stored::new(value(v))),
            Effect::Recommended(v) => policy::Effect::Recommended(Stored::new(value(v))),
            Effect::AtLeast(n) => {
                policy::Effect::Range(Constraint::read(&value(&json!(format!(">={n}")))).unwrap())
            }
            Effect::AtMostItems(n) => policy::Effect::Range(
                Constraint::read(&value(&json!({"type": "array", "maxItems": n}))).unwrap(),
            ),
            Effect::DenyKey => policy::Effect::Deny(Vec::new()),
            Effect::Deny(v) => policy::Effect::Deny(vec![value(v)]),
            Effect::Review => policy::Effect::RequireReview,
        },
        reason: "because".to_owned(),
        contact: None,
        mode: if rule.enforced {
            Mode::Enforce
        } else {
            Mode::DryRun
        },
        not_before: None,
        expires: None,
        span: None,
    }
}

fn scope(layer: Layer) -> Scope {
    match layer {
        Layer::Tenant => Scope::tenant("t"),
        Layer::Workspace => Scope::workspace("t", "w"),
        _ => Scope::user("t", "w", "u"),
    }
}

const SCOPED: [Layer; 3] = [Layer::Tenant, Layer::Workspace, Layer::User];

/// The real world, its parts put in in any order.
fn build(world: &World, backwards: bool) -> (Snapshot, Context) {
    let mut snapshot = world::snapshot(package());
    if let Some(host) = &world.layers[0] {
        world::put_host(&mut snapshot, &[(world.key, &host.to_string())]);
    }
    let mut layers = SCOPED;
    if backwards {
        layers.reverse();
    }
    for layer in layers {
        if let Some(value) = &world.layers[layer as usize] {
            world::put(
                &mut snapshot,
                &scope(layer),
                &[(world.key, &value.to_string())],
            );
        }
    }
    for at in [0, 2, 3] {
        let rules = world
            .rules
            .iter()
            .enumerate()
            .filter(|(_, rule)| rule.at == at);
        let rules = rules
            .map(|(n, rule)| real_rule(n, world.key, rule))
            .collect();
        snapshot.set_rules(&authority(at), rules);
    }
    let mut context = Context::of(&scope(Layer::User), Instant(0));
    if let Some(value) = &world.layers[5] {
        let values = world::assignments(&[(world.key, &value.to_string())], Meta::default());
        context.runtime = snapshot.try_compile(Layer::Runtime, values);
    }
    (snapshot, context)
}

fn json_of(snapshot: &Snapshot, context: &Context, key: &str) -> String {
    let resolved = resolve(snapshot, context);
    let answer = resolved.find(key).unwrap();
    let mut out = String::new();
    apps::write::resolved_value(&mut out, &resolved, &answer, None);
    out
}

fn table_json(table: &Table) -> Vec<String> {
    let row = |(key, row): (&apps::key::Key, &apps::table::Row)| format!("{} {row:?}", key.name);
    table.iter().map(row).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_resolver_is_the_naive_one(world in a_world()) {
        let (snapshot, context) = build(&world, false);
        let resolved = resolve(&snapshot, &context);
        let real = resolved.find(world.key).unwrap();
        let got = naive::Answer {
            value: real.value.as_ref().map(|held| serde_json::from_str(held.json()).unwrap()),
            source: real.source.map(|layer| layer as usize),
            locked: real.locked,
            overrides: real.overrides().map(|layer| layer as usize).collect(),
        };
        let wanted = naive::resolve(world.merge, &|v| fits(world.merge, v), &world.layers, &world.rules);
        prop_assert_eq!(got, wanted);
    }

    #[test]
    fn the_same_input_gives_the_same_bytes(world in a_world()) {
        let (first, context) = build(&world, false);
        let (second, _) = build(&world, true);
        let json = json_of(&first, &context, world.key);
        prop_assert_eq!(&json, &json_of(&second, &context, world.key));
        let parsed: Json = serde_json::from_str(&json).unwrap();
        prop_assert_eq!(parsed.get("key"), Some(&json!(world.key)));
    }

    #[test]
    fn the_chain_is_all_layers_low_to_high_and_the_short_cut_agrees(world in a_world()) {
        let (snapshot, context) = build(&world, false);
        let resolved = resolve(&snapshot, &context);
        let answer = resolved.find(world.key).unwrap();
        prop_assert!(answer.chain.is_sorted_by_key(|link| link.layer));
        let layers: Vec<Layer> = answer.chain.iter()
            .filter(|link| link.supplier.is_none()).map(|link| link.layer).collect();
        prop_assert_eq!(layers, Layer::ALL);
        let short = resolved.value(answer.id);
        prop_assert_eq!(short.as_ref().map(|(held, _)| held.json()), answer.value.as_ref().map(|held| held.json()));
        prop_assert_eq!(short.map(|(_, layer)| layer), answer.source);
        let won = answer.chain.iter().any(|link| link.outcome == Outcome::Won);
        prop_assert_eq!(won, answer.value.is_some());
    }

    #[test]
    fn a_table_says_what_the_resolver_says_also_after_a_change(
        world in a_world(),
        changed in 0..3usize,
        value in prop::option::of(a_value(Merge::Union)),
    ) {
        let (mut snapshot, context) = build(&world, false);
        let mut table = Table::new(&resolve(&snapshot, &context));
        prop_assert_eq!(table_json(&table), table_json(&Table::new(&resolve(&snapshot, &context))));
        {
            let answer = resolve(&snapshot, &context).find(world.key).unwrap();
            let row = table.find(world.key).unwrap();
            prop_assert_eq!(row.value.as_ref().map(|v| &*v.json), answer.value.as_ref().map(|held| held.json()));
            prop_assert_eq!(row.source, answer.source);
            let outcomes = |chain: &mut dyn Iterator<Item = Outcome>| chain.collect::<Vec<_>>();
            prop_assert_eq!(
                outcomes(&mut row.chain.iter().map(|step| step.outcome)),
                outcomes(&mut answer.chain.iter().map(|link| link.outcome))
            );
        }
        let layer = SCOPED[changed];
        let text = value.map(|value| value.to_string());
        let values: Vec<(&str, &str)> = text.iter().map(|text| (world.key, text.as_str())).collect();
        world::put(&mut snapshot, &scope(layer), &values);
        let view = resolve(&snapshot, &context);
        let settled = table.update(&view, layer);
        prop_assert!(settled <= 1, "{} keys were settled again", settled);
        prop_assert_eq!(table_json(&table), table_json(&Table::new(&view)));
    }

    #[test]
    fn no_write_and_no_strategy_escapes_a_rule(
        world in a_world(),
        writes in prop::collection::vec((0..3usize, any::<prop::sample::Index>()), 1..4),
        values in prop::collection::vec(a_value(Merge::Union), 4),
    ) {
        let (mut snapshot, mut context) = build(&world, false);
        let before = resolve(&snapshot, &context).find(world.key).unwrap().locked
            .then(|| json_of_value(&snapshot, &context, world.key));
        let mut pool: Vec<Json> = world.layers.iter().flatten().cloned().collect();
        pool.extend(values);
        for (layer, index) in writes {
            let layer = SCOPED[layer];
            let value = world::value(&index.get(&pool).to_string());
            let write = Write {
                scope: scope(layer),
                changes: vec![(world.key.to_owned(), Change::Set(value.clone()))],
                author: Some("mallory".into()),
                time: None,
                revision: None,
                base: None,
            };
            let decision = decide(&snapshot, Instant(0), Command::Overlay(&write));
            if decision.verdict == Verdict::Accepted {
                snapshot.set_overlay(&write.scope, decision.overlay.unwrap());
                let owner = Context::of(&write.scope, Instant(0));
                let answer = resolve(&snapshot, &owner).find(world.key).unwrap();
                let link = answer.chain.iter().find(|l| l.layer == layer && l.supplier.is_none()).unwrap();
                let same = answer.value.as_ref().is_some_and(|held| *held.value() == value);
                prop_assert!(same || !matches!(link.outcome, Outcome::Skipped | Outcome::Suppressed));
            } else {
                prop_assert!(decision.overlay.is_none());
            }
            let values = [(world.key.to_owned(), value)];
            let runtime = decide(&snapshot, Instant(0), Command::Runtime { context: &context, values: &values });
            context.runtime = runtime.overlay.unwrap();
        }
        if let Some(locked) = before {
            prop_assert_eq!(json_of_value(&snapshot, &context, world.key), locked);
        }
        let answer = resolve(&snapshot, &context).find(world.key).unwrap();
        for rule in world.rules.iter().filter(|rule| rule.enforced) {
            if let (Some(held), policy::Effect::Range(range)) = (&answer.value, &real_rule(0, world.key, rule).effect) {
                prop_assert!(range.admits(held.value()));
            }
        }
    }

    #[test]
    fn unset_restores_inheritance(world in a_world(), layer in 0..3usize) {
        let layer = SCOPED[layer];
        let (with, _) = build(&world, false);
        let without = World { layers: { let mut l = world.layers.clone(); l[layer as usize] = None; l }, ..world.clone() };
        let (without, context) = build(&without, false);
        let write = Write {
            scope: scope(layer),
            changes: vec![(world.key.to_owned(), Change::Unset)],
            author: None, time: None, revision: None, base: None,
        };
        let decision = decide(&with, Instant(0), Command::Overlay(&write));
        prop_assert_eq!(decision.verdict, Verdict::Accepted);
        let mut with = with;
        with.set_overlay(&write.scope, decision.overlay.unwrap());
        prop_assert_eq!(json_of(&with, &context, world.key), json_of(&without, &context, world.key));
    }
}

fn json_of_value(snapshot: &Snapshot, context: &Context, key: &str) -> String {
    let answer = resolve(snapshot, context).find(key).unwrap();
    answer
        .value
        .map_or("unset".to_owned(), |held| held.json().to_owned())
}
