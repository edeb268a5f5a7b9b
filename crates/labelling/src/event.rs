//! The lines of a session file: its header and its events.

use crate::keys::{self, ItemKey, KeyBuilder};
use halfspaces_frame::DateOrder;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashSet};

/// An event of a session: one line of its file. Classes are given by name. Rows are counted from 0 and refer to the
/// pool at the time of the event.
///
/// ```
/// use halfspaces_labelling::Event;
/// let event: Event = serde_json::from_str(r#"{"event":"change","row":3,"class":"dog"}"#)?;
/// assert_eq!(event, Event::Change { row: 3, class: "dog".into() });
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case", deny_unknown_fields)]
pub enum Event {
    /// Labels that were known beforehand or imported. Later labels replace earlier ones, but never a person's answer.
    Known {
        /// Pairs of a row and its class.
        labels: Vec<(usize, String)>,
    },
    /// An answer to a question.
    Answer {
        /// The row in question.
        row: usize,
        /// The class given by the person.
        class: String,
        /// The class predicted by the model.
        predicted: String,
        /// The probability of the predicted class.
        probability: f64,
        /// The number of further corrections that was expected at that time.
        to_come: Option<f64>,
    },
    /// A question postponed to the end.
    Skip {
        /// The row in question.
        row: usize,
        /// The class predicted by the model.
        predicted: String,
        /// The probability of the predicted class.
        probability: f64,
    },
    /// The person cannot tell the class of a row. The row is not asked about again, and no model learns from it.
    Uncertain {
        /// The row in question.
        row: usize,
        /// The class predicted by the model.
        predicted: String,
        /// The probability of the predicted class.
        probability: f64,
    },
    /// The most recent answer, skip or uncertain answer was undone.
    Undo {
        /// The row of that answer or skip.
        row: usize,
    },
    /// A person changed the label of a row.
    Change {
        /// The row.
        row: usize,
        /// The new class.
        class: String,
    },
    /// The pool changed. Rows of later events refer to the new pool.
    Pool {
        /// The new pool.
        pool: PoolId,
        /// The item of each row. Items are numbered in order of appearance: the rows of the first pool, then the new
        /// rows of each later pool.
        items: Vec<usize>,
    },
}

/// The first line of a session file.
///
/// ```
/// use halfspaces_labelling::{Header, PoolId};
/// let header = Header::new(PoolId::without_keys("pool.csv", 3, 2, "00"), vec!["a".into(), "a".into()], 0);
/// assert_eq!(header.check().unwrap_err(), "the class \"a\" is named twice");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// The name of the format, which is [`Header::FORMAT`].
    pub format: String,
    /// The version of the format, which is 1 or [`Header::VERSION`].
    pub version: u32,
    /// The first pool of the session.
    pub pool: PoolId,
    /// The names of the classes.
    pub classes: Vec<String>,
    /// The seed of the model.
    pub seed: u64,
    /// The name of the person who answers; `None` if it was not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annotator: Option<String>,
    /// The column of labels that the session is about; `None` if it began without known labels or an earlier version
    /// wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known: Option<String>,
}

impl Header {
    /// The value of [`Header::format`] in a session file.
    pub const FORMAT: &str = "halfspaces labelling session";
    /// The version of new session files. Files of version 1 can also be read. In such files, pools have no keys and
    /// lines have no checksums.
    pub const VERSION: u32 = 2;

    /// A header of the current version, without an annotator and without known labels.
    #[must_use]
    pub fn new(pool: PoolId, classes: Vec<String>, seed: u64) -> Header {
        let (format, version) = (Self::FORMAT.to_owned(), Self::VERSION);
        Header { format, version, pool, classes, seed, annotator: None, known: None }
    }

    /// Checks that the header can begin a session.
    ///
    /// # Errors
    /// Returns an error if the format or version is not supported, a class name is empty or repeated, or the keys do
    /// not match the rows.
    pub fn check(&self) -> Result<(), String> {
        if self.format != Self::FORMAT {
            return Err(format!("the format is {:?}", self.format));
        }
        if !(1..=Self::VERSION).contains(&self.version) {
            let (found, read) = (self.version, Self::VERSION);
            return Err(format!(
                "the session has version {found}, but this program reads versions 1 to {read}"
            ));
        }
        if self.classes.len() < 2 {
            let found = self.classes.len();
            return Err(format!("the session has {found} classes; at least two are needed"));
        }
        let mut seen = HashSet::with_capacity(self.classes.len());
        for (place, class) in self.classes.iter().enumerate() {
            if class.is_empty() {
                return Err(format!("class {} has no name", place + 1));
            }
            if !seen.insert(class) {
                return Err(format!("the class {class:?} is named twice"));
            }
        }
        self.pool.check()
    }
}

/// The pool of a session: its source and the identity of its items.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PoolId {
    /// The name of the file.
    pub source: String,
    /// The number of rows.
    pub rows: usize,
    /// The number of columns.
    pub columns: usize,
    /// A hash of the whole pool, in hexadecimal digits.
    pub fingerprint: String,
    /// The keys of the items; `None` in version 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub items: Option<ItemIds>,
}

impl PoolId {
    /// A pool whose items have no keys, as in version 1. It can only be recognised as a whole.
    #[must_use]
    pub fn without_keys(source: &str, rows: usize, columns: usize, fingerprint: &str) -> PoolId {
        let (source, fingerprint) = (source.to_owned(), fingerprint.to_owned());
        PoolId { source, rows, columns, fingerprint, items: None }
    }

    /// A pool whose items are identified by keys.
    #[must_use]
    pub fn new(source: &str, columns: usize, items: ItemIds) -> PoolId {
        let whole =
            [KeyBuilder::fingerprint(&items.keys), KeyBuilder::fingerprint(&items.contents)];
        let fingerprint = ItemKey::of_text(&whole.concat()).to_string();
        let (source, rows) = (source.to_owned(), items.keys.len());
        PoolId { source, rows, columns, fingerprint, items: Some(items) }
    }

    /// Checks the numbers of keys.
    pub(crate) fn check(&self) -> Result<(), String> {
        let Some(items) = &self.items else { return Ok(()) };
        let (keys, contents) = (items.keys.len(), items.contents.len());
        let cells = items.cells.as_ref().map_or(0, |cells| cells.rows.len());
        let is_whole = |count: usize| count == 0 || count == keys;
        if keys != self.rows || !is_whole(contents) || !is_whole(cells) {
            return Err(format!(
                "the pool has {} rows, but {keys} keys, {contents} keys of contents and {cells} hashes of cells",
                self.rows
            ));
        }
        Ok(())
    }

    /// Whether both pools have the same rows in the same order. The file names may differ.
    #[must_use]
    pub fn is_same(&self, other: &PoolId) -> bool {
        (self.rows, self.columns, &self.fingerprint)
            == (other.rows, other.columns, &other.fingerprint)
    }
}

/// The keys of a pool's items.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ItemIds {
    /// The parts of an item from which its key is computed.
    pub by: ItemSpec,
    /// The fingerprint of the table's own columns, without those of a second table that is only shown. The numbers of a
    /// matrix are included if [`ItemIds::cells`] is present.
    pub table: String,
    /// The key of each row.
    #[serde(with = "keys")]
    pub keys: Vec<ItemKey>,
    /// The second keys of the rows; this list may be empty. If items have ids, the second key is that of their
    /// contents. If items have images, it is the key without the file names.
    #[serde(with = "keys", default, skip_serializing_if = "Vec::is_empty")]
    pub contents: Vec<ItemKey>,
    /// The hashes of the cells; `None` if an earlier version wrote the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cells: Option<Box<CellIds>>,
}

/// The hashes of a pool's cells ([`Cells`](crate::Cells)). They distinguish rows with equal keys.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CellIds {
    /// The fingerprint of the table. It does not include a second table that is only displayed.
    pub table: String,
    /// The hash of each row, computed from both tables. This list is empty if the items have ids.
    #[serde(with = "keys", default, skip_serializing_if = "Vec::is_empty")]
    pub rows: Vec<ItemKey>,
    /// The order of day and month in each column of dates from which keys are computed. If the dates are read in
    /// another order, a key may refer to a different row.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub dates: BTreeMap<String, DateOrder>,
}

/// The parts of an item from which its key is computed. They stay the same throughout a session.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ItemSpec {
    /// The column of ids; `None` if items are identified by their contents.
    pub id: Option<String>,
    /// The columns of the table that are part of the contents.
    pub columns: Vec<String>,
    /// The columns of a second, displayed table that are part of the contents.
    pub shown: Vec<String>,
    /// Whether images are part of the contents.
    pub images: bool,
    /// The columns of the table's numeric matrix that are not part of the contents; `None` if no column of a matrix is
    /// part of the contents, because there is no matrix or because an earlier version wrote the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub matrix_without: Option<Vec<String>>,
}
