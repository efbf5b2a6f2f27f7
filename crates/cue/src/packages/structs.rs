//! Package `struct`: both of its constraints look at fields that may still come, so the evaluator has them.

use super::member::{INT, STRUCT, special};
use super::{Kinds, Package, Special};

pub(super) const PACKAGE: Package = Package {
    path: "struct",
    cue: None,
    members: &[
        special(
            "MinFields",
            &[STRUCT, INT],
            Kinds::BOOL,
            Special::StructMinFields,
        ),
        special(
            "MaxFields",
            &[STRUCT, INT],
            Kinds::BOOL,
            Special::StructMaxFields,
        ),
    ],
};
