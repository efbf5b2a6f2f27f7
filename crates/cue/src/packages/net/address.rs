//! IP addresses and prefixes as text, with the rules and the words of Go's `net/netip`.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::super::quote::{Keep, quote};

/// An address, of version 6 perhaps with a zone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Address {
    pub(super) ip: IpAddr,
    pub(super) zone: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Prefix {
    pub(super) address: Address,
    pub(super) bits: u32,
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.ip.fmt(f)?;
        if !self.zone.is_empty() {
            write!(f, "%{}", self.zone)?;
        }
        Ok(())
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.bits)
    }
}

impl From<IpAddr> for Address {
    fn from(ip: IpAddr) -> Address {
        Address {
            ip,
            zone: String::new(),
        }
    }
}

impl Address {
    pub(super) fn parse(text: &str) -> Result<Address, String> {
        match text.find(['.', ':', '%']).and_then(|at| text.get(at..)) {
            Some(rest) if rest.starts_with('.') => {
                let octets = v4(text, text)?;
                Ok(IpAddr::V4(Ipv4Addr::from(octets)).into())
            }
            Some(rest) if rest.starts_with(':') => v6(text),
            Some(_) => Err(error(text, "missing IPv6 address", "")),
            None => Err(error(text, "unable to parse IP", "")),
        }
    }

    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Address> {
        if let Ok(octets) = <[u8; 4]>::try_from(bytes) {
            return Some(IpAddr::from(octets).into());
        }
        let octets = <[u8; 16]>::try_from(bytes).ok()?;
        Some(IpAddr::from(octets).into())
    }

    pub(super) fn bytes(&self) -> Vec<u8> {
        match self.ip {
            IpAddr::V4(ip) => ip.octets().to_vec(),
            IpAddr::V6(ip) => ip.octets().to_vec(),
        }
    }

    pub(super) fn bit_len(&self) -> u32 {
        if self.is_v4() { 32 } else { 128 }
    }

    pub(super) fn is_v4(&self) -> bool {
        self.ip.is_ipv4()
    }

    /// A version 4 address that is written as version 6 counts as version 4.
    fn unmapped(&self) -> IpAddr {
        match self.ip {
            IpAddr::V6(ip) => ip.to_ipv4_mapped().map_or(self.ip, IpAddr::V4),
            IpAddr::V4(_) => self.ip,
        }
    }

    pub(super) fn is_loopback(&self) -> bool {
        self.unmapped().is_loopback()
    }

    pub(super) fn is_multicast(&self) -> bool {
        self.unmapped().is_multicast()
    }

    pub(super) fn is_unspecified(&self) -> bool {
        self.ip.is_unspecified() && self.zone.is_empty()
    }

    pub(super) fn is_interface_local_multicast(&self) -> bool {
        match self.unmapped() {
            IpAddr::V4(_) => false,
            IpAddr::V6(ip) => ip.segments()[0] & 0xFF0F == 0xFF01,
        }
    }

    pub(super) fn is_link_local_multicast(&self) -> bool {
        match self.unmapped() {
            IpAddr::V4(ip) => ip.octets().starts_with(&[224, 0, 0]),
            IpAddr::V6(ip) => ip.segments()[0] & 0xFF0F == 0xFF02,
        }
    }

    pub(super) fn is_link_local_unicast(&self) -> bool {
        match self.unmapped() {
            IpAddr::V4(ip) => ip.is_link_local(),
            IpAddr::V6(ip) => ip.segments()[0] & 0xFFC0 == 0xFE80,
        }
    }

    pub(super) fn is_global_unicast(&self) -> bool {
        let plain = self.unmapped();
        let broadcast = matches!(plain, IpAddr::V4(ip) if ip.is_broadcast());
        !broadcast
            && !plain.is_unspecified()
            && !plain.is_loopback()
            && !plain.is_multicast()
            && !self.is_link_local_unicast()
    }
}

impl Prefix {
    pub(super) fn parse(text: &str) -> Result<Prefix, String> {
        let quoted = quote(text, Keep::Printable);
        let error = |reason: &str| format!("netip.ParsePrefix({quoted}): {reason}");
        let Some((address, bits)) = text.rsplit_once('/') else {
            return Err(error("no '/'"));
        };
        let address = Address::parse(address).map_err(|reason| error(&reason))?;
        if !address.zone.is_empty() {
            return Err(error("IPv6 zones cannot be present in a prefix"));
        }
        let digits = !bits.is_empty() && bits.bytes().all(|b| b.is_ascii_digit());
        let wrong = || {
            let bits = quote(bits, Keep::Printable);
            error(&format!("bad bits after slash: {bits}"))
        };
        if !digits || bits.len() > 1 && bits.starts_with('0') {
            return Err(wrong());
        }
        let bits: u32 = bits.parse().map_err(|_| wrong())?;
        if bits > address.bit_len() {
            return Err(error("prefix length out of range"));
        }
        Ok(Prefix { address, bits })
    }

    /// The bits of the network, as many bytes as the address has.
    pub(super) fn mask(&self) -> Vec<u8> {
        let whole = u128::MAX
            .checked_shl(self.address.bit_len() - self.bits)
            .unwrap_or(0);
        let len = self.address.bytes().len();
        let bytes = whole.to_be_bytes();
        bytes.iter().skip(16 - len).copied().collect()
    }

    pub(super) fn contains(&self, other: &Address) -> bool {
        if self.address.is_v4() != other.is_v4() || !other.zone.is_empty() {
            return false;
        }
        let (network, bytes) = (self.address.bytes(), other.bytes());
        self.mask()
            .iter()
            .zip(network.iter().zip(&bytes))
            .all(|(mask, (a, b))| a & mask == b & mask)
    }
}

fn error(whole: &str, reason: &str, at: &str) -> String {
    let whole = quote(whole, Keep::Printable);
    if at.is_empty() {
        return format!("ParseAddr({whole}): {reason}");
    }
    let at = quote(at, Keep::Printable);
    format!("ParseAddr({whole}): {reason} (at {at})")
}

fn v4(whole: &str, text: &str) -> Result<[u8; 4], String> {
    let mut octets = [0u8; 4];
    let mut place = 0usize;
    let mut value = None::<u32>;
    for (i, b) in text.bytes().enumerate() {
        let here = || text.get(i..).unwrap_or("");
        match b {
            b'0'..=b'9' => {
                if value == Some(0) {
                    return Err(error(whole, "IPv4 field has octet with leading zero", ""));
                }
                let next = value.unwrap_or(0) * 10 + u32::from(b - b'0');
                if next > 255 {
                    return Err(error(whole, "IPv4 field has value >255", ""));
                }
                value = Some(next);
            }
            b'.' => {
                let Some(octet) = value.filter(|_| i + 1 < text.len()) else {
                    return Err(error(
                        whole,
                        "IPv4 field must have at least one digit",
                        here(),
                    ));
                };
                if place == 3 {
                    return Err(error(whole, "IPv4 address too long", ""));
                }
                store(&mut octets, place, octet);
                place += 1;
                value = None;
            }
            _ => return Err(error(whole, "unexpected character", here())),
        }
    }
    if place < 3 {
        return Err(error(whole, "IPv4 address too short", ""));
    }
    store(&mut octets, 3, value.unwrap_or(0));
    Ok(octets)
}

fn store(octets: &mut [u8], place: usize, value: u32) {
    if let Some(octet) = octets.get_mut(place) {
        *octet = u8::try_from(value).unwrap_or(0);
    }
}

fn v6(whole: &str) -> Result<Address, String> {
    let (mut rest, zone) = match whole.split_once('%') {
        Some((_, "")) => return Err(error(whole, "zone must be a non-empty string", "")),
        Some((address, zone)) => (address, zone),
        None => (whole, ""),
    };
    let mut bytes: Vec<u8> = Vec::with_capacity(16);
    let mut gap = None;
    if let Some(tail) = rest.strip_prefix("::") {
        gap = Some(0);
        rest = tail;
    }
    while bytes.len() < 16 && !(rest.is_empty() && gap == Some(bytes.len())) {
        let digits = rest
            .find(|c: char| !c.is_ascii_hexdigit())
            .unwrap_or(rest.len());
        if digits > 4 {
            let reason = "each group must have 4 or less digits";
            return Err(error(whole, reason, rest));
        }
        let (group, tail) = rest.split_at(digits);
        if group.is_empty() {
            let reason = "each colon-separated field must have at least one digit";
            return Err(error(whole, reason, rest));
        }
        if tail.starts_with('.') {
            if gap.is_none() && bytes.len() != 12 {
                let reason = "embedded IPv4 address must replace the final 2 fields of the address";
                return Err(error(whole, reason, rest));
            }
            if bytes.len() > 12 {
                let reason =
                    "too many hex fields to fit an embedded IPv4 at the end of the address";
                return Err(error(whole, reason, rest));
            }
            bytes.extend(v4(whole, rest)?);
            rest = "";
            break;
        }
        let value = u16::from_str_radix(group, 16).unwrap_or(0);
        bytes.extend(value.to_be_bytes());
        rest = tail;
        if rest.is_empty() {
            break;
        }
        let Some(tail) = rest.strip_prefix(':') else {
            return Err(error(whole, "unexpected character, want colon", rest));
        };
        if tail.is_empty() {
            let reason = "colon must be followed by more characters";
            return Err(error(whole, reason, rest));
        }
        rest = tail;
        if let Some(tail) = rest.strip_prefix(':') {
            if gap.is_some() {
                return Err(error(whole, "multiple :: in address", rest));
            }
            gap = Some(bytes.len());
            rest = tail;
        }
    }
    if !rest.is_empty() {
        return Err(error(whole, "trailing garbage after address", rest));
    }
    let missing = 16 - bytes.len().min(16);
    match (gap, missing) {
        (None, 0) => {}
        (None, _) => return Err(error(whole, "address string too short", "")),
        (Some(_), 0) => {
            let reason = "the :: must expand to at least one field of zeros";
            return Err(error(whole, reason, ""));
        }
        (Some(at), _) => {
            bytes.splice(at..at, std::iter::repeat_n(0, missing));
        }
    }
    let octets = <[u8; 16]>::try_from(bytes.as_slice())
        .map_err(|_| error(whole, "address string too short", ""))?;
    Ok(Address {
        ip: IpAddr::V6(Ipv6Addr::from(octets)),
        zone: zone.to_owned(),
    })
}
