//! Packages `text/…`.

mod tabwriter;

pub(super) use tabwriter::PACKAGE as TABWRITER;
