//! Learning with a centre of the version space.

mod bayes_point;
mod centre_of_gravity;
mod ellipsoid;
mod hard_margin;
mod hit_and_run;
mod learner;
#[cfg(test)]
mod test_runs;
mod volumetric_centre;

pub use bayes_point::BayesPoint;
pub use centre_of_gravity::CentreOfGravity;
pub use hard_margin::HardMargin;
pub use learner::{Centre, VersionSpace};
pub use volumetric_centre::VolumetricCentre;

pub(crate) use hit_and_run::{Sample, mean, step_budget, uniform_in_ball};
