//! Packages `text/…`.

mod print;
mod tabwriter;
mod template;

pub(super) use tabwriter::PACKAGE as TABWRITER;
pub(super) use template::PACKAGE as TEMPLATE;
