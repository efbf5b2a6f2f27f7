//! Package `path`: file names as text, by the rules of Unix, Windows or Plan 9. No file system is looked at.

use super::call::fatal;
use super::member::{LIST, STRING, function};
use super::{Args, Error, Kinds, Package, Param, Value};

/// The names of systems; the first is what a message names first.
macro_rules! systems {
    ($first:literal, $second:literal) => {
        &[
            $first,
            $second,
            "plan9",
            "aix",
            "android",
            "darwin",
            "dragonfly",
            "freebsd",
            "hurd",
            "illumos",
            "ios",
            "js",
            "linux",
            "nacl",
            "netbsd",
            "openbsd",
            "solaris",
            "zos",
        ]
    };
}

const SYSTEMS: &[&str] = systems!("unix", "windows");

const OS: Param = Param {
    one_of: SYSTEMS,
    ..STRING
};
const UNIX: Param = Param {
    default: Some("unix"),
    ..OS
};
const WINDOWS: Param = Param {
    default: Some("windows"),
    one_of: systems!("windows", "unix"),
    ..STRING
};

pub(super) const PACKAGE: Package = Package {
    path: "path",
    cue: Some("{Unix: \"unix\", Windows: \"windows\", Plan9: \"plan9\"}"),
    members: &[
        function("Split", &[STRING, UNIX], Kinds::LIST, split),
        function("SplitList", &[STRING, OS], Kinds::LIST, split_list),
        function("Join", &[LIST, UNIX], Kinds::STRING, |args| {
            Ok(System::of(args, 1)?.join(&args.strings(0)?).into())
        }),
        function("Match", &[STRING, STRING, UNIX], Kinds::BOOL, |args| {
            let system = System::of(args, 2)?;
            super::glob::matches(
                args.str(0)?,
                args.str(1)?,
                system.separator(),
                system != System::Windows,
            )
            .map(Value::Bool)
            .map_err(fatal)
        }),
        function("Clean", &[STRING, UNIX], Kinds::STRING, |args| {
            Ok(System::of(args, 1)?.clean(args.str(0)?).into())
        }),
        function("ToSlash", &[STRING, OS], Kinds::STRING, |args| {
            let separator = System::of(args, 1)?.separator();
            Ok(args.str(0)?.replace(separator, "/").into())
        }),
        function("FromSlash", &[STRING, OS], Kinds::STRING, |args| {
            Ok(System::of(args, 1)?.native(args.str(0)?).into())
        }),
        function("Ext", &[STRING, UNIX], Kinds::STRING, ext),
        function("Resolve", &[STRING, STRING, UNIX], Kinds::STRING, |args| {
            let (system, dir, sub) = (System::of(args, 2)?, args.str(0)?, args.str(1)?);
            Ok(if system.is_abs(sub) {
                system.clean(sub).into()
            } else {
                system.join(&[&system.clean(dir), sub]).into()
            })
        }),
        function("Rel", &[STRING, STRING, UNIX], Kinds::STRING, rel),
        function("Base", &[STRING, UNIX], Kinds::STRING, base),
        function("Dir", &[STRING, UNIX], Kinds::STRING, dir),
        function("IsAbs", &[STRING, UNIX], Kinds::BOOL, |args| {
            Ok(System::of(args, 1)?.is_abs(args.str(0)?).into())
        }),
        function("VolumeName", &[STRING, WINDOWS], Kinds::STRING, |args| {
            let (volume, _) = System::of(args, 1)?.volume(args.str(0)?);
            Ok(Value::string(volume))
        }),
    ],
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum System {
    Unix,
    Windows,
    Plan9,
}

impl System {
    fn of(args: Args<'_>, index: usize) -> Result<System, Error> {
        Ok(match args.str(index)? {
            "windows" => System::Windows,
            "plan9" => System::Plan9,
            _ => System::Unix,
        })
    }

    fn separator(self) -> char {
        match self {
            System::Windows => '\\',
            System::Unix | System::Plan9 => '/',
        }
    }

    fn is_separator(self, c: char) -> bool {
        c == '/' || c == self.separator()
    }

    fn native(self, path: &str) -> String {
        match self {
            System::Windows => path.replace('/', "\\"),
            System::Unix | System::Plan9 => path.to_owned(),
        }
    }

    /// The drive or share at the start, and the rest.
    fn volume(self, path: &str) -> (&str, &str) {
        let len = match self {
            System::Windows => volume_len(path),
            System::Unix | System::Plan9 => 0,
        };
        path.split_at_checked(len).unwrap_or(("", path))
    }

    fn is_abs(self, path: &str) -> bool {
        match self {
            System::Unix => path.starts_with('/'),
            System::Plan9 => path.starts_with(['/', '#']),
            System::Windows => {
                let (volume, rest) = self.volume(path);
                is_reserved(path) || !volume.is_empty() && rest.starts_with(['/', '\\'])
            }
        }
    }

    /// The shortest equal path, by text alone.
    fn clean(self, path: &str) -> String {
        let (volume, rest) = self.volume(path);
        if rest.is_empty() {
            let share = volume.len() > 1 && volume.as_bytes().get(1) != Some(&b':');
            return if share {
                self.native(path)
            } else {
                format!("{path}.")
            };
        }
        let rooted = rest.starts_with(|c| self.is_separator(c));
        let mut parts: Vec<&str> = Vec::new();
        for part in rest.split(|c| self.is_separator(c)) {
            match part {
                "" | "." => {}
                ".." if parts.last().is_some_and(|last| *last != "..") => {
                    parts.pop();
                }
                ".." if rooted => {}
                part => parts.push(part),
            }
        }
        let separator = self.separator().to_string();
        let mut out = self.native(volume);
        if rooted {
            out.push_str(&separator);
        }
        out.push_str(&parts.join(&separator));
        if !rooted && parts.is_empty() {
            out.push('.');
        }
        out
    }

    fn join(self, elements: &[&str]) -> String {
        let first = elements.iter().position(|element| !element.is_empty());
        let Some(elements) = first.and_then(|first| elements.get(first..)) else {
            return String::new();
        };
        let separator = self.separator().to_string();
        let all = elements.join(&separator);
        if self != System::Windows {
            return self.clean(&all);
        }
        let Some((head, tail)) = elements.split_first() else {
            return String::new();
        };
        if head.len() == 2 && head.ends_with(':') {
            // A drive without a slash: the path stays relative to its current directory.
            let rest: Vec<&str> = tail
                .iter()
                .skip_while(|part| part.is_empty())
                .copied()
                .collect();
            return self.clean(&format!("{head}{}", rest.join(&separator)));
        }
        let is_share = |path: &str| self.volume(path).0.len() > 2;
        let joined = self.clean(&all);
        let head = self.clean(head);
        if !is_share(&joined) || is_share(&head) {
            return joined;
        }
        // Elements must not make a share that none of them was.
        let tail = self.clean(&tail.join(&separator));
        if head.ends_with(&separator) {
            head + &tail
        } else {
            head + &separator + &tail
        }
    }

    fn same(self, a: &str, b: &str) -> bool {
        match self {
            System::Windows => a.to_lowercase() == b.to_lowercase(),
            System::Unix | System::Plan9 => a == b,
        }
    }
}

/// `C:` or `\\host\share`.
fn volume_len(path: &str) -> usize {
    let bytes = path.as_bytes();
    let slash = |at: usize| matches!(bytes.get(at), Some(b'/' | b'\\'));
    if bytes.get(1) == Some(&b':') && bytes.first().is_some_and(u8::is_ascii_alphabetic) {
        return 2;
    }
    if bytes.len() < 5 || !slash(0) || !slash(1) || slash(2) || bytes.get(2) == Some(&b'.') {
        return 0;
    }
    let Some(host) = (3..bytes.len() - 1).find(|&at| slash(at)) else {
        return 0;
    };
    let share = host + 1;
    if slash(share) || bytes.get(share) == Some(&b'.') {
        return 0;
    }
    (share..bytes.len())
        .find(|&at| slash(at))
        .unwrap_or(bytes.len())
}

fn is_reserved(path: &str) -> bool {
    let upper = path.to_ascii_uppercase();
    match upper.as_bytes() {
        b"CON" | b"PRN" | b"AUX" | b"NUL" => true,
        [b'C', b'O', b'M', digit] | [b'L', b'P', b'T', digit] => (b'1'..=b'9').contains(digit),
        _ => false,
    }
}

fn split(args: Args<'_>) -> Result<Value, Error> {
    let (system, path) = (System::of(args, 1)?, args.str(0)?);
    let (volume, rest) = system.volume(path);
    let end = rest
        .rfind(|c| system.is_separator(c))
        .map_or(volume.len(), |at| volume.len() + at + 1);
    let (dir, file) = path.split_at_checked(end).unwrap_or(("", path));
    Ok(Value::strings([dir, file]))
}

fn split_list(args: Args<'_>) -> Result<Value, Error> {
    let (system, path) = (System::of(args, 1)?, args.str(0)?);
    if path.is_empty() {
        return Ok(Value::List(Vec::new()));
    }
    Ok(match system {
        System::Unix => Value::strings(path.split(':')),
        System::Plan9 => Value::strings(path.split('\0')),
        System::Windows => {
            // A separator inside of quotes is none.
            let mut quoted = false;
            let parts = path.split(|c| {
                quoted ^= c == '"';
                c == ';' && !quoted
            });
            Value::strings(parts.map(|part| part.replace('"', "")))
        }
    })
}

fn ext(args: Args<'_>) -> Result<Value, Error> {
    let (system, path) = (System::of(args, 1)?, args.str(0)?);
    let start = path
        .rfind(|c| c == '.' || system.is_separator(c))
        .unwrap_or(path.len());
    let tail = path.get(start..).unwrap_or("");
    Ok(Value::string(if tail.starts_with('.') { tail } else { "" }))
}

fn base(args: Args<'_>) -> Result<Value, Error> {
    let (system, path) = (System::of(args, 1)?, args.str(0)?);
    if path.is_empty() {
        return Ok(Value::string("."));
    }
    let trimmed = path.trim_end_matches(|c| system.is_separator(c));
    let (_, rest) = system.volume(trimmed);
    let name = rest.rsplit(|c| system.is_separator(c)).next().unwrap_or("");
    Ok(if name.is_empty() {
        Value::string(system.separator())
    } else {
        Value::string(name)
    })
}

fn dir(args: Args<'_>) -> Result<Value, Error> {
    let (system, path) = (System::of(args, 1)?, args.str(0)?);
    let (volume, rest) = system.volume(path);
    let end = rest
        .rfind(|c| system.is_separator(c))
        .map_or(0, |at| at + 1);
    let dir = system.clean(rest.get(..end).unwrap_or(""));
    if dir == "." && volume.len() > 2 {
        return Ok(Value::string(volume));
    }
    Ok(format!("{volume}{dir}").into())
}

fn rel(args: Args<'_>) -> Result<Value, Error> {
    let (system, from, to) = (System::of(args, 2)?, args.str(0)?, args.str(1)?);
    let impossible = || fatal(format!("Rel: can't make {to} relative to {from}"));
    let (clean_from, clean_to) = (system.clean(from), system.clean(to));
    if system.same(&clean_from, &clean_to) {
        return Ok(Value::string("."));
    }
    let (from_volume, from_rest) = system.volume(&clean_from);
    let (to_volume, to_rest) = system.volume(&clean_to);
    let from_rest = if from_rest == "." { "" } else { from_rest };
    let separator = system.separator();
    let rooted = |path: &str| path.starts_with(separator);
    if rooted(from_rest) != rooted(to_rest) || !system.same(from_volume, to_volume) {
        return Err(impossible());
    }
    let parts = |path: &str| -> Vec<String> {
        path.split(separator)
            .filter(|part| !part.is_empty())
            .map(str::to_owned)
            .collect()
    };
    let (from_parts, to_parts) = (parts(from_rest), parts(to_rest));
    let common = from_parts
        .iter()
        .zip(&to_parts)
        .take_while(|(a, b)| system.same(a, b))
        .count();
    let up = from_parts.get(common..).unwrap_or(&[]);
    if up.first().is_some_and(|part| part == "..") {
        return Err(impossible());
    }
    let mut out: Vec<&str> = up.iter().map(|_| "..").collect();
    out.extend(to_parts.iter().skip(common).map(String::as_str));
    Ok(out.join(&separator.to_string()).into())
}
