//! Keywords that are known and say nothing here.

/// Annotations, and keywords that the document as a whole handles.
pub(super) const SILENT: &[&str] = &[
    "$anchor",
    "$comment",
    "$defs",
    "$id",
    "$schema",
    "$vocabulary",
    "contentEncoding",
    "contentMediaType",
    "default",
    "definitions",
    "deprecated",
    "description",
    "discriminator",
    "else",
    "example",
    "examples",
    "externalDocs",
    "format",
    "id",
    "maxContains",
    "minContains",
    "nullable",
    "readOnly",
    "then",
    "title",
    "writeOnly",
];

/// Keywords that constrain and are not converted.
pub(super) const MISSING: &[&str] = &[
    "$dynamicAnchor",
    "$dynamicRef",
    "$recursiveAnchor",
    "$recursiveRef",
    "additionalItems",
    "contentSchema",
    "prefixItems",
    "propertyNames",
    "unevaluatedItems",
    "unevaluatedProperties",
    "xml",
];
