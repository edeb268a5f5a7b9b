//! Runs of the weak learner on points in radially isotropic position.

use super::workload::Run;
use crate::experiments::common::*;
use halfspaces_linalg::{Halfspace, Label, PointSet, Points, kernels};
use halfspaces_online::{Cap, WeakRun};

/// Runs the weak learner from one start.
pub(super) fn run(
    inside: &Points,
    labels: &[Label],
    target: &Halfspace,
    start: &[f64],
) -> Result<Run, Failure> {
    let k = inside.dim();
    let run = WeakRun::simulate(inside, labels, start.to_vec(), Cap::Corrected)?;
    let paper = WeakRun::simulate(inside, labels, start.to_vec(), Cap::Paper)?;
    Ok(Run {
        cosine: kernels::dot(start, target.normal()),
        succeeded: run.succeeded(),
        paper_succeeded: paper.succeeded(),
        passed: (4 * k * run.passed()) as f64 / inside.len() as f64,
        spent: run.updates() as f64 / Cap::Corrected.updates(k) as f64,
    })
}

/// Runs the weak learner from a start and from its opposite.
pub(super) fn pair(
    points: &Points,
    labels: &[Label],
    target: &Halfspace,
    start: &[f64],
) -> Result<Vec<Run>, Failure> {
    let opposite: Vec<f64> = start.iter().map(|v| -v).collect();
    [start, &opposite].map(|start| run(points, labels, target, start)).into_iter().collect()
}
