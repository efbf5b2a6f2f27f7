//! Encodings, digests and identifiers.

use super::super::{Args, Body, Value, lookup};
use super::{call, check};

#[test]
fn crypto_packages() {
    for (path, name, len) in [
        ("crypto/md5", "Sum", 32),
        ("crypto/sha1", "Sum", 40),
        ("crypto/sha256", "Sum256", 64),
        ("crypto/sha256", "Sum224", 56),
        ("crypto/sha512", "Sum512", 128),
        ("crypto/sha512", "Sum384", 96),
        ("crypto/sha512", "Sum512_224", 56),
        ("crypto/sha512", "Sum512_256", 64),
    ] {
        let Some(Body::Pure(_, run)) = lookup(path, name).map(|member| &member.body) else {
            panic!("{path}.{name}");
        };
        let Ok(Value::Bytes(sum)) = run(Args(&[Value::string("abc")])) else {
            panic!("{path}.{name}");
        };
        assert_eq!(sum.len() * 2, len);
        if path == "crypto/sha1" {
            assert_eq!(sum.first_chunk(), Some(&[0xA9, 0x99, 0x3E, 0x36]));
        }
    }
    assert_eq!(
        call("crypto/hmac", "Sign", "\"NONE\" \"k\" \"d\""),
        "error: unsupported hash function"
    );
    assert_eq!(
        call("crypto/ed25519", "Valid", "\"short\" \"m\" \"s\""),
        "error: ed25519: publicKey must be 32 bytes"
    );
}

#[test]
fn encoding_packages() {
    check(
        "encoding/hex",
        &[
            ("Encode", "\"foo\"", "\"666f6f\""),
            ("Decode", "\"666f6F\"", "'foo'"),
            (
                "Decode",
                "\"6z\"",
                "error: encoding/hex: invalid byte: U+007A 'z'",
            ),
            (
                "Decode",
                "\"666\"",
                "error: encoding/hex: odd length hex string",
            ),
            ("EncodedLen", "3", "6"),
            (
                "Dump",
                "\"0123456789abcdef!\"",
                "\"00000000  30 31 32 33 34 35 36 37  38 39 61 62 63 64 65 66  |0123456789abcdef|\\n00000010  21                                                |!|\\n\"",
            ),
        ],
    );
    check(
        "encoding/base64",
        &[
            ("Encode", "null \"foob\"", "\"Zm9vYg==\""),
            ("Decode", "null \"Zm9vYg==\"", "'foob'"),
            ("Decode", "null \"Zm9v\"", "'foo'"),
            (
                "Decode",
                "null \"foo\"",
                "error: illegal base64 data at input byte 0",
            ),
            (
                "Decode",
                "null \"Zm9v!\"",
                "error: illegal base64 data at input byte 4",
            ),
            (
                "Encode",
                "1 \"x\"",
                "error: base64: unsupported encoding: cannot use value 1 (type int) as null",
            ),
            ("EncodedLen", "null 4", "8"),
            ("DecodedLen", "null 8", "6"),
        ],
    );
    check(
        "encoding/csv",
        &[
            (
                "Encode",
                "[[1, \"a,b\", true], [\"q\\\"\"]]",
                "\"1,\\\"a,b\\\",true\\n\\\"q\\\"\\\"\\\"\\n\"",
            ),
            (
                "Decode",
                "\"a,\\\"b\\\"\\\"\\nc\\\"\\n\\nd,e\"",
                "[[\"a\",\"b\\\"\\nc\"],[\"d\",\"e\"]]",
            ),
            (
                "Decode",
                "\"a,b\\nc\"",
                "error: record on line 2: wrong number of fields",
            ),
            (
                "Decode",
                "\"a,b\\\"c\"",
                "error: parse error on line 1, column 4: bare \" in non-quoted-field",
            ),
            (
                "Decode",
                "\"\\\"a\"",
                "error: parse error on line 1, column 3: extraneous or missing \" in quoted-field",
            ),
            ("Decode", "\"\"", "[]"),
        ],
    );
    check(
        "encoding/json",
        &[
            (
                "Marshal",
                "{a: [1, 1.50, \"<\", null], b: 'x'}",
                "\"{\\\"a\\\":[1,1.50,\\\"<\\\",null],\\\"b\\\":\\\"eA==\\\"}\"",
            ),
            ("MarshalStream", "[1, {a: 2}]", "\"1\\n{\\\"a\\\":2}\\n\""),
            (
                "Unmarshal",
                "\"{\\\"a\\\": [1, 2.0], \\\"a\\\": 3}\"",
                "{a:[1,2.0],a:3}",
            ),
            ("Unmarshal", "\"1 2\"", "error: json: invalid JSON"),
            ("Unmarshal", "\"\"", "error: json: invalid JSON"),
            ("UnmarshalStream", "\"1 {}\"", "[1,{}]"),
            ("Valid", "\"{}\"", "true"),
            ("Valid", "\"{\"", "false"),
            (
                "Compact",
                "\"{ \\\"a b\\\" : [ 1.0 , 2 ] }\"",
                "\"{\\\"a b\\\":[1.0,2]}\"",
            ),
            (
                "Indent",
                "\"{\\\"a\\\":[1,{}]}\" \"\" \"  \"",
                "\"{\\n  \\\"a\\\": [\\n    1,\\n    {}\\n  ]\\n}\"",
            ),
            ("HTMLEscape", "\"<a>\"", "\"\\\\u003ca\\\\u003e\""),
        ],
    );
    check(
        "encoding/yaml",
        &[
            (
                "Marshal",
                "{a: [1, \"yes\"]}",
                "\"a:\\n  - 1\\n  - \\\"yes\\\"\\n\"",
            ),
            ("MarshalStream", "[1, {a: 2}]", "\"1\\n---\\na: 2\\n\""),
            ("Unmarshal", "\"a: 1\"", "{a:1}"),
            ("Unmarshal", "\"\"", "null"),
            ("UnmarshalStream", "\"1\\n---\\n2\"", "[1,2]"),
            ("UnmarshalStream", "\"\"", "[null]"),
            (
                "Unmarshal",
                "\"1\\n---\\n2\"",
                "error: 3:1: expected a single YAML document",
            ),
        ],
    );
    check(
        "encoding/toml",
        &[
            ("Marshal", "{b: 1, a: \"x\"}", "\"a = 'x'\\nb = 1\\n\""),
            ("Unmarshal", "\"a = 1\\n[t]\\nb = 2.0\"", "{a:1,t:{b:2.0}}"),
        ],
    );
}

#[test]
fn html_uuid_and_tabwriter() {
    check(
        "html",
        &[
            ("Escape", "\"<'&>\"", "\"&lt;&#39;&amp;&gt;\""),
            ("Unescape", "\"&lt;&eacute;&#39;\"", "\"<é'\""),
        ],
    );
    check(
        "uuid",
        &[
            (
                "Parse",
                "\"{6BA7B810-9DAD-11D1-80B4-00C04FD430C8}\"",
                "\"6ba7b810-9dad-11d1-80b4-00c04fd430c8\"",
            ),
            ("Parse", "\"x\"", "error: invalid UUID length: 1"),
            ("FromInt", "1", "\"00000000-0000-0000-0000-000000000001\""),
            ("Version", "\"6ba7b810-9dad-11d1-80b4-00c04fd430c8\"", "1"),
            ("Variant", "\"6ba7b810-9dad-11d1-80b4-00c04fd430c8\"", "1"),
            (
                "SHA1",
                "\"6ba7b810-9dad-11d1-80b4-00c04fd430c8\" \"www.example.com\"",
                "\"2ed6657d-e927-568b-95e1-2665a8aea6a2\"",
            ),
            (
                "MD5",
                "\"6ba7b810-9dad-11d1-80b4-00c04fd430c8\" \"www.example.com\"",
                "\"5df41881-3aed-3515-88a7-2f4a814cf09e\"",
            ),
        ],
    );
    check(
        "text/tabwriter",
        &[
            (
                "Write",
                "\"a\\tb\\tc\\naaa\\tbb\\tvv\"",
                "\"a   b  c\\naaa bb vv\"",
            ),
            ("Write", "[\"a\\tb\", \"c\"]", "\"a b\\nc\\n\""),
            ("Write", "1", "error: tabwriter.Write: unsupported type int"),
        ],
    );
}
