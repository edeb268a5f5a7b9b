//! Checks that the files, the places in files and the examples named in documents and comments exist.

use crate::failure::Failure;
use crate::headings::headings;
use crate::workspace::files;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Missing documents that a source file names outside its tests.
pub(super) fn named_by_code(root: &Path, shown: &str, text: &str) -> Vec<String> {
    let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or(text);
    let missing = code.lines().enumerate().flat_map(|(at, line)| {
        let documents = paths(line).filter(|to| to.ends_with(".md"));
        let missing = documents.filter(|to| !root.join(to).exists());
        missing.map(move |to| not_there(shown, at, to))
    });
    missing.collect()
}

fn not_there(shown: &str, at: usize, what: &str) -> String {
    format!("{shown}:{}: names {what}, which does not exist", at + 1)
}

/// Missing files and examples that the documents name.
pub(super) fn named(root: &Path, folders: &[&Path]) -> Result<Vec<String>, Failure> {
    let mut findings = Vec::new();
    for path in files(vec![root.to_path_buf()], "md")? {
        let text = fs::read_to_string(&path)?;
        let shown = path.strip_prefix(root).unwrap_or(&path).display().to_string();
        let folder = path.parent().unwrap_or(root);
        for (at, line) in text.lines().enumerate() {
            let mut missing = |what: &str| findings.push(not_there(&shown, at, what));
            links(line).filter(|to| !folder.join(to).exists()).for_each(&mut missing);
            paths(line).filter(|to| !root.join(to).exists()).for_each(&mut missing);
            let there = |name: &str| {
                folders.iter().any(|f| f.join("examples").join(format!("{name}.rs")).exists())
            };
            examples(line).filter(|name| !there(name)).for_each(&mut missing);
            for (file, place) in places_named(line) {
                let target = if file.is_empty() { path.clone() } else { folder.join(file) };
                if target.extension().is_some_and(|e| e == "md") && target.exists() {
                    let known = if file.is_empty() {
                        places(&text)
                    } else {
                        places(&fs::read_to_string(&target)?)
                    };
                    if !known.contains(place) {
                        findings.push(not_there(&shown, at, &format!("{file}#{place}")));
                    }
                }
            }
        }
    }
    Ok(findings)
}

/// The targets of the links in a line, except other sites, places within the document, and items of a crate.
fn links(line: &str) -> impl Iterator<Item = &str> {
    let targets = line.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let files = targets.map(|to| to.split('#').next().unwrap_or_default());
    files.filter(|to| !to.is_empty() && !to.contains("://") && !to.contains("::"))
}

/// The files and places of the links in a line that name a place. The file is empty if the place is in the same document.
fn places_named(line: &str) -> impl Iterator<Item = (&str, &str)> {
    let targets = line.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    targets.filter_map(|to| to.split_once('#')).filter(|(file, _)| !file.contains("://"))
}

/// The places in a document that links can name: its headings and its identifiers.
fn places(text: &str) -> BTreeSet<String> {
    let ids = text.split(" id=\"").skip(1).filter_map(|rest| rest.split('"').next());
    let headings = headings(text).into_iter().map(|(_, name)| name);
    headings.chain(ids.map(str::to_owned)).collect()
}

/// The paths in a line that start at the root of the workspace.
fn paths(line: &str) -> impl Iterator<Item = &str> {
    const TOPS: [&str; 6] = ["crates/", "docs/", "xtask/", "tests/", "benches/", "fuzz/"];
    let part = |c: char| c.is_ascii_alphanumeric() || "_./-".contains(c);
    let words = line.split(move |c| !part(c)).map(|word| word.trim_end_matches('.'));
    words.filter(|word| TOPS.iter().any(|top| word.starts_with(top)))
}

/// The names after `--example`.
fn examples(line: &str) -> impl Iterator<Item = &str> {
    let after = line.split("--example ").skip(1);
    let name = |c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '-');
    after.filter_map(move |rest| rest.split(name).next()).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_paths_and_examples_are_found() {
        let line = "see [a](docs/a.md#b), [c](https://c.org/docs/c), `crates/d/src`, tests/e.rs.";
        assert_eq!(links(line).collect::<Vec<_>>(), ["docs/a.md"]);
        assert_eq!(paths(line).collect::<Vec<_>>(), ["docs/a.md", "crates/d/src", "tests/e.rs"]);
        let line = "cargo run --example pool_of_points` and -p b --example other -- 3";
        assert_eq!(examples(line).collect::<Vec<_>>(), ["pool_of_points", "other"]);
        assert_eq!(examples("an example").count(), 0);
    }

    #[test]
    fn places_are_headings_and_identifiers() {
        let known = places("# A b\n<a id=\"e\"></a>\n");
        assert_eq!(Vec::from_iter(&known), ["a-b", "e"]);
        let line = "[a](#b), [c](d.md#e), [f](https://g.org#h), [i](j.md)";
        assert_eq!(places_named(line).collect::<Vec<_>>(), [("", "b"), ("d.md", "e")]);
    }
}
