//! A time written in a layout.

use std::fmt::Write as _;

use super::civil::{DAYS, MONTHS, Time, short};
use super::layout::{self, Item, Zone};

pub(super) fn format(time: &Time, layout: &str) -> String {
    let parts = time.parts();
    let name = |names: &[&'static str], at: u32| {
        let at = usize::try_from(at).unwrap_or(0);
        names.get(at).copied().unwrap_or("")
    };
    let month = name(&MONTHS, parts.month.wrapping_sub(1));
    let weekday = name(&DAYS, parts.weekday);
    let hour12 = match parts.hour % 12 {
        0 => 12,
        hour => hour,
    };
    let mut out = String::new();
    let mut rest = layout;
    loop {
        let (prefix, item, suffix) = layout::next(rest);
        out.push_str(prefix);
        let Some((item, _)) = item else { return out };
        rest = suffix;
        // Writing to a string does not fail.
        let _ = match item {
            Item::Year => write!(out, "{:02}", parts.year.unsigned_abs() % 100),
            Item::LongYear if parts.year < 0 => write!(out, "-{:04}", parts.year.unsigned_abs()),
            Item::LongYear => write!(out, "{:04}", parts.year),
            Item::Month => write!(out, "{}", short(month)),
            Item::LongMonth => write!(out, "{month}"),
            Item::NumMonth => write!(out, "{}", parts.month),
            Item::ZeroMonth => write!(out, "{:02}", parts.month),
            Item::Weekday => write!(out, "{}", short(weekday)),
            Item::LongWeekday => write!(out, "{weekday}"),
            Item::Day => write!(out, "{}", parts.day),
            Item::UnderDay => write!(out, "{:2}", parts.day),
            Item::ZeroDay => write!(out, "{:02}", parts.day),
            Item::UnderYearDay => write!(out, "{:3}", parts.year_day),
            Item::ZeroYearDay => write!(out, "{:03}", parts.year_day),
            Item::Hour => write!(out, "{:02}", parts.hour),
            Item::Hour12 => write!(out, "{hour12}"),
            Item::ZeroHour12 => write!(out, "{hour12:02}"),
            Item::Minute => write!(out, "{}", parts.minute),
            Item::ZeroMinute => write!(out, "{:02}", parts.minute),
            Item::Second => write!(out, "{}", parts.second),
            Item::ZeroSecond => write!(out, "{:02}", parts.second),
            Item::Pm => write!(out, "{}", if parts.hour >= 12 { "PM" } else { "AM" }),
            Item::LowerPm => write!(out, "{}", if parts.hour >= 12 { "pm" } else { "am" }),
            Item::Zone(zone) => {
                write_offset(&mut out, time.offset, zone);
                Ok(())
            }
            Item::ZoneName => match &time.zone {
                Some(name) => write!(out, "{name}"),
                None => {
                    let zone = Zone {
                        z: false,
                        colon: false,
                        minutes: true,
                        seconds: false,
                    };
                    write_offset(&mut out, time.offset, zone);
                    Ok(())
                }
            },
            Item::Fraction { digits, trim, mark } => {
                let all = format!("{:09}", time.nanos);
                let mut shown = all.get(..digits.min(9)).unwrap_or(&all);
                if trim {
                    shown = shown.trim_end_matches('0');
                }
                if shown.is_empty() && trim {
                    Ok(())
                } else {
                    write!(
                        out,
                        "{mark}{shown:0<digits$}",
                        digits = if trim { 0 } else { digits }
                    )
                }
            }
        };
    }
}

fn write_offset(out: &mut String, offset: i32, zone: Zone) {
    if zone.z && offset == 0 {
        out.push('Z');
        return;
    }
    let magnitude = offset.unsigned_abs();
    // A negative offset of less than a minute is written with a plus, as its minutes are zero.
    out.push(if offset <= -60 { '-' } else { '+' });
    let colon = if zone.colon { ":" } else { "" };
    let _ = write!(out, "{:02}", magnitude / 3600);
    if zone.minutes {
        let _ = write!(out, "{colon}{:02}", magnitude / 60 % 60);
    }
    if zone.seconds {
        let _ = write!(out, "{colon}{:02}", magnitude % 60);
    }
}
