//! Package `encoding/openapi`: the schemas of its configuration. Making a document needs the evaluator's view, see
//! `crate::openapi`.

use super::super::member::{ANY, special};
use super::super::{Kinds, Package, Special};

pub(in super::super) const PACKAGE: Package = Package {
    path: "encoding/openapi",
    cue: Some(
        "{\n\
         #Config: {version!: \"3.0.0\", info?: #Info, selfContained: bool | *false, expandReferences: bool | *false}\n\
         #Info: {title!: string, version!: string, summary?: string, description?: string, termsOfService?: string, contact?: #Contact, license?: #License}\n\
         #Contact: {name?: string, url?: string, email?: string}\n\
         #License: {name!: string, url?: string}\n\
         }",
    ),
    members: &[special(
        "MarshalSchema",
        &[ANY, ANY],
        Kinds::STRING,
        Special::OpenApiMarshalSchema,
    )],
};
