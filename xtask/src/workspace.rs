//! The files of this workspace.

use crate::failure::Failure;
use std::fs;
use std::path::{Path, PathBuf};

/// The root of the workspace that this program was built from.
pub(crate) fn workspace_root() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    let Some(root) = manifest.parent() else { unreachable!("xtask is a folder of the workspace") };
    root.to_path_buf()
}

/// All files with this extension in the folders and their subfolders, except hidden folders and `target`.
pub(crate) fn files(mut folders: Vec<PathBuf>, extension: &str) -> Result<Vec<PathBuf>, Failure> {
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
