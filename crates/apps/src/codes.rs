//! The codes of everything that packages, documents, overlays and policies can be told about.
//!
//! They are stable: scripts, pages and audit records name them. `docs/apps.md` has a line for each.

use base::Code;

// What plain precedence does not settle: conflicts.
pub const POLICY_LOCKED: Code = Code("policy-locked");
pub const POLICY_OUT_OF_RANGE: Code = Code("policy-out-of-range");
pub const POLICY_DENIED: Code = Code("policy-denied");
pub const POLICY_CONTRADICTION: Code = Code("policy-contradiction");
pub const REVIEW_PENDING: Code = Code("review-pending");
pub const DUPLICATE_BINDING: Code = Code("duplicate-binding");
pub const SCHEMA_INVALID: Code = Code("schema-invalid");
pub const TYPE_CHANGED: Code = Code("type-changed");
pub const UNKNOWN_KEY: Code = Code("unknown-key");
pub const SCOPE_NOT_ALLOWED: Code = Code("scope-not-allowed");
pub const ORPHANED: Code = Code("orphaned");
pub const TOOL_UNAVAILABLE: Code = Code("tool-unavailable");
pub const SECRET_UNRESOLVED: Code = Code("secret-unresolved");
pub const PLAINTEXT_SECRET: Code = Code("plaintext-secret");
pub const VERSION_CONFLICT: Code = Code("version-conflict");

// Findings about packages.
/// No `APP.md` and no `app.yaml|json|cue`.
pub const NO_MANIFEST: Code = Code("no-manifest");
/// A manifest field that has the wrong shape, or a required one that is missing.
pub const MANIFEST_INVALID: Code = Code("manifest-invalid");
/// A word that the draft standard does not list; a warning.
pub const UNKNOWN_WORD: Code = Code("unknown-word");
/// A CUE file that does not come to a concrete value.
pub const CUE_INVALID: Code = Code("cue-invalid");
/// A template's schema file that is missing or cannot be used.
pub const SCHEMA_UNUSABLE: Code = Code("schema-unusable");
/// Two templates (or one and the manifest) that declare one key.
pub const DUPLICATE_DECLARATION: Code = Code("duplicate-declaration");
/// A declared default that its own schema does not admit.
pub const DEFAULT_INVALID: Code = Code("default-invalid");

// Findings about documents.
/// A document of an unknown kind, or a field of it with the wrong shape.
pub const DOCUMENT_INVALID: Code = Code("document-invalid");
/// A field that the document's kind does not have; a warning.
pub const UNKNOWN_FIELD: Code = Code("unknown-field");
/// Two overlays for one app and scope, or two policies of one authority with one rule id.
pub const DUPLICATE_DOCUMENT: Code = Code("duplicate-document");
/// One overlay that sets a key twice, dotted and nested.
pub const DUPLICATE_KEY: Code = Code("duplicate-key");
/// A rule that cannot be used: an effect without what it needs, a bad glob, constraint or time.
pub const RULE_INVALID: Code = Code("rule-invalid");
/// A rule whose `keys` match no key of the app; a warning.
pub const RULE_WITHOUT_KEY: Code = Code("rule-without-key");
