//! The Perspectron's pass over examples in memory against a plain read of them, and the choice among
//! candidates by every way to drop some; `cargo xtask bench` has it beside the product it rests on.

#![allow(clippy::unwrap_used, reason = "what cannot be set up cannot be measured")]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use halfspaces_data::Marginal;
use halfspaces_data::{Gaussian, Instance, LabelledPoints, MarginBall, Rcn, random_target};
use halfspaces_linalg::{Classifier, Label, Params, PointSet, Points};
use halfspaces_pac::{Candidates, Elimination, GridPerspectron, Margin, Perspectron};
use std::hint::black_box;

const N: usize = 200_000;
const DIM: usize = 50;

fn pass(c: &mut Criterion) {
    let target = random_target(DIM, 1).unwrap();
    let ball = MarginBall::new(&target, 0.05).unwrap();
    let instance = Instance::new(ball, target, Rcn::new(0.2).unwrap()).unwrap();
    let (points, labels) = instance.sample(N, 2).unwrap();
    let mut group = c.benchmark_group("200000 x 50");
    group.throughput(Throughput::Bytes((N * DIM * 8) as u64));
    group.bench_function("read", |b| b.iter(|| sum(black_box(points.as_slice()))));
    for project in [false, true] {
        let name = if project { "perspectron, projected" } else { "perspectron" };
        let learner = Perspectron::params(0.2, 0.05).project(project).check().unwrap();
        group.bench_function(name, |b| {
            b.iter(|| {
                let mut fitting = learner.start(DIM).unwrap();
                fitting.advance(&mut LabelledPoints::new(&points, &labels).unwrap()).unwrap()
            });
        });
    }
    group.finish();
}

/// A pass of all rates of a grid over the same examples, as many as take the same time to read.
fn grid(c: &mut Criterion) {
    for dim in [20, DIM, 1000] {
        let n = N * DIM / dim / 10;
        let target = random_target(dim, 1).unwrap();
        let ball = MarginBall::new(&target, 0.05).unwrap();
        let instance = Instance::new(ball, target, Rcn::new(0.2).unwrap()).unwrap();
        let (points, labels) = instance.sample(n, 2).unwrap();
        let learner = GridPerspectron::params(Margin::Known(0.05)).excess(0.1).check().unwrap();
        let mut group = c.benchmark_group(format!("{n} x {dim}"));
        group.throughput(Throughput::Bytes((n * dim * 8) as u64));
        group.bench_function("grid of rates", |b| {
            b.iter(|| {
                let mut fitting = learner.start(dim).unwrap();
                fitting.advance(&mut LabelledPoints::new(&points, &labels).unwrap()).unwrap()
            });
        });
        group.finish();
    }
}

/// A plain sum over the buffer: what reading it costs.
fn sum(values: &[f64]) -> f64 {
    let (blocks, rest) = values.as_chunks::<8>();
    let mut sums = [0.0; 8];
    for block in blocks {
        for (s, v) in sums.iter_mut().zip(block) {
            *s += v;
        }
    }
    sums.iter().sum::<f64>() + rest.iter().sum::<f64>()
}

fn selection(c: &mut Criterion) {
    const CANDIDATES: usize = 20_000;
    const EXAMPLES: usize = 4096;
    let points = Gaussian::new(DIM, 1.0).unwrap().sample(EXAMPLES, 1).unwrap();
    let points = points.normalised().unwrap();
    let target = random_target(DIM, 2).unwrap();
    let labels: Vec<Label> = target.label_all(&points).unwrap();
    // Candidates around the target, the better the later.
    let noise = Gaussian::new(DIM, 1.0).unwrap().sample(CANDIDATES, 3).unwrap();
    let mut rows = noise.into_vec();
    for (i, row) in rows.chunks_exact_mut(DIM).enumerate() {
        let weight = 20.0 * i as f64 / CANDIDATES as f64;
        row.iter_mut().zip(target.normal()).for_each(|(r, t)| *r += weight * t);
    }
    let candidates = Points::new(rows, DIM).unwrap();
    let mut group = c.benchmark_group("20000 candidates, 4096 examples, d = 50");
    group.sample_size(10);
    for (name, elimination) in [
        ("never", Elimination::Never),
        ("lossless", Elimination::Lossless),
        ("statistical", Elimination::Statistical),
        ("early-stop", Elimination::EarlyStop),
    ] {
        group.bench_function(name, |b| {
            b.iter(|| {
                let candidates = Candidates::new(&candidates, elimination, 0.05).unwrap();
                candidates.choose(&points, &labels).unwrap()
            });
        });
    }
    group.finish();
}

criterion_group!(benches, pass, grid, selection);
criterion_main!(benches);
