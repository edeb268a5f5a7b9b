//! Labelling of real pools, in which labels need not fit a halfspace and answers may be wrong.

mod advice;
mod advised;
mod change;
mod component;
mod doubt;
mod features;
mod file;
mod gaussian;
mod model;
mod normal;
mod outlook;
mod params;
mod pool_model;
mod rare;
mod review;
mod scan;
mod second_look;
mod session;
mod soft_halfspace;
mod suggested;
mod surest_first;
mod wide;

pub use doubt::Doubt;
pub use file::{Answer, LabellingFile, Source};
pub use outlook::Outlook;
pub use params::{Labelling, LabellingParams};
pub use session::{LabellingProgress, LabellingQuestion, LabellingSession};
pub use surest_first::SurestFirst;
