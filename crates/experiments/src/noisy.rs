//! Instances with a margin and noisy labels for the experiments on learning under noise.

use crate::Failure;
use halfspaces_data::{
    IllConditionedBall, Instance, MarginBall, MarginShell, Marginal, Massart, NoiseModel, Rcn,
    Region, SpikedBall, UnitSphere, random_target_with_rng,
};
use halfspaces_linalg::Halfspace;
use rand::rngs::ChaCha8Rng;
use rand::{Rng, RngExt, SeedableRng};
use serde::Serialize;
use strum::Display;

/// The distribution of the points.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Display)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub(crate) enum Terrain {
    /// Uniform points in the ball, outside the margin.
    Ball,
    /// 90 % of the points lie at the margin.
    Edge,
    /// 80 % of the points lie along an irrelevant direction.
    Spiked,
    /// Points in an ellipsoid whose axes orthogonal to w* have condition number 30.
    Skewed,
}

/// The labels that are flipped, each with probability η.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Display)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Noise {
    /// All labels.
    #[strum(to_string = "RCN")]
    Rcn,
    /// Labels of points with |w*·x| >= 1/2.
    #[strum(to_string = "far")]
    Far,
    /// Labels of points with |w*·x| <= 2γ.
    #[strum(to_string = "near")]
    Near,
    /// Labels of points on which w* disagrees with another halfspace. Among a few random halfspaces, this is the one
    /// that misleads the least-squares method most.
    #[strum(to_string = "adverse")]
    Adverse,
}

/// The marginal distribution for each [`Terrain`].
pub(crate) enum Cloud {
    Ball(MarginBall),
    Edge(MarginShell),
    Spiked(SpikedBall),
    Skewed(IllConditionedBall),
}

/// Evaluates the same expression for every kind of [`Cloud`].
macro_rules! of_cloud {
    ($cloud:expr, $points:ident => $result:expr) => {
        match $cloud {
            Cloud::Ball($points) => $result,
            Cloud::Edge($points) => $result,
            Cloud::Spiked($points) => $result,
            Cloud::Skewed($points) => $result,
        }
    };
}

impl Marginal for Cloud {
    fn dim(&self) -> usize {
        of_cloud!(self, points => points.dim())
    }

    fn sample_into<R: Rng + ?Sized>(&self, rng: &mut R, out: &mut [f64]) {
        of_cloud!(self, points => points.sample_into(rng, out));
    }
}

/// An instance with any marginal distribution and any noise model.
pub(crate) type NoisyInstance = Instance<Cloud, Box<dyn NoiseModel>>;

/// An instance whose points have margin γ with respect to a random target in R^`dim`. The labels selected by `noise`
/// are flipped with probability η.
pub(crate) fn instance(
    terrain: Terrain,
    noise: Noise,
    dim: usize,
    rate: f64,
    margin: f64,
    rng: &mut ChaCha8Rng,
) -> Result<NoisyInstance, Failure> {
    let target = random_target_with_rng(dim, rng)?;
    let cloud = cloud(terrain, &target, margin, rng)?;
    let noise: Box<dyn NoiseModel> = match noise {
        Noise::Rcn => Box::new(Rcn::new(rate)?),
        Noise::Far => Box::new(Massart::new(rate, Region::Far(0.5))?),
        Noise::Near => Box::new(Massart::new(rate, Region::Near(2.0 * margin))?),
        Noise::Adverse => {
            let points = cloud.sample_with_rng(400, rng)?;
            let guesses = UnitSphere::new(dim)?.sample_with_rng(3, rng)?;
            Box::new(Massart::against_least_squares(rate, &points, &target, &guesses)?)
        }
    };
    Ok(Instance::new(cloud, target, noise)?)
}

fn cloud(
    terrain: Terrain,
    target: &Halfspace,
    margin: f64,
    rng: &mut ChaCha8Rng,
) -> Result<Cloud, Failure> {
    Ok(match terrain {
        Terrain::Ball => Cloud::Ball(MarginBall::new(target, margin)?),
        Terrain::Edge => Cloud::Edge(MarginShell::new(target, margin, 0.9)?),
        Terrain::Spiked => {
            let spike = random_target_with_rng(target.dim(), rng)?;
            Cloud::Spiked(SpikedBall::new(target, margin, &spike, 0.8)?)
        }
        Terrain::Skewed => Cloud::Skewed(IllConditionedBall::new(target, margin, 30.0)?),
    })
}

/// A new generator, seeded from the generator of a trial.
pub(crate) fn fork(rng: &mut ChaCha8Rng) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(rng.random())
}
