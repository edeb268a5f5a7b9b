//! `tidy`: the invariants of docs/architecture.md that a program can check.

use crate::Failure;
use crate::cli::TidyOptions;
use crate::console::say;
use crate::workspace::workspace_root;
use serde::Deserialize;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// What each package of the workspace may depend on: (package, in its library, in addition in its
/// tests and benchmarks). A package not listed here may not be in the workspace.
const LAYERS: [(&str, &[&str], &[&str]); 9] = [
    ("halfspaces-linalg", &[], &[]),
    ("halfspaces-data", &["halfspaces-linalg"], &[]),
    ("halfspaces-forster", &["halfspaces-linalg"], &["halfspaces-data"]),
    ("halfspaces-online", &["halfspaces-linalg", "halfspaces-forster"], &["halfspaces-data"]),
    ("halfspaces-pac", &["halfspaces-linalg", "halfspaces-data", "halfspaces-forster"], &[]),
    // Evaluation knows no learner: experiments hand it numbers.
    ("halfspaces-eval", &["halfspaces-linalg"], &[]),
    // All of them behind one name.
    ("halfspaces", &LIBRARIES, &[]),
    ("xtask", &LIBRARIES, &[]),
    ("halfspaces-tests", &LIBRARIES, &[]),
];

const LIBRARIES: [&str; 7] = [
    "halfspaces-linalg",
    "halfspaces-data",
    "halfspaces-forster",
    "halfspaces-online",
    "halfspaces-pac",
    "halfspaces-eval",
    "halfspaces",
];

/// What library code must not contain, and why.
const FORBIDDEN: [(&str, &str); 9] = [
    ("print!(", "libraries never print"),
    ("println!(", "libraries never print"),
    ("Instant::now", "libraries never read the clock"),
    ("SystemTime::now", "libraries never read the clock"),
    ("rand::rng()", "libraries never draw from a global generator"),
    ("thread_rng", "libraries never draw from a global generator"),
    ("build_global", "libraries never change global parallelism"),
    ("set_global_parallelism", "libraries never change global parallelism"),
    ("unsafe ", "no unsafe code"),
];

#[derive(Debug, Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Debug, Deserialize)]
struct Package {
    name: String,
    manifest_path: PathBuf,
    description: Option<String>,
    dependencies: Vec<Dependency>,
}

#[derive(Debug, Deserialize)]
struct Dependency {
    name: String,
    /// `null` for a normal dependency.
    kind: Option<String>,
    /// Set for a dependency on a package of the workspace.
    path: Option<PathBuf>,
}

/// Checks the workspace; prints one line a finding.
pub(crate) fn tidy(options: &TidyOptions) -> Result<ExitCode, Failure> {
    let root = options.root.clone().unwrap_or_else(workspace_root);
    let packages = metadata(&root)?.packages;
    let mut findings = layering(&packages);
    for package in &packages {
        findings.extend(house_rules(package, &root)?);
    }
    findings.extend(named(&root, &packages)?);
    if findings.is_empty() {
        say(&format!("tidy: {} packages in order\n", packages.len()))?;
        return Ok(ExitCode::SUCCESS);
    }
    say(&format!("{}\ntidy: {} findings\n", findings.join("\n"), findings.len()))?;
    Ok(ExitCode::from(1))
}

fn metadata(root: &Path) -> Result<Metadata, Failure> {
    let manifest = root.join("Cargo.toml");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--no-deps", "--format-version", "1", "--manifest-path"])
        .arg(&manifest)
        .output()?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let said = said.lines().collect::<Vec<_>>().join(" ");
        return Err(format!("{}: cargo metadata failed: {said}", manifest.display()).into());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// Dependencies that point upward, and packages without a layer.
fn layering(packages: &[Package]) -> Vec<String> {
    let mut findings = Vec::new();
    for package in packages {
        let Some((_, normal, dev)) = LAYERS.iter().find(|(name, ..)| *name == package.name) else {
            findings.push(format!("{}: not in the layers of docs/architecture.md", package.name));
            continue;
        };
        for dependency in package.dependencies.iter().filter(|d| d.path.is_some()) {
            let name = dependency.name.as_str();
            let in_tests = dependency.kind.as_deref() == Some("dev");
            if !(normal.contains(&name) || in_tests && dev.contains(&name)) {
                let kind = dependency.kind.as_deref().unwrap_or("normal");
                findings.push(format!(
                    "{}: upward {kind} dependency on {name}; it may use {}",
                    package.name,
                    if normal.is_empty() {
                        "no package of the workspace".into()
                    } else {
                        normal.join(", ")
                    }
                ));
            }
        }
    }
    findings
}

/// Lints inherited, described, introduced; library sources free of what is forbidden; documents that sources
/// name are there.
fn house_rules(package: &Package, root: &Path) -> Result<Vec<String>, Failure> {
    let mut findings = Vec::new();
    let manifest = fs::read_to_string(&package.manifest_path)?;
    if !manifest.contains("[lints]\nworkspace = true") {
        findings
            .push(format!("{}: Cargo.toml does not inherit the workspace's lints", package.name));
    }
    if package.description.is_none() {
        findings.push(format!("{}: Cargo.toml has no description", package.name));
    }
    let folder = package.manifest_path.parent().unwrap_or(root);
    let library = LIBRARIES.contains(&package.name.as_str());
    if library && fs::read_to_string(folder.join("README.md")).unwrap_or_default().trim().is_empty()
    {
        findings.push(format!("{}: no README.md", package.name));
    }
    for path in rust_files(&folder.join("src"))? {
        let text = fs::read_to_string(&path)?;
        let shown = path.strip_prefix(root).unwrap_or(&path).display().to_string();
        if !text.starts_with("//!") {
            findings.push(format!("{shown}:1: a module opens with `//!` and what it is for"));
        }
        if library {
            findings.extend(forbidden(&shown, &text));
        }
        for (at, line) in before_tests(&text).lines().enumerate() {
            let documents = paths(line).filter(|to| to.ends_with(".md"));
            let missing = documents.filter(|to| !root.join(to).exists());
            findings.extend(missing.map(|to| not_there(&shown, at, to)));
        }
    }
    Ok(findings)
}

fn not_there(shown: &str, at: usize, what: &str) -> String {
    format!("{shown}:{}: names {what}, which is not there", at + 1)
}

fn before_tests(text: &str) -> &str {
    text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default()
}

/// Forbidden code before the tests of a file; comments are free to speak of it.
fn forbidden(shown: &str, text: &str) -> Vec<String> {
    let mut findings = Vec::new();
    for (at, line) in before_tests(text).lines().enumerate() {
        if line.trim_start().starts_with("//") {
            continue;
        }
        if let Some((found, why)) = FORBIDDEN.iter().find(|(found, _)| line.contains(found)) {
            findings.push(format!("{shown}:{}: `{}`: {why}", at + 1, found.trim()));
        }
    }
    findings
}

fn rust_files(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    files(vec![folder.to_path_buf()], "rs")
}

/// All files with this extension in the folders and in theirs, but for what starts with a dot and what
/// is built.
fn files(mut folders: Vec<PathBuf>, extension: &str) -> Result<Vec<PathBuf>, Failure> {
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            let (path, name) = (entry.path(), entry.file_name());
            let skipped = name == "target" || name.to_string_lossy().starts_with('.');
            if path.is_dir() && !skipped {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == extension) {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}

/// Files and examples that a document names and that are not there.
fn named(root: &Path, packages: &[Package]) -> Result<Vec<String>, Failure> {
    let folders: Vec<&Path> = packages.iter().filter_map(|p| p.manifest_path.parent()).collect();
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
        }
    }
    Ok(findings)
}

/// Where the links of a line lead, but for those to other sites and within the document.
fn links(line: &str) -> impl Iterator<Item = &str> {
    let targets = line.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let files = targets.map(|to| to.split('#').next().unwrap_or_default());
    files.filter(|to| !to.is_empty() && !to.contains("://"))
}

/// Paths from the root of the workspace.
fn paths(line: &str) -> impl Iterator<Item = &str> {
    const TOPS: [&str; 6] = ["crates/", "docs/", "xtask/", "tests/", "benches/", "fuzz/"];
    let part = |c: char| c.is_ascii_alphanumeric() || "_./-".contains(c);
    let words = line.split(move |c| !part(c)).map(|word| word.trim_end_matches('.'));
    words.filter(|word| TOPS.iter().any(|top| word.starts_with(top)))
}

/// Names after `--example`.
fn examples(line: &str) -> impl Iterator<Item = &str> {
    let after = line.split("--example ").skip(1);
    let name = |c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '-');
    after.filter_map(move |rest| rest.split(name).next()).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_searched_and_comments_and_tests_are_not() {
        let text = "//! may say println!(\nfn f() { println!(\"x\") }\n// unsafe talk\n#[cfg(test)]\nmod tests { unsafe {} }";
        assert_eq!(forbidden("a.rs", text), ["a.rs:2: `println!(`: libraries never print"]);
        assert_eq!(forbidden("a.rs", "fn f() { let t = Instant::now(); }").len(), 1);
    }

    #[test]
    fn what_a_line_names_is_found() {
        let line = "see [a](docs/a.md#b), [c](https://c.org/docs/c), `crates/d/src`, tests/e.rs.";
        assert_eq!(links(line).collect::<Vec<_>>(), ["docs/a.md"]);
        assert_eq!(paths(line).collect::<Vec<_>>(), ["docs/a.md", "crates/d/src", "tests/e.rs"]);
        let line = "cargo run --example pool_of_points` and -p b --example other -- 3";
        assert_eq!(examples(line).collect::<Vec<_>>(), ["pool_of_points", "other"]);
        assert_eq!(examples("an example").count(), 0);
    }
}
