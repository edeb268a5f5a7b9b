//! One pass of the Gaussian kernel perceptron, in bulk and one by one; `cargo xtask bench` has it beside
//! the bare matrix products.

use criterion::{Criterion, criterion_group, criterion_main};
use halfspaces_data::{Gaussian, Marginal, random_target};
use halfspaces_linalg::{Classifier, Label, Points};
use halfspaces_online::{AsGiven, Kernel, KernelPerceptron, Transcript, run};

const POINTS: usize = 20_000;
const DIM: usize = 20;

fn fresh() -> Option<KernelPerceptron> {
    KernelPerceptron::new(DIM, Kernel::Gaussian { scale: 2.0 * DIM as f64 }).ok()
}

fn in_bulk(points: &Points, labels: &[Label]) -> Option<Transcript> {
    fresh()?.learn_all(points, labels).ok()
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
        group.bench_function("in bulk", |b| b.iter(|| in_bulk(&points, &labels)));
        group.bench_function("one by one", |b| {
            b.iter(|| run(fresh()?, &points, &labels, AsGiven::new()).ok());
        });
        group.finish();
    }
}

criterion_group!(benches, gaussian);
criterion_main!(benches);
