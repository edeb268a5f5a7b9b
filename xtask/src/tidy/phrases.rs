//! Phrases that the sources and documents of this workspace avoid, each with the words to use.

use crate::failure::Failure;
use crate::workspace::files;
use std::fs;
use std::path::Path;

/// Pairs of (phrase, what to write). A phrase matches whole words; case does not matter.
const PHRASES: [(&str, &str); 21] = [
    ("anew", "again"),
    ("as often as not", "in half of the cases"),
    ("beside", "next to, compared with, in addition to"),
    ("but for", "except"),
    ("came about", "was created"),
    ("come about", "be created"),
    ("had by", "obtained by"),
    ("heed", "take into account"),
    ("heeds", "takes into account"),
    ("is had", "is obtained"),
    ("may well", "may"),
    ("no matter whether", "whether or not"),
    ("nobody", "no one, or name who"),
    ("none where", "`None` if, nothing if"),
    ("of them alone", "only of them"),
    ("so many", "this many"),
    ("stands in for", "replaces"),
    ("the more the", "say what grows with what"),
    ("what is not there", "what is missing"),
    ("which is not there", "which does not exist"),
    ("whoever", "a person who, users who"),
];

/// The folders of the texts that people read. The published results keep the words of the program that wrote them.
const ROOTS: [&str; 7] = ["crates", "xtask", "tests", "docs", "examples", "fuzz", "benches"];
const EXCEPT: [&str; 4] =
    ["docs/results", "docs/index.md", "fuzz/corpus", "xtask/src/tidy/phrases.rs"];

/// The phrases found in the sources, pages and documents below `root`.
pub(super) fn found(root: &Path) -> Result<Vec<String>, Failure> {
    let documents = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"];
    let mut paths = documents.map(|name| root.join(name)).to_vec();
    paths.retain(|path| path.exists());
    let roots = ROOTS.map(|name| root.join(name)).into_iter().filter(|folder| folder.exists());
    let roots: Vec<_> = roots.collect();
    for extension in ["rs", "md", "html", "py"] {
        paths.extend(files(roots.clone(), extension)?);
    }
    let mut findings = Vec::new();
    for path in paths {
        let shown = path.strip_prefix(root).unwrap_or(&path).display().to_string();
        if EXCEPT.iter().any(|except| shown.starts_with(except)) {
            continue;
        }
        let text = fs::read_to_string(&path)?;
        // Keys of stored data keep their names.
        let is_key =
            |line: &str| ["rename = \"", "to_string = \""].iter().any(|k| line.contains(k));
        for (at, line) in text.lines().enumerate().filter(|(_, line)| !is_key(line)) {
            findings.extend(phrases_in(line).map(|(phrase, better)| {
                format!("{shown}:{}: \"{phrase}\": write {better}", at + 1)
            }));
        }
    }
    Ok(findings)
}

/// The phrases that a line contains as whole words.
fn phrases_in(line: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let line = line.to_lowercase();
    PHRASES.into_iter().filter(move |(phrase, _)| {
        let inside = |c: char| c.is_alphanumeric() || c == '_';
        line.match_indices(phrase).any(|(at, _)| {
            let (before, after) = (&line[..at], &line[at + phrase.len()..]);
            !before.ends_with(inside) && !after.starts_with(inside)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phrases_are_whole_words_in_any_case() {
        let found = |line| phrases_in(line).map(|(phrase, _)| phrase).collect::<Vec<_>>();
        assert_eq!(found("/// Beside it, nobody's."), ["beside", "nobody"]);
        assert_eq!(found("dots_beside besides renewal"), [""; 0]);
        assert_eq!(found("all but for one, so many."), ["but for", "so many"]);
    }
}
