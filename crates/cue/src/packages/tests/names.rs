//! Addresses, file names and times.

use super::check;

#[test]
fn net_package() {
    check(
        "net",
        &[
            ("SplitHostPort", "\"[::1]:80\"", "[\"::1\",\"80\"]"),
            (
                "SplitHostPort",
                "\"a:b:c\"",
                "error: address a:b:c: too many colons in address",
            ),
            (
                "SplitHostPort",
                "\"host\"",
                "error: address host: missing port in address",
            ),
            ("JoinHostPort", "\"::1\" 80", "\"[::1]:80\""),
            (
                "JoinHostPort",
                "[1, 2, 3] 80",
                "error: invalid host [1, 2, 3]",
            ),
            ("FQDN", "\"example.com.\"", "true"),
            ("FQDN", "\"exa_mple.com\"", "false"),
            ("FQDN", "\"\"", "false"),
            ("ParseIP", "\"1.2.3.4\"", "[1,2,3,4]"),
            (
                "ParseIP",
                "\"1.2.3\"",
                "error: invalid IP address \"1.2.3\"",
            ),
            ("IPv4", "[10, 0, 0, 1]", "true"),
            ("IPv4", "\"::1\"", "false"),
            (
                "IPv4",
                "\"1.2.3.256\"",
                "error: ParseAddr(\"1.2.3.256\"): IPv4 field has value >255",
            ),
            (
                "IP",
                "\"1::2::3\"",
                "error: ParseAddr(\"1::2::3\"): multiple :: in address (at \":3\")",
            ),
            (
                "IP",
                "\"1:2\"",
                "error: ParseAddr(\"1:2\"): address string too short",
            ),
            (
                "IP",
                "\"fe80::1%\"",
                "error: ParseAddr(\"fe80::1%\"): zone must be a non-empty string",
            ),
            ("IPString", "\"fe80::1%eth0\"", "\"fe80::1%eth0\""),
            ("IPString", "\"2001:DB8:0:0:0:0:0:1\"", "\"2001:db8::1\""),
            ("IP", "1", "error: invalid type int for IP address"),
            ("LoopbackIP", "\"::ffff:127.0.0.1\"", "true"),
            ("LinkLocalUnicastIP", "\"169.254.1.1\"", "true"),
            ("GlobalUnicastIP", "\"255.255.255.255\"", "false"),
            ("ToIP4", "\"::1\"", "error: cannot convert \"::1\" to IPv4"),
            ("AddIP", "\"10.0.0.255/24\" 1", "\"10.0.1.0/24\""),
            (
                "AddIP",
                "\"::\" -1",
                "error: IP address arithmetic resulted in out-of-range address (underflow)",
            ),
            ("AddIPCIDR", "\"10.0.0.0/24\" 2", "\"10.0.2.0/24\""),
            (
                "ParseCIDR",
                "\"10.1.2.3/8\"",
                "{prefix_mask:\"255.0.0.0\",prefix_len:8,prefix_addr:\"10.0.0.0\",broadcast_addr:\"10.255.255.255\"}",
            ),
            ("InCIDR", "\"10.1.2.3\" \"10.0.0.0/8\"", "true"),
            ("InCIDR", "\"11.1.2.3\" \"10.0.0.0/8\"", "false"),
            (
                "IPCIDR",
                "\"10.0.0.0/33\"",
                "error: netip.ParsePrefix(\"10.0.0.0/33\"): prefix length out of range",
            ),
            ("CompareIP", "\"1.1.1.1\" \"::\"", "-1"),
            ("PathEscape", "\"a b/ü\"", "\"a%20b%2F%C3%BC\""),
            ("QueryEscape", "\"a b&\"", "\"a+b%26\""),
            ("QueryUnescape", "\"a+b%26\"", "\"a b&\""),
            (
                "PathUnescape",
                "\"%zz\"",
                "error: invalid URL escape \"%zz\"",
            ),
            ("URL", "\"https://u:p@host:80/p?q#f\"", "true"),
            (
                "URL",
                "\"http://host:x/\"",
                "error: parse \"http://host:x/\": invalid port \":x\" after host",
            ),
            ("URL", "\"a:b:c d://\"", "true"),
            (
                "URL",
                "\"1a:b\"",
                "error: parse \"1a:b\": first path segment in URL cannot contain colon",
            ),
            ("AbsURL", "\"/p\"", "error: URL is not absolute"),
        ],
    );
}

#[test]
fn path_package() {
    check(
        "path",
        &[
            ("Clean", "\"/a/../b//c/.\"", "\"/b/c\""),
            ("Clean", "\"../../a\"", "\"../../a\""),
            ("Clean", "\"\"", "\".\""),
            ("Clean", "\"/..\"", "\"/\""),
            ("Clean", "\"c:\\\\a\\\\..\" \"windows\"", "\"c:\\\\\""),
            ("Clean", "\"c:a/..\" \"windows\"", "\"c:.\""),
            ("Join", "[\"\", \"a\", \"../b\"]", "\"b\""),
            ("Join", "[\"C:\", \"a\"] \"windows\"", "\"C:a\""),
            (
                "Join",
                "[\"//host\", \"share\"] \"windows\"",
                "\"\\\\host\\\\share\"",
            ),
            ("Split", "\"/a/b\"", "[\"/a/\",\"b\"]"),
            (
                "SplitList",
                "\"a;\\\"b;c\\\"\" \"windows\"",
                "[\"a\",\"b;c\"]",
            ),
            ("Ext", "\"a/b.tar.gz\"", "\".gz\""),
            ("Ext", "\"a.b/c\"", "\"\""),
            ("Base", "\"/a/b/\"", "\"b\""),
            ("Base", "\"/\"", "\"/\""),
            ("Dir", "\"/a/b\"", "\"/a\""),
            ("Dir", "\"b\"", "\".\""),
            ("Rel", "\"/a/b\" \"/a/c/d\"", "\"../c/d\""),
            ("Rel", "\"a\" \"a\"", "\".\""),
            (
                "Rel",
                "\"..\" \"a\"",
                "error: Rel: can't make a relative to ..",
            ),
            ("Resolve", "\"/a\" \"../b\"", "\"/b\""),
            ("IsAbs", "\"#a\" \"plan9\"", "true"),
            (
                "VolumeName",
                "\"\\\\\\\\h\\\\s\\\\x\"",
                "\"\\\\\\\\h\\\\s\"",
            ),
            ("Match", "\"*.go\" \"a.go\"", "true"),
            ("Match", "\"*.go\" \"a/b.go\"", "false"),
            ("Match", "\"a?[^c-d]\" \"abe\"", "true"),
            ("Match", "\"a[\" \"a\"", "error: syntax error in pattern"),
            (
                "Match",
                "\"**\" \"a\"",
                "error: '**' is not supported in patterns as of yet",
            ),
        ],
    );
}

#[test]
fn time_package() {
    check(
        "time",
        &[
            ("Time", "\"2020-02-29T12:00:00.5+01:00\"", "true"),
            (
                "Time",
                "\"2019-02-29T12:00:00Z\"",
                "error: invalid time \"2019-02-29T12:00:00Z\"",
            ),
            (
                "Unix",
                "1500000000 123456",
                "\"2017-07-14T02:40:00.000123456Z\"",
            ),
            ("Unix", "-1 0", "\"1969-12-31T23:59:59Z\""),
            ("ToUnix", "\"1970-01-02T00:00:00+01:00\"", "82800"),
            (
                "ToUnix",
                "\"2019-01-02T15:04:61Z\"",
                "error: parsing time \"2019-01-02T15:04:61Z\": second out of range",
            ),
            (
                "ToUnix",
                "\"2019-01-02T15:04:05\"",
                "error: parsing time \"2019-01-02T15:04:05\" as \"2006-01-02T15:04:05.999999999Z07:00\": cannot parse \"\" as \"Z07:00\"",
            ),
            (
                "FormatString",
                "\"Monday, 02-Jan-06 3:04PM -0700 MST\" \"2021-07-01T17:54:00+02:00\"",
                "\"Thursday, 01-Jul-21 5:54PM +0200 +0200\"",
            ),
            (
                "FormatString",
                "\"_2 002 .000\" \"2021-02-01T00:00:00.25Z\"",
                "\" 1 032 .250\"",
            ),
            (
                "Parse",
                "\"02 Jan 06 15:04 MST\" \"01 Jul 21 17:54 EDT\"",
                "\"2021-07-01T17:54:00Z\"",
            ),
            (
                "Parse",
                "\"3:04PM\" \"12:30AM\"",
                "\"0000-01-01T00:30:00Z\"",
            ),
            (
                "Parse",
                "\"2006 002\" \"2020 060\"",
                "\"2020-02-29T00:00:00Z\"",
            ),
            (
                "Parse",
                "\"2006\" \"2020x\"",
                "error: parsing time \"2020x\": extra text: \"x\"",
            ),
            ("ParseDuration", "\"1h2m3.5s\"", "3723500000000"),
            ("ParseDuration", "\"-1.5us\"", "-1500"),
            (
                "ParseDuration",
                "\"1x\"",
                "error: time: unknown unit \"x\" in duration \"1x\"",
            ),
            (
                "ParseDuration",
                "\"1\"",
                "error: time: missing unit in duration \"1\"",
            ),
            (
                "ParseDuration",
                "\"\"",
                "error: time: invalid duration \"\"",
            ),
            ("FormatDuration", "3723500000000", "\"1h2m3.5s\""),
            ("FormatDuration", "1500", "\"1.5µs\""),
            (
                "Split",
                "\"2017-07-14T02:40:00.000123456Z\"",
                "{year:2017,month:7,day:14,hour:2,minute:40,second:0,nanosecond:123456}",
            ),
        ],
    );
}
