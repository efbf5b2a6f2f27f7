//! The keys of an app: what may be configured, with which type, by whom, and how layers combine.
//!
//! Keys come from the manifest itself and from the schema files of its templates; a schema language is a
//! reader that makes [`Key`]s (see [`crate::schema`]). Keys are numbered in the order of their
//! names, so that everything listed by key is listed by name.

use std::sync::Arc;

use base::Span;
use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::layer::Layer;
use crate::schema::Check;
use crate::value::{Stored, Value};

/// A key's number in its package.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyId(pub u32);

/// Some keys, one bit each. Asking is a few instructions without a branch to mispredict, where
/// searching a sorted list would cost more than everything else in a look-up.
#[derive(Clone, Debug, Default)]
pub struct KeySet {
    words: Box<[u64]>,
}

impl KeySet {
    pub fn new(keys: impl Iterator<Item = KeyId>) -> KeySet {
        let mut words = Vec::new();
        for KeyId(key) in keys {
            let word = key as usize / 64;
            if word >= words.len() {
                words.resize(word + 1, 0);
            }
            if let Some(bits) = words.get_mut(word) {
                *bits |= 1 << (key % 64);
            }
        }
        KeySet {
            words: words.into(),
        }
    }

    pub fn contains(&self, KeyId(key): KeyId) -> bool {
        let word = self.words.get(key as usize / 64);
        word.is_some_and(|bits| bits >> (key % 64) & 1 == 1)
    }

    /// How many keys of the set come before this one, if it is one of them.
    pub fn position(&self, id: KeyId) -> Option<usize> {
        if !self.contains(id) {
            return None;
        }
        let word = id.0 as usize / 64;
        let below = self.words.get(..word)?;
        let here = self.words.get(word)? & ((1 << (id.0 % 64)) - 1);
        let count = here.count_ones() + below.iter().map(|bits| bits.count_ones()).sum::<u32>();
        Some(count as usize)
    }
}

/// How the values of several layers become one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Merge {
    /// The highest layer's value, lists too.
    Replace,
    /// Maps by field; everything else is replaced.
    Deep,
    /// Lists, without repeats.
    Union,
    /// Lists, one after the other.
    Append,
    /// Lists of maps: items with the same value in this field are one, laid over each other.
    Keyed(Box<str>),
    Min,
    Max,
    /// True if any layer says so.
    Any,
    /// True only if every layer says so.
    All,
}

impl Merge {
    pub fn parse(text: &str) -> Option<Merge> {
        Some(match text {
            "replace" => Merge::Replace,
            "deep" => Merge::Deep,
            "union" => Merge::Union,
            "append" => Merge::Append,
            "min" => Merge::Min,
            "max" => Merge::Max,
            "any" => Merge::Any,
            "all" => Merge::All,
            _ => {
                let field = text.strip_prefix("keyed(")?.strip_suffix(')')?.trim();
                (!field.is_empty()).then(|| Merge::Keyed(field.into()))?
            }
        })
    }

    pub fn text(&self) -> String {
        match self {
            Merge::Keyed(field) => format!("keyed({field})"),
            other => other.word().to_owned(),
        }
    }

    pub fn word(&self) -> &'static str {
        match self {
            Merge::Replace => "replace",
            Merge::Deep => "deep",
            Merge::Union => "union",
            Merge::Append => "append",
            Merge::Keyed(_) => "keyed",
            Merge::Min => "min",
            Merge::Max => "max",
            Merge::Any => "any",
            Merge::All => "all",
        }
    }

    /// Whether the strategy can combine a value at all; others replace.
    pub fn takes(&self, value: &Value) -> bool {
        match self {
            Merge::Replace => true,
            Merge::Deep => matches!(value, Value::Map(_)),
            Merge::Union | Merge::Append | Merge::Keyed(_) => matches!(value, Value::List(_)),
            Merge::Min | Merge::Max => matches!(value, Value::Number(..)),
            Merge::Any | Merge::All => matches!(value, Value::Bool(_)),
        }
    }
}

/// One thing that may be configured.
#[derive(Clone, Debug)]
pub struct Key {
    pub name: Box<str>,
    /// The template that declares it; none for keys of the manifest itself.
    pub template: Option<Box<str>>,
    /// The least specific overlay layer that may set it.
    pub floor: Layer,
    pub check: Check,
    pub default: Option<Arc<Stored>>,
    pub description: Option<String>,
    /// Takes handles only.
    pub secret: bool,
    /// May be shown in diagnostics.
    pub public: bool,
    /// A write waits for another person.
    pub review: bool,
    pub deprecated: bool,
    pub renamed_from: Option<Box<str>>,
    pub merge: Merge,
    /// Where it is declared.
    pub span: Option<Span>,
}

impl Key {
    /// A key with nothing but a name and a check.
    pub fn new(name: impl Into<Box<str>>, check: Check) -> Key {
        Key {
            name: name.into(),
            template: None,
            floor: Layer::Tenant,
            check,
            default: None,
            description: None,
            secret: false,
            public: false,
            review: false,
            deprecated: false,
            renamed_from: None,
            merge: Merge::Replace,
            span: None,
        }
    }
}

/// All keys of one package.
#[derive(Clone, Debug, Default)]
pub struct Keys {
    all: Vec<Key>,
    by_name: HashMap<Box<str>, KeyId, FxBuildHasher>,
    renamed: HashMap<Box<str>, KeyId, FxBuildHasher>,
}

impl Keys {
    /// Sorts and numbers the keys. Of two with one name the first stays; the others come back.
    pub fn new(mut all: Vec<Key>) -> (Keys, Vec<Key>) {
        all.sort_by(|a, b| a.name.cmp(&b.name));
        let mut keys = Keys::default();
        let mut repeated = Vec::new();
        for key in all {
            if keys.by_name.contains_key(&key.name) {
                repeated.push(key);
                continue;
            }
            let id = KeyId(u32::try_from(keys.all.len()).expect("fewer than 2^32 keys"));
            keys.by_name.insert(key.name.clone(), id);
            if let Some(old) = &key.renamed_from {
                keys.renamed.insert(old.clone(), id);
            }
            keys.all.push(key);
        }
        let declared = &keys.by_name;
        keys.renamed.retain(|old, _| !declared.contains_key(old));
        (keys, repeated)
    }

    pub fn len(&self) -> usize {
        self.all.len()
    }

    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    pub fn get(&self, id: KeyId) -> &Key {
        self.all
            .get(id.0 as usize)
            .expect("a KeyId comes from the Keys that made it")
    }

    pub fn find(&self, name: &str) -> Option<KeyId> {
        self.by_name.get(name).copied()
    }

    /// The key that once had this name.
    pub fn find_renamed(&self, old: &str) -> Option<KeyId> {
        self.renamed.get(old).copied()
    }

    pub fn iter(&self) -> impl Iterator<Item = (KeyId, &Key)> {
        (0..).map(KeyId).zip(&self.all)
    }

    /// Whether some key lies below a path: `tools` and `tools.x` when there is `tools.x.enabled`.
    pub fn has_below(&self, path: &str) -> bool {
        let below = |name: &str| {
            let rest = name.strip_prefix(path);
            rest.is_some_and(|rest| rest.starts_with('.'))
        };
        let at = self.all.partition_point(|key| *key.name <= *path);
        let near = self.all.get(at..).unwrap_or(&[]);
        near.iter()
            .take_while(|key| key.name.starts_with(path))
            .any(|key| below(&key.name))
            || self
                .all
                .iter()
                .filter_map(|key| key.renamed_from.as_deref())
                .any(below)
    }
}
