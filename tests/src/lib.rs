//! Integration tests across the crates; see the files in `tests/`.

/// The examples of the workspace's README, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
pub struct Readme;

/// The examples of halfspaces-pac's README.
#[cfg(doctest)]
#[doc = include_str!("../../crates/pac/README.md")]
pub struct PacReadme;

/// The examples of the README of the crate halfspaces.
#[cfg(doctest)]
#[doc = include_str!("../../crates/halfspaces/README.md")]
pub struct FacadeReadme;
