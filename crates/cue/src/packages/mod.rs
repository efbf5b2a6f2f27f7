//! The standard packages: what `import "strings"` and its like offer.
//!
//! A [`Package`] is a list of [`Member`]s: functions, constants, and for a few packages a piece of CUE source that the
//! evaluator compiles beside them. Functions are pure, from plain concrete [`Value`]s to a `Value` or an [`Error`].
//!
//! # What the evaluator does for a call
//! 1. It checks the number of arguments against [`Function::params`]. A trailing parameter with a
//!    [`Param::default`] may be missing. A call with exactly one argument too few, of a function whose
//!    [`Function::is_validator`] holds, is a constraint; the constrained value becomes the *first* argument.
//! 2. It takes defaults of the arguments and checks their kinds: `cannot use X (type T) as KIND in argument N to
//!    PKG.NAME`; with [`Param::one_of`] also the value.
//! 3. For [`Body::Pure`] it converts the arguments. Scalars become scalars, lists become lists. An element or
//!    field that is not concrete, or a struct where [`Param::deep`] is not set, becomes [`Value::Opaque`], which functions move
//!    about unseen. Where `deep` is set, everything must be concrete; the evaluator reports what is not
//!    (`non-concrete argument 0`, `cannot convert incomplete value "string" to JSON`).
//! 4. For [`Body::Evaluator`] it does the work itself, see [`Special`].
//! 5. An [`Error::Fatal`] reads `error in call to PKG.NAME: …`, or, of a constraint, `invalid value X (does not
//!    satisfy PKG.NAME(ARGS)): …`. [`Error::Invalid`] says why a constraint does not hold; in a plain call it means
//!    `false`. A constraint that returns `false` has no detail.
//!
//! A struct returned by an `Unmarshal` function may name a field twice; the evaluator unifies the two.

mod bits;
mod call;
mod crypto;
mod encoding;
mod float_text;
mod glob;
mod html;
mod list;
mod math;
mod member;
mod net;
mod path;
mod quote;
mod regexp;
mod strconv;
mod strings;
mod structs;
mod text;
mod time;
mod uuid;
mod value;

pub use crate::eval::kind::Kind as Kinds;
pub use call::{Args, Error};
pub(crate) use encoding::{decode_base64, json_text};
pub(crate) use glob::matches as glob_matches;
pub use member::{Body, Constant, Function, Member, Package, Param, Special};
pub use value::{Opaque, Value};

/// Results are kept below this many bytes or elements, whatever the arguments say.
pub(crate) const MAX_RESULT: usize = 64 << 20;
/// The largest count that repeating functions take.
pub(crate) const MAX_REPEAT: i64 = 1_000_000;

/// Every package, sorted by path.
pub fn packages() -> &'static [&'static Package] {
    &[
        &crypto::ED25519,
        &crypto::HMAC,
        &crypto::MD5,
        &crypto::SHA1,
        &crypto::SHA256,
        &crypto::SHA512,
        &encoding::BASE64,
        &encoding::CSV,
        &encoding::HEX,
        &encoding::JSON,
        &encoding::OPENAPI,
        &encoding::TOML,
        &encoding::YAML,
        &html::PACKAGE,
        &list::PACKAGE,
        &math::PACKAGE,
        &bits::PACKAGE,
        &net::PACKAGE,
        &path::PACKAGE,
        &regexp::PACKAGE,
        &strconv::PACKAGE,
        &strings::PACKAGE,
        &structs::PACKAGE,
        &text::TABWRITER,
        &text::TEMPLATE,
        &time::PACKAGE,
        &uuid::PACKAGE,
    ]
}

/// The package with this import path.
pub fn package(path: &str) -> Option<&'static Package> {
    packages()
        .iter()
        .find(|package| package.path == path)
        .copied()
}

/// A member of a package, by import path and name.
pub fn lookup(path: &str, name: &str) -> Option<&'static Member> {
    package(path)?.member(name)
}

#[cfg(test)]
mod tests;
