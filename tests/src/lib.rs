//! Integration tests across the crates; see the files in `tests/`.

/// The examples of the workspace's README, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
pub struct Readme;

/// The examples of halfspaces-kernels's README.
#[cfg(doctest)]
#[doc = include_str!("../../crates/kernels/README.md")]
pub struct KernelsReadme;

/// The examples of halfspaces-linalg's README.
#[cfg(doctest)]
#[doc = include_str!("../../crates/linalg/README.md")]
pub struct LinalgReadme;

/// The examples of halfspaces-data's README.
#[cfg(doctest)]
#[doc = include_str!("../../crates/data/README.md")]
pub struct DataReadme;

/// The examples of halfspaces-forster's README.
#[cfg(doctest)]
#[doc = include_str!("../../crates/forster/README.md")]
pub struct ForsterReadme;

/// The examples of halfspaces-online's README.
#[cfg(doctest)]
#[doc = include_str!("../../crates/online/README.md")]
pub struct OnlineReadme;

/// The examples of halfspaces-pac's README.
#[cfg(doctest)]
#[doc = include_str!("../../crates/pac/README.md")]
pub struct PacReadme;

/// The examples of halfspaces-eval's README.
#[cfg(doctest)]
#[doc = include_str!("../../crates/eval/README.md")]
pub struct EvalReadme;

/// The examples of the README of the crate halfspaces.
#[cfg(doctest)]
#[doc = include_str!("../../crates/halfspaces/README.md")]
pub struct FacadeReadme;
