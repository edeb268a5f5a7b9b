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

/// The Rust examples of the guide, compiled and run.
#[cfg(doctest)]
pub mod guide {
    #[doc = include_str!("../../docs/guide/label.md")]
    pub struct Label;

    #[doc = include_str!("../../docs/guide/wrong-labels.md")]
    pub struct WrongLabels;

    #[doc = include_str!("../../docs/guide/noise.md")]
    pub struct Noise;

    #[doc = include_str!("../../docs/guide/text.md")]
    pub struct Text;

    #[doc = include_str!("../../docs/guide/embeddings.md")]
    pub struct Embeddings;

    #[doc = include_str!("../../docs/guide/scatter.md")]
    pub struct Scatter;

    #[doc = include_str!("../../docs/guide/streams.md")]
    pub struct Streams;
}
