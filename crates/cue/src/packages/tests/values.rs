//! Strings, numbers and lists.

use super::check;

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
