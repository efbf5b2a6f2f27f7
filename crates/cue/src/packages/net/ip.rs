//! Functions of addresses. An address is a string, bytes with its text, or a list of 4 or 16 integers.

use dashu_int::{IBig, UBig};

use super::super::call::fatal;
use super::super::quote::{Keep, quote};
use super::super::{Args, Error, Value};
use super::address::{Address, Prefix};

/// The address that an argument stands for.
pub(super) fn address(value: &Value) -> Result<Address, Error> {
    match value {
        Value::String(text) => Address::parse(text).map_err(Error::Fatal),
        Value::Bytes(bytes) => {
            Address::parse(&String::from_utf8_lossy(bytes)).map_err(Error::Fatal)
        }
        Value::List(items) => {
            let mut bytes = Vec::new();
            for item in items {
                let number = match item {
                    Value::Num(num) if num.is_int() => num.to_i64(),
                    _ => None,
                };
                let Some(number) = number else {
                    return Err(fatal(format!(
                        "cannot use value {item} (type {}) as int",
                        item.kinds()
                    )));
                };
                let byte = u8::try_from(number)
                    .map_err(|_| fatal(format!("invalid IP byte value {number}")))?;
                bytes.push(byte);
            }
            Address::from_bytes(&bytes)
                .ok_or_else(|| fatal(format!("invalid IP length {}", bytes.len())))
        }
        other => Err(fatal(format!(
            "invalid type {} for IP address",
            other.kinds()
        ))),
    }
}

fn prefix(value: &Value) -> Result<Prefix, Error> {
    match value {
        Value::String(text) => Prefix::parse(text).map_err(Error::Fatal),
        Value::Bytes(bytes) => Prefix::parse(&String::from_utf8_lossy(bytes)).map_err(Error::Fatal),
        other => Err(fatal(format!("invalid type {} for IP CIDR", other.kinds()))),
    }
}

fn numbers(bytes: &[u8]) -> Value {
    Value::List(bytes.iter().map(|&byte| Value::int(byte)).collect())
}

pub(super) fn test(args: Args<'_>, test: fn(&Address) -> bool) -> Result<Value, Error> {
    Ok(test(&address(args.value(0))?).into())
}

pub(super) fn parse_ip(args: Args<'_>) -> Result<Value, Error> {
    let text = args.str(0)?;
    let address = Address::parse(text).map_err(|_| {
        let text = quote(text, Keep::Printable);
        fatal(format!("invalid IP address {text}"))
    })?;
    Ok(numbers(&address.bytes()))
}

pub(super) fn ip_cidr(args: Args<'_>) -> Result<Value, Error> {
    prefix(args.value(0)).map(|_| true.into())
}

pub(super) fn to_ip4(args: Args<'_>) -> Result<Value, Error> {
    let address = address(args.value(0))?;
    if !address.is_v4() {
        let text = quote(&address.to_string(), Keep::Printable);
        return Err(fatal(format!("cannot convert {text} to IPv4")));
    }
    Ok(numbers(&address.bytes()))
}

pub(super) fn to_ip16(args: Args<'_>) -> Result<Value, Error> {
    let octets = match address(args.value(0))?.ip {
        std::net::IpAddr::V4(ip) => ip.to_ipv6_mapped().octets(),
        std::net::IpAddr::V6(ip) => ip.octets(),
    };
    Ok(numbers(&octets))
}

pub(super) fn ip_string(args: Args<'_>) -> Result<Value, Error> {
    Ok(address(args.value(0))?.to_string().into())
}

fn add(address: &Address, offset: IBig) -> Result<Address, Error> {
    let bytes = address.bytes();
    let sum = IBig::from(UBig::from_be_bytes(&bytes)) + offset;
    let Ok(sum) = UBig::try_from(sum) else {
        return Err(fatal(
            "IP address arithmetic resulted in out-of-range address (underflow)",
        ));
    };
    let sum = sum.to_be_bytes();
    if sum.len() > bytes.len() {
        return Err(fatal(
            "IP address arithmetic resulted in out-of-range address (overflow)",
        ));
    }
    let mut padded = vec![0; bytes.len() - sum.len()];
    padded.extend_from_slice(&sum);
    Address::from_bytes(&padded).ok_or_else(|| fatal("invalid IP length"))
}

pub(super) fn add_ip(args: Args<'_>) -> Result<Value, Error> {
    let offset = args.big(1)?;
    if let Ok(Prefix { address, bits }) = prefix(args.value(0)) {
        let address = add(&address, offset)?;
        return Ok(Prefix { address, bits }.to_string().into());
    }
    Ok(add(&address(args.value(0))?, offset)?.to_string().into())
}

pub(super) fn add_ip_cidr(args: Args<'_>) -> Result<Value, Error> {
    let Prefix { address, bits } = prefix(args.value(0))?;
    let shift = usize::try_from(address.bit_len() - bits).unwrap_or(0);
    let address = add(&address, args.big(1)? << shift)?;
    Ok(Prefix { address, bits }.to_string().into())
}

pub(super) fn parse_cidr(args: Args<'_>) -> Result<Value, Error> {
    let prefix = Prefix::parse(args.str(0)?).map_err(Error::Fatal)?;
    let mask = prefix.mask();
    let address = prefix.address.bytes();
    let network: Vec<u8> = address.iter().zip(&mask).map(|(a, m)| a & m).collect();
    let text = |bytes: &[u8]| {
        let address = Address::from_bytes(bytes);
        Value::string(address.map_or_else(String::new, |address| address.to_string()))
    };
    let mut fields = vec![
        ("prefix_mask".to_owned(), text(&mask)),
        ("prefix_len".to_owned(), Value::int(prefix.bits)),
        ("prefix_addr".to_owned(), text(&network)),
    ];
    if prefix.address.is_v4() {
        let last: Vec<u8> = network.iter().zip(&mask).map(|(n, m)| n | !m).collect();
        fields.push(("broadcast_addr".to_owned(), text(&last)));
    }
    Ok(Value::Struct(fields))
}

pub(super) fn in_cidr(args: Args<'_>) -> Result<Value, Error> {
    let address = address(args.value(0))?;
    Ok(prefix(args.value(1))?.contains(&address).into())
}

pub(super) fn compare_ip(args: Args<'_>) -> Result<Value, Error> {
    let (a, b) = (address(args.value(0))?, address(args.value(1))?);
    // Version 4 before version 6, then by value, then by zone.
    let order = a
        .bit_len()
        .cmp(&b.bit_len())
        .then_with(|| a.bytes().cmp(&b.bytes()))
        .then_with(|| a.zone.cmp(&b.zone));
    Ok(Value::int(order as i8))
}
