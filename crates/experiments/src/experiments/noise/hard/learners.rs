//! The learners of Table 1, run on a sample, and the Perspectron, run on a stream as in its theorem.

use super::models::{error_of, first, sample, support};
use super::workload::{EXCESS, FAILURE, Learner};
use crate::experiments::common::*;
use crate::experiments::noise::planar::Planar;
use halfspaces_linalg::{Classifier, FitSample, FitStream, Label, Params, Points};
use halfspaces_online::bounds;
use halfspaces_pac::{
    Ckmy, CuttingPlane, Ddk, Denominator, Dgt, Direction, Margin, Perspectron, SamplePerspectron,
    schedule,
};

/// Caps on the number of steps, as in P10.
const MAX_STEPS: u64 = 300;
const DGT_MAX_STEPS: u64 = 3000;

/// Fraction of a sample that is held out.
const HELD_OUT: f64 = 0.25;

/// Number of rounds of the cutting-plane learner.
const CUTS: usize = 8;

type Sample = (Points, Vec<Label>);

/// Fits a learner to a sample and returns its exact error.
fn fitted<L>(learner: L, planar: &Planar, (points, labels): &Sample) -> Result<f64, Failure>
where
    L: FitSample,
    Failure: From<L::Error>,
{
    let labels = learner.fit(points, labels)?.label_all(&support(planar)?)?;
    Ok(error_of(planar, &labels))
}

/// The error of a learner with given η, γ and ε on a sample.
pub(super) fn on_sample(
    learner: Learner,
    noise: f64,
    excess: f64,
    planar: &Planar,
    sample: &Sample,
    seed: u64,
) -> Result<f64, Failure> {
    let margin = planar.margin;
    match learner {
        Learner::Perspectron => {
            let params = SamplePerspectron::params().noise(noise).margin(Margin::Known(margin));
            let params = params.held_out(HELD_OUT).lift(false).seed(seed);
            fitted(params.check()?, planar, sample)
        }
        Learner::Ddk => {
            let params = Ddk::params(noise, margin).excess(excess).max_steps(MAX_STEPS);
            fitted(params.validation_share(HELD_OUT).seed(seed).check()?, planar, sample)
        }
        Learner::Dgt => {
            let params = Dgt::params(noise, margin / 2.0).excess(excess / 2.0);
            fitted(params.max_steps(DGT_MAX_STEPS).seed(seed).check()?, planar, sample)
        }
        Learner::Ckmy => {
            let params = Ckmy::params(noise, margin / 2.0).excess(excess / 3.0);
            let params = params.max_steps(MAX_STEPS).validation_share(HELD_OUT).seed(seed);
            fitted(params.check()?, planar, sample)
        }
        Learner::CuttingPlane => {
            let batch = (sample.1.len() / CUTS).max(1);
            let params = CuttingPlane::params(noise, margin).excess(excess).batch(batch);
            fitted(params.check()?, planar, sample)
        }
    }
}

/// The error of the Perspectron with thinned selection, run as in its theorem.
pub(super) fn of_theorem(
    planar: &Planar,
    noise: f64,
    excess: f64,
    rng: &mut ChaCha8Rng,
) -> Result<f64, Failure> {
    of_theorem_told(planar, noise, planar.margin, excess, rng)
}

/// [`of_theorem`] with a given margin instead of the true one.
pub(super) fn of_theorem_told(
    planar: &Planar,
    noise: f64,
    margin: f64,
    excess: f64,
    rng: &mut ChaCha8Rng,
) -> Result<f64, Failure> {
    let params = Perspectron::params(noise, margin).excess(excess).failure(FAILURE);
    let learner = params.seed(rng.random()).check()?;
    let fit = learner.fit_stream(&mut planar.stream(rng))?;
    Ok(error_of(planar, &fit.halfspace().label_all(&support(planar)?)?))
}

/// The error of a learner in a fresh run. The Perspectron runs as in its theorem; a rival runs on a fresh sample.
pub(super) fn fresh(
    learner: Learner,
    planar: &Planar,
    noise: f64,
    n: usize,
    rng: &mut ChaCha8Rng,
) -> Result<f64, Failure> {
    if learner == Learner::Perspectron {
        return of_theorem(planar, noise, 2.0 * EXCESS, rng);
    }
    let drawn = sample(planar, n, rng)?;
    on_sample(learner, noise, EXCESS, planar, &drawn, rng.random())
}

/// The mean over runs of T steps of (mean error of the iterates - η)/((1-η)/(γ√T)).
pub(super) fn share_of_bound(
    planar: &Planar,
    noise: f64,
    steps: u64,
    runs: u32,
    rng: &mut ChaCha8Rng,
) -> f64 {
    let denominator = Denominator::AtLeast(planar.margin);
    let direction = Direction { link: planar.link, denominator };
    let step = schedule::step(noise, planar.margin, steps);
    let mut sum = 0.0;
    for _ in 0..runs {
        let mut w = [0.0; 2];
        for _ in 0..steps {
            sum += planar.error(w) - noise;
            let (x, label) = planar.draw(rng);
            let value = w[0] * x[0] + w[1] * x[1];
            let factor = -step * direction.coefficient(value, label);
            w = [w[0] + factor * x[0], w[1] + factor * x[1]];
        }
    }
    sum / (f64::from(runs) * bounds::massart_excess(steps as f64, noise, planar.margin))
}

/// The errors on prefixes of one sample, and the smallest of `sizes` such that all errors at this size and at larger
/// sizes are at most η + ε.
pub(super) fn doubling(
    learner: Learner,
    planar: &Planar,
    (noise, excess): (f64, f64),
    sizes: &[usize],
    drawn: &Sample,
    seed: u64,
) -> Result<(Option<usize>, Vec<f64>), Failure> {
    let error = |n: &usize| on_sample(learner, noise, excess, planar, &first(drawn, *n)?, seed);
    let errors: Vec<f64> = sizes.iter().map(error).collect::<Result<_, _>>()?;
    let level = noise + excess + 1e-9;
    let good = errors.iter().rev().take_while(|e| **e <= level).count();
    Ok((sizes.get(sizes.len() - good).copied(), errors))
}
