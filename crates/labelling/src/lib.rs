//! The events of a labelling session and the state derived from them.

#![doc = include_str!("../README.md")]

mod anchor;
mod annotators;
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
pub use annotators::{Annotators, Consensus, Vote};
pub use error::{ApplyError, SessionError};
pub use event::{Event, Header, ItemIds, ItemSpec, PoolId};
pub use file::{NewSession, Opening, SessionAccess, SessionFile, SessionLog};
pub use journal::{
    JournalFault, JournalFaultKind, ParsedJournal, Tail, journal_text, parse_journal,
};
pub use keys::{ItemKey, KeyBuilder};
pub use record::Record;
pub use step::{Action, ActionKind, Prediction, RowLabel, Step};
