//! Hashes the sources that make trials, so that a run knows which program made its own.

use std::fs;
use std::path::{Path, PathBuf};

fn collect(path: &Path, files: &mut Vec<PathBuf>) {
    if path.ends_with("xtask/src/bench") {
        // Speed only.
    } else if path.is_dir() {
        let entries = fs::read_dir(path).into_iter().flatten().flatten();
        entries.for_each(|entry| collect(&entry.path(), files));
    } else {
        files.push(path.to_path_buf());
    }
}

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("."));
    let mut files = vec![root.join("Cargo.lock")];
    let crates = ["linalg", "data", "forster", "online", "pac", "eval"];
    let mut folders: Vec<PathBuf> = crates.map(|c| root.join("crates").join(c).join("src")).into();
    folders.push(root.join("crates/data/datasets"));
    folders.push(root.join("crates/eval/templates"));
    folders.push(root.join("xtask/src"));
    for folder in &folders {
        println!("cargo::rerun-if-changed={}", folder.display());
        collect(folder, &mut files);
    }
    println!("cargo::rerun-if-changed={}", files[0].display());
    files.sort();
    // 64-bit FNV-1a over names and contents, independent of where the workspace lies.
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    for file in &files {
        let name = file.strip_prefix(root).unwrap_or(file).to_string_lossy().replace('\\', "/");
        for byte in name.bytes().chain(fs::read(file).unwrap_or_default()) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    println!("cargo::rustc-env=HALFSPACES_SOURCES={hash:016x}");
}
