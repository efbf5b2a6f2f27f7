//! "Did you mean": the nearest of the known names.

/// The candidate that is nearest to `name` by edits, if it is near enough to be a slip.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = match name.chars().count() {
        0..=2 => 1,
        3..=5 => 2,
        _ => 3,
    };
    let scored = candidates
        .into_iter()
        .filter(|c| *c != name)
        .map(|c| (edits(name, c, limit), c));
    scored.filter(|&(d, _)| d <= limit).min().map(|(_, c)| c)
}

/// Insertions, deletions, substitutions and swaps of neighbours between two names, where a change
/// of case is half price rounded down; anything above `limit` may be reported as `limit + 1`.
fn edits(a: &str, b: &str, limit: usize) -> usize {
    if a.eq_ignore_ascii_case(b) {
        return 0;
    }
    let (a, b): (Vec<char>, Vec<char>) = (
        a.to_lowercase().chars().collect(),
        b.to_lowercase().chars().collect(),
    );
    if a.len().abs_diff(b.len()) > limit {
        return limit + 1;
    }
    let mut before: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut next = Vec::with_capacity(row.len());
        next.push(i + 1);
        for (j, y) in b.iter().enumerate() {
            let at = |r: &[usize], k: usize| r.get(k).copied().unwrap_or(usize::MAX / 2);
            let mut cost = (at(&row, j) + usize::from(x != y))
                .min(at(&row, j + 1) + 1)
                .min(at(&next, j) + 1);
            let swapped = i > 0 && j > 0 && a.get(i - 1) == Some(y) && b.get(j - 1) == Some(x);
            if swapped {
                cost = cost.min(at(&before, j - 1) + 1);
            }
            next.push(cost);
        }
        before = std::mem::replace(&mut row, next);
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn slips_are_found_and_strangers_are_not() {
        let known = ["replicas", "resources", "image", "port"];
        assert_eq!(nearest("replica", known), Some("replicas"));
        assert_eq!(nearest("Image", known), Some("image"));
        assert_eq!(nearest("prot", known), Some("port"));
        assert_eq!(nearest("ingress", known), None);
        assert_eq!(nearest("x", known), None);
    }
}
