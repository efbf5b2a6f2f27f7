//! The syntax of CUE: text to tree and back.
//!
//! [`parse_file`] and [`parse_expr`] make a tree ([`ast`]) and report what is wrong with the
//! text; [`literal`] decodes numbers and strings; [`format`](mod@format) prints trees. Nothing here knows what a name refers to or
//! what an expression means.

pub mod ast;
pub mod build;
pub mod comments;
pub mod errors;
pub mod format;
pub mod literal;
mod parser;
mod scanner;
pub mod token;

pub use format::{Indent, Options, format_expr, format_file, format_text};
pub use parser::{MAX_CHAIN, MAX_DEPTH, Parsed, ParsedExpr, parse_expr, parse_file};
