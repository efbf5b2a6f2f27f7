//! A resolver so simple that it is plainly right: JSON values, one list, no sharing, no short cuts.
//! It knows nothing of the real one's data or code.

use serde_json::Value as Json;

/// Layers and authorities by number: host 0, app 1, tenant 2, workspace 3, user 4, runtime 5.
#[derive(Clone, Debug)]
pub struct Rule {
    pub at: usize,
    pub effect: Effect,
    pub enforced: bool,
}

#[derive(Clone, Debug)]
pub enum Effect {
    Mandatory(Json),
    Recommended(Json),
    /// Numbers at least this; lists at most this long.
    AtLeast(i64),
    AtMostItems(usize),
    DenyKey,
    Deny(Json),
    Review,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Merge {
    Replace,
    Min,
    Max,
    Any,
    All,
    Union,
    Append,
    Deep,
    Keyed,
}

#[derive(Debug, PartialEq)]
pub struct Answer {
    pub value: Option<Json>,
    pub source: Option<usize>,
    pub locked: bool,
    pub overrides: Vec<usize>,
}

/// `fits` is the key's schema; `layers` what each says.
pub fn resolve(
    merge: Merge,
    fits: &dyn Fn(&Json) -> bool,
    layers: &[Option<Json>; 6],
    rules: &[Rule],
) -> Answer {
    let rules: Vec<&Rule> = rules.iter().filter(|rule| rule.enforced).collect();
    let in_range = |value: &Json| {
        rules.iter().all(|rule| match rule.effect {
            Effect::AtLeast(least) => value.as_f64().is_some_and(|v| v >= least as f64),
            Effect::AtMostItems(most) => value.as_array().is_some_and(|v| v.len() <= most),
            _ => true,
        })
    };
    let denied = |layer: usize, value: &Json| {
        rules.iter().any(|rule| {
            rule.at < layer
                && match &rule.effect {
                    Effect::DenyKey => layer >= 2,
                    Effect::Deny(no) => {
                        no == value || value.as_array().is_some_and(|items| items.contains(no))
                    }
                    _ => false,
                }
        })
    };
    let lower = |source: usize, winners: &[usize]| -> Vec<usize> {
        (0..source)
            .filter(|layer| layers[*layer].is_some() && !winners.contains(layer))
            .collect()
    };
    let unset = Answer {
        value: None,
        source: None,
        locked: false,
        overrides: Vec::new(),
    };

    let mandatory: Vec<(usize, &Json)> = rules
        .iter()
        .filter_map(|rule| match &rule.effect {
            Effect::Mandatory(value) => Some((rule.at, value)),
            _ => None,
        })
        .collect();
    if let Some(&(at, value)) = mandatory.first() {
        let agreed = mandatory.iter().all(|(_, other)| other == &value);
        let possible = mandatory.iter().all(|(at, value)| {
            let no = |rule: &&&Rule| rule.at < *at && matches!(&rule.effect, Effect::Deny(_));
            let denies = rules.iter().filter(no).any(|rule| match &rule.effect {
                Effect::Deny(no) => {
                    no == *value || value.as_array().is_some_and(|items| items.contains(no))
                }
                _ => false,
            });
            fits(value) && in_range(value) && !denies
        });
        // Ranges on numbers all point one way, so they never contradict each other alone.
        return match agreed && possible {
            true => Answer {
                value: Some(value.clone()),
                source: Some(at),
                locked: true,
                overrides: lower(at, &[]),
            },
            false => unset,
        };
    }

    // Everyone who says something, low to high, a recommendation just above its authority.
    let mut said: Vec<(usize, &Json, bool)> = Vec::new();
    for (layer, value) in layers.iter().enumerate() {
        if let Some(value) = value {
            said.push((layer, value, false));
        }
        for rule in rules.iter().filter(|rule| rule.at == layer) {
            if let Effect::Recommended(value) = &rule.effect {
                said.push((layer, value, true));
            }
        }
    }
    let review = |layer: usize| {
        let wants = |rule: &&Rule| rule.at < layer && matches!(rule.effect, Effect::Review);
        layer >= 2 && rules.iter().any(wants)
    };
    let good: Vec<(usize, &Json, bool)> = said
        .into_iter()
        .filter(|(layer, value, recommended)| {
            (*recommended || fits(value) && !review(*layer)) && !denied(*layer, value)
        })
        .collect();
    let mut now: Option<(Json, Vec<(usize, bool)>)> = None;
    for (layer, value, recommended) in good {
        let (next, who) = match &now {
            None => (value.clone(), vec![(layer, recommended)]),
            Some((below, who)) => match join(merge, below, value) {
                Joined::Above => (value.clone(), vec![(layer, recommended)]),
                Joined::Below => (below.clone(), who.clone()),
                Joined::Both(both) => (
                    both,
                    who.iter().copied().chain([(layer, recommended)]).collect(),
                ),
            },
        };
        if in_range(&next) {
            now = Some((next, who));
        }
    }
    match now {
        None => unset,
        Some((value, who)) => {
            let source = who.last().expect("someone said it").0;
            let winners: Vec<usize> = who.iter().filter(|(_, r)| !r).map(|(l, _)| *l).collect();
            Answer {
                value: Some(value),
                source: Some(source),
                locked: false,
                overrides: lower(source, &winners),
            }
        }
    }
}

enum Joined {
    Above,
    Below,
    Both(Json),
}

fn join(merge: Merge, below: &Json, above: &Json) -> Joined {
    let pick = |above_wins: bool| {
        if above_wins {
            Joined::Above
        } else {
            Joined::Below
        }
    };
    match merge {
        Merge::Replace => Joined::Above,
        Merge::Min => pick(above.as_f64() < below.as_f64()),
        Merge::Max => pick(above.as_f64() > below.as_f64()),
        Merge::Any => pick(above == &Json::Bool(true) && below == &Json::Bool(false)),
        Merge::All => pick(above == &Json::Bool(false) && below == &Json::Bool(true)),
        Merge::Deep => Joined::Both(deep(below, above)),
        Merge::Union | Merge::Append | Merge::Keyed => {
            let mut items = below.as_array().expect("a list").clone();
            for item in above.as_array().expect("a list") {
                let same = items.iter().position(|known| match merge {
                    Merge::Union => known == item,
                    Merge::Keyed => known.get("id").is_some() && known.get("id") == item.get("id"),
                    _ => false,
                });
                match (merge, same) {
                    (Merge::Keyed, Some(at)) => items[at] = deep(&items[at], item),
                    (_, Some(_)) => {}
                    (_, None) => items.push(item.clone()),
                }
            }
            Joined::Both(Json::Array(items))
        }
    }
}

fn deep(below: &Json, above: &Json) -> Json {
    match (below, above) {
        (Json::Object(below), Json::Object(above)) => {
            let mut out = below.clone();
            for (name, value) in above {
                let inner = out
                    .get(name)
                    .map_or(value.clone(), |known| deep(known, value));
                out.insert(name.clone(), inner);
            }
            Json::Object(out)
        }
        _ => above.clone(),
    }
}
