//! Plain versions of the jobs: the shortest programs that compute the same results.

use super::super::definition::{digest, digest_of};
use super::super::passes::{CAP, fresh_perspectron};
use super::super::pools::{Pool, Pools, noisy, sparse};
use super::super::products::{BLOCK, FAILURE, Race, fresh_kernel, kernel_pool, mistakes, race};
use super::super::reading::{Seen, csv_text, libsvm_text};
use super::super::scans::{LARGEST, indices};
use super::super::shape::Shape;
use super::super::walks::version_space;
use crate::Failure;
use halfspaces_data::random_target;
use halfspaces_linalg::{
    DenseRow, DescendingMargins, Label, PointSet, Points, RowView, kernels, margins,
};
use halfspaces_online::{AsGiven, Centre, Greedy, label_pool, run};
use halfspaces_pac::{Elimination, schedule};

/// The result of a job.
pub(super) fn result(id: &str, shape: Shape) -> Result<u64, Failure> {
    let Shape { n, d, more } = shape;
    let mut pools = Pools::default();
    match id {
        "perceptron" | "perceptron-20" | "perceptron-500" => Ok(perceptron(&*pools.ball(n, d)?)),
        "passive-aggressive" => Ok(passive_aggressive(&*pools.ball(n, d)?)),
        "perspectron" => perspectron(&*pools.ball(n, d)?),
        "sparse" => {
            let Pool { points, labels } = sparse(n, d, more)?;
            Ok(perceptron(&Pool { points: points.to_dense()?, labels }))
        }
        "scan" => {
            let all = margins(&pools.ball(n, d)?.points, random_target(d, 3)?.normal())?;
            Ok(indices(DescendingMargins::new(&all).take(LARGEST).collect()))
        }
        "greedy" => {
            // Sorts the whole pool and takes the points in this order.
            let pool = pools.sphere(n, d)?;
            let (learner, transcript) = label_pool(Greedy::new(d)?, &pool.points, &pool.labels)?;
            Ok(digest_of(learner.weights(), transcript.mistakes() as u64))
        }
        "worst" => {
            let pool = pools.ball(n, d)?;
            let labels = noisy(&pool.labels);
            let (mut w, mut updates) = (vec![0.0; d], 0);
            while updates < more as u64 {
                let values = pool.points.rows().map(|x| kernels::dot(x.as_slice(), &w));
                let wrong = values.zip(&labels).enumerate();
                let wrong = wrong.filter(|(_, (value, y))| Label::from_sign(*value) != **y);
                let signed = wrong.map(|(i, (value, y))| (y.as_f64() * value, i));
                // No point is misclassified.
                let Some((_, i)) = signed.min_by(|a, b| a.0.total_cmp(&b.0)) else { break };
                let x = pool.points.row(i).ok_or("a point of the pool")?;
                kernels::axpy(labels[i].as_f64(), x.as_slice(), &mut w);
                updates += 1;
            }
            Ok(digest_of(&w, updates))
        }
        "selection" => Ok(choice(&race(n, d, more)?, Elimination::Never)),
        "selection-statistical" => Ok(choice(&race(n, d, more)?, Elimination::Statistical)),
        "selection-early-stop" => Ok(choice(&race(n, d, more)?, Elimination::EarlyStop)),
        "kernel-clean" | "kernel-noisy" => {
            let (points, clean) = kernel_pool(n, d)?;
            let labels = if id == "kernel-noisy" { noisy(&clean) } else { clean };
            Ok(mistakes(&run(fresh_kernel(d)?, &points, &labels, AsGiven::new())?.1))
        }
        "hit-and-run" => {
            // The tests of the walk compare its steps with plain ones. Here, every point of the sample must satisfy the
            // new cut.
            let (mut centre, cut) = version_space(d, more)?;
            centre.cut(&cut)?;
            assert!(centre.sample().all(|w| kernels::dot(w, &cut) >= 0.0));
            Ok(digest_of(centre.centre(), centre.sweeps() as u64))
        }
        // The plain version does not fit a transform. It only expects a certified fit.
        "forster" => Ok(digest([1])),
        "csv" | "csv-stream" => Ok(by_commas(&csv_text(shape)?)?.digest()),
        "libsvm" | "libsvm-stream" => {
            Ok(by_blanks(std::str::from_utf8(&libsvm_text(shape)?)?)?.digest())
        }
        _ => Err(format!("{id}: no plain version").into()),
    }
}

/// The perceptron as Kakade describes it.
fn perceptron(pool: &Pool<Points>) -> u64 {
    let (mut w, mut updates) = (vec![0.0; pool.points.dim()], 0);
    for (x, y) in pool.points.rows().zip(&pool.labels) {
        if Label::from_sign(kernels::dot(x.as_slice(), &w)) != *y {
            kernels::axpy(y.as_f64(), x.as_slice(), &mut w);
            updates += 1;
        }
    }
    digest_of(&w, updates)
}

fn passive_aggressive(pool: &Pool<Points>) -> u64 {
    let (mut w, mut updates) = (vec![0.0; pool.points.dim()], 0);
    for (x, y) in pool.points.rows().zip(&pool.labels) {
        let loss = 1.0 - y.as_f64() * kernels::dot(x.as_slice(), &w);
        if loss > 0.0 {
            let step = CAP.min(loss / x.norm_sq());
            kernels::axpy(step * y.as_f64(), x.as_slice(), &mut w);
            updates += 1;
        }
    }
    digest_of(&w, updates)
}

/// Runs the Perspectron example by example. The tests of the learner compare its step with that of CKST24.
fn perspectron(pool: &Pool<Points>) -> Result<u64, Failure> {
    let mut fitting = fresh_perspectron()?.start(pool.points.dim())?;
    for (x, y) in pool.points.rows().zip(&pool.labels) {
        fitting.observe(x, *y)?;
    }
    let fit = fitting.finish()?;
    Ok(digest_of(fit.halfspace().normal(), fit.training()))
}

/// Applies the rules of docs/theory/thinned-selection.md example by example.
fn choice(race: &Race, elimination: Elimination) -> u64 {
    let Race { points, labels, candidates } = race;
    let (k, planned) = (candidates.len() as u64, points.len() as u64);
    let wrong_of = |w: DenseRow<'_>| -> Vec<bool> {
        let wrong = |(x, y): (DenseRow<'_>, &Label)| Label::from_sign(x.dot(w.as_slice())) != *y;
        points.rows().zip(labels).map(wrong).collect()
    };
    let wrong: Vec<Vec<bool>> = candidates.rows().map(wrong_of).collect();
    let failure = FAILURE / if elimination == Elimination::EarlyStop { 4.0 } else { 2.0 };
    let checks = schedule::elimination_checks(planned);
    let gap = |n: u64| schedule::elimination_gap(n, k, checks, failure);
    let accuracy = schedule::choice_accuracy(k, planned, FAILURE);
    let test = schedule::CloseEnough::new(accuracy, k, failure);
    let apart_on = |a: usize, b: usize, m: usize| -> u64 {
        let pair = wrong.get(a).into_iter().flatten().zip(wrong.get(b).into_iter().flatten());
        pair.take(m).filter(|(a, b)| a != b).count() as u64
    };
    let errors_on = |c: usize, m: usize| -> u64 {
        wrong.get(c).into_iter().flatten().take(m).filter(|wrong| **wrong).count() as u64
    };
    let ahead = |c: usize, of: usize, m: usize| {
        errors_on(c, m).cast_signed() - errors_on(of, m).cast_signed()
    };
    let clear = |c: usize, of: usize, m: usize| {
        ahead(c, of, m) as f64 > gap(1) * (apart_on(c, of, m) as f64).sqrt()
    };
    let close = |c: usize, of: usize, m: usize| {
        test.is_passed(ahead(c, of, m), apart_on(c, of, m), m as u64)
    };
    let result = |c: usize, m: usize| digest([c as u64, errors_on(c, m)]);
    let mut awake: Vec<usize> = (0..wrong.len()).collect();
    let mut resting: Vec<(usize, usize)> = Vec::new();
    let mut leader = None;
    // The ends of the blocks of examples. A block ends at a check, or when it is full.
    let mut ends: Vec<usize> = Vec::new();
    for m in 1..points.len() {
        let seen = m as u64;
        let power = |m: u64| m.is_power_of_two();
        let check = power(seen) || seen.is_multiple_of(3) && power(seen / 3);
        let compares = matches!(elimination, Elimination::Statistical | Elimination::EarlyStop);
        let checks = compares && check && seen as f64 > 2.0 * gap(seen);
        if checks || m - ends.last().unwrap_or(&0) == BLOCK {
            ends.push(m);
        }
        if !checks {
            continue;
        }
        let best_of = |awake: &[usize]| {
            awake.iter().copied().min_by_key(|c| (errors_on(*c, m), *c)).unwrap_or(0)
        };
        if elimination == Elimination::Statistical {
            let best = best_of(&awake);
            awake.retain(|c| !clear(*c, best, m));
            continue;
        }
        let of = loop {
            let best = best_of(&awake);
            let near = |of: &usize| ahead(*of, best, m) as f64 <= 0.125 * accuracy * m as f64;
            if let Some(of) = leader.filter(near) {
                break of;
            }
            leader = Some(best);
            // A deferred candidate is compared with the new leader at the end of each block since it was deferred. If
            // it is close enough to the leader at one of them, it is deferred again from the first such end.
            for (c, then) in std::mem::take(&mut resting) {
                let rests = ends.iter().copied().filter(|end| *end >= then && *end <= m);
                match rests.into_iter().find(|end| close(c, best, *end)) {
                    Some(end) => resting.push((c, end)),
                    None => awake.push(c),
                }
            }
        };
        awake.retain(|c| !clear(*c, of, m));
        let (rest, stay) = awake.iter().partition(|c| **c != of && close(**c, of, m));
        awake = stay;
        resting.extend(Vec::into_iter(rest).map(|c: usize| (c, m)));
        if awake.len() == 1 {
            return result(of, m);
        }
    }
    awake.extend(resting.iter().map(|(c, _)| c));
    let planned = points.len();
    let best = awake.into_iter().min_by_key(|c| (errors_on(*c, planned), *c)).unwrap_or(0);
    result(best, planned)
}

/// Reads CSV without quotes with the standard library.
fn by_commas(text: &str) -> Result<Seen, Failure> {
    let mut seen = Seen::default();
    for line in text.lines().skip(1) {
        for (j, value) in line.split(',').enumerate() {
            seen.value(j, value.parse()?);
        }
        seen.rows += 1;
    }
    Ok(seen)
}

/// Reads LIBSVM text with the standard library.
fn by_blanks(text: &str) -> Result<Seen, Failure> {
    let mut seen = Seen::default();
    for line in text.lines() {
        let mut tokens = line.split(' ');
        seen.value(0, tokens.next().ok_or("no label")?.parse()?);
        for pair in tokens {
            let (index, value) = pair.split_once(':').ok_or("no pair")?;
            seen.value(index.parse::<usize>()? - 1, value.parse()?);
        }
        seen.rows += 1;
    }
    Ok(seen)
}
