//! A time read by a layout, with Go's rules and words.

use super::super::quote::{Keep, quote};
use super::civil::{DAYS, MONTHS, Time, days_before, days_in, is_leap, short};
use super::layout::{self, Item, Zone};

/// Reads `value` by `layout`. What is missing is zero or one; without a zone it is UTC.
pub(super) fn parse(layout: &str, value: &str) -> Result<Time, String> {
    let mut parser = Parser {
        layout,
        value,
        rest: value,
        fields: Fields::default(),
    };
    parser.run()?;
    parser.finish()
}

#[derive(Default)]
struct Fields {
    year: i64,
    month: Option<u32>,
    day: Option<u32>,
    year_day: Option<u32>,
    hour: u32,
    minute: u32,
    second: u32,
    nanos: u32,
    pm: Option<bool>,
    utc: bool,
    offset: Option<i32>,
    zone: String,
}

/// Why one item does not fit.
enum Wrong {
    Text,
    /// The value of this is out of range.
    Range(&'static str),
}

struct Parser<'a> {
    layout: &'a str,
    value: &'a str,
    rest: &'a str,
    fields: Fields,
}

impl<'a> Parser<'a> {
    fn run(&mut self) -> Result<(), String> {
        let mut layout = self.layout;
        loop {
            let (prefix, item, suffix) = layout::next(layout);
            if !self.skip(prefix) {
                return Err(self.cannot(self.rest, prefix));
            }
            let Some((item, text)) = item else {
                if self.rest.is_empty() {
                    return Ok(());
                }
                let extra = format!(": extra text: {}", show(self.rest));
                return Err(self.error(&extra));
            };
            let before = self.rest;
            match self.item(item, suffix) {
                Ok(()) => {}
                Err(Wrong::Text) => return Err(self.cannot(before, text)),
                Err(Wrong::Range(what)) => {
                    return Err(self.error(&format!(": {what} out of range")));
                }
            }
            layout = suffix;
        }
    }

    fn error(&self, reason: &str) -> String {
        format!("parsing time {}{reason}", show(self.value))
    }

    fn cannot(&self, value: &str, element: &str) -> String {
        self.error(&format!(
            " as {}: cannot parse {} as {}",
            show(self.layout),
            show(value),
            show(element)
        ))
    }

    /// The text between items; any run of spaces matches any other, also none.
    fn skip(&mut self, prefix: &str) -> bool {
        let mut prefix = prefix;
        while let Some(c) = prefix.chars().next() {
            if c == ' ' {
                if !self.rest.is_empty() && !self.rest.starts_with(' ') {
                    return false;
                }
                prefix = prefix.trim_start_matches(' ');
                self.rest = self.rest.trim_start_matches(' ');
                continue;
            }
            let Some(rest) = self.rest.strip_prefix(c) else {
                return false;
            };
            self.rest = rest;
            prefix = prefix.get(c.len_utf8()..).unwrap_or("");
        }
        true
    }

    fn take(&mut self, len: usize) -> Result<&'a str, Wrong> {
        let (taken, rest) = self.rest.split_at_checked(len).ok_or(Wrong::Text)?;
        self.rest = rest;
        Ok(taken)
    }

    /// Up to `most` digits, exactly as many if `fixed`.
    fn digits(&mut self, most: usize, fixed: bool) -> Result<u32, Wrong> {
        let count = self
            .rest
            .bytes()
            .take(most)
            .take_while(u8::is_ascii_digit)
            .count();
        if count == 0 || fixed && count != most {
            return Err(Wrong::Text);
        }
        self.take(count)?.parse().map_err(|_| Wrong::Text)
    }

    fn below(&mut self, fixed: bool, limit: u32, what: &'static str) -> Result<u32, Wrong> {
        let number = self.digits(2, fixed)?;
        if number >= limit {
            return Err(Wrong::Range(what));
        }
        Ok(number)
    }

    fn name(&mut self, names: &[&str], long: bool) -> Result<u32, Wrong> {
        for (i, name) in (0u32..).zip(names) {
            let name = if long { name } else { short(name) };
            let head = self.rest.get(..name.len());
            if head.is_some_and(|head| head.eq_ignore_ascii_case(name)) {
                self.take(name.len())?;
                return Ok(i);
            }
        }
        Err(Wrong::Text)
    }

    fn item(&mut self, item: Item, suffix: &str) -> Result<(), Wrong> {
        match item {
            Item::Year => {
                let year = i64::from(self.digits(2, true)?);
                self.fields.year = if year >= 69 { year + 1900 } else { year + 2000 };
            }
            Item::LongYear => self.fields.year = i64::from(self.digits(4, true)?),
            Item::Month => self.fields.month = Some(self.name(&MONTHS, false)? + 1),
            Item::LongMonth => self.fields.month = Some(self.name(&MONTHS, true)? + 1),
            Item::NumMonth | Item::ZeroMonth => {
                let month = self.digits(2, item == Item::ZeroMonth)?;
                if !(1..=12).contains(&month) {
                    return Err(Wrong::Range("month"));
                }
                self.fields.month = Some(month);
            }
            Item::Weekday => {
                self.name(&DAYS, false)?;
            }
            Item::LongWeekday => {
                self.name(&DAYS, true)?;
            }
            Item::Day | Item::UnderDay | Item::ZeroDay => {
                if item == Item::UnderDay {
                    self.rest = self.rest.strip_prefix(' ').unwrap_or(self.rest);
                }
                self.fields.day = Some(self.digits(2, item == Item::ZeroDay)?);
            }
            Item::UnderYearDay | Item::ZeroYearDay => {
                if item == Item::UnderYearDay {
                    for _ in 0..2 {
                        self.rest = self.rest.strip_prefix(' ').unwrap_or(self.rest);
                    }
                }
                self.fields.year_day = Some(self.digits(3, item == Item::ZeroYearDay)?);
            }
            Item::Hour => self.fields.hour = self.below(false, 24, "hour")?,
            Item::Hour12 => self.fields.hour = self.below(false, 13, "hour")?,
            Item::ZeroHour12 => self.fields.hour = self.below(true, 13, "hour")?,
            Item::Minute => self.fields.minute = self.below(false, 60, "minute")?,
            Item::ZeroMinute => self.fields.minute = self.below(true, 60, "minute")?,
            Item::Second | Item::ZeroSecond => {
                self.fields.second = self.below(item == Item::ZeroSecond, 60, "second")?;
                // A fraction may follow where the layout has none.
                let (_, next, _) = layout::next(suffix);
                if !matches!(next, Some((Item::Fraction { .. }, _))) {
                    self.optional_fraction()?;
                }
            }
            Item::Pm | Item::LowerPm => {
                let upper = item == Item::Pm;
                self.fields.pm = Some(match (self.take(2)?, upper) {
                    ("PM", true) | ("pm", false) => true,
                    ("AM", true) | ("am", false) => false,
                    _ => return Err(Wrong::Text),
                });
            }
            Item::Zone(zone) => self.zone(zone)?,
            Item::ZoneName => {
                if let Some(rest) = self.rest.strip_prefix("UTC") {
                    self.rest = rest;
                    self.fields.utc = true;
                } else {
                    let len = zone_name(self.rest).ok_or(Wrong::Text)?;
                    self.fields.zone = self.take(len)?.to_owned();
                }
            }
            Item::Fraction { digits, trim, .. } => {
                if trim {
                    self.optional_fraction()?;
                } else {
                    let text = self.take(digits + 1)?;
                    self.fields.nanos = nanos(text).ok_or(Wrong::Text)?;
                }
            }
        }
        Ok(())
    }

    fn optional_fraction(&mut self) -> Result<(), Wrong> {
        let Some(digits) = self.rest.strip_prefix(['.', ',']) else {
            return Ok(());
        };
        let count = digits.bytes().take_while(u8::is_ascii_digit).count();
        if count > 0 {
            let text = self.take(count + 1)?;
            self.fields.nanos = nanos(text).ok_or(Wrong::Text)?;
        }
        Ok(())
    }

    fn zone(&mut self, zone: Zone) -> Result<(), Wrong> {
        if zone.z
            && let Some(rest) = self.rest.strip_prefix('Z')
        {
            self.rest = rest;
            self.fields.utc = true;
            return Ok(());
        }
        let sign = match self.take(1)? {
            "+" => 1,
            "-" => -1,
            _ => return Err(Wrong::Text),
        };
        let hours = self.digits(2, true)?;
        let mut parts = [0, 0];
        for (part, wanted) in parts.iter_mut().zip([zone.minutes, zone.seconds]) {
            if wanted {
                if zone.colon && self.take(1)? != ":" {
                    return Err(Wrong::Text);
                }
                *part = self.digits(2, true)?;
            }
        }
        let [minutes, seconds] = parts;
        for (value, limit, what) in [
            (hours, 24, "time zone offset hour"),
            (minutes, 60, "time zone offset minute"),
            (seconds, 60, "time zone offset second"),
        ] {
            if value > limit {
                return Err(Wrong::Range(what));
            }
        }
        let total = i32::try_from((hours * 60 + minutes) * 60 + seconds).unwrap_or(0);
        self.fields.offset = Some(sign * total);
        Ok(())
    }

    fn finish(self) -> Result<Time, String> {
        let fields = &self.fields;
        let year = fields.year;
        let hour = match (fields.pm, fields.hour) {
            (Some(true), hour) if hour < 12 => hour + 12,
            (Some(false), 12) => 0,
            (_, hour) => hour,
        };
        let (month, day) = match fields.year_day {
            None => (fields.month.unwrap_or(1), fields.day.unwrap_or(1)),
            Some(year_day) => {
                let (month, day) = from_year_day(year, year_day)
                    .ok_or_else(|| self.error(": day-of-year out of range"))?;
                if fields.month.is_some_and(|given| given != month) {
                    return Err(self.error(": day-of-year does not match month"));
                }
                if fields.day.is_some_and(|given| given != day) {
                    return Err(self.error(": day-of-year does not match day"));
                }
                (month, day)
            }
        };
        if day < 1 || day > days_in(month, year) {
            return Err(self.error(": day out of range"));
        }
        let clock = i64::from((hour * 60 + fields.minute) * 60 + fields.second);
        let local = days_before(year, month, day) * 86_400 + clock;
        let named = |name: &str| Some(name.to_owned());
        let (shift, offset, zone) = match fields.offset {
            _ if fields.utc => (0, 0, named("UTC")),
            Some(0) if fields.zone.is_empty() => (0, 0, named("UTC")),
            Some(offset) => {
                let zone = (!fields.zone.is_empty()).then(|| fields.zone.clone());
                (offset, offset, zone)
            }
            None if !fields.zone.is_empty() => {
                // The offset of a name is unknown; `GMT+3` says its own, without moving the clock.
                let hours = fields.zone.strip_prefix("GMT").unwrap_or("");
                let offset = hours.parse::<i32>().unwrap_or(0) * 3600;
                (0, offset, named(&fields.zone))
            }
            None => (0, 0, named("UTC")),
        };
        Ok(Time {
            seconds: local - i64::from(shift),
            nanos: fields.nanos,
            offset,
            zone,
        })
    }
}

fn show(text: &str) -> String {
    quote(text, Keep::Ascii)
}

/// A mark and digits, of which nine count.
fn nanos(text: &str) -> Option<u32> {
    let digits = text.strip_prefix(['.', ','])?;
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let digits = digits.get(..9).unwrap_or(digits);
    format!("{digits:0<9}").parse().ok()
}

/// The length of an abbreviated zone name at the start.
fn zone_name(text: &str) -> Option<usize> {
    if text.starts_with("ChST") || text.starts_with("MeST") {
        return Some(4);
    }
    if let Some(rest) = text.strip_prefix("GMT") {
        return Some(3 + signed_offset(rest).unwrap_or(0));
    }
    if text.starts_with(['+', '-']) {
        return signed_offset(text);
    }
    let upper = text
        .bytes()
        .take(6)
        .take_while(u8::is_ascii_uppercase)
        .count();
    match upper {
        3 => Some(3),
        4 if text.get(3..4) == Some("T") || text.starts_with("WITA") => Some(4),
        5 if text.get(4..5) == Some("T") => Some(5),
        _ => None,
    }
}

/// A sign and at most 23 hours.
fn signed_offset(text: &str) -> Option<usize> {
    let digits = text.strip_prefix(['+', '-'])?;
    let count = digits.bytes().take_while(u8::is_ascii_digit).count();
    let hours: u32 = digits.get(..count)?.parse().ok()?;
    (hours <= 23).then_some(count + 1)
}

fn from_year_day(year: i64, year_day: u32) -> Option<(u32, u32)> {
    let mut left = year_day;
    if left == 0 || left > 365 + u32::from(is_leap(year)) {
        return None;
    }
    for month in 1..=12 {
        let days = days_in(month, year);
        if left <= days {
            return Some((month, left));
        }
        left -= days;
    }
    None
}
