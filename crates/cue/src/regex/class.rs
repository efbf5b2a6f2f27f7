//! Character classes: ranges of code points, the ASCII groups of Perl and POSIX, and Unicode's categories and scripts.

use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, Hir, HirKind};

/// A set of characters from code points, which may name surrogates; those match nothing.
pub(super) fn ranges(pairs: &[(u32, u32)]) -> ClassUnicode {
    let mut class = ClassUnicode::empty();
    for &(low, high) in pairs {
        push(&mut class, low, high);
    }
    class
}

pub(super) fn push(class: &mut ClassUnicode, low: u32, high: u32) {
    for (low, high) in [
        (low, high.min(0xD7FF)),
        (low.max(0xE000), high.min(0x10_FFFF)),
    ] {
        if let (Some(low), Some(high)) = (char::from_u32(low), char::from_u32(high))
            && low <= high
        {
            class.push(ClassUnicodeRange::new(low, high));
        }
    }
}

/// Adds every character that differs in case only.
pub(super) fn fold(class: &mut ClassUnicode) {
    // Fails only without Unicode tables; then ASCII folding is all there is.
    let _ = class.try_case_fold_simple();
}

pub(super) fn to_hir(class: ClassUnicode) -> Hir {
    if class.ranges().is_empty() {
        Hir::fail()
    } else {
        Hir::class(Class::Unicode(class))
    }
}

const DIGIT: &[(u32, u32)] = &[(0x30, 0x39)];
const SPACE: &[(u32, u32)] = &[(0x9, 0xA), (0xC, 0xD), (0x20, 0x20)];
const WORD: &[(u32, u32)] = &[(0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)];

/// `\d` and its like, by the letter; the flag says negated.
pub(super) fn perl(letter: char) -> Option<(&'static [(u32, u32)], bool)> {
    Some(match letter {
        'd' => (DIGIT, false),
        'D' => (DIGIT, true),
        's' => (SPACE, false),
        'S' => (SPACE, true),
        'w' => (WORD, false),
        'W' => (WORD, true),
        _ => return None,
    })
}

/// `[:alpha:]` and its like, by the name between the colons.
pub(super) fn posix(name: &str) -> Option<(&'static [(u32, u32)], bool)> {
    let (name, negated) = match name.strip_prefix('^') {
        Some(name) => (name, true),
        None => (name, false),
    };
    let pairs: &[(u32, u32)] = match name {
        "alnum" => &[(0x30, 0x39), (0x41, 0x5A), (0x61, 0x7A)],
        "alpha" => &[(0x41, 0x5A), (0x61, 0x7A)],
        "ascii" => &[(0x0, 0x7F)],
        "blank" => &[(0x9, 0x9), (0x20, 0x20)],
        "cntrl" => &[(0x0, 0x1F), (0x7F, 0x7F)],
        "digit" => DIGIT,
        "graph" => &[(0x21, 0x7E)],
        "lower" => &[(0x61, 0x7A)],
        "print" => &[(0x20, 0x7E)],
        "punct" => &[(0x21, 0x2F), (0x3A, 0x40), (0x5B, 0x60), (0x7B, 0x7E)],
        "space" => &[(0x9, 0xD), (0x20, 0x20)],
        "upper" => &[(0x41, 0x5A)],
        "word" => WORD,
        "xdigit" => &[(0x30, 0x39), (0x41, 0x46), (0x61, 0x66)],
        _ => return None,
    };
    Some((pairs, negated))
}

/// A general category or a script.
pub(super) fn unicode(name: &str) -> Option<ClassUnicode> {
    if !name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') {
        return None;
    }
    ["gc", "sc"].iter().find_map(|property| {
        let hir = regex_syntax::parse(&format!("\\p{{{property}={name}}}")).ok()?;
        match hir.kind() {
            HirKind::Class(Class::Unicode(class)) => Some(class.clone()),
            HirKind::Literal(literal) => {
                let text = std::str::from_utf8(&literal.0).ok()?;
                let only = u32::from(text.chars().next()?);
                Some(ranges(&[(only, only)]))
            }
            _ => None,
        }
    })
}
