//! One table per package: a call with its arguments in JSON-like CUE, and what it gives.

use super::*;
use crate::number::Num;

/// Reads `[1, "x", 'y', {a: true}]`, enough for tables.
struct Reader<'a>(&'a str);

impl Reader<'_> {
    fn space(&mut self) {
        self.0 = self.0.trim_start_matches([' ', '\n', ',']);
    }

    fn take(&mut self, prefix: &str) -> bool {
        self.space();
        match self.0.strip_prefix(prefix) {
            Some(rest) => {
                self.0 = rest;
                true
            }
            None => false,
        }
    }

    fn quoted(&mut self, mark: char) -> String {
        let mut out = String::new();
        let mut chars = self.0.char_indices();
        while let Some((at, c)) = chars.next() {
            match c {
                '\\' => match chars.next().expect("an escape").1 {
                    'n' => out.push('\n'),
                    't' => out.push('\t'),
                    other => out.push(other),
                },
                c if c == mark => {
                    self.0 = self.0.get(at + 1..).expect("behind the quote");
                    return out;
                }
                c => out.push(c),
            }
        }
        panic!("no closing quote");
    }

    fn value(&mut self) -> Value {
        self.space();
        if self.take("[") {
            let mut items = Vec::new();
            while !self.take("]") {
                items.push(self.value());
            }
            return Value::List(items);
        }
        if self.take("{") {
            let mut fields = Vec::new();
            while !self.take("}") {
                self.space();
                let (name, rest) = self.0.split_once(':').expect("a field");
                let name = name.trim_matches('"').to_owned();
                self.0 = rest;
                fields.push((name, self.value()));
            }
            return Value::Struct(fields);
        }
        if self.take("\"") {
            return Value::String(self.quoted('"'));
        }
        if self.take("'") {
            return Value::Bytes(self.quoted('\'').into_bytes());
        }
        for (word, value) in [
            ("null", Value::Null),
            ("true", Value::Bool(true)),
            ("false", Value::Bool(false)),
            (
                "opaque",
                Value::Opaque(Opaque {
                    id: 7,
                    kinds: Kinds::STRUCT,
                }),
            ),
        ] {
            if self.take(word) {
                return value;
            }
        }
        let end = self
            .0
            .find(|c: char| !(c.is_ascii_alphanumeric() || "+-._".contains(c)))
            .unwrap_or(self.0.len());
        let (number, rest) = self.0.split_at(end);
        self.0 = rest;
        Value::Num(Num::parse_literal(number).unwrap_or_else(|e| panic!("{number}: {e}")))
    }
}

/// Calls `path.Name` with the arguments in `args`; errors come out as `error: …`.
pub(super) fn call(path: &str, name: &str, args: &str) -> String {
    let member = lookup(path, name).unwrap_or_else(|| panic!("no {path}.{name}"));
    let mut reader = Reader(args);
    let mut values = Vec::new();
    while !reader.0.trim().is_empty() {
        values.push(reader.value());
        reader.space();
    }
    let Body::Pure(function, run) = &member.body else {
        panic!("{path}.{name} is no pure function");
    };
    for param in function.params.iter().skip(values.len()) {
        values.push(Value::string(param.default.expect("an argument")));
    }
    for (param, value) in function.params.iter().zip(&values) {
        assert!(
            param.kind.contains(value.kinds()),
            "{path}.{name}({args}): {value} is no {}",
            param.kind
        );
    }
    match run(Args(&values)) {
        Ok(value) => {
            assert!(
                function.result.contains(value.kinds()),
                "{path}.{name} returns {value}, no {}",
                function.result
            );
            value.to_string()
        }
        Err(error) => format!("error: {}", error.message()),
    }
}

/// Checks rows of `name, arguments, result`.
pub(super) fn check(path: &str, rows: &[(&str, &str, &str)]) {
    for (name, args, wanted) in rows {
        assert_eq!(call(path, name, args), *wanted, "{path}.{name}({args})");
    }
}

#[test]
fn members_are_unique_and_described() {
    for package in packages() {
        for (i, member) in package.members.iter().enumerate() {
            let twins = package.members.iter().skip(i + 1);
            assert!(
                twins.into_iter().all(|other| other.name != member.name),
                "{}.{}",
                package.path,
                member.name
            );
            if let Body::Constant(constant) = &member.body {
                constant.value();
            }
        }
    }
    let paths: Vec<_> = packages().iter().map(|package| package.path).collect();
    assert!(paths.is_sorted(), "{paths:?}");
}

#[test]
fn list_package() {
    check(
        "list",
        &[
            ("Drop", "[1, 2, 3] 1", "[2,3]"),
            ("Drop", "[1] 5", "[]"),
            ("Drop", "[1] -1", "error: negative index"),
            ("Take", "[1, 2, 3] 2", "[1,2]"),
            ("Slice", "[1, 2, 3] 1 2", "[2]"),
            ("Slice", "[1, 2] 2 1", "error: invalid index: 2 > 1"),
            ("Slice", "[1] 0 2", "error: slice bounds out of range"),
            ("Reverse", "[1, opaque, 3]", "[3,struct,1]"),
            ("Repeat", "[1, 2] 2", "[1,2,1,2]"),
            ("Repeat", "[1] -1", "error: negative count"),
            (
                "Repeat",
                "[1] 1000001",
                "error: count 1000001 exceeds limit of 1000000",
            ),
            ("Concat", "[[1], [], [2, [3]]]", "[1,2,[3]]"),
            (
                "Concat",
                "[1]",
                "error: cannot use value 1 (type int) as list",
            ),
            ("FlattenN", "[1, [2, [3]]] 1", "[1,2,[3]]"),
            ("FlattenN", "[1, [2, [3]]] -1", "[1,2,3]"),
            ("Sum", "[1, 2.5]", "3.5"),
            ("Sum", "[0.5, 0.5]", "1"),
            ("Sum", "[]", "0"),
            (
                "Sum",
                "[1, \"a\"]",
                "error: invalid list element 1 in argument 0 to call: cannot use value \"a\" (string) as number",
            ),
            ("Product", "[2, 3]", "6"),
            ("Avg", "[1, 2]", "1.5"),
            ("Avg", "[]", "error: empty list"),
            ("Max", "[1, 3, 2]", "3"),
            ("Min", "[]", "error: empty list"),
            ("Range", "0 5 2", "[0,2,4]"),
            ("Range", "2 0 -0.5", "[2,1.5,1,0.5]"),
            ("Range", "0 1 0", "error: step must be non zero"),
            (
                "Range",
                "1 0 1",
                "error: end must be greater than start when step is positive",
            ),
            ("Range", "0 1 1e-9", "error: range has too many elements"),
            ("SortStrings", "[\"b\", \"a\"]", "[\"a\",\"b\"]"),
            ("IsSortedStrings", "[\"b\", \"a\"]", "false"),
        ],
    );
}

#[test]
fn strings_package() {
    check(
        "strings",
        &[
            ("ByteAt", "\"abc\" 1", "98"),
            ("ByteAt", "'abc' 3", "error: index out of range"),
            ("ByteSlice", "\"abc\" 1 3", "'bc'"),
            ("Runes", "\"aé\"", "[97,233]"),
            ("Repeat", "\"ab\" 2", "\"abab\""),
            ("Repeat", "\"ab\" -2", "error: negative count"),
            ("MinRunes", "\"é\" 2", "false"),
            ("MaxRunes", "\"é\" 1", "true"),
            ("ToTitle", "\"one two\"", "\"One Two\""),
            ("ToCamel", "\"One Two\"", "\"one two\""),
            ("SliceRunes", "\"héllo\" 1 3", "\"él\""),
            ("SliceRunes", "\"a\" 1 3", "error: index out of range"),
            ("Compare", "\"a\" \"b\"", "-1"),
            ("Count", "\"cheese\" \"e\"", "3"),
            ("Count", "\"five\" \"\"", "5"),
            ("ContainsAny", "\"failure\" \"ui\"", "true"),
            ("ContainsAny", "\"foo\" \"\"", "false"),
            ("LastIndex", "\"go gopher\" \"go\"", "3"),
            ("IndexAny", "\"golang\" \"gy\"", "0"),
            ("LastIndexAny", "\"golang\" \"gy\"", "5"),
            ("Index", "\"a\" \"b\"", "-1"),
            ("SplitN", "\"a,b,c\" \",\" 2", "[\"a\",\"b,c\"]"),
            ("SplitN", "\"a,b,c\" \",\" 0", "[]"),
            ("SplitAfter", "\"a,b,c\" \",\"", "[\"a,\",\"b,\",\"c\"]"),
            ("Split", "\"abc\" \"\"", "[\"a\",\"b\",\"c\"]"),
            ("SplitN", "\"abc\" \"\" 2", "[\"a\",\"bc\"]"),
            ("Split", "\"\" \",\"", "[\"\"]"),
            ("Split", "\"\" \"\"", "[]"),
            ("Fields", "\" a  b\\tc \"", "[\"a\",\"b\",\"c\"]"),
            ("Join", "[\"a\", \"b\"] \"-\"", "\"a-b\""),
            ("ToUpper", "\"straße\"", "\"STRAßE\""),
            ("Trim", "\"xxaxx\" \"x\"", "\"a\""),
            ("TrimLeft", "\"xax\" \"x\"", "\"ax\""),
            ("TrimSpace", "\" a \"", "\"a\""),
            ("TrimPrefix", "\"prefix-a\" \"prefix-\"", "\"a\""),
            (
                "Replace",
                "\"oink oink\" \"oink\" \"moo\" 1",
                "\"moo oink\"",
            ),
            ("Replace", "\"ab\" \"\" \"-\" -1", "\"-a-b-\""),
        ],
    );
}

#[test]
fn regexp_package() {
    check(
        "regexp",
        &[
            ("Find", "\"b+\" \"abbc\"", "\"bb\""),
            ("Find", "\"x\" \"abbc\"", "error: no match"),
            (
                "Find",
                "\"(\" \"a\"",
                "error: error parsing regexp: missing closing ): `(`",
            ),
            ("FindAll", "\"[0-9]\" \"1a2b3\" 2", "[\"1\",\"2\"]"),
            ("FindSubmatch", "\"(a)(x)?\" \"ba\"", "[\"a\",\"a\",\"\"]"),
            (
                "FindNamedSubmatch",
                "\"(?P<k>a)(?P<b>b)\" \"ab\"",
                "{b:\"b\",k:\"a\"}",
            ),
            (
                "FindAllNamedSubmatch",
                "\"(?P<k>.)\" \"ab\" -1",
                "[{k:\"a\"},{k:\"b\"}]",
            ),
            (
                "ReplaceAll",
                "\"a(x*)b\" \"-axxb-\" \"${1}W$0$$\"",
                "\"-xxWaxxb$-\"",
            ),
            ("ReplaceAll", "\"a(x*)b\" \"-ab-\" \"$1W\"", "\"--\""),
            ("ReplaceAllLiteral", "\"a\" \"aba\" \"$1\"", "\"$1b$1\""),
            ("Valid", "\"a\"", "true"),
            ("Match", "\"^a\" \"ba\"", "false"),
            ("QuoteMeta", "\"a.b[c]\"", "\"a\\\\.b\\\\[c\\\\]\""),
        ],
    );
}

#[test]
fn math_package() {
    check(
        "math",
        &[
            ("Floor", "-2.2", "-3"),
            ("Ceil", "-2.2", "-2"),
            ("Ceil", "0.001", "1"),
            ("Trunc", "-2.9", "-2"),
            ("Round", "2.5", "3"),
            ("Round", "-0.04", "0"),
            ("RoundToEven", "2.5", "2"),
            ("MultipleOf", "10 2.5", "true"),
            ("MultipleOf", "10 3", "false"),
            ("MultipleOf", "10 0", "error: division by zero"),
            ("Abs", "-2.20", "2.20"),
            ("Copysign", "5 -1", "-5"),
            ("Dim", "3 5", "0"),
            ("Pow", "2 10", "1024"),
            ("Pow10", "3", "1000"),
            ("Pow10", "-2", "0.01"),
            ("Log10", "1000", "3"),
            ("Log2", "8", "3"),
            ("Sqrt", "2", "1.4142135623730951"),
            ("Sqrt", "-1", "error: result is not a finite number"),
            ("Mod", "7 4", "3"),
            ("Signbit", "-1", "true"),
            ("Jacobi", "1001 9907", "-1"),
            ("Erfinv", "-0.9", "-1.1630871536766743"),
            ("Ldexp", "0.5 4", "8"),
            (
                "Sin",
                "1e400",
                "error: cannot use 1E+400 (type float) as float64 in argument 0: value was rounded up",
            ),
        ],
    );
    check(
        "math/bits",
        &[
            ("Lsh", "8 4", "128"),
            ("Lsh", "1 99999999999", "error: bit index too large"),
            ("Rsh", "-1 70", "-1"),
            ("At", "-1 100", "1"),
            ("Set", "0 3 1", "8"),
            ("Clear", "15 8", "7"),
            ("OnesCount", "-7", "3"),
            ("Len", "256", "9"),
            (
                "Rsh",
                "1 -1",
                "error: cannot use -1 (type int) as uint64 in argument 1",
            ),
        ],
    );
}

#[test]
fn strconv_package() {
    check(
        "strconv",
        &[
            ("ParseBool", "\"T\"", "true"),
            (
                "ParseBool",
                "\"yes\"",
                "error: strconv.ParseBool: parsing \"yes\": invalid syntax",
            ),
            ("FormatBool", "true", "\"true\""),
            ("ParseFloat", "\"1.50\" 64", "1.5"),
            ("ParseNumber", "\"1.5Ki\"", "1536"),
            ("ParseInt", "\"-128\" 10 8", "-128"),
            (
                "ParseInt",
                "\"128\" 10 8",
                "error: strconv.ParseInt: parsing \"128\": value out of range",
            ),
            ("ParseInt", "\"0x1f\" 0 64", "31"),
            ("ParseUint", "\"zz\" 36 0", "1295"),
            (
                "ParseUint",
                "\"-1\" 10 8",
                "error: strconv.ParseUint: parsing \"-1\": value out of range",
            ),
            (
                "Atoi",
                "\"a\"",
                "error: strconv.Atoi: parsing \"a\": invalid syntax",
            ),
            ("FormatFloat", "3.9 \"f\" 2 64", "\"3.90\""),
            ("FormatFloat", "3.9 102 -1 64", "\"3.9\""),
            ("FormatFloat", "100 \"e\" -1 64", "\"1e+02\""),
            ("FormatFloat", "1234567 \"g\" -1 64", "\"1.234567e+06\""),
            ("FormatFloat", "100 \"g\" 3 64", "\"100\""),
            ("FormatFloat", "100000 \"g\" 3 64", "\"1e+05\""),
            ("FormatFloat", "0.00001 \"g\" -1 64", "\"1e-05\""),
            ("FormatFloat", "1 \"x\" -1 64", "\"0x1p+00\""),
            ("FormatInt", "255 16", "\"ff\""),
            ("FormatInt", "-61 62", "\"-Z\""),
            ("Quote", "\"a\\t☺\"", "\"\\\"a\\\\t☺\\\"\""),
            ("QuoteToASCII", "\"☺\"", "\"\\\"\\\\u263a\\\"\""),
            ("QuoteRune", "39", "\"'\\\\''\""),
            ("IsPrint", "173", "false"),
            ("IsGraphic", "12288", "true"),
        ],
    );
}

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
