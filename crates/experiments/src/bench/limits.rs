//! The limits of this machine: the speed of reading memory and of multiplying matrices.

use super::definition::{Size, best_time};
use crate::Failure;
use faer::linalg::matmul::matmul;
use faer::traits::ComplexField;
use faer::traits::pulp::{Arch, Simd, WithSimd};
use faer::{Accum, Mat, Par};
use serde::Serialize;
use std::fmt;
use std::hint::black_box;

/// The limits, each the best of several rounds.
#[derive(Debug, Serialize)]
pub(super) struct Limits {
    /// The speed of reading a buffer far larger than any cache, in GB/s.
    read_one_thread: f64,
    read_two_threads: f64,
    /// The speed of faer's matrix product on one thread, in GFLOP/s.
    product_f64: f64,
    product_f32: f64,
    /// The one-minute load average of Linux before the run. A load far above 0 slows all jobs.
    load: Option<f64>,
}

impl Limits {
    pub(super) fn measure(size: Size) -> Result<Limits, Failure> {
        let rounds = if size == Size::Quick { 9 } else { 40 };
        let buffer = vec![1.0; 40_000_000];
        let bytes = size_of_val(buffer.as_slice()) as f64;
        let rate = |read: fn(&[f64])| -> Result<f64, Failure> {
            let seconds = best_time(rounds, || {
                read(&buffer);
                Ok(())
            })?;
            Ok(bytes / seconds * 1e-9)
        };
        let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
        let load = load.split(' ').next().and_then(|mean| mean.parse().ok());
        Ok(Limits {
            load,
            read_one_thread: rate(read)?,
            read_two_threads: rate(read_with_two)?,
            product_f64: product_rate::<f64>(rounds)?,
            product_f32: product_rate::<f32>(rounds)?,
        })
    }
}

impl fmt::Display for Limits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(load) = self.load {
            writeln!(f, "load before the run: {load}")?;
        }
        writeln!(
            f,
            "read: {:.1} GB/s with one thread, {:.1} with two; faer's product, one thread: {:.0} \
             GFLOP/s double, {:.0} single precision",
            self.read_one_thread, self.read_two_threads, self.product_f64, self.product_f32
        )
    }
}

fn product_rate<T: ComplexField + From<f32>>(rounds: usize) -> Result<f64, Failure> {
    const SIDE: usize = 384;
    let entry = |i: usize, j: usize| T::from((i * 7 + j * 3) as f32 % 11.0 - 5.0);
    let (a, b) = (Mat::from_fn(SIDE, SIDE, entry), Mat::from_fn(SIDE, SIDE, entry));
    let mut product = Mat::<T>::zeros(SIDE, SIDE);
    let seconds = best_time(rounds.max(9), || {
        matmul(product.as_mut(), Accum::Replace, &a, &b, T::from(1.0), Par::Seq);
        black_box(&mut product);
        Ok(())
    })?;
    Ok(2.0 * (SIDE as f64).powi(3) / seconds * 1e-9)
}

/// A sum that uses the widest vector instructions of the machine.
struct Sum<'a>(&'a [f64]);

impl WithSimd for Sum<'_> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> f64 {
        let (blocks, rest) = self.0.as_chunks::<32>();
        let mut sums = [0.0; 32];
        for block in blocks {
            for (s, v) in sums.iter_mut().zip(block) {
                *s += v;
            }
        }
        sums.iter().chain(rest).sum()
    }
}

/// Reads a buffer by summing it.
pub(super) fn read(values: &[f64]) {
    black_box(Arch::new().dispatch(Sum(black_box(values))));
}

/// Reads a buffer as [`read`] does, with one thread for each half.
pub(super) fn read_with_two(values: &[f64]) {
    let (first, second) = values.split_at(values.len() / 2);
    rayon::join(|| read(first), || read(second));
}

/// Counts the line ends in a text. Every program that reads lines must do at least this work.
pub(super) fn count_lines(text: &[u8]) -> usize {
    let (blocks, rest) = black_box(text).as_chunks::<128>();
    let ends = |bytes: &[u8]| bytes.iter().map(|b| u8::from(*b == b'\n')).sum::<u8>() as usize;
    blocks.iter().map(|block| ends(block)).sum::<usize>() + ends(rest)
}
