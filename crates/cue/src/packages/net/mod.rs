//! Package `net`: addresses, prefixes, host names and URLs. Nothing is looked up.

mod address;
mod host;
mod ip;
mod url;

use super::member::{ANY, INT, STRING, function, number};
use super::{Kinds, Package};

pub(super) const PACKAGE: Package = Package {
    path: "net",
    cue: None,
    members: &[
        function(
            "SplitHostPort",
            &[STRING],
            Kinds::LIST,
            host::split_host_port,
        ),
        function(
            "JoinHostPort",
            &[ANY, ANY],
            Kinds::STRING,
            host::join_host_port,
        ),
        function("FQDN", &[STRING], Kinds::BOOL, host::fqdn),
        number("IPv4len", "4"),
        number("IPv6len", "16"),
        function("ParseIP", &[STRING], Kinds::LIST, ip::parse_ip),
        function("IPv4", &[ANY], Kinds::BOOL, |args| {
            ip::test(args, |ip| ip.is_v4())
        }),
        function("IPv6", &[ANY], Kinds::BOOL, |args| {
            ip::test(args, |ip| !ip.is_v4())
        }),
        function("IP", &[ANY], Kinds::BOOL, |args| ip::test(args, |_| true)),
        function("IPCIDR", &[ANY], Kinds::BOOL, ip::ip_cidr),
        function("LoopbackIP", &[ANY], Kinds::BOOL, |args| {
            ip::test(args, |ip| ip.is_loopback())
        }),
        function("MulticastIP", &[ANY], Kinds::BOOL, |args| {
            ip::test(args, |ip| ip.is_multicast())
        }),
        function("InterfaceLocalMulticastIP", &[ANY], Kinds::BOOL, |args| {
            ip::test(args, |ip| ip.is_interface_local_multicast())
        }),
        function("LinkLocalMulticastIP", &[ANY], Kinds::BOOL, |args| {
            ip::test(args, |ip| ip.is_link_local_multicast())
        }),
        function("LinkLocalUnicastIP", &[ANY], Kinds::BOOL, |args| {
            ip::test(args, |ip| ip.is_link_local_unicast())
        }),
        function("GlobalUnicastIP", &[ANY], Kinds::BOOL, |args| {
            ip::test(args, |ip| ip.is_global_unicast())
        }),
        function("UnspecifiedIP", &[ANY], Kinds::BOOL, |args| {
            ip::test(args, |ip| ip.is_unspecified())
        }),
        function("ToIP4", &[ANY], Kinds::LIST, ip::to_ip4),
        function("ToIP16", &[ANY], Kinds::LIST, ip::to_ip16),
        function("IPString", &[ANY], Kinds::STRING, ip::ip_string),
        function("AddIP", &[ANY, INT], Kinds::STRING, ip::add_ip),
        function("AddIPCIDR", &[ANY, INT], Kinds::STRING, ip::add_ip_cidr),
        function("ParseCIDR", &[STRING], Kinds::STRUCT, ip::parse_cidr),
        function("InCIDR", &[ANY, ANY], Kinds::BOOL, ip::in_cidr),
        function("CompareIP", &[ANY, ANY], Kinds::INT, ip::compare_ip),
        function("PathEscape", &[STRING], Kinds::STRING, |args| {
            Ok(url::escape(args.str(0)?, url::Part::PathSegment).into())
        }),
        function("PathUnescape", &[STRING], Kinds::STRING, |args| {
            url::unescape_value(args, url::Part::PathSegment)
        }),
        function("QueryEscape", &[STRING], Kinds::STRING, |args| {
            Ok(url::escape(args.str(0)?, url::Part::Query).into())
        }),
        function("QueryUnescape", &[STRING], Kinds::STRING, |args| {
            url::unescape_value(args, url::Part::Query)
        }),
        function("URL", &[STRING], Kinds::BOOL, url::url),
        function("AbsURL", &[STRING], Kinds::BOOL, url::abs_url),
    ],
};
