//! Points in time, to the second, as `2026-04-01` or RFC 3339 writes them.
//!
//! The crate has no clock: whoever asks says what time it is.

use std::fmt;

/// Seconds since 1970-01-01T00:00:00Z.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(pub i64);

impl Instant {
    /// Reads `YYYY-MM-DD` (its first second, UTC) or `YYYY-MM-DDTHH:MM[:SS[.fraction]](Z|±HH:MM)`.
    pub fn parse(text: &str) -> Option<Instant> {
        let (date, clock) = match text.split_once(['T', 't', ' ']) {
            Some((date, clock)) => (date, Some(clock)),
            None => (text, None),
        };
        let mut parts = date.splitn(3, '-');
        let year = digits(parts.next()?, 4)?;
        let month = digits(parts.next()?, 2)?;
        let day = digits(parts.next()?, 2)?;
        if !(1..=12).contains(&month) || !(1..=days_in(year, month)).contains(&day) {
            return None;
        }
        let seconds = match clock {
            Some(clock) => of_clock(clock)?,
            None => 0,
        };
        Some(Instant(days(year, month, day) * 86_400 + seconds))
    }
}

/// The seconds of a time of day with its zone, less the zone's offset.
fn of_clock(clock: &str) -> Option<i64> {
    let zone_at = clock.find(['Z', 'z', '+', '-'])?;
    let (time, zone) = clock.split_at_checked(zone_at)?;
    let time = time
        .split_once('.')
        .map_or(Some(time), |(whole, fraction)| {
            let plain = !fraction.is_empty() && fraction.bytes().all(|b| b.is_ascii_digit());
            plain.then_some(whole)
        })?;
    let mut parts = time.splitn(3, ':');
    let hour = digits(parts.next()?, 2).filter(|&h| h < 24)?;
    let minute = digits(parts.next()?, 2).filter(|&m| m < 60)?;
    let second = match parts.next() {
        Some(second) => digits(second, 2).filter(|&s| s <= 60)?,
        None => 0,
    };
    let offset = match zone {
        "Z" | "z" => 0,
        _ => {
            let sign = if zone.starts_with('-') { -1 } else { 1 };
            let (hours, minutes) = zone.trim_start_matches(['+', '-']).split_once(':')?;
            let hours = digits(hours, 2).filter(|&h| h < 24)?;
            sign * (hours * 3_600 + digits(minutes, 2).filter(|&m| m < 60)? * 60)
        }
    };
    Some(hour * 3_600 + minute * 60 + second - offset)
}

fn digits(text: &str, count: usize) -> Option<i64> {
    let plain = text.len() == count && text.bytes().all(|b| b.is_ascii_digit());
    plain.then(|| text.parse().ok()).flatten()
}

fn days_in(year: i64, month: i64) -> i64 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        _ => 31,
    }
}

/// Days since 1970-01-01 in the Gregorian calendar: years are counted from March, so that the
/// leap day is a year's last.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (day, second) = (self.0.div_euclid(86_400), self.0.rem_euclid(86_400));
        let shifted = day + 719_468;
        let era = shifted.div_euclid(146_097);
        let of_era = shifted.rem_euclid(146_097);
        let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year + year / 4 - year / 100);
        let shifted_month = (5 * of_year + 2) / 153;
        let day = of_year - (153 * shifted_month + 2) / 5 + 1;
        let month = (shifted_month + 2) % 12 + 1;
        let year = year + era * 400 + i64::from(month <= 2);
        write!(f, "{year:04}-{month:02}-{day:02}")?;
        if second != 0 {
            let (h, m, s) = (second / 3_600, second / 60 % 60, second % 60);
            write!(f, "T{h:02}:{m:02}:{s:02}Z")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_and_times_are_read_and_shown() {
        assert_eq!(Instant::parse("1970-01-01"), Some(Instant(0)));
        assert_eq!(
            Instant::parse("2026-11-15T22:30:00+01:00"),
            Instant::parse("2026-11-15T21:30:00.5Z")
        );
        for text in [
            "2024-02-29",
            "2000-03-01",
            "1999-12-31",
            "1969-12-31T23:59:59Z",
        ] {
            assert_eq!(Instant::parse(text).unwrap().to_string(), text);
        }
        for text in [
            "2025-02-29",
            "2026-13-01",
            "yesterday",
            "2026-1-1",
            "2026-01-01T25:00Z",
            "",
        ] {
            assert_eq!(Instant::parse(text), None, "{text}");
        }
    }
}
