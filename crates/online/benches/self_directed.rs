//! Greedy to a perfect labelling beside one scan |Xw| over the same pool, which is the unit that its
//! cost is counted in.

use criterion::{Criterion, criterion_group, criterion_main};
use halfspaces_data::{Marginal, UnitSphere, random_target};
use halfspaces_linalg::{Classifier, margins_into};
use halfspaces_online::Greedy;
use std::hint::black_box;

const POINTS: usize = 1_000_000;
const DIM: usize = 50;

fn greedy(c: &mut Criterion) {
    let Ok(target) = random_target(DIM, 1) else { return };
    let Ok(points) = UnitSphere::new(DIM).and_then(|s| s.sample(POINTS, 2)) else { return };
    let Ok(labels) = target.label_all(&points) else { return };
    let mut group = c.benchmark_group("greedy, 10^6 x 50");
    group.sample_size(10);
    let mut margins = vec![0.0; POINTS];
    group.bench_function("one scan", |b| {
        b.iter(|| margins_into(black_box(&points), target.normal(), &mut margins).is_ok());
    });
    group.bench_function("to a perfect labelling", |b| {
        b.iter(|| Greedy::simulate(black_box(&points), &labels).map(|run| run.passes));
    });
    group.finish();
}

criterion_group!(benches, greedy);
criterion_main!(benches);
