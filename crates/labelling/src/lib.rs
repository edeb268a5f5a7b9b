//! The events of a labelling session and the state derived from them.

#![doc = include_str!("../README.md")]

mod anchor;
mod annotators;
mod asking;
mod cells;
mod class_keys;
mod controller;
mod error;
mod event;
mod file;
mod identity;
mod journal;
mod keys;
mod record;
mod resume;
mod row_label;
#[cfg(test)]
mod tests;

pub use anchor::{Anchoring, MissingItem};
pub use annotators::{Annotators, Consensus, Vote};
pub use asking::{Asker, Asking, Command, Direct, Snapshot};
pub use cells::Cells;
pub use class_keys::class_keys;
pub use controller::{ACCEPTED_WRONG, ActionError, Controller, UndoTarget};
pub use error::{ApplyError, SessionError};
pub use event::{CellIds, Event, Header, ItemIds, ItemSpec, PoolId};
pub use file::{NewSession, Opening, SessionAccess, SessionFile, SessionLog};
pub use identity::{ItemSource, ShownImages};
pub use journal::{
    JournalFault, JournalFaultKind, ParsedJournal, Tail, journal_text, parse_journal,
};
pub use keys::{ItemKey, KeyBuilder};
pub use record::Record;
pub use resume::ResumedPool;
pub use row_label::{Action, ActionKind, Prediction, RowLabel};
