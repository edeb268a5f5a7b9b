//! Learners under random, Massart and other label noise.

mod certificates;
mod glm;
mod hard;
mod massart;
mod massart_rivals;
mod misspecified;
mod pairs;
mod perspectron;
mod planar;
mod positioned;
mod projection;
mod push_away;
mod real_noise;
mod selection;
mod table1;
mod tables;
mod wrong_labels;

pub(crate) use certificates::CertificateExperiment;
pub(crate) use glm::GlmExperiment;
pub(crate) use hard::HardExperiment;
pub(crate) use massart::MassartExperiment;
pub(crate) use massart_rivals::MassartRivalsExperiment;
pub(crate) use misspecified::MisspecifiedExperiment;
pub(crate) use perspectron::PerspectronExperiment;
pub(crate) use positioned::PositionedExperiment;
pub(crate) use projection::ProjectionExperiment;
pub(crate) use push_away::PushAwayExperiment;
pub(crate) use real_noise::RealNoiseExperiment;
pub(crate) use selection::SelectionExperiment;
pub(crate) use table1::Table1Experiment;
pub(crate) use tables::TablesExperiment;
pub(crate) use wrong_labels::WrongLabelsExperiment;

/// Returns the number of examples needed, in a form that can be compared. `None`, which means that the largest sample
/// did not suffice, becomes `usize::MAX`.
fn or_beyond(needed: Option<usize>) -> usize {
    needed.unwrap_or(usize::MAX)
}
