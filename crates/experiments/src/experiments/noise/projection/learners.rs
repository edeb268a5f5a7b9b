//! The Perspectron with and without a projection.

use super::workload::{Configuration, DELTA, DELTA_PROJECTION, Outcome, Run, Source};
use crate::experiments::common::*;
use halfspaces_data::{LabelledPoints, flip_labels};
use halfspaces_linalg::{
    Classifier, FitSample, FitStream, Halfspace, Label, Params, PointSet, Points,
};
use halfspaces_pac::{Margin, Perspectron, RandomProjection, SamplePerspectron, projected_margin};

const DELTA_LEARNER: f64 = DELTA / 2.0;

/// The smallest margin of the image of w* on the projected points, divided by γ. The result is 0 if the image of w* is
/// 0. In few dimensions this can happen, because the random signs of the projection may cancel the few entries of a
/// sparse w*.
pub(super) fn kept_margin<P: PointSet>(
    points: &P,
    source: &Source,
    projection: &RandomProjection,
) -> Result<f64, Failure> {
    let labels = source.target.label_all(points)?;
    let normal = source.target.normal().to_vec();
    // A margin does not depend on the length of the image.
    let image = projection.apply(&Points::new(normal, source.target.dim())?)?;
    let image = image.into_vec();
    if image.iter().all(|v| *v == 0.0) {
        return Ok(0.0);
    }
    let image = Halfspace::new(image)?;
    Ok(image.margin_on(&projection.apply(points)?, &labels)? / source.margin)
}

/// Trains on the first `points` examples, whose labels are flipped with probability `noise`, and computes the exact
/// error on the other points: 1 - η where the prediction differs from w*, otherwise η.
pub(super) fn learn<P: PointSet>(
    all: &P,
    source: &Source,
    setting: &Configuration,
    rng: &mut ChaCha8Rng,
) -> Result<Outcome, Failure> {
    let Configuration::Learn { run, points: n, margin, noise, excess, .. } = *setting else {
        return Err("only settings of the part `learn` have a learner".into());
    };
    let rows: Vec<usize> = (0..all.len()).collect();
    let (training, judged) = (all.select(&rows[..n])?, all.select(&rows[n..])?);
    let truth = source.target.label_all(&training)?;
    let labels = flip_labels(&truth, &vec![noise; n], &mut *rng)?;
    let seed: u64 = rng.random();
    let error = |halfspace: &Halfspace| -> Result<f64, Failure> {
        let (right, found) = (source.target.label_all(&judged)?, halfspace.label_all(&judged)?);
        let wrong = right.iter().zip(&found).filter(|(a, b)| a != b).count() as f64;
        Ok(noise + (1.0 - 2.0 * noise) * wrong / judged.len() as f64)
    };
    let projection =
        RandomProjection::for_margin(all.dim(), n, margin, DELTA_PROJECTION, rng.random())?;
    let (reduced, kept) = (projection.apply(&training)?, projected_margin(margin));
    let inside = perspectron(&reduced, &labels, run, noise, kept, excess, seed)?;
    let projected = error(&projection.back(&inside)?)?;
    let plain = perspectron(&training, &labels, run, noise, margin, excess, seed)?;
    let common = Label::from_sign(labels.iter().map(|y| y.as_f64()).sum());
    let wrong = source.target.label_all(&judged)?.iter().filter(|y| **y != common).count() as f64;
    let constant = noise + (1.0 - 2.0 * noise) * wrong / judged.len() as f64;
    Ok(Outcome::Learn { projected, plain: error(&plain)?, constant })
}

fn perspectron<P: PointSet>(
    points: &P,
    labels: &[Label],
    run: Run,
    noise: f64,
    margin: f64,
    excess: f64,
    seed: u64,
) -> Result<Halfspace, Failure> {
    match run {
        Run::Theorem => {
            let mut stream = LabelledPoints::new(points, labels)?;
            let learner = theorem(noise, margin, excess, seed)?;
            Ok(learner.fit_stream(&mut stream)?.halfspace().clone())
        }
        Run::Sample => {
            let margin = Margin::Known(margin);
            let params = SamplePerspectron::params().noise(noise).margin(margin);
            let learner = params.lift(false).seed(seed).check()?;
            Ok(learner.fit(points, labels)?.halfspace().linear().clone())
        }
    }
}

pub(super) fn theorem(
    noise: f64,
    margin: f64,
    excess: f64,
    seed: u64,
) -> Result<Perspectron, Failure> {
    let params = Perspectron::params(noise, margin).excess(excess).failure(DELTA_LEARNER);
    Ok(params.seed(seed).check()?)
}
