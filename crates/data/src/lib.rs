//! Synthetic and real data for learning halfspaces.

pub mod read;

