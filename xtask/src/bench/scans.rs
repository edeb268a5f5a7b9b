//! What scans a whole pool: the largest margins, and greedy self-directed labelling.

use super::definition::{Definition, Job, Target, digest, digest_of};
use super::limits::read_with_two;
use super::pools::Pools;
use super::shape::{Shape, shape};
use crate::Failure;
use halfspaces_data::random_target;
use halfspaces_linalg::{
    DescendingMargins, PointSet, Threads, largest_margins, margins, margins_into,
};
use halfspaces_online::{Greedy, label_pool};
use std::rc::Rc;

/// How many of the largest margins are asked for.
const LARGEST: usize = 100;

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
        what: "greedy to a perfect labelling",
        limit: "one scan of Xw",
        target: Target::Multiple(22.0),
        shapes: [shape(1500, 6, 0), shape(1_000_000, 50, 0), shape(1_000_000, 50, 0)],
        build: greedy,
    },
];

fn scan(pools: &mut Pools, shape: Shape) -> Result<Job, Failure> {
    let pool = pools.ball(shape.n, shape.d)?;
    let w = random_target(shape.d, 3)?.into_normal();
    let (read_pool, plain_pool, plain_w) = (Rc::clone(&pool), Rc::clone(&pool), w.clone());
    let indices = |found: Vec<usize>| digest(found.into_iter().map(|i| i as u64));
    let run = move || Ok(indices(largest_margins(&pool.points, &w, LARGEST, Threads::new(2)?)?));
    let limit = move || {
        read_with_two(read_pool.points.as_slice());
        Ok(())
    };
    let plain = move || {
        let all = margins(&plain_pool.points, &plain_w)?;
        Ok(indices(DescendingMargins::new(&all).take(LARGEST).collect()))
    };
    Ok(Job::new(run, limit, plain))
}

fn greedy(pools: &mut Pools, shape: Shape) -> Result<Job, Failure> {
    let pool = pools.sphere(shape.n, shape.d)?;
    let (scanned, plain) = (Rc::clone(&pool), Rc::clone(&pool));
    let w = random_target(shape.d, 3)?.into_normal();
    let mut margins = vec![0.0; pool.points.len()];
    let run = move || {
        let run = Greedy::simulate(&pool.points, &pool.labels)?;
        Ok(digest_of(run.halfspace.normal(), run.mistakes.len() as u64))
    };
    let limit = move || Ok(margins_into(&scanned.points, &w, &mut margins)?);
    let plain = move || {
        // By the order of the whole pool, asked one by one.
        let (learner, transcript) =
            label_pool(Greedy::new(plain.points.dim())?, &plain.points, &plain.labels)?;
        Ok(digest_of(learner.weights(), transcript.mistakes() as u64))
    };
    Ok(Job::new(run, limit, plain))
}
