//! One pass of the perceptron over dense points, beside a plain sum over the same buffer (the read
//! bandwidth, which is the limit).

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use halfspaces_data::{MarginBall, Marginal, random_target};
use halfspaces_linalg::{Classifier, PointSet};
use halfspaces_online::{OnlineLearner, Perceptron};
use std::hint::black_box;

const POINTS: usize = 200_000;
const DIM: usize = 50;

fn pass(c: &mut Criterion) {
    let Ok(target) = random_target(DIM, 1) else { return };
    let sampled = MarginBall::new(&target, 0.05).and_then(|m| m.sample(POINTS, 2));
    let Ok(points) = sampled else { return };
    let Ok(labels) = target.label_all(&points) else { return };
    let mut group = c.benchmark_group("perceptron");
    group.throughput(Throughput::Bytes((POINTS * DIM * size_of::<f64>()) as u64));
    group.bench_function("plain sum (read bandwidth)", |b| {
        b.iter(|| {
            let (blocks, _) = black_box(points.as_slice()).as_chunks::<16>();
            let mut sums = [0.0; 16];
            for block in blocks {
                for (s, v) in sums.iter_mut().zip(block) {
                    *s += v;
                }
            }
            sums
        });
    });
    group.bench_function("one pass, one by one", |b| {
        b.iter(|| {
            let mut learner = Perceptron::new(DIM).ok()?;
            for (x, y) in points.rows().zip(&labels) {
                learner.observe(x, *y).ok()?;
            }
            Some(learner)
        });
    });
    group.bench_function("one pass", |b| {
        b.iter(|| {
            let mut learner = Perceptron::new(DIM).ok()?;
            learner.learn_pool(&points, &labels).ok()?;
            Some(learner)
        });
    });
    group.finish();
}

criterion_group!(benches, pass);
criterion_main!(benches);
