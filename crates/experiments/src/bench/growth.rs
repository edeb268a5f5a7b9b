//! Growth of running times: each job is timed at several values of n or d, and an exponent is fitted to its times. The
//! exponent is used to extrapolate to larger problems.

use super::definition::{Definition, Size, best_time, duration};
use super::jobs::definitions;
use super::pools::Pools;
use super::shape::{Shape, shape};
use crate::Failure;
use halfspaces_eval::stats;
use serde::Serialize;
use std::fmt;

/// Times of one job as one of its sizes grows.
#[derive(Debug, Serialize)]
pub(super) struct Growth {
    job: &'static str,
    what: &'static str,
    /// The size that grows: n or d.
    variable: char,
    /// The fixed size.
    fixed: String,
    sizes: Vec<usize>,
    seconds: Vec<f64>,
    /// Slope of log time against log size, by least squares.
    exponent: f64,
}

impl fmt::Display for Growth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let points: Vec<String> = self
            .sizes
            .iter()
            .zip(&self.seconds)
            .map(|(size, seconds)| format!("{size}: {}", duration(*seconds)))
            .collect();
        let (job, fixed, points) = (self.what, &self.fixed, points.join(", "));
        write!(f, "| {job} | {fixed} | {points} | {}^{:.2} |", self.variable, self.exponent)
    }
}

/// A job, its fixed sizes, the values of n, and the values of d.
const SERIES: [(&str, Shape, &[usize], &[usize]); 6] = [
    (
        "perceptron",
        shape(100_000, 50, 0),
        &[30_000, 100_000, 300_000, 1_000_000],
        &[10, 30, 100, 300],
    ),
    (
        "perspectron",
        shape(100_000, 50, 0),
        &[30_000, 100_000, 300_000, 1_000_000],
        &[10, 30, 100, 300],
    ),
    ("greedy", shape(100_000, 20, 0), &[30_000, 100_000, 300_000, 1_000_000], &[5, 10, 20, 40]),
    ("forster", shape(30_000, 30, 0), &[10_000, 30_000, 100_000, 300_000], &[10, 20, 40, 80]),
    ("selection", shape(2048, 50, 4000), &[1024, 2048, 4096, 8192], &[25, 50, 100, 200]),
    ("csv", shape(20_000, 20, 0), &[5_000, 20_000, 80_000], &[5, 20, 80]),
];

pub(super) fn table(size: Size) -> Result<(&'static str, Vec<Growth>), Failure> {
    let all = definitions();
    let mut rows = Vec::new();
    for (id, at, points, dims) in SERIES {
        let job = all.iter().find(|job| job.id == id);
        let job = job.ok_or_else(|| format!("the series {id} has no job"))?;
        let of_n = |n: usize| Shape { n, ..at };
        let of_d = |d: usize| Shape { d, ..at };
        rows.push(series(job, 'n', format!("d = {}", at.d), points, of_n, size)?);
        rows.push(series(job, 'd', format!("n = {}", at.n), dims, of_d, size)?);
    }
    Ok(("| growth | at | time | grows as |\n|---|---|---|---|\n", rows))
}

fn series(
    job: &Definition,
    variable: char,
    fixed: String,
    sizes: &[usize],
    shape: impl Fn(usize) -> Shape,
    size: Size,
) -> Result<Growth, Failure> {
    // The largest size takes about half of the total time, so only a full run includes it.
    let sizes = if size == Size::Full { sizes } else { &sizes[..sizes.len() - 1] };
    let rounds = if size == Size::Full { 7 } else { 3 };
    let mut seconds = Vec::new();
    for at in sizes {
        let mut prepared = (job.build)(&mut Pools::default(), shape(*at))?;
        (prepared.run)()?;
        seconds.push(best_time(rounds, &mut prepared.run)?);
    }
    let (what, sizes) = (job.what, sizes.to_vec());
    let exponent = exponent(&sizes, &seconds)?;
    Ok(Growth { job: job.id, what, variable, fixed, sizes, seconds, exponent })
}

/// Slope of the least-squares line through (log size, log seconds).
fn exponent(sizes: &[usize], seconds: &[f64]) -> Result<f64, Failure> {
    let sizes: Vec<f64> = sizes.iter().map(|size| (*size as f64).ln()).collect();
    let seconds: Vec<f64> = seconds.iter().map(|s| s.ln()).collect();
    Ok(stats::slope(&sizes, &seconds).ok_or("a series needs two sizes and positive times")?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponents_of_powers_are_found() {
        let sizes = [10, 30, 90];
        let cubes = sizes.map(|n| 5e-9 * f64::from(n as u32).powi(3));
        assert!((exponent(&sizes, &cubes).unwrap() - 3.0).abs() < 1e-12);
        assert!(exponent(&sizes, &[0.5; 3]).unwrap().abs() < 1e-12);
    }

    #[test]
    fn every_series_has_a_job() {
        for (id, ..) in SERIES {
            assert!(definitions().iter().any(|job| job.id == id), "{id}");
        }
        let perceptron = &definitions()[0];
        let of_n = |n| shape(n, 5, 0);
        let growth =
            series(perceptron, 'n', "d = 5".into(), &[200, 400, 800], of_n, Size::Toy).unwrap();
        assert_eq!((growth.sizes.len(), growth.seconds.len()), (2, 2));
        assert!(growth.to_string().contains("| d = 5 | 200: "), "{growth}");
    }
}
