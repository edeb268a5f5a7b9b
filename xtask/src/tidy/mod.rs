//! `tidy`: checks the invariants of docs/architecture.md and the phrases of sources and documents.

mod documents;
mod phrases;

use crate::cli::TidyOptions;
use crate::console::say;
use crate::failure::Failure;
use crate::index::Index;
use crate::modules::Crate;
use crate::workspace::{files, workspace_root};
use serde::Deserialize;
use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// The allowed dependencies of each package, as (package, dependencies of its library, additional dependencies of its
/// tests and benchmarks). Every package of the workspace must be listed.
const LAYERS: [(&str, &[&str], &[&str]); 19] = [
    ("halfspaces-kernels", &[], &[]),
    ("halfspaces-linalg", &["halfspaces-kernels"], &[]),
    ("halfspaces-features", &["halfspaces-kernels", "halfspaces-linalg"], &[]),
    ("halfspaces-data", &["halfspaces-linalg"], &["halfspaces-features"]),
    ("halfspaces-forster", &["halfspaces-linalg"], &["halfspaces-data"]),
    (
        "halfspaces-online",
        &["halfspaces-kernels", "halfspaces-linalg", "halfspaces-features", "halfspaces-forster"],
        &["halfspaces-data"],
    ),
    (
        "halfspaces-pac",
        &[
            "halfspaces-kernels",
            "halfspaces-linalg",
            "halfspaces-features",
            "halfspaces-data",
            "halfspaces-forster",
        ],
        &[],
    ),
    (
        "halfspaces-tables",
        &["halfspaces-kernels", "halfspaces-linalg", "halfspaces-features", "halfspaces-pac"],
        &["halfspaces-data"],
    ),
    ("halfspaces-frame", &["halfspaces-linalg"], &[]),
    (
        "halfspaces-pipeline",
        &[
            "halfspaces-linalg",
            "halfspaces-features",
            "halfspaces-frame",
            "halfspaces-online",
            "halfspaces-pac",
            "halfspaces-tables",
        ],
        &[],
    ),
    ("halfspaces-labelling", &["halfspaces-linalg", "halfspaces-frame", "halfspaces-online"], &[]),
    // The evaluation depends on no learner; experiments pass numbers to it.
    ("halfspaces-eval", &["halfspaces-linalg"], &[]),
    // Re-exports all libraries under one name.
    ("halfspaces", &LIBRARIES, &[]),
    ("halfspaces-cli", &LIBRARIES, &[]),
    // The Python wheel contains the command.
    (
        "halfspaces-python",
        &[
            "halfspaces-cli",
            "halfspaces-linalg",
            "halfspaces-features",
            "halfspaces-data",
            "halfspaces-frame",
            "halfspaces-labelling",
            "halfspaces-pipeline",
            "halfspaces-forster",
            "halfspaces-online",
            "halfspaces-pac",
        ],
        &[],
    ),
    ("halfspaces-experiments", &LIBRARIES, &[]),
    ("halfspaces-instructions", &LIBRARIES, &[]),
    // This package compiles in seconds, because it starts the experiments and does not contain them.
    ("xtask", &[], &[]),
    ("halfspaces-tests", &LIBRARIES, &[]),
];

const LIBRARIES: [&str; 13] = [
    "halfspaces-kernels",
    "halfspaces-linalg",
    "halfspaces-features",
    "halfspaces-data",
    "halfspaces-frame",
    "halfspaces-labelling",
    "halfspaces-pipeline",
    "halfspaces-forster",
    "halfspaces-online",
    "halfspaces-pac",
    "halfspaces-tables",
    "halfspaces-eval",
    "halfspaces",
];

/// The only package with `unsafe` code. It cannot inherit the lints of the workspace, which forbid `unsafe`, so it has
/// its own list of lints.
const UNSAFE_PACKAGE: &str = "halfspaces-kernels";

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
    /// The name in the sources, if it differs.
    rename: Option<String>,
    /// `null` for a normal dependency.
    kind: Option<String>,
    /// Set for a dependency on a package of the workspace.
    path: Option<PathBuf>,
}

/// Checks the workspace and prints one line for each finding.
pub(crate) fn tidy(options: &TidyOptions) -> Result<ExitCode, Failure> {
    let root = options.root.clone().unwrap_or_else(workspace_root);
    let packages = metadata(&root)?.packages;
    let mut findings = layering(&packages);
    for package in &packages {
        findings.extend(house_rules(package, &root)?);
    }
    findings.extend(documents::named(&root, &folders(&packages))?);
    findings.extend(phrases::found(&root)?);
    // Only this workspace has an index.
    if root == workspace_root() {
        findings.extend(Index::read()?.check());
    }
    if findings.is_empty() {
        say(&format!("tidy: {} packages without findings\n", packages.len()))?;
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

fn folders(packages: &[Package]) -> Vec<&Path> {
    packages.iter().filter_map(|package| package.manifest_path.parent()).collect()
}

/// The lints of the workspace that a manifest with its own list lacks or weakens. Instead of the lint that forbids `unsafe`, the
/// manifest must have the lint that requires a safety comment for each block.
fn missing_lints<'a>(of_workspace: &'a str, manifest: &'a str) -> impl Iterator<Item = &'a str> {
    let tables = of_workspace.split("\n[").filter(|table| table.starts_with("workspace.lints"));
    let lints = tables.flat_map(|table| table.lines().skip(1)).filter(|line| line.contains('='));
    lints
        .map(|lint| match lint {
            "unsafe_code = \"forbid\"" => "undocumented_unsafe_blocks = \"deny\"",
            lint => lint,
        })
        .filter(|lint| !manifest.lines().any(|line| line == *lint))
}

/// Dependencies whose name occurs in no source file of the package. The integration tests include the sources of the fuzz targets.
fn unused_dependencies(
    package: &Package,
    folder: &Path,
    root: &Path,
) -> Result<Vec<String>, Failure> {
    let mut sources = String::new();
    let mut folders = vec![folder.to_path_buf()];
    folders.extend((package.name == "halfspaces-tests").then(|| root.join("fuzz/src")));
    for path in files(folders, "rs")? {
        sources.push_str(&fs::read_to_string(path)?);
    }
    let names: HashSet<&str> =
        sources.split(|c: char| !(c.is_alphanumeric() || c == '_')).collect();
    let is_unused = |dependency: &&Dependency| {
        let name = dependency.rename.as_ref().unwrap_or(&dependency.name);
        !names.contains(name.replace('-', "_").as_str())
    };
    let unused = package.dependencies.iter().filter(is_unused);
    Ok(unused
        .map(|unused| format!("{}: the dependency {} is not used", package.name, unused.name))
        .collect())
}

/// Checks one package: lints, description, dependencies, README, module documentation, module cycles, and links to documents.
fn house_rules(package: &Package, root: &Path) -> Result<Vec<String>, Failure> {
    let mut findings = Vec::new();
    let manifest = fs::read_to_string(&package.manifest_path)?;
    if package.name == UNSAFE_PACKAGE {
        let of_workspace = fs::read_to_string(root.join("Cargo.toml"))?;
        findings.extend(
            missing_lints(&of_workspace, &manifest)
                .map(|lint| format!("{}: Cargo.toml lacks the lint {lint}", package.name)),
        );
    } else if !manifest.contains("[lints]\nworkspace = true") {
        findings
            .push(format!("{}: Cargo.toml does not inherit the workspace's lints", package.name));
    }
    if package.description.is_none() {
        findings.push(format!("{}: Cargo.toml has no description", package.name));
    }
    let folder = package.manifest_path.parent().unwrap_or(root);
    findings.extend(unused_dependencies(package, folder, root)?);
    let library = LIBRARIES.contains(&package.name.as_str());
    if library && fs::read_to_string(folder.join("README.md")).unwrap_or_default().trim().is_empty()
    {
        findings.push(format!("{}: no README.md", package.name));
    }
    for root_file in ["src/lib.rs", "src/main.rs"].map(|name| folder.join(name)) {
        if root_file.exists() {
            let cycles = Crate::read(&root_file)?.cycles();
            findings
                .extend(cycles.iter().map(|c| format!("{}: cycle of modules: {c}", package.name)));
        }
    }
    for path in files(vec![folder.join("src")], "rs")? {
        let text = fs::read_to_string(&path)?;
        let shown = path.strip_prefix(root).unwrap_or(&path).display().to_string();
        if !text.starts_with("//!") {
            findings.push(format!("{shown}:1: a module must start with `//!` and its purpose"));
        }
        findings.extend(documents::named_by_code(root, &shown, &text));
    }
    Ok(findings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listed_lints_are_those_of_the_workspace() {
        let workspace = fs::read_to_string(workspace_root().join("Cargo.toml")).unwrap();
        let own = workspace_root().join("crates/kernels/Cargo.toml");
        let own = fs::read_to_string(own).unwrap();
        assert_eq!(missing_lints(&workspace, &own).count(), 0);
        for weakened in ["unwrap_used = \"warn\"", "undocumented_unsafe_blocks = \"deny\""] {
            let less = own.replace(weakened, &weakened.replace("= \"", "= \"allow"));
            assert_eq!(missing_lints(&workspace, &less).collect::<Vec<_>>(), [weakened]);
        }
        assert!(workspace.contains("\nunsafe_code = \"forbid\"\n"));
    }
}
