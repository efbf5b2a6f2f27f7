//! The proleptic Gregorian calendar.

/// An instant with the offset at which it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Time {
    /// Since the start of 1970, in UTC.
    pub(super) seconds: i64,
    pub(super) nanos: u32,
    /// East of UTC, in seconds.
    pub(super) offset: i32,
    /// None where only the offset is known.
    pub(super) zone: Option<String>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Parts {
    pub(super) year: i64,
    pub(super) month: u32,
    pub(super) day: u32,
    pub(super) hour: u32,
    pub(super) minute: u32,
    pub(super) second: u32,
    /// 0 is Sunday.
    pub(super) weekday: u32,
    /// 1 is the first of January.
    pub(super) year_day: u32,
}

const DAY: i64 = 86_400;

impl Time {
    pub(super) fn utc(&self) -> Time {
        Time {
            offset: 0,
            zone: Some("UTC".to_owned()),
            ..self.clone()
        }
    }

    pub(super) fn parts(&self) -> Parts {
        let local = self.seconds + i64::from(self.offset);
        let (days, clock) = (local.div_euclid(DAY), local.rem_euclid(DAY));
        let (year, month, day) = date(days);
        let small = |n: i64| u32::try_from(n).unwrap_or(0);
        Parts {
            year,
            month,
            day,
            hour: small(clock / 3600),
            minute: small(clock / 60 % 60),
            second: small(clock % 60),
            weekday: small((days + 4).rem_euclid(7)),
            year_day: small(days - days_before(year, 1, 1) + 1),
        }
    }
}

/// Days since 1970 of a date.
pub(super) fn days_before(year: i64, month: u32, day: u32) -> i64 {
    // Years start in March here, so that the leap day is the last one.
    let shifted = if month <= 2 { year - 1 } else { year };
    let era = shifted.div_euclid(400);
    let year_of_era = shifted.rem_euclid(400);
    let month_index = i64::from((month + 9) % 12);
    let day_of_year = (153 * month_index + 2) / 5 + i64::from(day) - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

fn date(days: i64) -> (i64, u32, u32) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_index = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_index + 2) / 5 + 1;
    let month = if month_index < 10 {
        month_index + 3
    } else {
        month_index - 9
    };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    let small = |n: i64| u32::try_from(n).unwrap_or(1);
    (year, small(month), small(day))
}

pub(super) fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

pub(super) fn days_in(month: u32, year: i64) -> u32 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

pub(super) const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

pub(super) const DAYS: [&str; 7] = [
    "Sunday",
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
];

/// The first three letters.
pub(super) fn short(name: &str) -> &str {
    name.get(..3).unwrap_or(name)
}
