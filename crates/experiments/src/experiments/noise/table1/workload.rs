//! Noisy samples of doubling size, settings and outcomes.

use crate::experiments::common::*;
use halfspaces_data::{
    Instance, MarginShell, Marginal, Massart, NoiseModel, Population, Rcn, Region, UnitSphere,
    massart_trap, random_target_with_rng,
};
use halfspaces_linalg::{Label, PointSet, Points};

/// Dimension of all points except those of the trap.
const DIM: usize = 10;
/// Fraction of the points at the margin.
const AT_MARGIN: f64 = 0.8;
/// Number of points on which errors are evaluated.
const JUDGED: usize = 10_000;

/// The points with noisy labels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Display)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Strategy {
    /// All points.
    #[strum(to_string = "RCN")]
    Rcn,
    /// The far points only.
    #[strum(to_string = "far")]
    Far,
    /// A region chosen to mislead least squares.
    #[strum(to_string = "adaptive")]
    LeastSquares,
    /// Points in the plane on which convex losses fail.
    #[strum(to_string = "trap")]
    Trap,
}

impl Strategy {
    pub(super) fn dim(self) -> usize {
        if self == Strategy::Trap { 2 } else { DIM }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Configuration {
    pub(super) strategy: Strategy,
    pub(super) noise: f64,
    pub(super) margin: f64,
    pub(super) excesses: Vec<f64>,
    /// The sample sizes. Each sample is a prefix of the next.
    pub(super) sizes: Vec<usize>,
}

impl Configuration {
    /// The largest sample.
    pub(super) fn largest(&self) -> usize {
        match self.sizes.last() {
            Some(size) => *size,
            None => unreachable!("every plan has sizes"),
        }
    }

    pub(super) fn name(&self) -> String {
        format!("{}, γ={}", self.strategy, self.margin)
    }
}

/// Errors at every sample size, one curve per entry of `learners::curves`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Outcome {
    /// Error of w*.
    pub(super) opt: f64,
    pub(super) errors: Vec<Vec<f64>>,
}

/// The sample and the population, which all learners of a trial share.
pub(super) struct Material {
    points: Points,
    labels: Vec<Label>,
    pub(super) judged: Population,
}

impl Material {
    fn draw<M: Marginal, N: NoiseModel>(
        instance: &Instance<M, N>,
        most: usize,
        judged: Population,
        rng: &mut ChaCha8Rng,
    ) -> Result<Material, Failure> {
        let (points, labels) = instance.sample_with_rng(most, rng)?;
        Ok(Material { points, labels, judged })
    }

    pub(super) fn new(setting: &Configuration, rng: &mut ChaCha8Rng) -> Result<Material, Failure> {
        let Configuration { strategy, noise, margin, .. } = *setting;
        let most = setting.largest();
        if strategy == Strategy::Trap {
            let trap = massart_trap(noise, margin)?;
            let judged = trap.exact_population()?;
            return Material::draw(&trap, most, judged, rng);
        }
        let target = random_target_with_rng(DIM, rng)?;
        let shell = MarginShell::new(&target, margin, AT_MARGIN)?;
        let noise: Box<dyn NoiseModel> = match strategy {
            Strategy::Rcn => Box::new(Rcn::new(noise)?),
            Strategy::Far | Strategy::Trap => Box::new(Massart::new(noise, Region::Far(0.5))?),
            Strategy::LeastSquares => {
                let seen = shell.sample_with_rng(2000, rng)?;
                let guesses = UnitSphere::new(DIM)?.sample_with_rng(3, rng)?;
                Box::new(Massart::against_least_squares(noise, &seen, &target, &guesses)?)
            }
        };
        let instance = Instance::new(shell, target, noise)?;
        let judged = instance.population(JUDGED, rng.random())?;
        Material::draw(&instance, most, judged, rng)
    }

    /// The first `n` examples.
    pub(super) fn first(&self, n: usize) -> Result<(Points, &[Label]), Failure> {
        let points = self.points.select(&(0..n).collect::<Vec<_>>())?;
        Ok((points, &self.labels[..n]))
    }
}
