//! Every kind of finding about a repository, with its stable name. `docs/hosts.md` lists them for
//! users.

use base::Code;

pub const MISSING_DIRECTORY: Code = Code("missing-directory");
pub const MISSING_HOST: Code = Code("missing-host");
pub const INVALID_HOST_FILE: Code = Code("invalid-host-file");
pub const UNKNOWN_FIELD: Code = Code("unknown-field");
pub const HOST_MISMATCH: Code = Code("host-mismatch");
pub const UNDEFINED_SERVICE: Code = Code("undefined-service");
pub const REPEATED_SERVICE: Code = Code("repeated-service");

pub const UNKNOWN_DIRECTORY: Code = Code("unknown-directory");
pub const UNSUPPORTED_EXTENSION: Code = Code("unsupported-extension");
pub const MISPLACED_UNIT: Code = Code("misplaced-unit");
pub const INVALID_NAME: Code = Code("invalid-name");
pub const HIDDEN_FILE: Code = Code("hidden-file");
pub const UNIT_TOO_LARGE: Code = Code("unit-too-large");
pub const UNREADABLE_ENTRY: Code = Code("unreadable-entry");
pub const SPECIAL_FILE: Code = Code("special-file");
pub const UNSAFE_LINK: Code = Code("unsafe-link");
pub const CASE_TWINS: Code = Code("case-twins");

pub const MISSING_ARTIFACT: Code = Code("missing-artifact");
pub const UNSELECTED_ARTIFACT: Code = Code("unselected-artifact");
pub const EMPTY_DROP_IN_DIRECTORY: Code = Code("empty-drop-in-directory");
pub const DUPLICATE_ARTIFACT: Code = Code("duplicate-artifact");

pub const UNKNOWN_KEY: Code = Code("unknown-key");
pub const UNKNOWN_SECTION: Code = Code("unknown-section");
pub const INCOMPLETE_UNIT: Code = Code("incomplete-unit");
pub const CONFLICTING_VALUES: Code = Code("conflicting-values");
pub const SERVICE_COLLISION: Code = Code("service-collision");
pub const SOCKET_WITHOUT_SERVICE: Code = Code("socket-without-service");
pub const UNKNOWN_REFERENCE: Code = Code("unknown-reference");
pub const DEPENDENCY_CYCLE: Code = Code("dependency-cycle");

pub const INVALID_OWNER: Code = Code("invalid-owner");
pub const OUTSIDE_ETC: Code = Code("outside-etc");
pub const FILE_IN_ETC: Code = Code("file-in-etc");
pub const RESERVED_ROOT: Code = Code("reserved-root");
pub const UNSELECTED_ROOT: Code = Code("unselected-root");
pub const UNCLAIMED_ROOT: Code = Code("unclaimed-root");
pub const PAYLOAD_CLAIMED_TWICE: Code = Code("payload-claimed-twice");
pub const PAYLOAD_CLASH: Code = Code("payload-clash");
