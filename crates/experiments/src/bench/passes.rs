//! Jobs: one pass of an online learner over a pool. The limit is a read of the pool.

use super::definition::{Build, Definition, Job, Target, digest, digest_of};
use super::limits::read;
use super::pools::{MARGIN, Pool, Pools, sparse};
use super::shape::{Shape, shape};
use crate::Failure;
use halfspaces_data::LabelledPoints;
use halfspaces_linalg::{Params, PointSet, Points};
use halfspaces_online::{Aggressiveness, OnlineLearner, PassiveAggressive, Perceptron};
use halfspaces_pac::Perspectron;
use std::hint::black_box;
use std::rc::Rc;

/// The aggressiveness parameter C of PA-I.
pub(super) const CAP: f64 = 1.0;
const NOISE: f64 = 0.2;

const LARGE: [Shape; 3] = [shape(2000, 50, 0), shape(1_000_000, 50, 0), shape(1_000_000, 50, 0)];
const CACHED: [Shape; 3] = [shape(500, 20, 0), shape(100_000, 20, 0), shape(100_000, 20, 0)];
const WIDE: [Shape; 3] = [shape(100, 500, 0), shape(100_000, 500, 0), shape(100_000, 500, 0)];
const SPARSE: [Shape; 3] =
    [shape(300, 400, 9), shape(100_000, 50_000, 75), shape(100_000, 50_000, 75)];

pub(super) const JOBS: &[Definition] = &[
    pass_of("perceptron", "perceptron, one pass", LARGE, perceptron),
    pass_of("passive-aggressive", "PA-I, one pass", LARGE, passive_aggressive),
    pass_of("perspectron", "Perspectron, one pass", LARGE, perspectron),
    Definition {
        target: Target::Peers,
        ..pass_of("perceptron-20", "perceptron, one pass, in cache", CACHED, perceptron)
    },
    pass_of("perceptron-500", "perceptron, one pass", WIDE, perceptron),
    Definition {
        id: "sparse",
        what: "perceptron, one pass, sparse (n x d, nonzeros per row)",
        limit: "read of the nonzeros",
        target: Target::Peers,
        shapes: SPARSE,
        build: sparse_perceptron,
    },
];

const fn pass_of(
    id: &'static str,
    what: &'static str,
    shapes: [Shape; 3],
    build: Build,
) -> Definition {
    Definition { id, what, limit: "read of the points", target: Target::Share(0.87), shapes, build }
}

/// Makes a pass of the perceptron and returns a digest of its weights and its number of updates.
pub(super) fn pass<P: PointSet>(pool: &Pool<P>) -> Result<u64, Failure> {
    let mut learner = Perceptron::new(pool.points.dim())?;
    learner.learn_pool(&pool.points, &pool.labels)?;
    Ok(digest_of(learner.weights(), learner.updates()))
}

/// A job on a pool, with a read of its points as the limit.
fn limited_by_read(
    pool: Rc<Pool<Points>>,
    run: impl Fn(&Pool<Points>) -> Result<u64, Failure> + 'static,
) -> Job {
    let read_pool = Rc::clone(&pool);
    let limit = move || {
        read(read_pool.points.as_slice());
        Ok(())
    };
    Job::new(move || run(&pool), limit)
}

fn perceptron(pools: &mut Pools, shape: Shape) -> Result<Job, Failure> {
    Ok(limited_by_read(pools.ball(shape.n, shape.d)?, pass))
}

/// Makes a pass of PA-I and returns a digest of its weights and its number of updates.
pub(super) fn aggressive_pass(pool: &Pool<Points>) -> Result<u64, Failure> {
    let mut learner = PassiveAggressive::new(pool.points.dim(), Aggressiveness::Capped(CAP))?;
    learner.learn_pool(&pool.points, &pool.labels)?;
    Ok(digest_of(learner.weights(), learner.updates()))
}

fn passive_aggressive(pools: &mut Pools, shape: Shape) -> Result<Job, Failure> {
    Ok(limited_by_read(pools.ball(shape.n, shape.d)?, aggressive_pass))
}

/// A Perspectron with an excess so small that it uses the whole pool.
pub(super) fn fresh_perspectron() -> Result<Perspectron, Failure> {
    Ok(Perspectron::params(NOISE, MARGIN).excess(0.01).check()?)
}

fn perspectron(pools: &mut Pools, shape: Shape) -> Result<Job, Failure> {
    let learner = fresh_perspectron()?;
    let run = move |pool: &Pool<Points>| {
        let mut fitting = learner.start(pool.points.dim())?;
        fitting.advance(&mut LabelledPoints::new(&pool.points, &pool.labels)?)?;
        let fit = fitting.finish()?;
        Ok(digest_of(fit.halfspace().normal(), fit.training()))
    };
    Ok(limited_by_read(pools.ball(shape.n, shape.d)?, run))
}

fn sparse_perceptron(_: &mut Pools, shape: Shape) -> Result<Job, Failure> {
    let pool = Rc::new(sparse(shape.n, shape.d, shape.more)?);
    let read_pool = Rc::clone(&pool);
    let limit = move || {
        let mut sum = (0u64, 0u64);
        for x in read_pool.points.rows() {
            sum.0 += x.columns().iter().map(|j| u64::from(*j)).sum::<u64>();
            sum.1 ^= x.values().iter().fold(0, |bits, v| bits ^ v.to_bits());
        }
        black_box(digest([sum.0, sum.1]));
        Ok(())
    };
    Ok(Job::new(move || pass(&pool), limit))
}
