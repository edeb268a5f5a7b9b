//! One pass of an online learner over a pool, beside a read of the pool.

use super::definition::{Definition, Job, Target, digest, digest_of};
use super::limits::read;
use super::pools::{MARGIN, Pool, Pools, sparse};
use super::shape::{Shape, shape};
use crate::Failure;
use halfspaces_data::LabelledPoints;
use halfspaces_linalg::{Label, Params, PointSet, Points, RowView, kernels};
use halfspaces_online::{Aggressiveness, OnlineLearner, PassiveAggressive, Perceptron};
use halfspaces_pac::Perspectron;
use std::hint::black_box;
use std::rc::Rc;

const READ: &str = "read of the points";
/// C of PA-I.
pub(super) const CAP: f64 = 1.0;
const NOISE: f64 = 0.2;

pub(super) const JOBS: &[Definition] = &[
    Definition {
        id: "perceptron",
        what: "perceptron, one pass",
        limit: READ,
        target: Target::Share(0.87),
        shapes: [shape(2000, 50, 0), shape(1_000_000, 50, 0), shape(1_000_000, 50, 0)],
        build: perceptron,
    },
    Definition {
        id: "passive-aggressive",
        what: "PA-I, one pass",
        limit: READ,
        target: Target::Share(0.87),
        shapes: [shape(2000, 50, 0), shape(1_000_000, 50, 0), shape(1_000_000, 50, 0)],
        build: passive_aggressive,
    },
    Definition {
        id: "perspectron",
        what: "Perspectron, one pass",
        limit: READ,
        target: Target::Share(0.87),
        shapes: [shape(2000, 50, 0), shape(1_000_000, 50, 0), shape(1_000_000, 50, 0)],
        build: perspectron,
    },
    Definition {
        id: "perceptron-20",
        what: "perceptron, one pass, in cache",
        limit: READ,
        target: Target::Peers,
        shapes: [shape(500, 20, 0), shape(100_000, 20, 0), shape(100_000, 20, 0)],
        build: perceptron,
    },
    Definition {
        id: "perceptron-500",
        what: "perceptron, one pass",
        limit: READ,
        target: Target::Share(0.87),
        shapes: [shape(100, 500, 0), shape(100_000, 500, 0), shape(100_000, 500, 0)],
        build: perceptron,
    },
    Definition {
        id: "sparse",
        what: "perceptron, one pass, sparse (nonzeros a row)",
        limit: "read of the nonzeros",
        target: Target::Peers,
        shapes: [shape(300, 400, 9), shape(100_000, 50_000, 75), shape(100_000, 50_000, 75)],
        build: sparse_perceptron,
    },
];

/// A pass of `learner`: what it ends with.
pub(super) fn pass<P: PointSet>(pool: &Pool<P>) -> Result<u64, Failure> {
    let mut learner = Perceptron::new(pool.points.dim())?;
    learner.learn_pool(&pool.points, &pool.labels)?;
    Ok(digest_of(learner.weights(), learner.updates()))
}

/// The perceptron as Kakade writes it.
fn plain_perceptron(pool: &Pool<Points>) -> u64 {
    let (mut w, mut updates) = (vec![0.0; pool.points.dim()], 0);
    for (x, y) in pool.points.rows().zip(&pool.labels) {
        if Label::from_sign(kernels::dot(x.as_slice(), &w)) != *y {
            kernels::axpy(y.as_f64(), x.as_slice(), &mut w);
            updates += 1;
        }
    }
    digest_of(&w, updates)
}

fn beside_a_read(
    pool: &Rc<Pool<Points>>,
    run: impl FnMut() -> Result<u64, Failure> + 'static,
    plain: impl FnMut() -> Result<u64, Failure> + 'static,
) -> Job {
    let read_pool = Rc::clone(pool);
    let limit = move || {
        read(read_pool.points.as_slice());
        Ok(())
    };
    Job::new(run, limit, plain)
}

fn perceptron(pools: &mut Pools, shape: Shape) -> Result<Job, Failure> {
    let pool = pools.ball(shape.n, shape.d)?;
    let (ours, plain) = (Rc::clone(&pool), Rc::clone(&pool));
    Ok(beside_a_read(&pool, move || pass(&ours), move || Ok(plain_perceptron(&plain))))
}

/// A pass of PA-I.
pub(super) fn aggressive_pass(pool: &Pool<Points>) -> Result<u64, Failure> {
    let mut learner = PassiveAggressive::new(pool.points.dim(), Aggressiveness::Capped(CAP))?;
    learner.learn_pool(&pool.points, &pool.labels)?;
    Ok(digest_of(learner.weights(), learner.updates()))
}

fn passive_aggressive(pools: &mut Pools, shape: Shape) -> Result<Job, Failure> {
    let pool = pools.ball(shape.n, shape.d)?;
    let (ours, by_hand) = (Rc::clone(&pool), Rc::clone(&pool));
    let plain = move || {
        let (mut w, mut updates) = (vec![0.0; by_hand.points.dim()], 0);
        for (x, y) in by_hand.points.rows().zip(&by_hand.labels) {
            let loss = 1.0 - y.as_f64() * kernels::dot(x.as_slice(), &w);
            if loss > 0.0 {
                let step = CAP.min(loss / x.norm_sq());
                kernels::axpy(step * y.as_f64(), x.as_slice(), &mut w);
                updates += 1;
            }
        }
        Ok(digest_of(&w, updates))
    };
    Ok(beside_a_read(&pool, move || aggressive_pass(&ours), plain))
}

fn perspectron(pools: &mut Pools, shape: Shape) -> Result<Job, Failure> {
    let pool = pools.ball(shape.n, shape.d)?;
    // So little excess that the whole pool is learned from.
    let learner = Perspectron::params(NOISE, MARGIN).excess(0.01).check()?;
    let stream_pool = Rc::clone(&pool);
    let run = move || {
        let mut fitting = learner.start(stream_pool.points.dim())?;
        fitting.advance(&mut LabelledPoints::new(&stream_pool.points, &stream_pool.labels)?)?;
        let fit = fitting.finish()?;
        Ok(digest_of(fit.halfspace().normal(), fit.training()))
    };
    let by_hand = Rc::clone(&pool);
    // One by one; the step itself is held to CKST24's by the tests of the learner.
    let plain = move || {
        let mut fitting = learner.start(by_hand.points.dim())?;
        for (x, y) in by_hand.points.rows().zip(&by_hand.labels) {
            fitting.observe(x, *y)?;
        }
        let fit = fitting.finish()?;
        Ok(digest_of(fit.halfspace().normal(), fit.training()))
    };
    Ok(beside_a_read(&pool, run, plain))
}

fn sparse_perceptron(_: &mut Pools, shape: Shape) -> Result<Job, Failure> {
    let pool = Rc::new(sparse(shape.n, shape.d, shape.more)?);
    let (read_pool, plain) = (Rc::clone(&pool), Rc::clone(&pool));
    let limit = move || {
        let mut sum = (0u64, 0u64);
        for x in read_pool.points.rows() {
            sum.0 += x.columns().iter().map(|j| u64::from(*j)).sum::<u64>();
            sum.1 ^= x.values().iter().fold(0, |bits, v| bits ^ v.to_bits());
        }
        black_box(digest([sum.0, sum.1]));
        Ok(())
    };
    let run = move || pass(&pool);
    let plain = move || {
        let dense = Pool { points: plain.points.to_dense()?, labels: plain.labels.clone() };
        Ok(plain_perceptron(&dense))
    };
    Ok(Job::new(run, limit, plain))
}
