//! The headings of a Markdown document and the names by which links reach them.

use std::collections::BTreeSet;

/// The headings outside code blocks, each with its line (counted from 0) and the name that GitHub gives it.
pub(crate) fn headings(text: &str) -> Vec<(usize, String)> {
    let mut fenced = false;
    let mut taken = BTreeSet::new();
    let mut found = Vec::new();
    for (at, line) in text.lines().enumerate() {
        fenced ^= line.trim_start().starts_with("```");
        if fenced || !line.starts_with('#') {
            continue;
        }
        let name = name(line.trim_start_matches('#').trim());
        let numbered = (1..).map(|number| format!("{name}-{number}"));
        if let Some(name) =
            std::iter::once(name.clone()).chain(numbered).find(|n| !taken.contains(n))
        {
            taken.insert(name.clone());
            found.push((at, name));
        }
    }
    found
}

/// The heading in lower case, with hyphens for spaces, without other punctuation and without the targets of links.
fn name(heading: &str) -> String {
    let mut shown = String::new();
    let mut rest = heading;
    while let Some((before, after)) = rest.split_once("](") {
        shown.push_str(before);
        rest = after.split_once(')').map_or("", |(_, rest)| rest);
    }
    shown.push_str(rest);
    let kept = shown.to_lowercase();
    let kept = kept.chars().filter(|c| c.is_alphanumeric() || "-_ ".contains(*c));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_have_the_names_of_github() {
        let text = "# A *b*: `c`, d\n\n## [F](g.md) 2.1\n```\n# no\n```\n# F 21\n";
        let found: Vec<(usize, &str)> = vec![(0, "a-b-c-d"), (2, "f-21"), (6, "f-21-1")];
        assert_eq!(
            headings(text).iter().map(|(at, n)| (*at, n.as_str())).collect::<Vec<_>>(),
            found
        );
    }
}
