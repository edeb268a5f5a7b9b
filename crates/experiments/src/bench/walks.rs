//! Jobs: hit-and-run over a version space, and the Forster transform.

use super::definition::{Definition, Job, Target, digest, digest_of};
use super::pools::Pools;
use super::products::gram;
use super::shape::{Shape, shape};
use crate::Failure;
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par};
use halfspaces_data::{Gaussian, Marginal};
use halfspaces_forster::{Accuracy, ForsterTransform};
use halfspaces_linalg::{Params, Points, kernels, normalise};
use halfspaces_online::{Centre, CentreOfGravity};
use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use std::cell::Cell;
use std::hint::black_box;
use std::rc::Rc;

/// Accuracy of the transform: λmin and λmax differ from 1 by at most this value.
const DELTA: f64 = 1e-9;

pub(super) const JOBS: &[Definition] = &[
    Definition {
        id: "hit-and-run",
        what: "hit-and-run after a cut (constraints)",
        limit: "f64 product of constraints and chains",
        target: Target::SecondsAUnit(9e-6),
        shapes: [shape(64, 5, 20), shape(200, 50, 1000), shape(200, 50, 1000)],
        build: hit_and_run,
    },
    Definition {
        id: "forster",
        what: "Forster transform",
        limit: "product X'X",
        target: Target::Peers,
        shapes: [shape(500, 5, 0), shape(100_000, 50, 0), shape(100_000, 50, 0)],
        build: forster,
    },
];

fn unit(v: &mut [f64]) {
    // For the first direction, `axis` is 0 and nothing is subtracted.
    assert!(normalise(v), "normally distributed numbers are not all zero");
}

/// A sample from a cone around a direction, bounded by `cuts` halfspaces. Also returns one more cut, whose boundary
/// contains the direction.
pub(super) fn version_space(d: usize, cuts: usize) -> Result<(CentreOfGravity, Vec<f64>), Failure> {
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let mut normal = |along: f64, axis: &[f64]| {
        let mut v: Vec<f64> = (0..d).map(|_| StandardNormal.sample(&mut rng)).collect();
        let parallel = kernels::dot(&v, axis);
        kernels::axpy(-parallel, axis, &mut v);
        unit(&mut v);
        kernels::axpy(along, axis, &mut v);
        v
    };
    let axis = normal(0.0, &vec![0.0; d]);
    // The normal of a cut has a component along the axis (0.3 before scaling); a point is half of the axis vector
    // plus 0.1 times an orthogonal unit vector.
    let mut all = Vec::with_capacity(cuts);
    for _ in 0..cuts {
        let mut cut = normal(0.3, &axis);
        unit(&mut cut);
        all.push(cut);
    }
    let last = normal(0.0, &axis);
    let count = CentreOfGravity::new(d, 1)?.sample().count();
    let mut points = Vec::with_capacity(count);
    for _ in 0..count {
        let mut w = normal(0.0, &axis);
        w.iter_mut().zip(&axis).for_each(|(w, a)| *w = 0.1 * *w + 0.5 * a);
        points.push(w);
    }
    Ok((CentreOfGravity::from_sample(points, all, 1)?, last))
}

/// The number of hit-and-run steps for a cut with `sweeps` sweeps. An additional first sweep draws its directions from
/// the whole sample. Every sweep takes d + 4 steps in each chain.
fn steps(sweeps: usize, chains: usize, d: usize) -> usize {
    (1 + sweeps) * (d + 4) * chains
}

fn hit_and_run(_: &mut Pools, shape: Shape) -> Result<Job, Failure> {
    let (start, cut) = version_space(shape.d, shape.more)?;
    let (chains, d) = (start.sample().count(), shape.d);
    let made = Rc::new(Cell::new(0));
    let (of_run, of_limit, of_units) = (Rc::clone(&made), Rc::clone(&made), Rc::clone(&made));
    let run = move || {
        let mut centre = start.clone();
        centre.cut(&cut)?;
        of_run.set(steps(centre.sweeps(), chains, d));
        Ok(digest_of(centre.centre(), centre.sweeps() as u64))
    };
    // Every step needs the products of all constraints with a point and with a direction.
    let entry = |i: usize, j: usize| ((i * 7 + j * 3) % 11) as f64 - 5.0;
    let (constraints, vectors) = (Mat::from_fn(shape.more, d, entry), Mat::from_fn(d, 256, entry));
    let mut product = Mat::zeros(shape.more, 256);
    let limit = move || {
        for _ in 0..(2 * of_limit.get()).div_ceil(256) {
            let (into, a) = (product.as_mut(), constraints.as_ref());
            matmul(into, Accum::Replace, a, vectors.as_ref(), 1.0, Par::Seq);
        }
        black_box(&mut product);
        Ok(())
    };
    Ok(Job::new(run, limit).units(move || of_units.get() as f64))
}

/// Fits the Forster transform. Returns whether it is certified within [`DELTA`], and its number of passes plus its
/// number of products, over all levels.
pub(super) fn fit(points: &Points) -> Result<(bool, usize), Failure> {
    let fit =
        ForsterTransform::params().accuracy(Accuracy::TwoSided(DELTA)).check()?.fit(points)?;
    let certified = fit.is_resolved() && fit.position().certificate.residual() <= DELTA;
    Ok((certified, fit.levels().iter().map(|level| level.passes + level.products).sum()))
}

fn forster(_: &mut Pools, shape: Shape) -> Result<Job, Failure> {
    let points = Rc::new(Gaussian::new(shape.d, 1.0)?.sample(shape.n, 1)?);
    let multiplied = Rc::clone(&points);
    let mut product = Mat::zeros(shape.d, shape.d);
    let run = move || Ok(digest([u64::from(fit(&points)?.0)]));
    let limit = move || {
        gram(&multiplied, &mut product);
        Ok(())
    };
    Ok(Job::new(run, limit))
}
