//! Where this workspace lies.

use std::path::{Path, PathBuf};

/// The workspace this program was built from.
pub(crate) fn workspace_root() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    let Some(root) = manifest.parent() else { unreachable!("xtask is a folder of the workspace") };
    root.to_path_buf()
}
