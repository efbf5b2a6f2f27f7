//! Packages `encoding/…`.

mod base64;
mod csv;
mod hex;
mod json;
mod openapi;
mod plain;
mod toml;
mod yaml;

pub(super) use base64::PACKAGE as BASE64;
pub(crate) use base64::decode as decode_base64;
pub(super) use csv::PACKAGE as CSV;
pub(super) use hex::PACKAGE as HEX;
pub(super) use json::PACKAGE as JSON;
pub(crate) use json::marshal as json_text;
pub(super) use openapi::PACKAGE as OPENAPI;
pub(super) use toml::PACKAGE as TOML;
pub(super) use yaml::PACKAGE as YAML;
