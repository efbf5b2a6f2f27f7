//! The codes of everything this surface finds. They are stable: scripts name them.

use base::Code;

/// An end user's value against a platform operator's fixed value.
pub const LOCKED_VALUE: Code = Code("locked-value");
/// `!default` in a module: module values are concrete.
pub const MODULE_DEFAULT: Code = Code("module-default");
/// A bound or a choice where a module should set a value.
pub const UNSET_MODULE_VALUE: Code = Code("unset-module-value");
/// `!default` where it changes nothing: in an end user's file, or inside a list.
pub const USELESS_DEFAULT: Code = Code("useless-default");
/// A file, or what lies at its values path, that is no map.
pub const WRONG_SHAPE: Code = Code("wrong-shape");
/// A file of several documents.
pub const EXTRA_DOCUMENT: Code = Code("extra-document");
/// A path that nothing has: `--at`, `--path`.
pub const UNKNOWN_PATH: Code = Code("unknown-path");
/// Keys beside `values`, which are not read.
pub const UNREAD_KEY: Code = Code("unread-key");
/// A platform's constraint that rules out what lower tiers said, where no tier sets another value.
pub const UNSUPPLIED_VALUE: Code = Code("unsupplied-value");
/// An error of CUE in a layer.
pub const CUE_ERROR: Code = Code("cue-error");
/// Values that refer to each other in a circle.
pub const VALUE_CYCLE: Code = Code("value-cycle");
/// A value that cannot be computed, and that nothing replaces.
pub const UNRESOLVED_VALUE: Code = Code("unresolved-value");
/// A `--set` that cannot be read.
pub const SET_SYNTAX: Code = Code("set-syntax");
/// A module whose schema is asked for and that has none.
pub const NO_SCHEMA: Code = Code("no-schema");
/// A schema that cannot be used.
pub const BAD_SCHEMA: Code = Code("bad-schema");
/// A value of another type than the schema's.
pub const WRONG_TYPE: Code = Code("wrong-type");
/// A field that the schema does not know.
pub const UNKNOWN_FIELD: Code = Code("unknown-field");
/// A field that the schema requires and no tier sets.
pub const MISSING_FIELD: Code = Code("missing-field");
/// A value that the schema does not admit, though its type is right.
pub const UNMET_CONSTRAINT: Code = Code("unmet-constraint");
/// A result that the wanted output format cannot hold.
pub const UNWRITABLE_VALUE: Code = Code("unwritable-value");
