//! What rests on matrix products: the choice among candidates, and the kernel perceptron.

use super::definition::{Definition, Job, Target, digest};
use super::pools::noisy;
use super::shape::{Shape, shape};
use crate::Failure;
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatMut, MatRef, Par};
use halfspaces_data::{Gaussian, Marginal, random_target};
use halfspaces_linalg::{Classifier, DenseRow, Label, PointSet, Points, RowView};
use halfspaces_online::{AsGiven, Kernel, KernelPerceptron, Transcript, run};
use halfspaces_pac::{Candidates, Choice, Elimination, schedule};
use std::hint::black_box;
use std::rc::Rc;

/// δ of the elimination.
const FAILURE: f64 = 0.05;
/// Share of labels that no candidate explains.
const NOISE_EVERY: usize = 5;

pub(super) const JOBS: &[Definition] = &[
    Definition {
        id: "selection",
        what: "choice among candidates, all counted (candidates)",
        limit: "f32 product",
        target: Target::Multiple(1.3),
        shapes: [shape(600, 7, 30), shape(4096, 50, 20_000), shape(10_000, 50, 100_000)],
        build: |_, shape| selection(shape, Elimination::Never),
    },
    Definition {
        id: "selection-clear",
        what: "the same, clearly worse ones dropped",
        limit: "f32 product",
        target: Target::Peers,
        shapes: [shape(600, 7, 30), shape(4096, 50, 20_000), shape(10_000, 50, 100_000)],
        build: |_, shape| selection(shape, Elimination::Statistical),
    },
    Definition {
        id: "selection-enough",
        what: "the same, ended when the best is good enough",
        limit: "f32 product",
        target: Target::Multiple(0.13),
        shapes: [shape(600, 7, 30), shape(4096, 50, 20_000), shape(10_000, 50, 100_000)],
        build: |_, shape| selection(shape, Elimination::EarlyStop),
    },
    Definition {
        id: "kernel-clean",
        what: "Gaussian kernel perceptron, clean labels",
        limit: "f64 products alone",
        target: Target::Peers,
        shapes: [shape(300, 5, 0), shape(20_000, 20, 0), shape(20_000, 20, 0)],
        build: |_, shape| kernel_perceptron(shape, false),
    },
    Definition {
        id: "kernel-noisy",
        what: "Gaussian kernel perceptron, noisy labels",
        limit: "f64 products alone",
        target: Target::Peers,
        shapes: [shape(300, 5, 0), shape(20_000, 20, 0), shape(20_000, 20, 0)],
        build: |_, shape| kernel_perceptron(shape, true),
    },
];

/// Candidates to choose among, and the sample to choose by.
pub(super) struct Race {
    pub(super) points: Points,
    pub(super) labels: Vec<Label>,
    pub(super) candidates: Points,
}

/// Candidates around the target, the nearer the later: what an online learner hands over.
pub(super) fn race(n: usize, d: usize, candidates: usize) -> Result<Race, Failure> {
    let points = Gaussian::new(d, 1.0)?.sample(n, 1)?.normalised()?;
    let target = random_target(d, 2)?;
    let mut labels = target.label_all(&points)?;
    labels.iter_mut().step_by(NOISE_EVERY).for_each(|y| *y = -*y);
    let mut rows = Gaussian::new(d, 1.0)?.sample(candidates, 3)?.into_vec();
    for (i, row) in rows.chunks_exact_mut(d).enumerate() {
        let weight = 20.0 * i as f64 / candidates as f64;
        row.iter_mut().zip(target.normal()).for_each(|(r, t)| *r += weight * t);
    }
    Ok(Race { points, labels, candidates: Points::new(rows, d)? })
}

pub(super) fn choose(race: &Race, elimination: Elimination) -> Result<Choice, Failure> {
    let candidates = Candidates::new(&race.candidates, elimination, FAILURE)?;
    Ok(candidates.choose(&race.points, &race.labels)?)
}

/// Index and errors of the choice.
fn told(choice: Choice) -> u64 {
    digest([choice.index as u64, choice.errors])
}

fn selection(shape: Shape, elimination: Elimination) -> Result<Job, Failure> {
    const TILE: usize = 256;
    let race = Rc::new(race(shape.n, shape.d, shape.more)?);
    let plain_race = Rc::clone(&race);
    let single = |points: &Points| {
        let values: Vec<f32> = points.as_slice().iter().map(|v| *v as f32).collect();
        values
    };
    let (x, w, d) = (single(&race.points), single(&race.candidates), shape.d);
    let mut product = vec![0.0f32; BLOCK * TILE];
    // In tiles that stay in cache; the whole product would not fit into memory.
    let limit = move || {
        for block in x.chunks(BLOCK * d) {
            let z = MatRef::from_row_major_slice(block, block.len() / d, d);
            for tile in w.chunks(TILE * d) {
                let candidates = MatRef::from_row_major_slice(tile, tile.len() / d, d);
                let (rows, columns) = (z.nrows(), candidates.nrows());
                let Some(into) = product.get_mut(..rows * columns) else { continue };
                let into = MatMut::from_column_major_slice_mut(into, rows, columns);
                matmul(into, Accum::Replace, z, candidates.transpose(), 1.0, Par::Seq);
            }
        }
        black_box(&mut product);
        Ok(())
    };
    let plain = move || Ok(plain_choice(&plain_race, elimination));
    Ok(Job::new(move || choose(&race, elimination).map(told), limit, plain))
}

/// Examples counted at once.
const BLOCK: usize = 512;

/// The rules of docs/theory/thinned-selection.md, example by example.
fn plain_choice(race: &Race, elimination: Elimination) -> u64 {
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
    let told = |c: usize, m: usize| digest([c as u64, errors_on(c, m)]);
    let mut awake: Vec<usize> = (0..wrong.len()).collect();
    let mut resting: Vec<(usize, usize)> = Vec::new();
    let mut leader = None;
    // Where blocks of examples ended: at checks, and when they are full.
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
            // Each rests again from the first end of a block at which the new leader is close enough.
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
            return told(of, m);
        }
    }
    awake.extend(resting.iter().map(|(c, _)| c));
    let planned = points.len();
    let best = awake.into_iter().min_by_key(|c| (errors_on(*c, planned), *c)).unwrap_or(0);
    told(best, planned)
}

/// Points and labels of the kernel perceptron's job.
pub(super) fn kernel_pool(n: usize, d: usize) -> Result<(Points, Vec<Label>), Failure> {
    let target = random_target(d, 1)?;
    let points = Gaussian::new(d, 1.0)?.sample(n, 2)?;
    let labels = target.label_all(&points)?;
    Ok((points, labels))
}

/// The width that makes neighbours count: twice the dimension.
pub(super) fn fresh_kernel(d: usize) -> Result<KernelPerceptron, Failure> {
    Ok(KernelPerceptron::new(d, Kernel::Gaussian { scale: 2.0 * d as f64 })?)
}

fn mistakes(transcript: &Transcript) -> u64 {
    digest(transcript.rounds().iter().filter(|r| r.is_mistake()).map(|r| r.index as u64))
}

fn kernel_perceptron(shape: Shape, with_noise: bool) -> Result<Job, Failure> {
    let (points, clean) = kernel_pool(shape.n, shape.d)?;
    let labels = if with_noise { noisy(&clean) } else { clean };
    let pool = Rc::new((points, labels));
    let transcript = fresh_kernel(shape.d)?.learn_all(&pool.0, &pool.1)?;
    let (multiplied, plain) = (Rc::clone(&pool), Rc::clone(&pool));
    let mut out = Vec::new();
    let d = shape.d;
    let limit = move || {
        products(&multiplied.0, &transcript, &mut out);
        Ok(())
    };
    let run_in_bulk = move || Ok(mistakes(&fresh_kernel(d)?.learn_all(&pool.0, &pool.1)?));
    let plain = move || {
        let (_, transcript) = run(fresh_kernel(d)?, &plain.0, &plain.1, AsGiven::new())?;
        Ok(mistakes(&transcript))
    };
    Ok(Job::new(run_in_bulk, limit, plain))
}

/// The products of each block of points with the supports known before it, and nothing else.
fn products(points: &Points, transcript: &Transcript, out: &mut Vec<f64>) {
    const BLOCK: usize = 256;
    let d = points.dim();
    let mut supports = Vec::new();
    let blocks = points.as_slice().chunks(BLOCK * d);
    for (rows, rounds) in blocks.zip(transcript.rounds().chunks(BLOCK)) {
        let (size, known) = (rounds.len(), supports.len() / d);
        out.resize(size * known, 0.0);
        if known > 0 {
            matmul(
                MatMut::from_row_major_slice_mut(out, size, known),
                Accum::Replace,
                MatRef::from_row_major_slice(rows, size, d),
                MatRef::from_row_major_slice(&supports, known, d).transpose(),
                1.0,
                Par::Seq,
            );
        }
        black_box(&mut *out);
        for (x, round) in rows.chunks(d).zip(rounds) {
            if round.is_mistake() {
                supports.extend_from_slice(x);
            }
        }
    }
}

/// XᵀX, one thread.
pub(super) fn gram(points: &Points, into: &mut Mat<f64>) {
    let x = points.as_mat();
    matmul(into.as_mut(), Accum::Replace, x.transpose(), x, 1.0, Par::Seq);
    black_box(into);
}
