//! Names that are not there, and the nearest that are.

/// Most names listed in a message.
const MAX_LISTED: usize = 12;

/// A name may hold anything: what cannot be seen is shown escaped, and no terminal obeys it.
pub fn visible(name: &str) -> String {
    let mut shown = String::with_capacity(name.len());
    for letter in name.chars() {
        if letter.is_control() {
            shown.extend(letter.escape_default());
        } else {
            shown.push(letter);
        }
    }
    shown
}

/// "; did you mean `x`?", or a list of what there is.
pub fn suggestion(wanted: &str, names: &[&str]) -> String {
    if names.is_empty() {
        return "; there are none".to_owned();
    }
    if let Some(nearest) = nearest(wanted, names) {
        return format!("; did you mean `{nearest}`?");
    }
    let listed: Vec<String> = names.iter().take(MAX_LISTED).map(|n| format!("`{n}`")).collect();
    let more = if names.len() > MAX_LISTED {
        format!(" and {} more", names.len() - MAX_LISTED)
    } else {
        String::new()
    };
    format!("; there are {}{more}", listed.join(", "))
}

/// The name nearest to `wanted`, if it is near: at most a third of its letters differ, and fewer than half.
fn nearest<'a>(wanted: &str, names: &[&'a str]) -> Option<&'a str> {
    let fold = |s: &str| s.trim().to_lowercase();
    let wanted = fold(wanted);
    let length = wanted.chars().count();
    let close = length.div_ceil(3).min(length.div_ceil(2).saturating_sub(1));
    let distances = names.iter().map(|name| (edits(&wanted, &fold(name)), *name));
    distances.filter(|(d, _)| *d <= close).min_by_key(|(d, _)| *d).map(|(_, name)| name)
}

/// Letters to insert, delete or replace (Levenshtein).
fn edits(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_are_counted() {
        for (a, b, d) in
            [("", "abc", 3), ("kitten", "sitting", 3), ("flaw", "lawn", 2), ("a", "a", 0)]
        {
            assert_eq!(edits(a, b), d, "{a} {b}");
            assert_eq!(edits(b, a), d, "{b} {a}");
        }
    }

    #[test]
    fn the_nearest_name_is_suggested_else_all() {
        assert_eq!(suggestion("lable", &["age", "label"]), "; did you mean `label`?");
        assert_eq!(suggestion("Class ", &["class"]), "; did you mean `class`?");
        assert_eq!(suggestion("x", &["y", "X"]), "; did you mean `X`?");
        assert_eq!(suggestion("x", &["y", "z"]), "; there are `y`, `z`");
        assert_eq!(suggestion("y", &["age", "label"]), "; there are `age`, `label`");
        let many: Vec<String> = (0..14).map(|i| format!("column{i:03}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert!(suggestion("y", &many).ends_with("`column011` and 2 more"));
    }
}
