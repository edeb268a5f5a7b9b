//! Hashes the sources that make trials, so that a run knows which program made its own.
#![allow(clippy::panic, clippy::expect_used, reason = "a build script fails by panicking")]

use fnv::FnvHasher;
use std::fs;
use std::hash::Hasher;
use std::path::{Path, PathBuf};

fn collect(path: &Path, files: &mut Vec<PathBuf>) {
    if path.ends_with("experiments/src/bench") {
        // Speed only.
    } else if path.is_dir() {
        let entries = fs::read_dir(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        entries.for_each(|entry| collect(&entry.expect("a folder is listed").path(), files));
    } else {
        files.push(path.to_path_buf());
    }
}

fn main() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = package.ancestors().nth(2).expect("the package lies in crates/");
    let mut files = vec![root.join("Cargo.lock")];
    // Every library, so that none can be forgotten: a new one is here by its folder alone.
    // A new one changes Cargo.lock as well, which starts this program again.
    let mut folders = vec![root.join("crates/data/datasets"), root.join("crates/eval/templates")];
    for entry in fs::read_dir(root.join("crates")).expect("the crates are a folder") {
        let package = entry.expect("a folder is listed").path();
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
    // Over names and contents, independent of where the workspace lies.
    let mut hash = FnvHasher::default();
    for file in &files {
        let name =
            file.strip_prefix(root).expect("collected there").to_string_lossy().replace('\\', "/");
        hash.write(name.as_bytes());
        hash.write(&fs::read(file).unwrap_or_else(|e| panic!("{}: {e}", file.display())));
    }
    println!("cargo::rustc-env=HALFSPACES_SOURCES={:016x}", hash.finish());
}
