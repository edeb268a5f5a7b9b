//! The packages in `examples/` are outside the workspace, like the packages of its users. Each is copied, compiled
//! against the crates of the workspace and run; crates that are already compiled are reused.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_path_buf()
}

/// Copies a folder recursively.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// The `profile.dev` tables of the workspace's manifest.
fn dev_profile() -> String {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let tables = manifest.split("\n[").filter(|table| table.starts_with("profile.dev"));
    let profile: String = tables.map(|table| format!("\n[{table}")).collect();
    assert!(profile.contains("opt-level"), "{profile}");
    profile
}

/// Runs an example with the dependency versions pinned in the workspace's lock file; returns its standard output.
fn run(name: &str, arguments: &[&str]) -> String {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join(name);
    copy(&root().join("examples").join(name), &folder);
    let manifest = folder.join("Cargo.toml");
    let text = fs::read_to_string(&manifest).unwrap();
    assert!(text.contains("\n[workspace]\n"), "{name} must be outside the workspace");
    let crates = format!("\"{}/", root().join("crates").display());
    // The profile is that of the workspace, so that its compiled crates are reused.
    let text = text.replace("\"../../crates/", &crates) + &dev_profile();
    fs::write(&manifest, text).unwrap();
    fs::copy(root().join("Cargo.lock"), folder.join("Cargo.lock")).unwrap();
    let output = Command::new(env!("CARGO"))
        .args(["run", "--offline", "--quiet", "--manifest-path"])
        .arg(&manifest)
        .arg("--")
        .args(arguments)
        .current_dir(place.path())
        .env("CARGO_TARGET_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    let results = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{name}: {said}\n{results}");
    results
}

#[test]
fn a_custom_claim_is_measured_and_judged() {
    let results = tempfile::tempdir().unwrap();
    let place = results.path().display().to_string();
    let ledger = run("own-claim", &[&place]);
    assert!(ledger.contains("A1    holds"), "{ledger}");
    for file in ["trials.jsonl", "claims.json", "index.html", "tables/deviations.csv"] {
        assert!(results.path().join(file).is_file(), "{file}");
    }
}

#[test]
fn custom_learners_fit_and_play() {
    let said = run("own-learner", &[]);
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines.len(), 4, "{said}");
    for line in &lines[..2] {
        let rate: f64 = line.split_whitespace().rev().nth(3).unwrap().parse().unwrap();
        assert!(rate < 0.25, "{line}");
    }
    assert_eq!(
        lines[2],
        "refused: trimmed = 1.5 is out of range; it must be at least 0 and below 1"
    );
    let mistakes: usize = lines[3].split_whitespace().nth(2).unwrap().parse().unwrap();
    assert!((1..=25).contains(&mistakes), "{}", lines[3]);
}
