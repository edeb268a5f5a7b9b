//! Hashes the sources that produce trials, so that a run can tell which program made its trials.
#![allow(clippy::panic, clippy::expect_used, reason = "a build script fails by panicking")]

use fnv::FnvHasher;
use std::fs;
use std::hash::Hasher;
use std::path::{Path, PathBuf};

fn collect(path: &Path, files: &mut Vec<PathBuf>) {
    if path.ends_with("experiments/src/bench") {
        // The benchmark does not affect trials.
    } else if path.is_dir() {
        let entries = fs::read_dir(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        entries
            .for_each(|entry| collect(&entry.expect("a folder entry is readable").path(), files));
    } else {
        files.push(path.to_path_buf());
    }
}

fn main() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = package.ancestors().nth(2).expect("the package is a folder of crates/");
    let mut files = vec![root.join("Cargo.lock")];
    // The crates are found by listing the folders, so none can be forgotten. A new crate also changes Cargo.lock, and
    // this change makes Cargo run the script again.
    let mut folders = vec![root.join("crates/data/datasets"), root.join("crates/eval/templates")];
    for entry in fs::read_dir(root.join("crates")).expect("crates/ is readable") {
        let package = entry.expect("a folder entry is readable").path();
        if !package.ends_with("cli") {
            folders.push(package.join("src"));
        }
    }
    for folder in &folders {
        println!("cargo::rerun-if-changed={}", folder.display());
        collect(folder, &mut files);
    }
    println!("cargo::rerun-if-changed={}", files[0].display());
    files.sort();
    // Names and contents are hashed; the location of the workspace is not.
    let mut hash = FnvHasher::default();
    for file in &files {
        let name = file
            .strip_prefix(root)
            .expect("collected below root")
            .to_string_lossy()
            .replace('\\', "/");
        hash.write(name.as_bytes());
        hash.write(&fs::read(file).unwrap_or_else(|e| panic!("{}: {e}", file.display())));
    }
    println!("cargo::rustc-env=HALFSPACES_SOURCES={:016x}", hash.finish());
}
