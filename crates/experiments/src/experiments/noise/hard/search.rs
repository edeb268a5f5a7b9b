//! The searches, and fresh runs on their results.

use super::learners::{doubling, fresh, of_theorem, on_sample, share_of_bound};
use super::models::{GENES, decode, listed, opt, sample};
use super::workload::{
    EXCESS, FAILURE, Learner, MARGIN, ORDER_EXCESS, ORDER_MARGIN, ORDER_NOISE, Outcome,
};
use crate::experiments::common::*;
use crate::experiments::noise::pairs::clean_pairs;
use crate::experiments::noise::planar::{Planar, descend};
use crate::noisy::fork;
use halfspaces_linalg::{FitStream, Params};
use halfspaces_pac::{Denominator, Perspectron};

/// Step size and number of steps of the noiseless run by which the search rates a distribution for the Perspectron. The
/// run converges to the point where the theorem's run, which is far longer, ends.
const MEAN_STEP: f64 = 0.01;
const MEAN_STEPS: u64 = 4000;

/// Number of examples in a sample of the search for a distribution that is hard for a rival. The next constant is the
/// number of examples in a sample on which the result is evaluated.
const SEARCHED: usize = 400;
const JUDGED: usize = 2000;

/// Number of samples per distribution in the search for a distribution that is hard for a rival. The score of a
/// distribution is the smallest error over its samples.
const SAMPLES_SEEN: u64 = 2;

/// Number of fresh runs that evaluate a result.
const FRESH: u32 = 3;

/// Number of runs over which the search for a small slack averages, and number of runs that evaluate its result.
const SLACK_RUNS: (u32, u32) = (4, 100);

/// Constants of the search for the order of Table 1: the number of examples on which it compares the learners, the
/// number of samples in the search, and the number of samples on which its result is evaluated.
const ORDER_SAMPLE: usize = 256;
const ORDER_SEEN: u64 = 3;
const ORDER_FRESH: usize = 9;

pub(super) fn pairs(noise: f64, margin: f64, rng: &mut ChaCha8Rng) -> Result<Outcome, Failure> {
    let planar = clean_pairs(noise, margin);
    let told = of_theorem(&planar, noise, 2.0 * EXCESS, rng)?;
    let params = Perspectron::params(0.0, margin).excess(2.0 * EXCESS).failure(FAILURE);
    let fit = params.seed(rng.random()).check()?.fit_stream(&mut planar.stream(rng))?;
    let w = fit.halfspace().normal();
    Ok(Outcome::Pairs { told, clean: planar.error([w[0], w[1]]) })
}

/// Draws a distribution without a search.
fn random(noise: f64, margin: f64, rng: &mut ChaCha8Rng) -> Planar {
    let numbers: Vec<f64> = (0..GENES).map(|_| rng.random()).collect();
    decode(noise, margin, &numbers)
}

/// The mean of error - opt over a few fresh runs.
fn judge(
    learner: Learner,
    planar: &Planar,
    noise: f64,
    rng: &mut ChaCha8Rng,
) -> Result<f64, Failure> {
    let mut sum = 0.0;
    for _ in 0..FRESH {
        sum += fresh(learner, planar, noise, JUDGED, rng)? - opt(planar);
    }
    Ok(sum / f64::from(FRESH))
}

pub(super) fn worst(
    learner: Learner,
    noise: f64,
    moves: usize,
    rng: &mut ChaCha8Rng,
) -> Result<Outcome, Failure> {
    let (seed, mut tried, mut fault) = (rng.random::<u64>(), 0, None);
    let mut own = fork(rng);
    let (least, numbers) = descend(GENES, moves, &mut own, |numbers| {
        let planar = decode(noise, MARGIN, numbers);
        tried += 1;
        if learner == Learner::Perspectron {
            let denominator = Denominator::AtLeast(MARGIN);
            let (mean, least) = planar.mean_and_least(denominator, MEAN_STEP, MEAN_STEPS);
            // Selection finds the smallest error of the iterates; the mean guides the search.
            return opt(&planar) - noise - 0.9 * least - 0.1 * mean;
        }
        // Every distribution gets the same random numbers, so that the search is not guided by random differences.
        let seen = |i: u64| {
            let seed = seed.wrapping_add(i);
            let seen = sample(&planar, SEARCHED, &mut ChaCha8Rng::seed_from_u64(seed))?;
            on_sample(learner, noise, EXCESS, &planar, &seen, seed)
        };
        let errors: Result<Vec<f64>, Failure> = (0..SAMPLES_SEEN).map(seen).collect();
        match errors {
            Ok(errors) => opt(&planar) - errors.into_iter().fold(f64::INFINITY, f64::min),
            Err(error) => {
                fault.get_or_insert(error);
                f64::INFINITY
            }
        }
    });
    if let Some(fault) = fault {
        return Err(fault);
    }
    let planar = decode(noise, MARGIN, &numbers);
    let unsearched = random(noise, MARGIN, rng);
    Ok(Outcome::Worst {
        searched: -least,
        judged: judge(learner, &planar, noise, rng)?,
        random: judge(learner, &unsearched, noise, rng)?,
        opt: opt(&planar),
        atoms: listed(&planar),
        tried,
    })
}

pub(super) fn slack(noise: f64, steps: u64, moves: usize, rng: &mut ChaCha8Rng) -> Outcome {
    let (seed, mut own) = (rng.random(), fork(rng));
    let (least, numbers) = descend(GENES, moves, &mut own, |numbers| {
        let planar = decode(noise, MARGIN, numbers);
        let mut same = ChaCha8Rng::seed_from_u64(seed);
        -share_of_bound(&planar, noise, steps, SLACK_RUNS.0, &mut same)
    });
    let planar = decode(noise, MARGIN, &numbers);
    let unsearched = random(noise, MARGIN, rng);
    Outcome::Slack {
        searched: -least,
        judged: share_of_bound(&planar, noise, steps, SLACK_RUNS.1, rng),
        random: share_of_bound(&unsearched, noise, steps, SLACK_RUNS.1, rng),
        atoms: listed(&planar),
    }
}

pub(super) fn order(
    rival: Learner,
    moves: usize,
    sizes: usize,
    rng: &mut ChaCha8Rng,
) -> Result<Outcome, Failure> {
    let seed: u64 = rng.random();
    let (mut own, mut fault) = (fork(rng), None);
    let at = |learner, planar: &Planar, seed| {
        let seen = sample(planar, ORDER_SAMPLE, &mut ChaCha8Rng::seed_from_u64(seed))?;
        on_sample(learner, ORDER_NOISE, ORDER_EXCESS, planar, &seen, seed)
    };
    let (_, numbers) = descend(GENES, moves, &mut own, |numbers| {
        let planar = decode(ORDER_NOISE, ORDER_MARGIN, numbers);
        let lead = || -> Result<f64, Failure> {
            let mut sum = 0.0;
            for i in 0..ORDER_SEEN {
                let seed = seed.wrapping_add(i);
                // The error above η + ε is the objective; the small multiple of the error guides the search.
                let above = |e: f64| (e - ORDER_NOISE - ORDER_EXCESS).max(0.0) + 0.1 * e;
                sum += above(at(Learner::Perspectron, &planar, seed)?);
                sum -= above(at(rival, &planar, seed)?);
            }
            Ok(sum)
        };
        lead().unwrap_or_else(|error| {
            fault.get_or_insert(error);
            f64::INFINITY
        })
    });
    if let Some(fault) = fault {
        return Err(fault);
    }
    let planar = decode(ORDER_NOISE, ORDER_MARGIN, &numbers);
    let sizes: Vec<usize> = (4..4 + sizes).map(|power| 1 << power).collect();
    let told = (ORDER_NOISE, ORDER_EXCESS);
    let (mut ours, mut theirs) = (vec![0.0; sizes.len()], vec![0.0; sizes.len()]);
    let mut needed = Vec::new();
    for _ in 0..ORDER_FRESH {
        let drawn = sample(&planar, largest(&sizes)?, rng)?;
        let seed = rng.random();
        let (of_us, errors) = doubling(Learner::Perspectron, &planar, told, &sizes, &drawn, seed)?;
        let (of_them, others) = doubling(rival, &planar, told, &sizes, &drawn, seed)?;
        for (sum, errors) in [(&mut ours, errors), (&mut theirs, others)] {
            for (sum, error) in sum.iter_mut().zip(errors) {
                *sum += error / ORDER_FRESH as f64;
            }
        }
        needed.push((of_us, of_them));
    }
    Ok(Outcome::Order { sizes, ours, theirs, needed, atoms: listed(&planar) })
}
