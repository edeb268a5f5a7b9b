//! The state of a labelling session: a list of events, kept in a file of lines, from which everything else follows.
//!
//! - [`Event`]: one thing that happened: an answer, a skip, an undo, a change, labels known beforehand, a changed pool.
//! - [`Record`]: the events of a session, with labels, skipped rows, counts and what can be undone derived from them.
//! - [`SessionLog`]: a record with its session file. An event counts once its line is on the disk.
//! - [`ItemKey`]: the key by which an item is known, from its id or its contents. [`Anchoring`] finds the items of a
//!   session in a pool that was sorted, extended or cut.
//!
//! The library never prints and never reads the clock.
//!
//! ```
//! use halfspaces_labelling::{Event, Header, Opening, PoolId, SessionAccess, SessionFile};
//!
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("session.jsonl");
//! let Opening::New(session) = SessionFile::open(&path, SessionAccess::Write)? else { panic!("a new file") };
//! let pool = PoolId::without_keys("pool.csv", 3, 2, "00ff");
//! let mut log = session.begin(Header::new(pool, vec!["cat".into(), "dog".into()], 0))?;
//! log.apply(&Event::Answer {
//!     row: 2,
//!     class: "dog".into(),
//!     predicted: "cat".into(),
//!     probability: 0.5,
//!     to_come: None,
//! })?;
//! assert_eq!(log.record().label(2), Some(1));
//! drop(log);
//!
//! let Opening::Existing(log) = SessionFile::open(&path, SessionAccess::Read)? else { panic!("it is there") };
//! assert_eq!((log.record().answered(), log.record().corrections()), (1, 1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod anchor;
mod error;
mod event;
mod file;
mod journal;
mod keys;
mod record;
mod step;
#[cfg(test)]
mod tests;

pub use anchor::{Anchoring, MissingItem};
pub use error::{ApplyError, SessionError};
pub use event::{Event, Header, ItemIds, ItemSpec, PoolId};
pub use file::{NewSession, Opening, SessionAccess, SessionFile, SessionLog};
pub use journal::{
    JournalFault, JournalFaultKind, ParsedJournal, Tail, journal_text, parse_journal,
};
pub use keys::{ItemKey, KeyBuilder};
pub use record::Record;
pub use step::{Action, ActionKind, Asked, Given, Step};
