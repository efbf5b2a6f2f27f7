//! The codes of everything this crate finds wrong with a data file.
//!
//! They are stable: scripts and suppressions name them. Invalid UTF-8 is found before a text
//! reaches this crate, see [`base::source::INVALID_UTF8`].

use base::Code;

/// A JSON text that does not follow the grammar.
pub const JSON_SYNTAX: Code = Code("json-syntax");
/// A YAML text that does not follow the grammar.
pub const YAML_SYNTAX: Code = Code("yaml-syntax");
/// A TOML text that does not follow the grammar.
pub const TOML_SYNTAX: Code = Code("toml-syntax");
/// A map that sets one key twice.
pub const DUPLICATE_KEY: Code = Code("duplicate-key");
/// A YAML tag that means nothing here; `!defualt` would otherwise lock what it should open.
pub const UNKNOWN_TAG: Code = Code("unknown-tag");
/// A known YAML tag on a value that it does not fit: `!!int abc`.
pub const TAG_MISMATCH: Code = Code("tag-mismatch");
/// A YAML key that is a list or a map.
pub const COMPLEX_KEY: Code = Code("complex-key");
/// A YAML merge key `<<` whose value is no map.
pub const BAD_MERGE: Code = Code("bad-merge");
/// A YAML alias without an anchor before it.
pub const UNKNOWN_ANCHOR: Code = Code("unknown-anchor");
/// A YAML alias inside the very node that it stands for.
pub const ALIAS_CYCLE: Code = Code("alias-cycle");
/// YAML aliases that expand to more nodes than is sane.
pub const ALIAS_BOMB: Code = Code("alias-bomb");
/// Collections nested deeper than [`crate::MAX_DEPTH`].
pub const TOO_DEEP: Code = Code("too-deep");
/// A text larger than two gigabytes.
pub const TOO_LARGE: Code = Code("too-large");
/// Infinity or not-a-number, which plain data cannot hold.
pub const NOT_FINITE: Code = Code("not-a-number");
/// A number whose exponent is beyond reason.
pub const NUMBER_RANGE: Code = Code("number-range");
/// There were more findings in one file than are worth listing.
pub const MORE_FINDINGS: Code = Code("more-findings");
