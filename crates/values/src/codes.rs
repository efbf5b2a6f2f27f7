//! The codes of everything this surface finds. They are stable: scripts name them.

use base::Code;

/// An end user's value against a platform operator's fixed value.
pub const LOCKED_VALUE: Code = Code("locked-value");
/// `!default` in a module: module values are concrete.
pub const DEFAULT_IN_MODULE: Code = Code("default-in-module");
/// `!default` where it changes nothing: in an end user's file, or inside a list.
pub const DEFAULT_WITHOUT_EFFECT: Code = Code("default-without-effect");
/// A file, or what lies at its values path, that is no map.
pub const NOT_A_MAP: Code = Code("not-a-map");
/// A file of several documents.
pub const SEVERAL_DOCUMENTS: Code = Code("several-documents");
/// A path that nothing has: `--at`, `--path`.
pub const NO_SUCH_PATH: Code = Code("no-such-path");
/// Keys beside `values`, which are not read.
pub const VALUES_SIBLINGS: Code = Code("values-siblings");
/// A layer in CUE.
pub const CUE_NOT_READ: Code = Code("cue-not-read");
/// A `--set` that cannot be read.
pub const BAD_SET: Code = Code("bad-set");
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
pub const CANNOT_WRITE: Code = Code("cannot-write");
