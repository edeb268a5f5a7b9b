//! Learners with a wrong parameter: the margin, the noise rate, or the scale of the link.

use super::learners::of_theorem_told;
use super::models::opt;
use super::workload::{FAILURE, Outcome, Told};
use crate::experiments::common::*;
use crate::experiments::noise::pairs::{lever, noisy_pairs};
use halfspaces_data::{GlmNoise, Instance, MarginBall, StandardLink, random_target_with_rng};
use halfspaces_linalg::{FitStream, Params};
use halfspaces_pac::GlmPerspectron;

/// ε. It is large, since only the direction of the effect matters.
const EXCESS: f64 = 0.2;

/// η of the points on which the learner is given a wrong rate.
pub(super) const TRUE_NOISE: f64 = 0.2;

/// γ of the points on which the learner is given a wrong margin.
pub(super) const TRUE_MARGIN: f64 = 0.04;

/// The true scale of the logistic link. The next constants are the dimension of its points, their margin, and the size
/// of their population.
pub(super) const TRUE_SCALE: f64 = 8.0;
const LINK_DIM: usize = 6;
const LINK_MARGIN: f64 = 0.2;
const LINK_JUDGED: usize = 3000;

/// Error - opt of a learner that is given `value` for the parameter `what`.
pub(super) fn told(what: Told, value: f64, rng: &mut ChaCha8Rng) -> Result<Outcome, Failure> {
    let excess = match what {
        Told::Margin => {
            let planar = lever();
            of_theorem_told(&planar, 0.1, value, EXCESS, rng)? - opt(&planar)
        }
        Told::Noise => {
            let planar = noisy_pairs(TRUE_NOISE, 0.1);
            of_theorem_told(&planar, value, 0.1, EXCESS, rng)? - opt(&planar)
        }
        Told::Scale => {
            let target = random_target_with_rng(LINK_DIM, rng)?;
            let truth = StandardLink::logistic(TRUE_SCALE)?;
            let points = MarginBall::new(&target, LINK_MARGIN)?;
            let instance = Instance::new(points, target, GlmNoise::new(truth)?)?;
            let population = instance.population(LINK_JUDGED, rng.random())?;
            let link = StandardLink::logistic(value)?;
            let params = GlmPerspectron::params(link, LINK_MARGIN * (1.0 - 1e-9)).excess(EXCESS);
            let learner = params.failure(FAILURE).seed(rng.random()).check()?;
            let fit = learner.fit_stream(&mut instance.stream(rng.random()))?;
            population.excess(fit.halfspace())?.mean()
        }
    };
    Ok(Outcome::Told { excess })
}
