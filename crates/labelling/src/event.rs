//! The lines of a session file.

use crate::keys::{self, ItemKey, KeyBuilder};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

/// One thing that happened in a session, a line of its file. Classes are written by name; rows count from 0 and are
/// those of the pool at that time.
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
    /// Labels known beforehand, or imported. A later one replaces an earlier one, but never an answer.
    Known {
        /// Rows and their classes.
        labels: Vec<(usize, String)>,
    },
    /// An answer to a question.
    Answer {
        /// The row that was asked about.
        row: usize,
        /// The class that the person gave.
        class: String,
        /// The class that was predicted.
        predicted: String,
        /// The probability of the class predicted.
        probability: f64,
        /// The number of corrections expected at that time.
        to_come: Option<f64>,
    },
    /// A question left to the end.
    Skip {
        /// The row that was asked about.
        row: usize,
        /// The class that was predicted.
        predicted: String,
        /// The probability of the class predicted.
        probability: f64,
    },
    /// The last answer or skip was taken back.
    Undo {
        /// The row of that answer or skip.
        row: usize,
    },
    /// A person gave a row that has a label another one.
    Change {
        /// The row.
        row: usize,
        /// Its new class.
        class: String,
    },
    /// The pool has changed: rows of later events are those of this pool.
    Pool {
        /// The new pool.
        pool: PoolId,
        /// The item of each row. Items are numbered in the order in which they came: first the rows of the first pool,
        /// then the rows of later pools that were new.
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
    /// [`Header::FORMAT`].
    pub format: String,
    /// 1, or [`Header::VERSION`].
    pub version: u32,
    /// The pool that the session began with.
    pub pool: PoolId,
    /// The names of the classes.
    pub classes: Vec<String>,
    /// The seed of the model.
    pub seed: u64,
}

impl Header {
    /// The text by which a session file is recognised.
    pub const FORMAT: &str = "halfspaces labelling session";
    /// The version that is written. Version 1 is read as well: its pools have no keys and its lines no checksums.
    pub const VERSION: u32 = 2;

    /// The first line of a new session.
    #[must_use]
    pub fn new(pool: PoolId, classes: Vec<String>, seed: u64) -> Header {
        Header { format: Self::FORMAT.to_owned(), version: Self::VERSION, pool, classes, seed }
    }

    /// Checks that the header can begin a session.
    ///
    /// # Errors
    /// Says what is wrong: format, version, a class without a name or named twice, keys that do not fit the rows.
    pub fn check(&self) -> Result<(), String> {
        if self.format != Self::FORMAT {
            return Err(format!("its format is {:?}", self.format));
        }
        if !(1..=Self::VERSION).contains(&self.version) {
            let (found, read) = (self.version, Self::VERSION);
            return Err(format!(
                "a session of version {found}; this program reads versions 1 to {read}"
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

/// The pool of a session: where it came from, and by what its items are known.
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
    /// The keys of the items; `None` in sessions of version 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub items: Option<ItemIds>,
}

impl PoolId {
    /// A pool whose items have no keys, as in version 1: it is recognised as a whole or not at all.
    #[must_use]
    pub fn without_keys(source: &str, rows: usize, columns: usize, fingerprint: &str) -> PoolId {
        let (source, fingerprint) = (source.to_owned(), fingerprint.to_owned());
        PoolId { source, rows, columns, fingerprint, items: None }
    }

    /// A pool whose items are known by keys.
    #[must_use]
    pub fn new(source: &str, columns: usize, items: ItemIds) -> PoolId {
        let whole =
            [KeyBuilder::fingerprint(&items.keys), KeyBuilder::fingerprint(&items.contents)];
        let fingerprint = ItemKey::of_text(&whole.concat()).to_string();
        let (source, rows) = (source.to_owned(), items.keys.len());
        PoolId { source, rows, columns, fingerprint, items: Some(items) }
    }

    fn check(&self) -> Result<(), String> {
        let Some(items) = &self.items else { return Ok(()) };
        let (keys, contents) = (items.keys.len(), items.contents.len());
        if keys != self.rows || !(contents == 0 || contents == keys) {
            return Err(format!("the pool has {} rows and {keys} keys", self.rows));
        }
        Ok(())
    }

    /// Whether both are the same pool in the same order; the names of their files may differ.
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
    /// By what the items are known.
    pub by: ItemSpec,
    /// The fingerprint of the columns of the table alone, without what is only shown.
    pub table: String,
    /// The key of each row.
    #[serde(with = "keys")]
    pub keys: Vec<ItemKey>,
    /// A second key of each row, or empty. Of items that are known by their ids it is that of their contents; of items with
    /// images it is the key without the names of the files.
    #[serde(with = "keys", default, skip_serializing_if = "Vec::is_empty")]
    pub contents: Vec<ItemKey>,
}

/// By what the items of a pool are known. It stays the same as long as the session lasts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ItemSpec {
    /// The column of their ids; `None` if they are known by their contents.
    pub id: Option<String>,
    /// The columns of the table that are part of the contents.
    pub columns: Vec<String>,
    /// The columns of a second table, which is shown, that are part of the contents.
    pub shown: Vec<String>,
    /// Whether images are part of the contents.
    pub images: bool,
}
