//! `index`: docs/index.md, the way from every theorem to its code, claim and measurement, and back.

use crate::console::note;
use crate::failure::Failure;
use crate::modules::Crate;
use crate::suite;
use crate::workload::Inputs;
use crate::workspace::{files, workspace_root};
use halfspaces_eval::{Description, Scale, TrialStore};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

/// Where the index is kept.
const INDEX: &str = "docs/index.md";

const HEAD: &str = "\
# Index: theorem, code, claim

Written by `cargo xtask index` from the claims of the suite, and checked by `cargo xtask tidy`.
[sources.md](sources.md) has the full titles; [architecture.md](architecture.md) says how the parts work together.
";

/// Most tables and figures named in one row.
const MAX_OUTPUTS: usize = 6;

/// An experiment and what is known about it without running it.
struct Entry {
    about: Description,
    /// Its source, from the root of the workspace.
    file: String,
    /// Its tables and figures as links.
    outputs: Vec<String>,
}

/// The index as it should be, and what keeps it from being complete.
pub(crate) struct Index {
    text: String,
    pub(crate) findings: Vec<String>,
}

impl Index {
    /// Reads the claims of the suite and the sources of the workspace.
    pub(crate) fn read() -> Result<Index, Failure> {
        let root = workspace_root();
        let mut crates = Crates { root: root.clone(), read: BTreeMap::new() };
        let mut findings = Vec::new();
        let mut by_source: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let mut by_item: BTreeMap<&str, BTreeMap<String, String>> = BTreeMap::new();
        let mut files: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        let mut known = BTreeSet::new();
        let entries = entries(&mut crates)?;
        for entry in &entries {
            for claim in &entry.about.claims {
                known.insert(claim.id.clone());
                let mut items = Vec::new();
                if claim.checks.is_empty() {
                    findings.push(format!("{}: {} checks no item", entry.file, claim.id));
                }
                for path in claim.checks {
                    let Some(file) = crates.find(path)? else {
                        findings.push(format!(
                            "{}: {} checks {path}, which is no public item",
                            entry.file, claim.id
                        ));
                        continue;
                    };
                    items.push(format!("[`{}`](../{file})", short(path)));
                    let claims = by_item.entry(path).or_default();
                    claims.insert(claim.id.clone(), file.clone());
                    files.entry(file).or_default().insert(claim.id.clone());
                }
                let row = format!(
                    "| {} | {} | **{}** {} | [{}](../{}) | {} |\n",
                    claim.source,
                    items.join(", "),
                    claim.id,
                    claim.statement.replace('|', "\\|"),
                    entry.about.title,
                    entry.file,
                    entry.outputs.join(", "),
                );
                by_source.entry(author(&claim.source)).or_default().push(row);
            }
        }
        findings.extend(notes_of_claims(&root, &files, &known)?);
        let mut text = HEAD.to_owned();
        for (source, rows) in &by_source {
            text.push_str(&format!(
                "\n## {source}\n\n| theorem | code | claim | experiment | tables and figures |\n|---|---|---|---|---|\n{}",
                rows.concat()
            ));
        }
        text.push_str("\n## From code to claims\n\n| item | claims |\n|---|---|\n");
        for (path, claims) in &by_item {
            let ids: Vec<&str> = claims.keys().map(String::as_str).collect();
            let Some(file) = claims.values().next() else { unreachable!("claims made the entry") };
            text.push_str(&format!("| [`{path}`](../{file}) | {} |\n", ids.join(", ")));
        }
        Ok(Index { text, findings })
    }

    /// What is wrong with the index as it is kept.
    pub(crate) fn check(mut self) -> Vec<String> {
        let kept = fs::read_to_string(workspace_root().join(INDEX));
        if !kept.is_ok_and(|kept| kept == self.text) {
            self.findings.push(format!("{INDEX}: not up to date; run `cargo xtask index`"));
        }
        self.findings
    }
}

/// Writes the index.
pub(crate) fn index() -> Result<ExitCode, Failure> {
    let index = Index::read()?;
    index.findings.iter().for_each(|finding| note(finding));
    let path = workspace_root().join(INDEX);
    fs::write(&path, &index.text).map_err(|e| format!("{}: {e}", path.display()))?;
    note(&format!("written: {}", path.display()));
    Ok(if index.findings.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// The crates of the workspace, read when first asked for.
struct Crates {
    root: PathBuf,
    read: BTreeMap<String, (PathBuf, Crate)>,
}

impl Crates {
    /// The file, from the root of the workspace, that defines what `path` names.
    fn find(&mut self, path: &str) -> Result<Option<String>, Failure> {
        let mut names = path.split("::");
        let Some(package) = names.next() else { unreachable!("a split text has a first part") };
        if !self.read.contains_key(package) {
            let name = package.trim_start_matches("halfspaces_").replace('_', "-");
            let folder = self.root.join("crates").join(name).join("src");
            let lib = folder.join("lib.rs");
            if !package.starts_with("halfspaces_") || !lib.exists() {
                return Ok(None);
            }
            self.read.insert(package.to_owned(), (folder, Crate::read(&lib)?));
        }
        let file =
            self.read.get(package).and_then(|(_, read)| read.find(&names.collect::<Vec<_>>()));
        Ok(file.map(|file| shown(&self.root, file)))
    }
}

/// The experiments of the suite in its order.
fn entries(crates: &mut Crates) -> Result<Vec<Entry>, Failure> {
    let inputs = Arc::new(Inputs::builtin());
    let own = Crate::read(&crates.root.join("xtask/src/main.rs"))?;
    let store = TrialStore::read(&[])?;
    let mut entries = Vec::new();
    for experiment in suite::all(&inputs) {
        let about = experiment.describe();
        let names: Vec<&str> = about.type_name.split("::").skip(1).collect();
        let file = own.file_of(&names).map(|file| shown(&crates.root, file));
        let file = file.ok_or_else(|| format!("{}: defined in no file", about.type_name))?;
        let section = experiment.section(Scale::Full, 1, &store)?;
        let tables = section.tables.iter().map(|t| ("tables", format!("{}.csv", t.name)));
        let figures = section.figures.iter().map(|f| ("figures", format!("{}.svg", f.name)));
        let all: Vec<_> = tables.chain(figures).collect();
        let mut outputs: Vec<String> = (all.iter().take(MAX_OUTPUTS))
            .map(|(folder, name)| {
                let kept = format!("results/{folder}/{name}");
                match crates.root.join("docs").join(&kept).exists() {
                    true => format!("[{name}]({kept})"),
                    false => format!("`{folder}/{name}`"),
                }
            })
            .collect();
        if all.len() > MAX_OUTPUTS {
            outputs.push(format!("{} more", all.len() - MAX_OUTPUTS));
        }
        entries.push(Entry { about, file, outputs });
    }
    Ok(entries)
}

/// "Claims:" in the documentation of library code: claims that there are, and in every file that
/// defines what a claim checks, that claim.
fn notes_of_claims(
    root: &Path,
    checked: &BTreeMap<String, BTreeSet<String>>,
    known: &BTreeSet<String>,
) -> Result<Vec<String>, Failure> {
    let mut findings = Vec::new();
    for path in files(vec![root.join("crates")], "rs")? {
        let file = shown(root, &path);
        let named = named_claims(&fs::read_to_string(&path)?, known);
        let unknown = named.iter().filter(|id| !known.contains(*id));
        findings
            .extend(unknown.map(|id| format!("{file}: names a claim {id}, which is not there")));
        let missing = checked.get(&file).into_iter().flatten().filter(|id| !named.contains(*id));
        let missing: Vec<&str> = missing.map(String::as_str).collect();
        if !missing.is_empty() {
            let ids = missing.join(", ");
            findings.push(format!(
                "{file}: defines what {ids} checks; its documentation says \"Claims: {ids}.\""
            ));
        }
    }
    Ok(findings)
}

/// The identifiers after "Claims:" up to the full stop, in comments.
fn named_claims(text: &str, known: &BTreeSet<String>) -> BTreeSet<String> {
    let comment = |line: &str| {
        let line = line.trim_start();
        line.strip_prefix("//!").or(line.strip_prefix("///")).map(str::to_owned)
    };
    let prose: Vec<String> = text.lines().filter_map(comment).collect();
    let prose = prose.join(" ");
    let lists = prose.split("Claims:").skip(1).filter_map(|rest| rest.split('.').next());
    let words = lists.flat_map(|list| list.split(|c: char| !c.is_ascii_alphanumeric()));
    // Those known, and what looks like one (capitals, digits, small letters); other words say how, or that
    // there is none.
    let is_id = |word: &&str| {
        let number = word.trim_start_matches(|c: char| c.is_ascii_uppercase());
        let kind = number.trim_start_matches(|c: char| c.is_ascii_digit());
        known.contains(*word) || word.len() > number.len() && number.len() > kind.len()
    };
    words.filter(is_id).map(str::to_owned).collect()
}

/// Whose theorem it is: the author's key of a source.
fn author(source: &str) -> String {
    match source.split([' ', ',']).next().unwrap_or(source) {
        "ours" => "Ours".into(),
        author => author.into(),
    }
}

/// The last name of a path, with its type if it is a method.
fn short(path: &str) -> &str {
    let names: Vec<usize> = path.match_indices("::").map(|(at, _)| at + 2).collect();
    let type_first = |at: usize| path[at..].starts_with(|c: char| c.is_uppercase());
    let start = names.iter().copied().find(|at| type_first(*at)).or(names.last().copied());
    start.map_or(path, |at| &path[at..])
}

fn shown(root: &Path, file: &Path) -> String {
    file.strip_prefix(root).unwrap_or(file).display().to_string().replace('\\', "/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claims_are_read_from_comments() {
        let text = "//! Sums. *Claims:* P4, P7t, PRe\n//! and K1. More, P9. Claims: none.\nlet x = \"Claims: Q\";\n";
        let known = ["PRe".to_owned()].into();
        let named: Vec<String> = named_claims(text, &known).into_iter().collect();
        assert_eq!(named, ["K1", "P4", "P7t", "PRe"]);
    }

    #[test]
    fn what_documents_lack_is_found() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("crates/a/src");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("lib.rs"), "//! A. Claims: P1, P2.\n").unwrap();
        let files = [("crates/a/src/lib.rs".to_owned(), ["P1".into(), "P3".into()].into())].into();
        let known = ["P1".to_owned(), "P3".into()].into();
        let findings = notes_of_claims(root.path(), &files, &known).unwrap();
        assert_eq!(findings.len(), 2, "{findings:?}");
        assert!(findings[0].contains("names a claim P2"), "{findings:?}");
        assert!(findings[1].contains("\"Claims: P3.\""), "{findings:?}");
    }

    #[test]
    fn items_have_short_names() {
        assert_eq!(short("halfspaces_online::Perceptron"), "Perceptron");
        assert_eq!(short("halfspaces_linalg::Points::normalised"), "Points::normalised");
        assert_eq!(short("halfspaces_pac::schedule::steps"), "steps");
        assert_eq!(author("ours, docs/theory/a.md"), "Ours");
        assert_eq!(author("CKST24 Theorem 3"), "CKST24");
    }
}
