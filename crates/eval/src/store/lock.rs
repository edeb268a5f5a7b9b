//! The lock of an output folder.

use super::error::StoreError;
use std::fs::{File, OpenOptions, TryLockError};
use std::path::Path;

/// A lock on an output folder: while it exists, no other run can use the folder. The lock is a file `.lock` in the
/// folder, which is not removed.
///
/// ```
/// use halfspaces_eval::{FolderLock, StoreError};
/// let folder = tempfile::tempdir()?;
/// let lock = FolderLock::take(folder.path())?;
/// assert!(matches!(FolderLock::take(folder.path()), Err(StoreError::InUse { .. })));
/// drop(lock);
/// assert!(FolderLock::take(folder.path()).is_ok());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct FolderLock(#[expect(dead_code, reason = "open until dropped")] File);

impl FolderLock {
    /// Name of the lock file.
    pub const NAME: &str = ".lock";

    /// Locks the folder.
    ///
    /// # Errors
    /// [`StoreError::InUse`], [`StoreError::Io`].
    pub fn take(folder: &Path) -> Result<FolderLock, StoreError> {
        let path = folder.join(Self::NAME);
        let failed = |action| {
            let path = path.clone();
            move |source| StoreError::Io { path, action, source }
        };
        let file = OpenOptions::new().write(true).create(true).truncate(false).open(&path);
        let file = file.map_err(failed("create"))?;
        match file.try_lock() {
            Ok(()) => Ok(FolderLock(file)),
            Err(TryLockError::WouldBlock) => Err(StoreError::InUse { path: folder.into() }),
            Err(TryLockError::Error(source)) => Err(failed("lock")(source)),
        }
    }
}
