//! Labelling pools of real points: labels that no halfspace explains, answers that slip.

mod change;
mod features;
mod file;
mod gaussian;
mod model;
mod normal;
mod outlook;
mod params;
mod scan;
mod session;
mod soft_halfspace;
mod surest_first;

pub use file::{Answer, LabellingFile, Source};
pub use outlook::Outlook;
pub use params::{Labelling, LabellingParams};
pub use session::{LabellingError, LabellingProgress, LabellingQuestion, LabellingSession};
pub use surest_first::SurestFirst;
