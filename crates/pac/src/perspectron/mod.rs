//! The Perspectron family.

mod glm;
mod grid;
mod margin_search;
mod massart;
mod sample;

pub use glm::{GlmError, GlmParams, GlmPerspectron, GlmSchedule};
pub use grid::{GridParams, GridPerspectron, GridSchedule, Guess, Margin};
pub use margin_search::{MarginSearch, SearchFit, SearchStatus};
pub use massart::{Perspectron, PerspectronParams, Schedule, Selection};
pub use sample::{NOISE_GUESSES, SampleFit, SampleParams, SamplePerspectron};
