//! The location of this workspace.

use std::path::{Path, PathBuf};

/// The root folder of the workspace that this program was built from.
pub(crate) fn workspace_root() -> PathBuf {
    let mut folders = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    let Some(root) = folders.nth(2) else { unreachable!("the package is a folder of crates/") };
    root.to_path_buf()
}
