//! Jobs based on matrix products: the choice among candidates, and the kernel perceptron.

use super::definition::{Build, Definition, Job, Target, digest};
use super::pools::noisy;
use super::shape::{Shape, shape};
use crate::Failure;
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatMut, MatRef, Par};
use halfspaces_data::{Gaussian, Marginal, random_target};
use halfspaces_linalg::{Classifier, Label, PointSet, Points, Threads};
use halfspaces_online::{Kernel, KernelPerceptron, Transcript};
use halfspaces_pac::{Candidates, Choice, Elimination};
use std::hint::black_box;
use std::rc::Rc;

/// δ, the failure probability of the elimination.
pub(super) const FAILURE: f64 = 0.05;
/// One of every `NOISE_EVERY` labels is flipped.
const NOISE_EVERY: usize = 5;

pub(super) const JOBS: &[Definition] = &[
    choice_of(
        "selection",
        "choice among candidates, no elimination (candidates)",
        Target::Multiple(1.25),
        |_, shape| selection(shape, Elimination::Never),
    ),
    choice_of(
        "selection-statistical",
        "the same, with statistical elimination",
        Target::Peers,
        |_, shape| selection(shape, Elimination::Statistical),
    ),
    choice_of(
        "selection-early-stop",
        "the same, with early stop",
        Target::Multiple(0.12),
        |_, shape| selection(shape, Elimination::EarlyStop),
    ),
    kernel_of("kernel-clean", "Gaussian kernel perceptron, clean labels", |_, shape| {
        kernel_perceptron(shape, false)
    }),
    kernel_of("kernel-noisy", "Gaussian kernel perceptron, noisy labels", |_, shape| {
        kernel_perceptron(shape, true)
    }),
];

const fn choice_of(
    id: &'static str,
    what: &'static str,
    target: Target,
    build: Build,
) -> Definition {
    let shapes = [shape(600, 7, 30), shape(4096, 50, 20_000), shape(10_000, 50, 100_000)];
    Definition { id, what, limit: "f32 product", target, shapes, build }
}

const fn kernel_of(id: &'static str, what: &'static str, build: Build) -> Definition {
    let shapes = [shape(300, 5, 0), shape(20_000, 20, 0), shape(20_000, 20, 0)];
    Definition { id, what, limit: "f64 products only", target: Target::Peers, shapes, build }
}

/// Candidates, and the sample on which they are compared.
pub(super) struct Race {
    pub(super) points: Points,
    pub(super) labels: Vec<Label>,
    pub(super) candidates: Points,
}

/// Draws candidates that gradually approach the target, like the iterates of an online learner.
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

pub(super) fn choose(
    race: &Race,
    elimination: Elimination,
    threads: Threads,
) -> Result<Choice, Failure> {
    let candidates = Candidates::new(&race.candidates, elimination, FAILURE)?.with_threads(threads);
    Ok(candidates.choose(&race.points, &race.labels)?)
}

/// A digest of the index and the error count of the chosen candidate.
fn digest_of_choice(choice: Choice) -> u64 {
    digest([choice.index as u64, choice.errors])
}

fn selection(shape: Shape, elimination: Elimination) -> Result<Job, Failure> {
    const TILE: usize = 256;
    let race = race(shape.n, shape.d, shape.more)?;
    let single = |points: &Points| {
        let values: Vec<f32> = points.as_slice().iter().map(|v| *v as f32).collect();
        values
    };
    let (x, w, d) = (single(&race.points), single(&race.candidates), shape.d);
    let mut product = vec![0.0f32; BLOCK * TILE];
    // The product is computed in tiles that stay in cache; the whole product would not fit into memory.
    let limit = move || {
        for block in x.chunks(BLOCK * d) {
            let z = MatRef::from_row_major_slice(block, block.len() / d, d);
            for tile in w.chunks(TILE * d) {
                let candidates = MatRef::from_row_major_slice(tile, tile.len() / d, d);
                let (rows, columns) = (z.nrows(), candidates.nrows());
                let into = &mut product[..rows * columns];
                let into = MatMut::from_column_major_slice_mut(into, rows, columns);
                matmul(into, Accum::Replace, z, candidates.transpose(), 1.0, Par::Seq);
            }
        }
        black_box(&mut product);
        Ok(())
    };
    Ok(Job::new(move || choose(&race, elimination, Threads::ONE).map(digest_of_choice), limit))
}

/// Examples per block.
pub(super) const BLOCK: usize = 512;

/// Points and labels of the kernel perceptron's job.
pub(super) fn kernel_pool(n: usize, d: usize) -> Result<(Points, Vec<Label>), Failure> {
    let target = random_target(d, 1)?;
    let points = Gaussian::new(d, 1.0)?.sample(n, 2)?;
    let labels = target.label_all(&points)?;
    Ok((points, labels))
}

/// A kernel perceptron whose kernel has scale 2d. At this scale, a support vector influences neighbouring points.
pub(super) fn fresh_kernel(d: usize) -> Result<KernelPerceptron, Failure> {
    Ok(KernelPerceptron::new(d, Kernel::Gaussian { scale: 2.0 * d as f64 })?)
}

pub(super) fn mistakes(transcript: &Transcript) -> u64 {
    digest(transcript.rounds().iter().filter(|r| r.is_mistake()).map(|r| r.index as u64))
}

fn kernel_perceptron(shape: Shape, with_noise: bool) -> Result<Job, Failure> {
    let (points, clean) = kernel_pool(shape.n, shape.d)?;
    let labels = if with_noise { noisy(&clean) } else { clean };
    let pool = Rc::new((points, labels));
    let transcript = fresh_kernel(shape.d)?.learn_all(&pool.0, &pool.1)?;
    let multiplied = Rc::clone(&pool);
    let mut out = Vec::new();
    let d = shape.d;
    let limit = move || {
        products(&multiplied.0, &transcript, &mut out);
        Ok(())
    };
    let run = move || Ok(mistakes(&fresh_kernel(d)?.learn_all(&pool.0, &pool.1)?));
    Ok(Job::new(run, limit))
}

/// Computes the products of each block of points with the support vectors found before that block, and nothing else.
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

/// XᵀX on one thread.
pub(super) fn gram(points: &Points, into: &mut Mat<f64>) {
    let x = points.as_mat();
    matmul(into.as_mut(), Accum::Replace, x.transpose(), x, 1.0, Par::Seq);
    black_box(into);
}
