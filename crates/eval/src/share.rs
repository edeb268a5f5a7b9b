//! The shards whose trials an output folder contains.

use crate::trial::Shard;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// A shard of a run, as an output folder records it.
///
/// ```
/// use halfspaces_eval::Share;
/// let share: Share =
///     serde_json::from_str(r#"{"shard": "2/3", "division": "9f", "finished": true}"#)?;
/// assert_eq!(share.to_string(), "2/3 of division 9f");
/// let missing: Vec<String> = Share::missing(&[share]).iter().map(|s| s.to_string()).collect();
/// assert_eq!(missing, ["1/3", "3/3"]);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Share {
    /// The shard.
    pub shard: Shard,
    /// A hash of all trials of the run and of their shards. The hash differs if the shards were computed from other
    /// experiments, data sets or times, or for another number of shards.
    pub division: String,
    /// Whether all trials of the shard are stored.
    pub finished: bool,
}

impl std::fmt::Display for Share {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} of division {}", self.shard, self.division)
    }
}

/// The reason why shards cannot be merged.
///
/// ```
/// use halfspaces_eval::{MergeError, Share};
/// use std::path::PathBuf;
/// let share = Share { shard: "1/2".parse().unwrap(), division: "9f".into(), finished: true };
/// let folders = [(PathBuf::from("a"), vec![share.clone()]), (PathBuf::from("b"), vec![share])];
/// let error = Share::merged(&folders, &[]).unwrap_err();
/// assert!(matches!(&error, MergeError::Overlap { .. }));
/// assert_eq!(error.to_string(), "b: shard 1/2 is also in a");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum MergeError {
    /// Two folders contain shards of different divisions.
    #[error("{}: contains shard {found}, but {} contains shard {expected}", path.display(), other.display())]
    OtherDivision {
        /// A folder.
        path: PathBuf,
        /// A share in this folder.
        found: Box<Share>,
        /// An earlier folder.
        other: PathBuf,
        /// A share in the earlier folder.
        expected: Box<Share>,
    },
    /// Two folders contain the same shard.
    #[error("{}: shard {shard} is also in {}", path.display(), other.display())]
    Overlap {
        /// A folder.
        path: PathBuf,
        /// The shard.
        shard: Shard,
        /// An earlier folder.
        other: PathBuf,
    },
}

impl Share {
    /// The shares of a report on `folders`, in the order of the shards. Each folder comes with its shares. `earlier`
    /// contains the path of the output folder with its earlier shares; shares from `folders` replace those of the same
    /// shard.
    ///
    /// # Errors
    /// [`MergeError`] for the first share that contradicts another.
    pub fn merged(
        folders: &[(PathBuf, Vec<Share>)],
        earlier: &[(PathBuf, Vec<Share>)],
    ) -> Result<Vec<Share>, MergeError> {
        let each = |of: &[(PathBuf, Vec<Share>)]| -> Vec<(PathBuf, Share)> {
            let pairs = |(path, shares): &(PathBuf, Vec<Share>)| {
                shares.iter().map(|share| (path.clone(), share.clone())).collect::<Vec<_>>()
            };
            of.iter().flat_map(pairs).collect()
        };
        let mut merged: Vec<(PathBuf, Share)> = Vec::new();
        let divided_alike = |merged: &[(PathBuf, Share)], path: &Path, found: &Share| {
            let Some((other, expected)) = merged.first() else { return Ok(()) };
            if (&expected.division, expected.shard.of()) == (&found.division, found.shard.of()) {
                return Ok(());
            }
            let (path, found) = (path.to_path_buf(), Box::new(found.clone()));
            let (other, expected) = (other.clone(), Box::new(expected.clone()));
            Err(MergeError::OtherDivision { path, found, other, expected })
        };
        for (path, share) in each(folders) {
            divided_alike(&merged, &path, &share)?;
            if let Some((other, known)) = merged.iter().find(|(_, k)| k.shard == share.shard) {
                let (shard, other) = (known.shard, other.clone());
                return Err(MergeError::Overlap { path, shard, other });
            }
            merged.push((path, share));
        }
        for (path, share) in each(earlier) {
            divided_alike(&merged, &path, &share)?;
            if !merged.iter().any(|(_, known)| known.shard == share.shard) {
                merged.push((path, share));
            }
        }
        merged.sort_by_key(|(_, share)| share.shard);
        Ok(merged.into_iter().map(|(_, share)| share).collect())
    }

    /// The shards of the same division that `shares` does not contain.
    #[must_use]
    pub fn missing(shares: &[Share]) -> Vec<Shard> {
        let all = shares.first().into_iter().flat_map(|share| share.shard.siblings());
        all.filter(|shard| !shares.iter().any(|share| share.shard == *shard)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(shard: &str, finished: bool) -> Share {
        Share { shard: shard.parse().unwrap(), division: "9f".into(), finished }
    }

    fn folder(path: &str, shares: &[Share]) -> (PathBuf, Vec<Share>) {
        (path.into(), shares.to_vec())
    }

    #[test]
    fn shards_are_merged_and_the_missing_ones_named() {
        let [first, second, third] = ["1/3", "2/3", "3/3"].map(|shard| share(shard, true));
        let parts = [
            folder("c", std::slice::from_ref(&third)),
            folder("w", &[]),
            folder("a", std::slice::from_ref(&first)),
        ];
        let merged = Share::merged(&parts, &[]).unwrap();
        assert_eq!(merged, [first.clone(), third.clone()]);
        assert_eq!(Share::missing(&merged), [second.shard]);
        assert_eq!(Share::missing(&[]), []);
        // Shares of the output folder are kept, unless a newer state of the same shard replaces them.
        let out = [folder("out", &[share("1/3", false), second.clone()])];
        assert_eq!(Share::merged(&parts, &out).unwrap(), [first, second, third]);
    }

    #[test]
    fn shares_that_contradict_each_other_are_refused() {
        let parts = |second| [folder("a", &[share("1/3", true)]), folder("b", &[second])];
        let refused = |second| Share::merged(&parts(second), &[]).unwrap_err().to_string();
        assert_eq!(refused(share("1/3", false)), "b: shard 1/3 is also in a");
        let division =
            "b: contains shard 2/4 of division 9f, but a contains shard 1/3 of division 9f";
        assert_eq!(refused(share("2/4", true)), division);
        let other = Share { division: "77".into(), ..share("2/3", true) };
        let division =
            "b: contains shard 2/3 of division 77, but a contains shard 1/3 of division 9f";
        assert_eq!(refused(other.clone()), division);
        let [inputs, out] = parts(other);
        assert!(Share::merged(&[inputs], &[out]).is_err());
    }
}
