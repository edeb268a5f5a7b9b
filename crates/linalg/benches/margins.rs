//! Cost of scanning a pool and of finding its largest margins, beside a plain sum over the buffer
//! (the read bandwidth, the physical limit) and a full sort.

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use halfspaces_linalg::{DescendingMargins, Points, margins_into};
use std::hint::black_box;

const POINTS: usize = 200_000;
const DIM: usize = 50;

/// Deterministic values in [-1, 1) without an RNG dependency.
fn value(i: usize) -> f64 {
    let mixed = (i as u64)
        .wrapping_mul(0x9E37_79B9_7F4A_7C15)
        .rotate_left(31)
        .wrapping_mul(0xD6E8_FEB8_6659_FD93);
    (mixed >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}

fn scan(c: &mut Criterion) {
    let Ok(points) = Points::new((0..POINTS * DIM).map(value).collect(), DIM) else { return };
    let w: Vec<f64> = (0..DIM).map(|j| value(j + 7)).collect();
    let mut out = vec![0.0; POINTS];
    let mut group = c.benchmark_group("scan");
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
    group.bench_function("margins_into", |b| {
        b.iter(|| margins_into(&points, black_box(&w), &mut out))
    });
    group.finish();

    // Filled here as well, for runs that are filtered to this group.
    if margins_into(&points, &w, &mut out).is_err() {
        return;
    }
    let mut group = c.benchmark_group("largest margins");
    group.throughput(Throughput::Elements(POINTS as u64));
    for count in [1, 100, 10_000, POINTS] {
        group.bench_function(format!("first {count}"), |b| {
            b.iter(|| DescendingMargins::new(black_box(&out)).take(count).last());
        });
    }
    group.bench_function("full sort", |b| {
        b.iter_batched(
            || (0..POINTS).collect::<Vec<usize>>(),
            |mut order| {
                order.sort_unstable_by(|&i, &j| out[j].abs().total_cmp(&out[i].abs()));
                order
            },
            BatchSize::LargeInput,
        );
    });
    group.finish();
}

criterion_group!(benches, scan);
criterion_main!(benches);
