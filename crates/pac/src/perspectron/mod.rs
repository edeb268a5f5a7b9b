//! The Perspectron family.

mod common;
mod glm;
mod grid;
mod margin;
mod margin_search;
mod massart;
mod misspecified_glm;
mod sample;

pub use common::Selection;
pub use glm::{GlmError, GlmParams, GlmPerspectron, GlmSchedule};
pub use grid::{GridParams, GridPerspectron, GridSchedule, Guess};
pub use margin::Margin;
pub use margin_search::{MarginSearch, SearchFit};
pub use massart::{Perspectron, PerspectronParams, Schedule};
pub use misspecified_glm::{MisspecifiedGlm, MisspecifiedGlmParams};
pub use sample::{SampleFit, SampleParams, SamplePerspectron};
