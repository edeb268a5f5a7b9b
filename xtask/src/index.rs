//! `index`: writes docs/index.md, which links every theorem to its code, claim and measurement, and the code to the
//! claims about it.

use crate::console::note;
use crate::failure::Failure;
use crate::modules::Crate;
use crate::outputs::{outputs_of, unknown_outputs};
use crate::suite;
use crate::theorems::{Theorem, theorems};
use crate::workspace::{files, workspace_root};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The file of the index.
const INDEX: &str = "docs/index.md";
/// The folder of the experiments.
const SUITE_FOLDER: &str = "crates/experiments";
/// The list of theorems.
const THEOREMS: &str = "docs/theorems.md";
/// The catalogue of the suite: its experiments and the items that their claims check. A test of the experiments fails if
/// the file is out of date.
const CATALOGUE: &str = "docs/suite.json";
/// The published ledger, the source of the verdicts.
const LEDGER: &str = "docs/results/claims.json";

const HEAD: &str = "\
# Index: theorem, code, claim, result

Written by `cargo xtask index` from [theorems.md](theorems.md), the claims of the suite and the published ledger, and checked by
`cargo xtask tidy`. [sources.md](sources.md) has the full titles; [architecture.md](architecture.md) says how the parts work together.
[The last section](#from-code-to-theorems) leads from code to theorems. The verdicts come from the published
[ledger](results/ledger.txt). [Its page](results/README.md) names the version of the program that wrote it; statements may be worded
differently there. For a claim that is not yet published, run `cargo xtask reproduce --only ID`. Several claims of an experiment may share
results. If no proof or correction is linked, the proof of the source holds as printed.

Notation ([conventions.md](conventions.md)): R is the largest norm of a point, γ the margin, d the dimension, n the number of points, η the
noise rate, ε the excess error, δ the failure probability, opt_RCN the error of the target under a link, and τ the asymmetry of the link.
";

/// An experiment in the catalogue.
#[derive(Debug, Deserialize)]
struct Experiment {
    id: String,
    /// The path of the type that implements the experiment, from the root of its crate.
    implemented_by: String,
    /// The paths of the experiment's tables and figures in the output folder.
    outputs: Vec<String>,
    claims: Vec<ClaimStatement>,
}

/// A claim in the catalogue.
#[derive(Debug, Deserialize)]
struct ClaimStatement {
    id: String,
    statement: String,
    /// The paths of the public items that the claim checks.
    checks: Vec<String>,
}

/// A claim of the suite with everything known about it before a run.
struct Claim {
    statement: String,
    /// The file of the claim's experiment, from the root of the workspace.
    file: String,
    /// Links to the claim's tables and figures.
    outputs: Vec<String>,
    /// The items that the claim checks, with their files.
    items: Vec<(String, String)>,
    /// The claim's verdict in the published ledger.
    verdict: String,
}

/// The index as it should be, and the reasons why it is incomplete.
pub(crate) struct Index {
    text: String,
    pub(crate) findings: Vec<String>,
}

impl Index {
    /// Reads the theorems, the catalogue of the suite and the sources of the workspace.
    pub(crate) fn read() -> Result<Index, Failure> {
        let root = workspace_root();
        let mut findings = Vec::new();
        let path = root.join(CATALOGUE);
        let text = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        let suite: Vec<Experiment> =
            serde_json::from_str(&text).map_err(|e| format!("{}: {e}", path.display()))?;
        let claims = claims(&suite, &root, &mut findings)?;
        let path = root.join(THEOREMS);
        let text = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        let theorems = theorems(&text)?;
        findings.extend(unmatched(&theorems, &claims));
        let known: BTreeSet<String> = claims.keys().cloned().collect();
        let mut checked: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (id, claim) in &claims {
            for (_, file) in &claim.items {
                checked.entry(file.clone()).or_default().insert(id.clone());
            }
        }
        let named = named_in_files(&root, &known)?;
        findings.extend(notes_of_claims(&named, &checked, &known));
        Ok(Index { text: text_of(&theorems, &claims, &named), findings })
    }

    /// The faults of the index on disk.
    pub(crate) fn check(mut self) -> Vec<String> {
        let kept = fs::read_to_string(workspace_root().join(INDEX));
        if !kept.is_ok_and(|kept| kept == self.text) {
            self.findings.push(format!("{INDEX}: not up to date; run `cargo xtask index`"));
        }
        self.findings
    }
}

/// Writes the catalogue of the suite and the index.
pub(crate) fn index() -> Result<ExitCode, Failure> {
    let catalogue = suite::catalogue()?;
    let path = workspace_root().join(CATALOGUE);
    fs::write(&path, catalogue).map_err(|e| format!("{}: {e}", path.display()))?;
    note(&format!("written: {}", path.display()));
    let index = Index::read()?;
    index.findings.iter().for_each(|finding| note(finding));
    let path = workspace_root().join(INDEX);
    fs::write(&path, &index.text).map_err(|e| format!("{}: {e}", path.display()))?;
    note(&format!("written: {}", path.display()));
    Ok(if index.findings.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// The text of the index: one section for each theorem and one row for each file whose documentation names a claim.
fn text_of(
    theorems: &[Theorem],
    claims: &BTreeMap<String, Claim>,
    named: &BTreeMap<String, BTreeSet<String>>,
) -> String {
    let mut text = HEAD.to_owned();
    let mut source = "";
    for (number, theorem) in theorems.iter().enumerate() {
        if theorem.source != source {
            source = &theorem.source;
            text.push_str(&format!("\n## {source}\n"));
        }
        let also = match theorem.otherwise.as_str() {
            "" => String::new(),
            otherwise => format!(" (elsewhere: {otherwise})"),
        };
        let proof = match theorem.proof.as_str() {
            "" => String::new(),
            proof => format!(" Proof or correction: {proof}."),
        };
        let (anchor, title, says) = (anchor(number), title(theorem), &theorem.says);
        text.push_str(&format!(
            "\n<a id=\"{anchor}\"></a>\n\n### {title}{also}\n\n{says}{proof}\n\n"
        ));
        for id in &theorem.claims {
            let Some((id, claim)) = claims.get_key_value(id) else { continue };
            let items = claim.items.iter();
            let items = items.map(|(path, file)| format!("[`{}`](../{file})", short(path)));
            let items = items.collect::<Vec<_>>().join(", ");
            let items = if items.is_empty() { "none".to_owned() } else { items };
            let (statement, verdict) = (&claim.statement, &claim.verdict);
            text.push_str(&format!("- **{id}**, {verdict}: {statement}\n"));
            let file = &claim.file;
            text.push_str(&format!("  Code: {items}. Experiment: [{file}](../{file})."));
            match claim.outputs.as_slice() {
                [] => text.push_str(" Result: in the ledger only."),
                outputs => text.push_str(&format!(" Results: {}.", outputs.join(", "))),
            }
            text.push('\n');
        }
        if theorem.claims.is_empty() {
            text.push_str("- No claim of its own.\n");
        }
    }
    text.push_str(
        "\n## From code to theorems\n\nThese are the files whose documentation names a claim or states that there is none.\n\n",
    );
    text.push_str("| file | theorems | claims |\n|---|---|---|\n");
    for (file, ids) in named {
        let about = theorems.iter().enumerate();
        let about = about.filter(|(_, theorem)| theorem.claims.iter().any(|id| ids.contains(id)));
        let links = about.map(|(number, t)| format!("[{}](#{})", title(t), anchor(number)));
        let links = links.collect::<Vec<_>>().join("; ");
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        let ids = if ids.is_empty() { "none".to_owned() } else { ids.join(", ") };
        text.push_str(&format!("| [{file}](../{file}) | {links} | {ids} |\n"));
    }
    text
}

/// The name of a theorem with its source.
fn title(theorem: &Theorem) -> String {
    match theorem.source.as_str() {
        "Ours" | "Others" => theorem.name.clone(),
        source => format!("{source} {}", theorem.name),
    }
}

/// The anchor of a theorem's section.
fn anchor(number: usize) -> String {
    format!("theorem-{}", number + 1)
}

/// Claims that no theorem names, and unknown claims that a theorem names.
fn unmatched(theorems: &[Theorem], claims: &BTreeMap<String, Claim>) -> Vec<String> {
    let named: BTreeSet<&String> = theorems.iter().flat_map(|t| &t.claims).collect();
    let missing = claims.keys().filter(|id| !named.contains(id));
    let missing = missing.map(|id| format!("{THEOREMS}: no theorem names the claim {id}"));
    let unknown = named.iter().filter(|id| !claims.contains_key(**id));
    let unknown = unknown.map(|id| format!("{THEOREMS}: names an unknown claim {id}"));
    missing.chain(unknown).collect()
}

/// The crates of the workspace, each read on first use.
struct Crates {
    root: PathBuf,
    read: BTreeMap<String, (PathBuf, Crate)>,
}

impl Crates {
    /// The file that defines the item at `path`, from the root of the workspace; `None` if there is no such item.
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

/// The claims of the suite by identifier.
fn claims(
    suite: &[Experiment],
    root: &Path,
    findings: &mut Vec<String>,
) -> Result<BTreeMap<String, Claim>, Failure> {
    let mut crates = Crates { root: root.to_owned(), read: BTreeMap::new() };
    let own = Crate::read(&root.join(SUITE_FOLDER).join("src/lib.rs"))?;
    let verdicts = verdicts(root)?;
    let published = published(root)?;
    let (mut claims, mut all) = (BTreeMap::new(), BTreeSet::new());
    for experiment in suite {
        let names: Vec<&str> = experiment.implemented_by.split("::").collect();
        let file = own.file_of(&names).map(|file| shown(root, file));
        let file =
            file.ok_or_else(|| format!("{}: not defined in any file", experiment.implemented_by))?;
        // Some figures need data that the catalogue does not have, so published figures count as well.
        let outputs: BTreeSet<String> =
            published.iter().chain(&experiment.outputs).cloned().collect();
        all.extend(outputs.iter().cloned());
        for statement in &experiment.claims {
            let mut items = Vec::new();
            for path in &statement.checks {
                match crates.find(path)? {
                    Some(file) => items.push((path.clone(), file)),
                    None => findings.push(format!(
                        "{file}: {} checks {path}, which is not a public item",
                        statement.id
                    )),
                }
            }
            let outputs = outputs_of([&statement.id, &experiment.id], &outputs, findings);
            let outputs = outputs.into_iter().map(|output| linked(root, output)).collect();
            let verdict = verdicts.get(&statement.id).map_or("not yet published", String::as_str);
            let verdict = verdict.to_owned();
            let text = statement.statement.clone();
            let claim = Claim { statement: text, file: file.clone(), outputs, items, verdict };
            claims.insert(statement.id.clone(), claim);
        }
    }
    findings.extend(unknown_outputs(&all));
    Ok(claims)
}

/// The published tables and figures.
fn published(root: &Path) -> Result<Vec<String>, Failure> {
    let mut outputs = Vec::new();
    for (folder, kind) in [("tables", "csv"), ("figures", "svg")] {
        for path in files(vec![root.join("docs/results").join(folder)], kind)? {
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
            outputs.extend(name.map(|name| format!("{folder}/{name}")));
        }
    }
    Ok(outputs)
}

/// A table or figure, as a link if it is published.
fn linked(root: &Path, output: &str) -> String {
    let kept = format!("results/{output}");
    let (_, name) = output.split_once('/').unwrap_or(("", output));
    match root.join("docs").join(&kept).exists() {
        true => format!("[{name}]({kept})"),
        false => format!("`{output}`"),
    }
}

/// The verdicts of the published ledger by claim.
fn verdicts(root: &Path) -> Result<BTreeMap<String, String>, Failure> {
    #[derive(serde::Deserialize)]
    struct Row {
        id: String,
        verdict: String,
    }
    let path = root.join(LEDGER);
    let text = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    let rows: Vec<Row> =
        serde_json::from_str(&text).map_err(|e| format!("{}: {e}", path.display()))?;
    Ok(rows.into_iter().map(|row| (row.id, row.verdict)).collect())
}

/// The claims that the documentation of each library file names. Files that state that they have no claim are included
/// with an empty set.
fn named_in_files(
    root: &Path,
    known: &BTreeSet<String>,
) -> Result<BTreeMap<String, BTreeSet<String>>, Failure> {
    let mut named = BTreeMap::new();
    let library = |path: &PathBuf| !path.starts_with(root.join(SUITE_FOLDER));
    for path in files(vec![root.join("crates")], "rs")?.into_iter().filter(library) {
        let text = fs::read_to_string(&path)?;
        let ids = named_claims(&text, known);
        if !ids.is_empty() || lists_of_claims(&text).iter().any(|list| is_none(list)) {
            named.insert(shown(root, &path), ids);
        }
    }
    Ok(named)
}

/// Named claims that do not exist, and files that do not name the claims that check their items.
fn notes_of_claims(
    named: &BTreeMap<String, BTreeSet<String>>,
    checked: &BTreeMap<String, BTreeSet<String>>,
    known: &BTreeSet<String>,
) -> Vec<String> {
    let mut findings = Vec::new();
    for (file, ids) in named {
        let unknown = ids.difference(known);
        findings.extend(unknown.map(|id| format!("{file}: names an unknown claim {id}")));
    }
    for (file, ids) in checked {
        let missing = ids.iter().filter(|id| !named.get(file).is_some_and(|n| n.contains(*id)));
        let missing: Vec<&str> = missing.map(String::as_str).collect();
        if !missing.is_empty() {
            let ids = missing.join(", ");
            findings.push(format!(
                "{file}: defines an item that {ids} checks; its documentation must contain \"Claims: {ids}.\""
            ));
        }
    }
    findings
}

/// The texts between "Claims:" and the next full stop, in comments.
fn lists_of_claims(text: &str) -> Vec<String> {
    let comment = |line: &str| {
        let line = line.trim_start();
        line.strip_prefix("//!").or(line.strip_prefix("///")).map(str::to_owned)
    };
    let prose: Vec<String> = text.lines().filter_map(comment).collect();
    let prose = prose.join(" ");
    prose
        .split("Claims:")
        .skip(1)
        .filter_map(|rest| rest.split('.').next())
        .map(str::to_owned)
        .collect()
}

/// Whether a list names no claim, as in "Claims: none of its own; compared in P10."
fn is_none(list: &str) -> bool {
    list.trim_start_matches(['*', ' ']).starts_with("none")
}

/// The identifiers in these lists.
fn named_claims(text: &str, known: &BTreeSet<String>) -> BTreeSet<String> {
    let lists = lists_of_claims(text);
    let lists = lists.iter().filter(|list| !is_none(list));
    let words = lists.flat_map(|list| list.split(|c: char| !c.is_ascii_alphanumeric()));
    // Keeps known identifiers and words that look like identifiers (capitals, digits, small letters). The other words
    // describe the relation to a claim, or say that there is no claim.
    let is_id = |word: &&str| {
        let number = word.trim_start_matches(|c: char| c.is_ascii_uppercase());
        let kind = number.trim_start_matches(|c: char| c.is_ascii_digit());
        known.contains(*word) || word.len() > number.len() && number.len() > kind.len()
    };
    words.filter(is_id).map(str::to_owned).collect()
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
        let text = "//! Sums. *Claims:* P4, P7t, PRe\n//! and K1. More, P9. Claims: none of its own; compared in P4s.\nlet x = \"Claims: Q\";\n";
        let known = ["PRe".to_owned()].into();
        let named: Vec<String> = named_claims(text, &known).into_iter().collect();
        assert_eq!(named, ["K1", "P4", "P7t", "PRe"]);
    }

    #[test]
    fn a_file_without_a_claim_is_told_from_one_that_is_silent() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("crates/a/src");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("none.rs"), "//! A. Claims: none\n//! of its own; compared in P1.\n")
            .unwrap();
        fs::write(folder.join("silent.rs"), "//! A.\n").unwrap();
        let known = ["P1".to_owned()].into();
        let named = named_in_files(root.path(), &known).unwrap();
        let files: Vec<(&str, usize)> =
            named.iter().map(|(f, ids)| (f.as_str(), ids.len())).collect();
        assert_eq!(files, [("crates/a/src/none.rs", 0)]);
        assert!(text_of(&[], &BTreeMap::new(), &named).contains("none.rs) |  | none |\n"));
    }

    #[test]
    fn what_documents_lack_is_found() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("crates/a/src");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("lib.rs"), "//! A. Claims: P1, P2.\n").unwrap();
        let files = [("crates/a/src/lib.rs".to_owned(), ["P1".into(), "P3".into()].into())].into();
        let known = ["P1".to_owned(), "P3".into()].into();
        let named = named_in_files(root.path(), &known).unwrap();
        let findings = notes_of_claims(&named, &files, &known);
        assert_eq!(findings.len(), 2, "{findings:?}");
        assert!(findings[0].contains("names an unknown claim P2"), "{findings:?}");
        assert!(findings[1].contains("\"Claims: P3.\""), "{findings:?}");
    }

    #[test]
    fn items_have_short_names() {
        assert_eq!(short("halfspaces_online::Perceptron"), "Perceptron");
        assert_eq!(short("halfspaces_linalg::Points::normalised"), "Points::normalised");
        assert_eq!(short("halfspaces_pac::schedule::steps"), "steps");
    }
}
