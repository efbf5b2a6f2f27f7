//! Globs over key names: `*` any run of characters (dots too), `?` one character, `{a,b}` either.
//!
//! Matching walks the name once with one point of return, so a hostile glob costs at most
//! pattern × name; braces are expanded when the rule is read, to at most [`MOST`] patterns.

/// How many plain patterns the braces of one glob may expand to.
const MOST: usize = 64;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Glob {
    text: String,
    patterns: Vec<Vec<char>>,
}

impl Glob {
    pub fn parse(text: &str) -> Result<Glob, String> {
        if text.is_empty() {
            return Err("an empty glob matches no key".to_owned());
        }
        let mut patterns = Vec::new();
        expand(text, &mut patterns)?;
        Ok(Glob {
            text: text.to_owned(),
            patterns: patterns.iter().map(|p| p.chars().collect()).collect(),
        })
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn matches(&self, name: &str) -> bool {
        let name: Vec<char> = name.chars().collect();
        self.patterns.iter().any(|pattern| matches(pattern, &name))
    }
}

fn expand(text: &str, out: &mut Vec<String>) -> Result<(), String> {
    let Some((before, rest)) = text.split_once('{') else {
        if text.contains('}') {
            return Err(format!("`}}` without `{{` in the glob `{text}`"));
        }
        if out.len() >= MOST {
            return Err(format!(
                "the glob's braces stand for more than {MOST} patterns"
            ));
        }
        out.push(text.to_owned());
        return Ok(());
    };
    let Some((choices, after)) = rest.split_once('}') else {
        return Err(format!("`{{` is not closed in the glob `{text}`"));
    };
    if choices.contains('{') {
        return Err(format!("braces inside braces in the glob `{text}`"));
    }
    for choice in choices.split(',') {
        expand(&format!("{before}{choice}{after}"), out)?;
    }
    Ok(())
}

fn matches(pattern: &[char], name: &[char]) -> bool {
    let (mut p, mut n) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    while n < name.len() {
        match pattern.get(p) {
            Some('*') => {
                retry = Some((p + 1, n));
                p += 1;
            }
            Some(&c) if c == '?' || Some(&c) == name.get(n) => {
                p += 1;
                n += 1;
            }
            _ => match retry {
                Some((star, from)) => {
                    retry = Some((star, from + 1));
                    (p, n) = (star, from + 1);
                }
                None => return false,
            },
        }
    }
    pattern.iter().skip(p).all(|&c| c == '*')
}

#[cfg(test)]
mod tests {
    use super::Glob;

    #[test]
    fn stars_reach_over_dots_and_braces_choose() {
        let hit = |glob, name| Glob::parse(glob).unwrap().matches(name);
        assert!(hit("tools.*.enabled", "tools.image_search.enabled"));
        assert!(hit("*", "a.b.c"));
        assert!(hit("model.{preferred,fallback}", "model.fallback"));
        assert!(hit("retr?", "retry"));
        assert!(!hit("tools.*.enabled", "tools.enabled"));
        assert!(!hit("model", "model.fallback"));
        assert!(Glob::parse("{a").is_err());
        assert!(Glob::parse("").is_err());
        assert!(!hit(&"*a".repeat(30), &"a".repeat(29)));
    }
}
