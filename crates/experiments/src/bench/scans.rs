//! Jobs that scan a whole pool: the largest margins, greedy self-directed labelling, and the batch perceptron that
//! picks the worst point.

use super::definition::{Definition, Job, Target, digest, digest_of};
use super::limits::read_with_two;
use super::pools::{Pools, noisy};
use super::shape::{Shape, shape};
use crate::Failure;
use halfspaces_data::random_target;
use halfspaces_linalg::{FitSample, Params, PointSet, Threads, largest_margins, margins_into};
use halfspaces_online::{BatchPerceptron, Greedy, Pick};
use std::rc::Rc;

/// Number of largest margins to find.
pub(super) const LARGEST: usize = 100;

pub(super) const JOBS: &[Definition] = &[
    Definition {
        id: "scan",
        what: "100 largest abs(w.x), two threads",
        limit: "read with two threads",
        target: Target::Share(0.85),
        shapes: [shape(10_000, 50, 0), shape(1_000_000, 50, 0), shape(1_000_000, 50, 0)],
        build: scan,
    },
    Definition {
        id: "greedy",
        what: "greedy until every label is correct",
        limit: "one scan of Xw",
        target: Target::Multiple(22.0),
        shapes: [shape(1500, 6, 0), shape(1_000_000, 50, 0), shape(1_000_000, 50, 0)],
        build: greedy,
    },
    Definition {
        id: "worst",
        what: "batch perceptron that picks the worst point (updates)",
        limit: "as many scans of Xw",
        target: Target::Multiple(1.25),
        shapes: [shape(500, 2, 10), shape(1_000_000, 2, 30), shape(1_000_000, 2, 100)],
        build: worst,
    },
];

pub(super) fn indices(found: Vec<usize>) -> u64 {
    digest(found.into_iter().map(|i| i as u64))
}

fn scan(pools: &mut Pools, shape: Shape) -> Result<Job, Failure> {
    let pool = pools.ball(shape.n, shape.d)?;
    let w = random_target(shape.d, 3)?.into_normal();
    let read_pool = Rc::clone(&pool);
    let run = move || Ok(indices(largest_margins(&pool.points, &w, LARGEST, Threads::new(2)?)?));
    let limit = move || {
        read_with_two(read_pool.points.as_slice());
        Ok(())
    };
    Ok(Job::new(run, limit))
}

fn greedy(pools: &mut Pools, shape: Shape) -> Result<Job, Failure> {
    let pool = pools.sphere(shape.n, shape.d)?;
    let scanned = Rc::clone(&pool);
    let w = random_target(shape.d, 3)?.into_normal();
    let mut margins = vec![0.0; pool.points.len()];
    let run = move || {
        let run = Greedy::simulate(&pool.points, &pool.labels)?;
        Ok(digest_of(run.halfspace().normal(), run.mistakes().len() as u64))
    };
    let limit = move || Ok(margins_into(&scanned.points, &w, &mut margins)?);
    Ok(Job::new(run, limit))
}

/// Runs the batch perceptron on inseparable points. The perceptron makes all allowed updates, each after a scan, and
/// ends with one more scan.
fn worst(pools: &mut Pools, shape: Shape) -> Result<Job, Failure> {
    let pool = pools.ball(shape.n, shape.d)?;
    let labels = noisy(&pool.labels);
    let scanned = Rc::clone(&pool);
    let w = random_target(shape.d, 3)?.into_normal();
    let mut margins = vec![0.0; pool.points.len()];
    let updates = shape.more as u64;
    let learner = BatchPerceptron::params().pick(Pick::Worst).max_updates(updates).check()?;
    let run = move || {
        let fit = learner.fit(&pool.points, &labels)?;
        Ok(digest_of(fit.halfspace().normal(), fit.updates()))
    };
    let limit = move || {
        for _ in 0..=updates {
            margins_into(&scanned.points, &w, &mut margins)?;
        }
        Ok(())
    };
    Ok(Job::new(run, limit))
}
