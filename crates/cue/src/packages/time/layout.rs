//! Go's layouts: a text that shows how the reference time, Monday 2 January 2006 15:04:05 in MST (-0700), would look.

/// One piece of a layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Item {
    LongMonth,
    Month,
    NumMonth,
    ZeroMonth,
    LongWeekday,
    Weekday,
    Day,
    UnderDay,
    ZeroDay,
    UnderYearDay,
    ZeroYearDay,
    Hour,
    Hour12,
    ZeroHour12,
    Minute,
    ZeroMinute,
    Second,
    ZeroSecond,
    LongYear,
    Year,
    Pm,
    LowerPm,
    ZoneName,
    Zone(Zone),
    /// Fractional seconds: how many digits; `trim` leaves trailing zeros out.
    Fraction {
        digits: usize,
        trim: bool,
        mark: char,
    },
}

/// A numeric offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Zone {
    /// UTC is written `Z`.
    pub(super) z: bool,
    pub(super) colon: bool,
    pub(super) minutes: bool,
    pub(super) seconds: bool,
}

const fn zone(z: bool, colon: bool, minutes: bool, seconds: bool) -> Item {
    Item::Zone(Zone {
        z,
        colon,
        minutes,
        seconds,
    })
}

/// Longer pieces before their prefixes.
const PIECES: [(&str, Item); 33] = [
    ("January", Item::LongMonth),
    ("Jan", Item::Month),
    ("Monday", Item::LongWeekday),
    ("Mon", Item::Weekday),
    ("MST", Item::ZoneName),
    ("002", Item::ZeroYearDay),
    ("01", Item::ZeroMonth),
    ("02", Item::ZeroDay),
    ("03", Item::ZeroHour12),
    ("04", Item::ZeroMinute),
    ("05", Item::ZeroSecond),
    ("06", Item::Year),
    ("15", Item::Hour),
    ("1", Item::NumMonth),
    ("2006", Item::LongYear),
    ("2", Item::Day),
    ("_2", Item::UnderDay),
    ("__2", Item::UnderYearDay),
    ("3", Item::Hour12),
    ("4", Item::Minute),
    ("5", Item::Second),
    ("PM", Item::Pm),
    ("pm", Item::LowerPm),
    ("-070000", zone(false, false, true, true)),
    ("-07:00:00", zone(false, true, true, true)),
    ("-0700", zone(false, false, true, false)),
    ("-07:00", zone(false, true, true, false)),
    ("-07", zone(false, false, false, false)),
    ("Z070000", zone(true, false, true, true)),
    ("Z07:00:00", zone(true, true, true, true)),
    ("Z0700", zone(true, false, true, false)),
    ("Z07:00", zone(true, true, true, false)),
    ("Z07", zone(true, false, false, false)),
];

/// The text before the first piece, the piece with its text, and the rest.
pub(super) fn next(layout: &str) -> (&str, Option<(Item, &str)>, &str) {
    for (at, _) in layout.char_indices() {
        let rest = layout.get(at..).unwrap_or("");
        // `_2006` is an underscore and a year.
        if rest.starts_with("_2006") {
            continue;
        }
        let found = PIECES
            .iter()
            .find(|(text, item)| {
                rest.strip_prefix(text).is_some_and(|behind| {
                    // `Jan` and `Mon` are no pieces within longer words.
                    !matches!(item, Item::Month | Item::Weekday)
                        || !behind.starts_with(|c: char| c.is_ascii_lowercase())
                })
            })
            .map(|(text, item)| (*item, text.len()))
            .or_else(|| fraction(rest));
        if let Some((item, len)) = found {
            let (text, suffix) = rest.split_at(len);
            return (layout.get(..at).unwrap_or(""), Some((item, text)), suffix);
        }
    }
    (layout, None, "")
}

/// `.000` or `,999`, not followed by another digit.
fn fraction(rest: &str) -> Option<(Item, usize)> {
    let mark = rest.chars().next().filter(|c| matches!(c, '.' | ','))?;
    let digits = rest.get(1..)?;
    let digit = digits.chars().next().filter(|c| matches!(c, '0' | '9'))?;
    let count = digits.len() - digits.trim_start_matches(digit).len();
    let behind = digits.get(count..)?;
    if behind.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    Some((
        Item::Fraction {
            digits: count,
            trim: digit == '9',
            mark,
        },
        count + 1,
    ))
}
