//! Packages `crypto/…`: digests, keyed digests, and the check of Ed25519 signatures.

use hmac::{Hmac, KeyInit, Mac};
use md5::Md5;
use sha1::Sha1;
use sha2::digest::Digest;
use sha2::{Sha224, Sha256, Sha384, Sha512, Sha512_224, Sha512_256};

use super::call::fatal;
use super::member::{STRING, TEXT, function, number, text};
use super::{Args, Error, Kinds, Package, Value};

macro_rules! sum {
    ($name:literal, $digest:ty) => {
        function($name, &[TEXT], Kinds::TEXT, |args| {
            Ok(Value::Bytes(<$digest>::digest(args.bytes(0)?).to_vec()))
        })
    };
}

pub(super) const MD5: Package = Package {
    path: "crypto/md5",
    cue: None,
    members: &[
        number("Size", "16"),
        number("BlockSize", "64"),
        sum!("Sum", Md5),
    ],
};

pub(super) const SHA1: Package = Package {
    path: "crypto/sha1",
    cue: None,
    members: &[
        number("Size", "20"),
        number("BlockSize", "64"),
        sum!("Sum", Sha1),
    ],
};

pub(super) const SHA256: Package = Package {
    path: "crypto/sha256",
    cue: None,
    members: &[
        number("Size", "32"),
        number("Size224", "28"),
        number("BlockSize", "64"),
        sum!("Sum256", Sha256),
        sum!("Sum224", Sha224),
    ],
};

pub(super) const SHA512: Package = Package {
    path: "crypto/sha512",
    cue: None,
    members: &[
        number("Size", "64"),
        number("Size224", "28"),
        number("Size256", "32"),
        number("Size384", "48"),
        number("BlockSize", "128"),
        sum!("Sum512", Sha512),
        sum!("Sum384", Sha384),
        sum!("Sum512_224", Sha512_224),
        sum!("Sum512_256", Sha512_256),
    ],
};

pub(super) const HMAC: Package = Package {
    path: "crypto/hmac",
    cue: None,
    members: &[
        text("MD5", "MD5"),
        text("SHA1", "SHA1"),
        text("SHA224", "SHA224"),
        text("SHA256", "SHA256"),
        text("SHA384", "SHA384"),
        text("SHA512", "SHA512"),
        text("SHA512_224", "SHA512_224"),
        text("SHA512_256", "SHA512_256"),
        function("Sign", &[STRING, TEXT, TEXT], Kinds::TEXT, sign),
    ],
};

pub(super) const ED25519: Package = Package {
    path: "crypto/ed25519",
    cue: None,
    members: &[
        number("PublicKeySize", "32"),
        function("Valid", &[TEXT, TEXT, TEXT], Kinds::BOOL, valid),
    ],
};

macro_rules! mac {
    ($digest:ty, $key:expr, $data:expr) => {{
        let mut mac = Hmac::<$digest>::new_from_slice($key).map_err(|e| fatal(e.to_string()))?;
        mac.update($data);
        mac.finalize().into_bytes().to_vec()
    }};
}

fn sign(args: Args<'_>) -> Result<Value, Error> {
    let (name, key, data) = (args.str(0)?, args.bytes(1)?, args.bytes(2)?);
    let tag = match name {
        "MD5" => mac!(Md5, key, data),
        "SHA1" => mac!(Sha1, key, data),
        "SHA224" => mac!(Sha224, key, data),
        "SHA256" => mac!(Sha256, key, data),
        "SHA384" => mac!(Sha384, key, data),
        "SHA512" => mac!(Sha512, key, data),
        "SHA512_224" => mac!(Sha512_224, key, data),
        "SHA512_256" => mac!(Sha512_256, key, data),
        _ => return Err(fatal("unsupported hash function")),
    };
    Ok(Value::Bytes(tag))
}

fn valid(args: Args<'_>) -> Result<Value, Error> {
    use ed25519_compact::{PublicKey, Signature};
    let key = PublicKey::from_slice(args.bytes(0)?)
        .map_err(|_| fatal("ed25519: publicKey must be 32 bytes"))?;
    let valid = Signature::from_slice(args.bytes(2)?)
        .is_ok_and(|signature| key.verify(args.bytes(1).unwrap_or(&[]), &signature).is_ok());
    Ok(valid.into())
}
