//! Package `time`: instants as text in Go's layouts, and durations. There is no clock and no time zone database: a zone is
//! an offset, or a name without one.

mod civil;
mod duration;
mod format;
mod layout;
mod parse;

use super::call::fatal;
use super::member::{INT, STRING, function, number, text};
use super::quote::{Keep, quote};
use super::{Args, Error, Kinds, Package, Value};
use civil::Time;

const RFC3339_NANO: &str = "2006-01-02T15:04:05.999999999Z07:00";

pub(super) const PACKAGE: Package = Package {
    path: "time",
    cue: None,
    members: &[
        number("Nanosecond", "1"),
        number("Microsecond", "1000"),
        number("Millisecond", "1000000"),
        number("Second", "1000000000"),
        number("Minute", "60000000000"),
        number("Hour", "3600000000000"),
        function("Duration", &[STRING], Kinds::BOOL, |args| {
            parse_duration(args).map(|_| true.into())
        }),
        function("FormatDuration", &[INT], Kinds::STRING, |args| {
            Ok(duration::format(args.int(0)?).into())
        }),
        function("ParseDuration", &[STRING], Kinds::INT, |args| {
            parse_duration(args).map(Value::int)
        }),
        text("ANSIC", "Mon Jan _2 15:04:05 2006"),
        text("UnixDate", "Mon Jan _2 15:04:05 MST 2006"),
        text("RubyDate", "Mon Jan 02 15:04:05 -0700 2006"),
        text("RFC822", "02 Jan 06 15:04 MST"),
        text("RFC822Z", "02 Jan 06 15:04 -0700"),
        text("RFC850", "Monday, 02-Jan-06 15:04:05 MST"),
        text("RFC1123", "Mon, 02 Jan 2006 15:04:05 MST"),
        text("RFC1123Z", "Mon, 02 Jan 2006 15:04:05 -0700"),
        text("RFC3339", "2006-01-02T15:04:05Z07:00"),
        text("RFC3339Nano", RFC3339_NANO),
        text("RFC3339Date", "2006-01-02"),
        text("Kitchen", "3:04PM"),
        text("Kitchen24", "15:04"),
        number("January", "1"),
        number("February", "2"),
        number("March", "3"),
        number("April", "4"),
        number("May", "5"),
        number("June", "6"),
        number("July", "7"),
        number("August", "8"),
        number("September", "9"),
        number("October", "10"),
        number("November", "11"),
        number("December", "12"),
        number("Sunday", "0"),
        number("Monday", "1"),
        number("Tuesday", "2"),
        number("Wednesday", "3"),
        number("Thursday", "4"),
        number("Friday", "5"),
        number("Saturday", "6"),
        function("Time", &[STRING], Kinds::BOOL, |args| {
            check(args.str(0)?, RFC3339_NANO)
        }),
        function("Format", &[STRING, STRING], Kinds::BOOL, |args| {
            check(args.str(0)?, args.str(1)?)
        }),
        function("FormatString", &[STRING, STRING], Kinds::STRING, |args| {
            let time = instant(args.str(1)?)?;
            Ok(format::format(&time, args.str(0)?).into())
        }),
        function("Parse", &[STRING, STRING], Kinds::STRING, |args| {
            let time = parse::parse(args.str(0)?, args.str(1)?).map_err(Error::Fatal)?;
            Ok(format::format(&time.utc(), RFC3339_NANO).into())
        }),
        function("Unix", &[INT, INT], Kinds::STRING, unix),
        function("ToUnix", &[STRING], Kinds::INT, |args| {
            Ok(Value::int(instant(args.str(0)?)?.seconds))
        }),
        function("ToUnixNano", &[STRING], Kinds::INT, to_unix_nano),
        function("Split", &[STRING], Kinds::STRUCT, split),
    ],
};

fn parse_duration(args: Args<'_>) -> Result<i64, Error> {
    duration::parse(args.str(0)?).map_err(Error::Fatal)
}

fn instant(text: &str) -> Result<Time, Error> {
    parse::parse(RFC3339_NANO, text).map_err(Error::Fatal)
}

fn check(value: &str, layout: &str) -> Result<Value, Error> {
    match parse::parse(layout, value) {
        Ok(_) => Ok(true.into()),
        Err(_) => Err(fatal(format!(
            "invalid time {}",
            quote(value, Keep::Printable)
        ))),
    }
}

fn unix(args: Args<'_>) -> Result<Value, Error> {
    const BILLION: i64 = 1_000_000_000;
    let (seconds, nanos) = (args.int(0)?, args.int(1)?);
    let seconds = seconds.saturating_add(nanos.div_euclid(BILLION));
    // Years have at most nine digits here, so that the calendar does not overflow.
    if seconds.unsigned_abs() > 31_556_952 * 999_999_999 {
        return Err(fatal("time out of range"));
    }
    let time = Time {
        seconds,
        nanos: u32::try_from(nanos.rem_euclid(BILLION)).unwrap_or(0),
        offset: 0,
        zone: Some("UTC".to_owned()),
    };
    Ok(format::format(&time, RFC3339_NANO).into())
}

fn to_unix_nano(args: Args<'_>) -> Result<Value, Error> {
    let time = instant(args.str(0)?)?;
    let nanos = i128::from(time.seconds) * 1_000_000_000 + i128::from(time.nanos);
    // A result beyond 64 bits wraps around, as it does in Go.
    let low = nanos & i128::from(u64::MAX);
    let wrapped = u64::try_from(low).unwrap_or(0).cast_signed();
    Ok(Value::int(wrapped))
}

fn split(args: Args<'_>) -> Result<Value, Error> {
    let time = instant(args.str(0)?)?;
    let parts = time.parts();
    let fields = [
        ("year", parts.year),
        ("month", i64::from(parts.month)),
        ("day", i64::from(parts.day)),
        ("hour", i64::from(parts.hour)),
        ("minute", i64::from(parts.minute)),
        ("second", i64::from(parts.second)),
        ("nanosecond", i64::from(time.nanos)),
    ];
    Ok(Value::Struct(
        fields
            .into_iter()
            .map(|(name, value)| (name.to_owned(), Value::int(value)))
            .collect(),
    ))
}
