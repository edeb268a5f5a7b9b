//! Time to position beside faer's XᵀX for the same shape, the unit in which a pass is counted.
//!
//! `HALFSPACES_BENCH_LARGE=1` adds 100 000 × 100 and 1 000 000 × 50.

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par};
use halfspaces_data::{Clusters, Gaussian, Marginal, StudentT};
use halfspaces_forster::{Accuracy, ForsterTransform};
use halfspaces_linalg::{InputError, Params, PointSet, Points};
use std::hint::black_box;

fn pools(n: usize, d: usize) -> Result<[(&'static str, Points); 3], InputError> {
    Ok([
        ("gaussian", Gaussian::new(d, 1.0)?.sample(n, 1)?),
        ("student-t", StudentT::new(d, 1.0, 1e6)?.sample(n, 1)?),
        ("clustered", Clusters::random(d, 10, 0.1, 1)?.sample(n, 2)?),
    ])
}

fn forster(c: &mut Criterion) {
    let mut shapes = vec![(10_000, 20), (100_000, 50)];
    if std::env::var_os("HALFSPACES_BENCH_LARGE").is_some() {
        shapes.extend([(100_000, 100), (1_000_000, 50)]);
    }
    for (n, d) in shapes {
        let Ok(pools) = pools(n, d) else { return };
        let mut group = c.benchmark_group(format!("forster {n} x {d}"));
        group.sample_size(10);
        for (name, points) in &pools {
            group.bench_with_input(BenchmarkId::new("faer XtX", name), points, |b, points| {
                let mut product = Mat::<f64>::zeros(points.dim(), points.dim());
                let x = points.as_mat();
                b.iter(|| {
                    matmul(product.as_mut(), Accum::Replace, x.transpose(), x, 1.0, Par::Seq);
                    black_box(product[(0, 0)])
                });
            });
            for accuracy in [Accuracy::OneSided(0.5), Accuracy::TwoSided(1e-6)] {
                let Ok(solver) = ForsterTransform::params().accuracy(accuracy).check() else {
                    return;
                };
                let id = BenchmarkId::new(format!("{accuracy:?}"), name);
                group.bench_with_input(id, points, |b, points| b.iter(|| solver.fit(points)));
            }
        }
        group.finish();
    }
}

criterion_group!(benches, forster);
criterion_main!(benches);
