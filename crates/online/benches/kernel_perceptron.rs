//! One pass of the Gaussian kernel perceptron, in bulk and one by one, beside the bare matrix
//! product of all points with the supports each of them meets.

use criterion::{Criterion, criterion_group, criterion_main};
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use halfspaces_data::{Gaussian, Marginal, random_target};
use halfspaces_linalg::{Classifier, Label, Points};
use halfspaces_online::{AsGiven, Kernel, KernelPerceptron, Transcript, run};
use std::hint::black_box;

const POINTS: usize = 20_000;
const DIM: usize = 20;
const BLOCK: usize = 256;

fn fresh() -> Option<KernelPerceptron> {
    KernelPerceptron::new(DIM, Kernel::Gaussian { scale: 2.0 * DIM as f64 }).ok()
}

fn in_bulk(points: &Points, labels: &[Label]) -> Option<Transcript> {
    fresh()?.learn_all(points, labels).ok()
}

/// The products of each block of points with the supports known before it, and nothing else.
fn products(points: &Points, transcript: &Transcript, out: &mut Vec<f64>) {
    let mut supports = Vec::new();
    let blocks = points.as_slice().chunks(BLOCK * DIM);
    for (rows, rounds) in blocks.zip(transcript.rounds().chunks(BLOCK)) {
        let (size, known) = (rounds.len(), supports.len() / DIM);
        out.resize(size * known, 0.0);
        if known > 0 {
            matmul(
                MatMut::from_row_major_slice_mut(out, size, known),
                Accum::Replace,
                MatRef::from_row_major_slice(rows, size, DIM),
                MatRef::from_row_major_slice(&supports, known, DIM).transpose(),
                1.0,
                Par::Seq,
            );
        }
        black_box(&mut *out);
        for (x, round) in rows.chunks(DIM).zip(rounds) {
            if round.is_mistake() {
                supports.extend_from_slice(x);
            }
        }
    }
}

fn gaussian(c: &mut Criterion) {
    let Ok(target) = random_target(DIM, 1) else { return };
    let Ok(points) = Gaussian::new(DIM, 1.0).and_then(|g| g.sample(POINTS, 2)) else { return };
    let Ok(clean) = target.label_all(&points) else { return };
    // Every seventh label wrong.
    let noisy = clean.iter().enumerate().map(|(i, y)| if i % 7 == 0 { -*y } else { *y }).collect();
    for (name, labels) in [("clean", clean), ("noisy", noisy)] {
        let Some(transcript) = in_bulk(&points, &labels) else { return };
        let mistakes = transcript.mistakes();
        let mut group = c.benchmark_group(format!("Gaussian kernel, {name}, {mistakes} supports"));
        group.sample_size(10);
        let mut out = Vec::new();
        group.bench_function("product alone", |b| {
            b.iter(|| products(&points, &transcript, &mut out));
        });
        group.bench_function("in bulk", |b| b.iter(|| in_bulk(&points, &labels)));
        group.bench_function("one by one", |b| {
            b.iter(|| run(fresh()?, &points, &labels, AsGiven::new()).ok());
        });
        group.finish();
    }
}

criterion_group!(benches, gaussian);
criterion_main!(benches);
